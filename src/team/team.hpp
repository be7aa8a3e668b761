#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "collective/collectives.hpp"
#include "error/result.hpp"
#include "fabric/fabric.hpp"
#include "wait/thread_barrier.hpp"

namespace kumiki::team {

/// The threads of a rank (COMPaS paper, section 4), bound to its cores and kept between runs. The caller of run() is
/// thread 0.
class Team {
public:
    using Function = void (*)(void* context, int thread);

    /// cpus[t] is the processor of thread t; if it is empty, the threads are not bound. A team that is larger than the
    /// number of processors waits as in a crowded job.
    static Result<std::unique_ptr<Team>> create(fabric::Fabric& fabric, collective::Collectives& collectives,
                                                int threads, std::vector<int> cpus, std::size_t processors);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return threads_; }
    bool running() const { return running_.load(std::memory_order_relaxed); }
    /// Binds the calling thread to the processor of this thread of the team; create() has done so with the caller, as
    /// thread 0.
    void bind(int thread) const;

    /// Runs function(context, thread) on every thread; returns when all threads have finished.
    Result<> run(Function function, void* context);

    // These are called inside run(), by every thread of the team:

    Result<> barrier(int thread);
    Result<> barrier_all(int thread);
    Result<> reduce(int thread, void* data, std::size_t count, kumiki_type type, kumiki_operation operation);
    Result<> reduce_all(int thread, void* data, std::size_t count, kumiki_type type, kumiki_operation operation);
    /// Releases the other threads, because this one will not come to the next barrier.
    void break_up(int thread) { barrier_.break_up(thread); }

private:
    /// What a thread publishes in a reduction. Each thread has two, which it uses in turn, so that one barrier is
    /// enough for a short reduction.
    struct Slot {
        static constexpr std::size_t capacity = platform::apart;
        struct Call {
            std::size_t count;
            kumiki_type type;
            kumiki_operation operation;
            friend bool operator==(const Call&, const Call&) = default;
        };
        struct alignas(platform::apart) Shown {
            Call call;
            void* data; ///< the place of a long value
            std::array<std::byte, capacity> value;
        };
        std::array<Shown, 2> shown;
        std::size_t turn;   ///< of the thread that owns the slots
        void* result;       ///< at thread 0, for all threads
        Result<> outcome{}; ///< of the step that thread 0 performed for all threads
    };

    Team(fabric::Fabric& fabric, collective::Collectives& collectives, int threads, std::vector<int> cpus,
         std::size_t processors);
    void start();
    void serve(int thread);
    Slot& slot(int thread) { return slots_[static_cast<std::size_t>(thread)]; }
    Result<> reduce_large(int thread, std::size_t turn, std::size_t element);

    fabric::Fabric& fabric_;
    collective::Collectives& collectives_;
    int threads_;
    std::vector<int> cpus_;
    wait::Patience patience_;
    wait::ThreadBarrier barrier_;
    std::vector<Slot> slots_;

    // A run: its function, its number, and how many workers have not finished it.
    Function function_ = nullptr;
    void* context_ = nullptr;
    std::atomic<bool> running_{false};
    wait::Flag run_{};
    wait::Flag busy_{};
    wait::Bell work_bell_{};
    wait::Bell done_bell_{};
    std::atomic<bool> stop_{false};
    std::vector<std::thread> workers_;
};

} // namespace kumiki::team
