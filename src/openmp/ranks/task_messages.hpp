#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "collective/collectives.hpp"
#include "error/result.hpp"
#include "fabric/fabric.hpp"
#include "openmp/ranks/wait_times.hpp"
#include "openmp/task_exchange.hpp"

namespace kumiki::openmp {

/// The exchange of tasks by active messages. Their handlers only note what has come: a task, or the end of one, needs
/// the memory that the other rank has written, for which a thread must wait. But tasks of others that no thread has
/// begun go where they are wanted from a handler, however busy this rank's threads are: half of those that wait here go
/// to a rank that asks, and all that a rank has created go back to it when it recalls them. (A rank that executes such
/// a task acquires what the one that created it has released. This rank has nothing to add.)
///
/// What concerns one interval between two barriers has the number of that interval, and is out of date by itself when
/// the ranks have met again.
///
/// The handler stores such numbers, and that there is news, with release order, and threads read them with acquire
/// order: so a thread that sees news also sees what happened in its rank before that asked for it. Nothing of the
/// program's memory depends on them, because that is ordered by the flush between a task and the message about it.
class TaskMessages final : public TaskExchange {
public:
    struct Surroundings {
        /// How often the ranks have met. It changes when this rank may see what the others have written before: a
        /// thread that waits at the barrier must not ask for tasks of the next interval earlier.
        const std::atomic<std::uint64_t>& interval;
        /// Lets the other ranks see what this one has written, and this one what they have released before.
        std::function<void()> flush;
        /// How long threads of this rank have waited for memory and locks that other ranks had.
        std::function<std::chrono::nanoseconds()> time_with_others;
    };
    /// `is_eager`: this rank asks for tasks however short they are. `waits`: to which the time is added that threads
    /// wait for tasks. All ranks must begin() before one begins an exchange.
    TaskMessages(fabric::Fabric& fabric, bool is_eager, WaitTimes& waits, Surroundings surroundings);
    Result<> begin(collective::Collectives& collectives);

    bool has_news() const override { return has_news_.load(std::memory_order_acquire); }
    std::vector<ReturnedTask> take_news() override;
    bool has_given() const override { return waiting_count_.load(std::memory_order_relaxed) != 0; }
    std::optional<GivenTask> take_given(const std::function<bool()>& allowed) override;
    bool is_asked() const override { return last_ask_.load(std::memory_order_acquire) == interval(); }
    bool give(const std::function<std::size_t(std::span<Task*>)>& take) override;
    void end(const TaskOrigin& origin, ReturnedTask::How how, std::chrono::nanoseconds took) override;
    void tell_ended() override;
    void ask() override;
    std::uint64_t interval() const override { return surroundings_.interval.load(std::memory_order_acquire); }
    bool tell_quiet(std::uint64_t interval) override;
    bool waits_for_others() const override;
    void wait(const std::function<bool()>& comes) override;
    void ring() override { fabric_.progress().ring(fabric_.rank()); }

private:
    using Clock = std::chrono::steady_clock;
    enum class Kind : std::uint32_t { ask, quiet, task, returned, recall };
    /// What every message begins with.
    struct Head {
        Kind kind;
        ReturnedTask::How how = ReturnedTask::How::ended; ///< of `returned`
        std::uint64_t interval = 0;                       ///< of `ask` and `quiet`
        Task* task = nullptr;                             ///< of `task` and `returned`: at the rank that created it
    };
    /// What follows in the message of a task, and then, if `data` is null, its data.
    struct Description {
        int origin; ///< the rank that created it
        void (*function)(void*);
        void* data;
        std::uint32_t alignment;
        bool final, cancellable;
        bool is_last; ///< of those that the rank gives now
        Controls controls;
    };
    /// What one rank has told this one, or has been told.
    struct Other {
        std::atomic<std::uint64_t> asks{0};  ///< it asks for tasks in this interval
        std::atomic<std::uint64_t> quiet{0}; ///< it is quiet in this interval
        std::uint64_t asked = 0;             ///< this rank asks it in this interval; under the mutex
    };
    struct Ended {
        TaskOrigin origin;
        ReturnedTask::How how;
    };
    /// A task of another rank that no thread has begun.
    struct Waiting {
        std::uint64_t number; ///< they are numbered as they come
        GivenTask task;
    };
    void take(int source, std::span<const std::byte> payload);
    void take_ask(int source, std::uint64_t interval);
    void take_task(int source, Task* task, std::span<const std::byte> payload);
    void take_returned(const ReturnedTask& returned);
    void take_recall(int source);
    void send(int rank, std::span<const std::byte> message) const;
    void send(int rank, const Head& head) const { send(rank, std::as_bytes(std::span(&head, 1))); }
    void tell(const TaskOrigin& origin, ReturnedTask::How how) const;
    void send(int rank, const GivenTask& task, bool is_last) const;
    GivenTask describe(Task& task) const;
    bool pass_on(int rank);
    void recall() const;
    void tell_all_quiet(std::uint64_t interval) const;
    int next_asker();
    bool all_are_quiet(std::uint64_t interval) const;
    void judge_last_tasks();

    fabric::Fabric& fabric_;
    const bool is_eager_;
    WaitTimes& waits_;
    const Surroundings surroundings_;
    int handler_ = 0;
    std::vector<Other> others_;              ///< by rank
    std::atomic<std::uint64_t> last_ask_{0}; ///< some rank may ask in this interval
    std::atomic<std::uint64_t> told_quiet_{0};
    std::atomic<bool> has_news_{false};
    std::atomic<std::uint64_t> asked_all_{0}; ///< this rank asks all others in this interval
    std::atomic<Clock::rep> next_ask_{0};     ///< when it may ask next
    std::atomic<Clock::rep> last_told_{0};    ///< when it has told of ended tasks
    std::atomic<bool> has_ended_{false};
    std::atomic<std::size_t> waiting_count_{0};
    std::atomic<int> away_{0}; ///< tasks of this rank that others may not have begun
    std::mutex mutex_;         ///< guards what follows, and is never held while a thread waits
    std::vector<ReturnedTask> returned_;
    std::deque<Waiting> waiting_;
    std::uint64_t last_given_ = 0;   ///< the number of the last task that has come
    std::uint64_t last_visible_ = 0; ///< of the last one for which this rank sees the memory
    std::vector<Ended> ended_;       ///< what the other ranks do not know yet
    std::chrono::nanoseconds worked_{}, with_others_before_{}, pause_{};
    bool got_tasks_ = false; ///< since the last ask
};

} // namespace kumiki::openmp
