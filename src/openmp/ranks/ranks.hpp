#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "collective/collectives.hpp"
#include "dsm/shared_memory.hpp"
#include "dsm/variable_wait.hpp"
#include "explain/record.hpp"
#include "fabric/fabric.hpp"
#include "openmp/lock.hpp"
#include "openmp/other_ranks.hpp"
#include "openmp/ranks/ends.hpp"
#include "openmp/ranks/events.hpp"
#include "openmp/ranks/host_choice.hpp"
#include "openmp/ranks/memory/heap.hpp"
#include "openmp/ranks/memory/image.hpp"
#include "openmp/ranks/locks/kept_locks.hpp"
#include "openmp/ranks/locks/lock_numbers.hpp"
#include "openmp/ranks/locks/locks_at_rest.hpp"
#include "openmp/ranks/posts.hpp"
#include "openmp/ranks/process/process_state.hpp"
#include "openmp/ranks/process/random_numbers.hpp"
#include "openmp/ranks/process/standard_output.hpp"
#include "openmp/ranks/memory/stacks.hpp"
#include "openmp/ranks/memory/thread_variables.hpp"
#include "openmp/ranks/process/own_files.hpp"
#include "openmp/ranks/process/streams.hpp"
#include "openmp/ranks/process/fortran_units.hpp"
#include "openmp/ranks/task_messages.hpp"
#include "openmp/ranks/wait_times.hpp"
#include "openmp/ranks/words.hpp"
#include "settings/distribution.hpp"
#include "settings/settings.hpp"

namespace kumiki::openmp {

/// The job of a program that runs as several processes. Its memory is shared by shared arrays: the variables of the
/// program, its heap, and the stacks of the thread that runs main and of the threads of its regions.
class Ranks final : public OtherRanks {
public:
    /// Joins the job, and makes the memory of the program shared. Every rank must call this before the program begins,
    /// with equal images.
    static Result<std::unique_ptr<Ranks>> join(const Settings& settings, const Program& program);

    int rank() const override { return fabric_->rank(); }
    int ranks() const override { return fabric_->size(); }
    int processors() const override { return processors_; }
    int descriptors_for_each() const override { return descriptors_for_each_; }
    Heap& heap() { return *heap_; }
    dsm::Locks& locks() { return *locks_; }
    RandomNumbers& random_numbers() { return random_numbers_; }
    LastCalls& last_calls() { return last_calls_; }
    ProcessState& process_state() { return *process_state_; }
    FortranUnits& fortran_units() { return *fortran_units_; }
    /// Null: nothing is recorded.
    explain::Record* record() { return record_.get(); }

    /// Waits until all ranks are ready for what the program may do: the first rank may ask the others for what they
    /// have written before it meets them in a region.
    Result<> begin();
    /// Starts the thread that runs main at rank 0, and that serves at the others.
    Result<pthread_t> start_first_thread(void* (*function)(void*), void* argument);
    /// The calling thread is that one.
    void lead() { leader_.store(pthread_self(), std::memory_order_relaxed); }
    /// At ranks other than 0: waits for the next region that all ranks run.
    ForkNotice await_fork();
    /// At ranks other than 0, when the program ends: makes the last calls, one rank after the other.
    void make_last_calls();
    /// Leaves the job, when no region runs.
    void leave();

    bool leads() const override { return pthread_equal(leader_.load(std::memory_order_relaxed), pthread_self()) != 0; }
    bool spans(int threads) const override;
    Part part(int threads) const override { return part_of(rank(), threads); }
    Part part_of(int rank, int threads) const override;
    bool has_stack(int number) const override { return number <= stacks_->others() && !used_stacks_[number].load(); }
    Result<pthread_t> start_thread(int number, void* (*function)(void*), void* argument) override;

    bool runs_on_all(const void* code) override;
    void end_alone() override;
    bool asks() const override { return host_choice_ && host_choice_->asks(); }
    void fork(const ForkNotice& fork) override;
    void join(std::uint64_t next_claim) override;
    bool meet_in_region(const void* code) override;
    void cancel(Cancelled what) override;
    bool is_cancelled(Cancelled what) const override;
    void note_tie() override;
    void note_own_variables() override;
    /// Whether this is rank 0 and the others wait for the next region, so that this process alone executes the program
    /// and has nothing to order with others: between regions, and in those that run here alone.
    bool others_rest() const { return at_rest_.others_rest(); }
    /// Not 0 while they do.
    const std::atomic<std::uint8_t>& rest() const { return at_rest_.state(); }

    bool claim_single(std::uint64_t number, bool is_alone) override;
    std::uint64_t next_single() override { return words_->load(Words::single); }
    std::uint64_t next_claim() const override { return next_claim_; }
    void leave_pointer(void* pointer) override {
        words_->store(Words::pointer, reinterpret_cast<std::uintptr_t>(pointer));
    }
    void* left_pointer() override { return reinterpret_cast<void*>(words_->load(Words::pointer)); }

    LoopParts parts(const Loop& loop, int threads) override;
    std::uint64_t next_iteration(std::uint64_t loop, int owner) override;
    bool take_iterations(std::uint64_t loop, int owner, std::uint64_t& begin, std::uint64_t end) override;
    bool begin_turn(std::uint64_t loop, std::uint64_t begin) override;
    void end_turn(std::uint64_t loop, std::uint64_t end) override;

    std::uint64_t* take_words(std::uint64_t loop, std::size_t count) override;
    void give_words(std::uint64_t loop) override;
    void post(const LoopWord& word, std::uint64_t value) override;
    void await(const LoopWord& word, std::uint64_t value) override;
    bool has_code(void (*function)(void*)) const override;
    bool exchanges_tasks(const void* code) const override;
    TaskExchange& task_exchange() override { return *tasks_; }
    void note_task() override { words_->store(Words::tasks, region_meeting_); }
    void note_open_event() override {
        if (events_) events_->note_open();
    }
    void note_fulfilled_event() override {
        if (events_) events_->note_fulfilled();
    }
    void fulfill(Event& event) override {
        if (events_) events_->fulfill(event);
    }

    void copy_initial(const void* variable, std::span<std::byte> into) const override;
    void* allocate(std::size_t bytes, std::size_t alignment) override { return heap_->allocate(bytes, alignment); }

    void enter(Own lock) override { acquire(static_cast<int>(lock)); }
    void leave(Own lock) override { release(static_cast<int>(lock)); }
    void enter(std::uint32_t& word) override;
    bool try_enter(std::uint32_t& word) override;
    void leave(std::uint32_t& word) override;
    void forget(std::uint32_t& word) override;

    /// Locks of the shared memory, by number.
    void acquire(int lock);
    bool try_acquire(int lock);
    void release(int lock);
    /// Whether atomic updates may be gathered (KUMIKI_OPENMP_ATOMICS).
    bool gathers() const { return has_own_host_ && updates_ != AtomicUpdates::ordered; }
    /// Whether all are, as the user wishes.
    bool gathers_all() const { return has_own_host_ && updates_ == AtomicUpdates::gathered; }
    /// Why they are not, though the user wishes it; nothing: they are.
    std::optional<std::string_view> why_not_gathered() const;
    struct Changed {
        std::uint64_t before; ///< what the word had
        bool gathered;        ///< the home does not know yet
    };
    /// Changes a word of the program at its home, as under instruction_lock, or, where the program does not use the
    /// result, perhaps in this rank's copy until the rank releases (AtomicUpdates). Returns nothing if it must be
    /// changed here, under that lock.
    std::optional<Changed> change_word(const void* word, const dsm::WordChange& change, bool uses_result);
    /// A word of the program, under a guard that it shares with others.
    std::uint32_t look(std::uint32_t& word);
    /// Changes a word, under its guard, for whose change threads of any rank wait (await()). Other variables that
    /// belong to the word may be changed, too.
    void change(std::uint32_t& word, const std::function<void(std::uint32_t&)>& change);
    /// Calls attempt(word), under the guard, until it returns true, which it may do when another thread has
    /// changed the word; or at most so long: returns whether it has.
    bool await(std::uint32_t& word, std::optional<std::chrono::nanoseconds> most,
               const std::function<bool(std::uint32_t&)>& attempt);
    /// Makes a byte of the program 1 when all ranks have met, and so see what this thread has written before; at once
    /// where no other thread of a region runs.
    void set_when_met(std::uint8_t& byte);
    /// As the system's futexes, for words that all ranks see and that threads write as they like: waits until a thread
    /// of any rank calls wake(), for whichever word; or at most so long. Returns 0, EAGAIN if the word has another
    /// value already, or ETIMEDOUT.
    int await_wake(const std::uint32_t& word, std::uint32_t value, std::optional<std::chrono::nanoseconds> most);
    /// Lets the others see what this rank has written, and ends all these waits.
    void wake();
    /// Whether this is memory that all ranks see.
    bool is_shared(const void* address) const {
        return shared_.accessible(static_cast<const std::byte*>(address)) != 0;
    }
    /// Tells the launcher that this process, which ends, ends the job for all.
    void end_job() { fabric_->end_job(); }
    /// Whether the caller is this rank, rather than a child of it.
    bool is_own_process() const { return getpid() == process_; }
    /// Whether it has left the job, or is about to. Other threads of this process may still live.
    bool has_left() const { return left_.load(std::memory_order_relaxed); }
    /// Lets the others see what this rank has written, and this rank what they have released before.
    void flush() override;
    void flush_before_wait() override {
        if (waits_) flush();
    }
    /// What a thread that waits for a variable calls after each look at it, at a place of the program
    /// (dsm::VariableWait).
    void look_again(const void* place, const void* variable);
    /// The program has loops that wait for variables of other threads. These may be at a barrier already, so from now
    /// on a rank lets the others see what it has written before it waits in one, too.
    Result<> expect_waits();
    /// Threads may leave locks of the program to their rank (KeptLocks). Not in a program that tries to enter locks: it
    /// would find them taken though no thread is in them.
    Result<> keep_locks();
    /// Of the processor's atomic instructions. Its manager is rank 0, which is the home of most variables
    /// (change_word()).
    static constexpr int instruction_lock = 0;
    /// Of the ordered constructs.
    static constexpr int ordered_lock = 2;
    /// Of the words of loops with dependences.
    static constexpr int loop_lock = 4;
    /// Of what is on its way to streams.
    static constexpr int stream_lock = 5;
    /// Of what ranks do at the end of the program.
    static constexpr int end_lock = 6;
    /// Of events of detached tasks.
    static constexpr int event_lock = 7;

    [[noreturn]] void refuse(const char* what) const override;
    /// Ends the program if this is an error.
    void check(const Result<>& result) const;

private:
    friend class Events;

    /// Ends the job because the other ranks do not have this code, which the program has loaded later.
    [[noreturn]] static void refuse_late_code(const void* code);
    /// Words that the ranks have in a loop, in memory that all of them see.
    struct LoopWords {
        std::uint64_t loop; ///< its number + 1; 0: nobody has it
        std::uint64_t* words;
        int left; ///< ranks that have given them back
    };
    /// Those of the program, or of one of its libraries.
    struct Variables {
        std::span<std::byte> memory;
        std::vector<dsm::HomeRun> special_homes; ///< in order
        std::span<const std::byte> initialized;  ///< what does not begin as zeros
        std::vector<std::byte> initial;          ///< its bytes before anything ran, if somebody asks for them
    };
    /// A thread of the program on one of the stacks.
    struct OnStack {
        Ranks* ranks;
        int number;
        void* (*function)(void*);
        void* argument;
    };
    /// When something was, and how long threads had been busy with other ranks by then (WaitTimes), in page faults,
    /// too.
    struct Moment {
        WaitTimes::Clock::time_point when;
        WaitTimes::Clock::duration barriers, threads;
    };
    static void* run_on_stack(void* on_stack);
    static constexpr std::size_t loop_places = 16; ///< how many loops that do not wait may be apart

    Ranks(std::unique_ptr<fabric::Fabric> fabric, std::unique_ptr<explain::Record> record, const Settings& settings,
          const Program& program);
    Result<> compare_layouts(const Program& program);
    Result<> compare_hosts();
    Result<> share_memory(const Program& program);
    Result<> share_variables(const Program& program);
    Result<> share_streams();
    Result<> share_tasks();
    Result<> make_heap();
    Result<void*> allocate_heap(std::size_t bytes);
    void exchange(ForkNotice& fork);
    void choose_hosts(const Settings& settings);
    Moment now() const;
    bool has_room_for_all() const;
    void note_end(std::uintptr_t code);
    void note_tasks_of_region();
    void begin_rest();
    void end_rest();
    static bool may_be_taken_at_rest(int lock) { return lock != stream_lock && lock != end_lock; }
    void open_homes();
    void open_homes(const Variables& variables);
    void begin_interval(std::uint64_t place);
    void meet(std::span<std::byte> of_rank_0);
    void meet(const void* code);
    /// The word in which a rank tells when it has come to the end of a region.
    std::uint32_t end_word(int rank, std::uint64_t meeting) const;
    template <class Each>
    void for_each_other(Each each) const;
    std::uint64_t number_of(Cancelled what) const;
    void meet_at_end(std::uint64_t next_claim);
    /// Whether that rank was at the end of the region at the last meeting.
    bool has_ended(int other) const;
    bool another_has_ended() const;
    /// After a region that was cancelled, whose ranks have not all left the same loops.
    void forget_loops();
    std::vector<std::uint8_t*> take_bytes();
    std::vector<Heap::Batch> take_freed();
    void return_blocks(std::span<const Heap::Batch> freed);
    void note_region(const void* code, explain::Timed::Clock::time_point begin);
    /// A call to other ranks: while it lasts this rank does not leave the job. False: the rank has left. The caller and
    /// end_calls() write before they look, in one total order (sequential consistency), so one of them sees the other.
    class InJob {
    public:
        explicit InJob(Ranks& ranks) : calls_(ranks.calls_) {
            calls_.fetch_add(1);
            is_ = !ranks.left_.load();
        }
        InJob(const InJob&) = delete;
        InJob& operator=(const InJob&) = delete;
        ~InJob() { calls_.fetch_sub(1); }
        explicit operator bool() const { return is_; }

    private:
        std::atomic<int>& calls_;
        bool is_;
    };
    void end_calls();
    /// Announces a change to the threads of all ranks that may wait for it; when the job has been left, of this one.
    void announce();
    /// Waits until ready() is true, which it may become whenever a rank has announced a change.
    template <class Ready>
    void await_change(Ready ready);
    /// Waits until a rank has announced a change since this number was seen; or at most so long: returns whether it
    /// has.
    bool await_announcement(std::uint64_t seen, std::optional<std::chrono::nanoseconds> most);
    /// The lock of the shared memory that guards a word. Different words may have the same, because it is held for
    /// moments only.
    static int guard_of(const void* word);
    /// The words whose home is rank r are changed under this lock + r, which r manages.
    int change_locks() const;
    bool gathers_now(const dsm::WordChange& change, bool uses_result);
    std::optional<std::uint64_t> change_at_home(const void* word, const dsm::WordChange& change);
    void tell(const Posts::All& posts);
    std::uint32_t enter_without_number(std::uint32_t& word);
    void measure();
    bool follows_rows(const Loop& loop) const;
    LoopParts parts_by_rows(const Loop& loop, int threads);
    std::uint64_t look(std::uint32_t index, int rank, std::uint64_t tag);
    void flush_output();
    /// Whether it is a lock of the program that this rank may keep.
    bool may_keep(int lock) const;
    /// Releases a lock that the calling thread has, and leaves what it has entered first.
    void give_to_others(int lock);
    /// Whether what comes to its homes with this lock must come there under instruction_lock.
    bool is_ordered_by_another(int lock) const;

    std::unique_ptr<fabric::Fabric> fabric_;
    collective::Collectives collectives_;
    std::unique_ptr<explain::Record> record_;
    explain::Timed::Clock::time_point region_began_ = explain::Timed::Clock::now(); ///< or what is between two
    std::uint64_t region_ = 0; ///< the address of the present region's code, or of the last one
    explain::Timed::Clock::time_point last_meeting_ = region_began_;
    dsm::SharedMemory shared_;
    ProgramHomes homes_;
    std::string openmp_homes_;
    bool opens_at_first_region_;
    bool measures_, monotonic_;
    TaskRanks exchanged_tasks_;
    AtomicUpdates updates_;
    bool has_own_host_;                      ///< no other rank is on it
    std::atomic<std::uint64_t> meetings_{0}; ///< of all ranks
    /// The same, from the moment on when threads that were at the barrier may see the memory of the new interval.
    std::atomic<std::uint64_t> interval_{0};
    std::uint64_t region_meeting_ = 0;    ///< the one that began the region
    std::vector<double> speeds_;          ///< by rank: the part of the work, the same at all ranks
    std::atomic<std::uint64_t> taken_{0}; ///< iterations of shared-out loops by this rank since the last region
    std::vector<Variables> variables_;
    std::optional<LoopRows> rows_;    ///< of the affinity schedule
    const std::byte* base_ = nullptr; ///< of the program
    ThreadVariables thread_variables_;
    std::vector<int> firsts_; ///< by rank: the threads of the ranks before; and all at the end
    int processors_ = 1;
    int descriptors_for_each_ = 0;
    bool waits_ = false;
    std::unique_ptr<dsm::VariableWait> variable_wait_; ///< null: nothing waits, or there are other ranks on this host
    std::optional<Words> words_;
    LoopWords* loop_words_ = nullptr;
    std::optional<TaskMessages> tasks_; ///< none: no region exchanges tasks
    bool region_exchanges_tasks_ = false;
    std::unordered_map<std::uintptr_t, bool> had_tasks_; ///< at rank 0: regions by their code
    std::optional<Events> events_;                       ///< none: the job has been left
    Posts posts_{[this](const Posts::All& posts) { tell(posts); }};
    std::optional<Heap> heap_;
    std::optional<Stacks> stacks_;
    std::uint64_t next_claim_ = 0; ///< of the thread that leads
    StandardOutput standard_output_;
    OwnFiles own_files_;
    std::optional<FileCalls> file_calls_;
    std::optional<Streams> streams_;
    std::optional<FortranUnits> fortran_units_;
    std::optional<ProcessState> process_state_;
    LastCalls last_calls_;
    std::unique_ptr<std::atomic<bool>[]> used_stacks_; ///< by number
    dsm::Locks* locks_ = nullptr;
    std::unique_ptr<Lock[]> here_first_;    ///< by number of a lock of the shared memory
    std::unique_ptr<KeptLocks> kept_locks_; ///< null: none are kept
    LocksAtRest at_rest_{KUMIKI_SHARED_LOCKS};
    std::atomic<int> held_{0};                  ///< locks that threads of this rank have acquired
    std::atomic<bool> is_tied_{false};          ///< see note_tie()
    bool told_tied_ = false;                    ///< rank 0 knows it
    std::unique_ptr<HostChoice> host_choice_;   ///< at rank 0; null: regions run on all ranks
    std::atomic<std::uintptr_t> code_alone_{0}; ///< of the region that runs here alone; 0: none does
    std::uint64_t available_at_start_ = 0;      ///< bytes of memory on this host
    WaitTimes wait_times_;
    Moment last_end_{}, begin_of_region_{}; ///< of regions that may run on all ranks
    LockNumbers lock_numbers_;
    RandomNumbers random_numbers_;
    std::mutex bytes_mutex_;
    std::vector<std::uint8_t*> bytes_; ///< that the next meeting sets
    const pid_t process_ = getpid();
    std::atomic<pthread_t> leader_{};
    std::atomic<bool> left_{false};
    std::atomic<int> calls_{0}; ///< of InJob
};

template <class Ready>
void Ranks::await_change(Ready ready) {
    for (;;) {
        const std::uint64_t seen = words_->announced(); // before the look: a change after it ends the wait
        if (ready()) return;
        await_announcement(seen, {});
    }
}

} // namespace kumiki::openmp
