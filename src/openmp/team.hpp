#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <pthread.h>
#include <string>
#include <vector>

#include "openmp/loop.hpp"
#include "openmp/other_ranks.hpp"
#include "openmp/places.hpp"
#include "openmp/process.hpp"
#include "openmp/task.hpp"
#include "platform/memory.hpp"
#include "wait/meeting.hpp"
#include "wait/wait.hpp"

namespace kumiki::openmp {

class Team;

/// One thread's part in a team. The thread alone writes it, but for the queue, in which others look for tasks.
struct alignas(platform::apart) Member {
    Member(Team& its_team, int number) : team(its_team), place_here(number), id(number) { implicit.implicit = true; }

    Team& team;
    const int place_here;   ///< among the members of this process
    int id;                 ///< number in the team; the same, unless the region runs on several ranks
    Task* task = &implicit; ///< the one that the thread executes
    Task implicit;
    std::uint64_t shares_met = 0; ///< worksharing constructs of this team, without those of `single`
    std::uint64_t singles_met = 0;
    std::uint64_t singles_before = 0; ///< before the last barrier
    bool singles_alone = true;        ///< no two lay between two barriers, when last there was one, or there was none
    std::uint64_t claims_met = 0;     ///< loops whose iterations the threads of several ranks take from a common number
    Workshare* share = nullptr;       ///< the worksharing construct in which the thread is
    LoopPosition position{};          ///< in its loop
    std::unique_ptr<Team> inner;      ///< the team of which this thread is the master; made at its first region
    int place = -1;                   ///< -1: not bound
    Partition partition{};
    std::string shown; ///< by OMP_DISPLAY_AFFINITY
    int immediate = 0; ///< tasks that the thread runs at once, one inside the other

    TaskBlocks blocks; ///< of the tasks that it creates

    alignas(platform::apart) TaskQueue queue;
    std::uint64_t region = 0;               ///< the region of the team that the member has begun
    std::atomic<std::uint64_t> created{0};  ///< tasks of this region
    std::atomic<std::uint64_t> finished{0}; ///< tasks of this region that this thread has finished
};

/// What a parallel construct asks for.
struct Region {
    void (*function)(void*);
    void* data;
    int threads;                          ///< num_threads clause; 0: none
    Bind bind = Bind::no;                 ///< proc_bind clause; no: none
    const Loop* loop = nullptr;           ///< of a combined construct (parallel for)
    std::uintptr_t* reductions = nullptr; ///< with the modifier task
    const void* code = nullptr;           ///< of the program, if `function` is none of it
};

/// The threads that one thread, the master, leads in its parallel regions. They are kept from region to region; each
/// master has a team of its own, so nested regions need nothing more. The master is member 0.
///
/// **Fork.** One word says which region it is, and how many threads take part; the workers wait for a change of it. So
/// a fork is one store, and workers that do not take part touch nothing else. The other fields of a region are written
/// before this word, and stay as they are until all members have arrived at its end.
///
/// **Join.** Workers that have arrived at the end of a region run tasks until the word changes. The master goes on when
/// all have arrived and no task is left. A worker may still look for tasks when the next region has begun; it then
/// finds that it has not begun that region itself, and takes none (see Member::region).
///
/// **Tasks left.** Each member counts the tasks that it creates and those that it finishes, in words that only it
/// writes. All are finished if the sum of the latter, read first, is the sum of the former: both only grow, and when
/// all threads have arrived, only a task that runs can create another.
class Team {
public:
    /// A team without workers around the initial task of a thread. `waiting`: the thread that waits for it, because it
    /// is that of a target construct.
    explicit Team(const Controls& controls, const Member* waiting = nullptr);
    /// The team of `master`.
    explicit Team(Member& master);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// Starts a region on up to `threads` threads; the caller, its master, then executes the body and calls end().
    void begin(const Region& region, int threads);
    /// Starts this rank's part of a region on all ranks.
    void begin(const ForkNotice& fork);
    /// Returns when all threads have ended the body, and all tasks are finished.
    void end();

    int size() const { return size_.load(std::memory_order_relaxed); }
    /// The members in this process, and the other ranks; all of them, and null, unless the region runs on several
    /// ranks.
    int here() const { return here_.load(std::memory_order_relaxed); }
    OtherRanks* others() const { return others_; }
    /// Null unless the ranks of the region exchange tasks.
    TaskExchange* exchange() const { return exchange_.load(std::memory_order_relaxed); }
    int level() const { return level_; }
    int active_level() const { return active_level_; }
    Member* outer() const { return outer_; }
    const Member* waiting() const { return waiting_; }
    /// By the place in this process.
    Member& member(int place) const { return *members_[place].load(std::memory_order_acquire); }
    wait::Bell& bell() { return bell_; }
    const wait::Patience& patience() const { return *patience_.load(std::memory_order_relaxed); }
    void ring() {
        wait::ring(bell_, patience());
        if (waits_elsewhere_.load(std::memory_order_relaxed)) [[unlikely]]
            process().others()->task_exchange().ring();
    }

    /// A barrier of the team, in which threads run tasks. Returns true if the region is cancelled. `code`: where in the
    /// program; null: unknown.
    bool barrier(Member& me, const void* code = nullptr);

    /// Whether `me` executes its next single construct: it is the first to arrive, of those who ask.
    bool first_at_single(Member& me);
    /// The data of a single construct with copyprivate; a barrier publishes them.
    void set_single_data(void* data);
    void* single_data() const;

    Workshares& shares() { return shares_; }

    void cancel();
    bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
    /// The loop or the sections that `me` executes.
    void cancel_workshare(Member& me);
    /// What threads of other ranks have cancelled.
    void take_in_cancellation(Member& me);
    bool workshare_cancelled() const { return workshare_cancelled_.load(std::memory_order_relaxed); }

    void note_task() {
        if (!had_tasks_.load(std::memory_order_relaxed)) had_tasks_.store(true, std::memory_order_release);
        if (others_ != nullptr && !told_task_.load(std::memory_order_relaxed) && !told_task_.exchange(true))
            others_->note_task();
    }
    bool had_tasks() const { return had_tasks_.load(std::memory_order_acquire); }
    std::uint64_t region() const { return region_.load(std::memory_order_relaxed); }
    /// Whether the member has begun the present region, whose tasks it may take then.
    bool has_begun(const Member& member) const { return member.region == region(); }
    /// A task of the team was finished by a thread that does not belong to it.
    void finished_elsewhere() {
        finished_elsewhere_.fetch_add(1, std::memory_order_release);
        ring();
    }

private:
    struct Worker {
        Team* team;
        Member* member;
        std::uint64_t seen; ///< of the fork word
        pthread_t thread;
    };

    static void* serve(void* worker);
    void end_body() const {
        if (asks_) [[unlikely]]
            process().others()->note_own_variables();
    }
    std::uint64_t await_fork(Member& me, std::uint64_t seen, bool took_part);
    /// Whether no task is left, nor, if ranks exchange tasks, at any other rank. `arrived()`: whether all threads of
    /// this process have come to the barrier.
    template <class Arrived>
    bool is_quiet(Arrived arrived);
    /// Whether is_quiet() may be true by now.
    bool may_be_quiet() const;
    void prepare(const Region& region, int threads, Part part);
    void start_part();
    void enlarge(int threads);
    void add_worker(int id);
    void start(Member& me);
    bool tasks_left() const;
    static void note_singles(Member& me);
    /// Takes up to `wanted` more threads from the limit; returns how many it got.
    int take_threads(int wanted, int limit);
    bool all_arrived() const;
    /// Lets the threads of this process leave the region, or the loop or sections that `me` executes.
    void stop_region();
    void stop_workshare(Member& me);
    /// Opens the barrier, at which all have arrived; false: another thread does, but may not have done so yet.
    bool try_to_open(std::uint64_t epoch, const void* code);

    Member* outer_;
    const Member* waiting_ = nullptr;
    int level_ = 0, active_level_ = 0;
    Team* initial_ = this; ///< of the initial thread, whose limit of threads counts for all teams inside its own
    int taken_ = 0;        ///< threads of the thread limit
    std::atomic<int> busy_threads_{
        1}; ///< by the team of an initial thread: those in all teams inside, if they are limited
    // A worker that looks for tasks of the last region may read these while the master prepares the next one; whichever
    // value it sees, it takes no task (see above).
    std::atomic<int> size_{1}, here_{1};
    std::atomic<const wait::Patience*> patience_;
    std::atomic<Member*> first_;
    std::atomic<Member*>* members_ =
        &first_; ///< by number; a table for all that there may ever be, once there are workers
    std::unique_ptr<std::atomic<Member*>[]> table_;
    std::vector<std::unique_ptr<Member>> owned_;
    std::vector<std::unique_ptr<Worker>> workers_;

    // What the members of a region read. What differs from region to region is together; the rest is written only when
    // it changes, and so stays in the caches of all members.
    Controls controls_{};
    Loop loop_{};
    Taskgroup group_{};
    Seats seats_;
    OtherRanks* others_ = nullptr;
    // See size_ about threads that still read these.
    std::atomic<TaskExchange*> exchange_{nullptr};
    std::atomic<bool> waits_elsewhere_{false}; ///< threads may wait for exchange_; once they may, they always may
    std::atomic<bool> told_task_{false};       ///< the region has tasks (OtherRanks::note_task())
    std::atomic<std::uint64_t> over_{0};       ///< the last region that is over, if its ranks exchanged tasks
    bool is_alone_ = false;                    ///< the region could run on all ranks, and does not
    bool asks_ = false;                        ///< its threads note_own_variables()
    int first_id_ = 0;
    std::uint64_t first_claim_ = 0, first_single_ = 0;
    alignas(platform::apart) Region described_{};
    std::uint64_t first_share_ = 0; ///< of the next region; each process has its own constructs, and so its own number
    std::atomic<std::uint64_t> region_{0};
    alignas(platform::apart) void* single_data_ = nullptr;
    std::uint32_t ends_awaited_ = 0; ///< by the master: the value of `ended_` at which all others have ended the body

    alignas(platform::apart) std::atomic<std::uint64_t> fork_{0};
    alignas(platform::apart) std::atomic<std::uint32_t> arrived_{0}; ///< at the barrier
    alignas(platform::apart) std::atomic<std::uint32_t> ended_{0};   ///< workers a region's body, in all regions so far
    alignas(platform::apart) std::atomic<std::uint64_t> epoch_{0};   ///< barriers that have opened
    std::atomic<bool> had_tasks_{false};
    std::atomic<bool> cancelled_{false};
    std::atomic<bool> workshare_cancelled_{false};
    std::atomic<std::uint64_t> finished_elsewhere_{0};
    alignas(platform::apart) std::atomic<std::uint64_t> singles_{0};
    alignas(platform::apart) wait::Bell bell_{};
    Workshares shares_;
};

extern thread_local Member* the_member;
Member& first_member(); ///< makes the team of a thread that meets OpenMP for the first time

/// The calling thread's place in its team.
inline Member& self() {
    Member* const member = the_member;
    return member != nullptr ? *member : first_member();
}

/// How many threads a region gets that asks for `wanted` (0: as many as the variables say).
int threads_for(const Member& me, int wanted);

/// The two ends of a parallel region; in between, the calling thread executes the body as member 0.
void begin_parallel(const Region& region);
void end_parallel();
/// Runs this rank's part of a region on all ranks; `me` leads it here.
void run_part(Member& me, const ForkNotice& fork);

template <class Prepare>
Workshare& Workshares::enter(Member& me, Prepare prepare) {
    const std::uint64_t number = me.shares_met++;
    Workshare& share = (*ring_)[number % length];
    const std::uint64_t use = states * (number / length);
    if (share.state.load(std::memory_order_acquire) < use + ready) {
        if (!wait_until(me, share, use + free)) return enter_alone(me, prepare);
        std::uint64_t expected = use + free;
        if (share.state.compare_exchange_strong(expected, use + in_preparation, std::memory_order_acquire)) {
            prepare(share);
            announce(me, share, use + ready);
        } else if (!wait_until(me, share, use + ready)) {
            return enter_alone(me, prepare);
        }
    }
    me.share = &share;
    return share;
}

template <class Prepare>
Workshare& Workshares::enter_alone(Member& me, Prepare prepare) {
    auto alone = std::make_unique<Workshare>();
    alone->of_one_thread = true;
    prepare(*alone);
    me.share = alone.release();
    return *me.share;
}

/// Waits until `ready()` is true, and then returns null, or until there is a task that the thread may run
/// (take_task()). `others`: those who may wait for a variable that this thread has written before; null: none.
template <class Ready>
Task* await_task(Member& me, const Task* inside, OtherRanks* others, Ready ready) {
    Task* task = nullptr;
    const auto look = [&] {
        if (ready()) return true;
        task = take_task(me, inside);
        return task != nullptr;
    };
    TaskExchange* const exchange = me.team.exchange();
    if (exchange == nullptr) {
        if (others != nullptr) [[unlikely]] {
            if (look()) return task;
            others->flush_before_wait();
        }
        wait::wait(me.team.bell(), me.team.patience(), look);
        return task;
    }
    for (bool done = false; !done;) {
        const bool gives = exchange_tasks(me, *exchange, inside == nullptr ? Doing::nothing : Doing::waits);
        done = look();
        if (done) break;
        if (others != nullptr) std::exchange(others, nullptr)->flush_before_wait();
        exchange->wait([&] { return (done = look()) || has_exchange(me, *exchange, gives); });
    }
    return task;
}

/// Returns when `ready()` is true, and runs tasks meanwhile.
template <class Ready>
void work_until(Member& me, const Task* inside, Ready ready) {
    while (Task* const task = await_task(me, inside, me.team.others(), ready)) run_task(me, task);
}

/// The thread of the outermost region in which this thread is, also if it is in a target construct inside that; null:
/// it is outside of all regions.
const Member* in_outermost_region(const Member& me);

} // namespace kumiki::openmp
