#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <pthread.h>
#include <span>
#include <type_traits>

#include "error/result.hpp"
#include "openmp/loop.hpp"
#include "openmp/settings.hpp"
#include "openmp/task_exchange.hpp"

namespace kumiki::openmp {

struct Event;

/// The threads of a region that run at one rank: `count` of them, from number `first` on.
struct Part {
    int first = 0, count = 0;
};

/// The last seed that the thread which runs main has given to each of the libraries' generators of random numbers, and
/// how often it has given one (RandomNumbers).
struct Seeds {
    enum Generator : std::uint8_t { c_library, c_library_48, fortran };
    struct Seed {
        std::uint64_t times = 0, value = 0;
    };
    std::array<Seed, 3> all{};
};

/// What rank 0 tells the others about a region that all ranks run.
struct ForkNotice {
    void (*function)(void*) = nullptr; ///< null: the program ends
    void* data = nullptr;
    const void* code = nullptr; ///< of the program, which tells regions apart
    int threads = 0;            ///< of all ranks
    Bind bind = Bind::no;
    bool has_loop = false; ///< of a combined construct
    Loop loop;
    Controls controls;             ///< of the task that met the region
    std::uint64_t first_claim = 0; ///< numbers of the region's first constructs of two kinds (Member)
    std::uint64_t first_single = 0;
    bool asks = false;            ///< whether the region's threads shall note_own_variables() behind its body
    bool exchanges_tasks = false; ///< (TaskExchange)
    Seeds seeds{};
    const void* process_state = nullptr; ///< what the others take in of the first process (ProcessState)
};
static_assert(std::is_trivially_copyable_v<ForkNotice>);

/// The processes of a program that runs as several, as the runtime in one of them sees them. In a program that runs as
/// one there is no such object. The memory of the program is consistent between ranks after meet(), and from the
/// leave() of a lock to its next enter().
///
/// Constructs that are met once by every thread of a region have numbers that are the same at all ranks.
class OtherRanks {
public:
    virtual ~OtherRanks() = default;

    /// The number of this rank, and of how many.
    virtual int rank() const = 0;
    virtual int ranks() const = 0;
    /// The processors that the ranks may use together.
    virtual int processors() const = 0;
    /// How many descriptors of files each rank may have (keep_descriptors_apart()).
    virtual int descriptors_for_each() const = 0;
    /// Whether regions that the calling thread starts run on all ranks: it is the thread that runs main.
    virtual bool leads() const = 0;
    /// Whether so many threads can be divided among the ranks.
    virtual bool spans(int threads) const = 0;
    /// This rank's part of so many threads.
    virtual Part part(int threads) const = 0;
    virtual Part part_of(int rank, int threads) const = 0;
    /// Starts thread `number` of this rank, which leads() or one of its workers, with a stack that all ranks see, if
    /// there is one left for it.
    virtual bool has_stack(int number) const = 0;
    virtual Result<pthread_t> start_thread(int number, void* (*function)(void*), void* argument) = 0;

    /// At rank 0, when a region begins that spans(): whether it runs on all ranks; else this one alone has all its
    /// threads, and calls end_alone().
    virtual bool runs_on_all(const void* code) = 0;
    virtual void end_alone() = 0;
    /// At rank 0: whether the threads of the next region shall note_own_variables() behind its body.
    virtual bool asks() const = 0;
    /// At rank 0: lets all ranks begin the region.
    virtual void fork(const ForkNotice& fork) = 0;
    /// The end of a region that runs on all ranks: a barrier. `next_claim`: the number of this rank's next claim.
    virtual void join(std::uint64_t next_claim) = 0;
    /// A barrier of the region; one thread of every rank calls it. `code`: where in the program; null: unknown. Returns
    /// true if the region is cancelled: another rank has come to its end.
    virtual bool meet_in_region(const void* code) = 0;

    /// What a thread may cancel on all ranks: its region, or the loop or sections that it is in.
    enum class Cancelled { region, share };
    virtual void cancel(Cancelled what) = 0;
    virtual bool is_cancelled(Cancelled what) const = 0;

    /// Whether the caller is the first of all threads that asks for this single construct. With `is_alone` only rank
    /// 0's threads ask: it is the construct for which all wait.
    virtual bool claim_single(std::uint64_t number, bool is_alone) = 0;
    /// The number of the next single construct; only between regions.
    virtual std::uint64_t next_single() = 0;
    /// The number of the next region's first claim (Member), which no region before has used: several teams of rank 0
    /// may start regions of all ranks, one after the other, as those of target constructs.
    virtual std::uint64_t next_claim() const = 0;
    /// A pointer that a thread leaves for all others; a barrier publishes it, and one follows before the next.
    virtual void leave_pointer(void* pointer) = 0;
    virtual void* left_pointer() = 0;

    /// How a loop of so many threads is divided among the ranks, the same at all of them; empty: by the numbers of the
    /// threads, as the compiler does.
    virtual LoopParts parts(const Loop& loop, int threads) = 0;
    /// The first iteration in a rank's part of a loop, counted in this part, that no thread has; as many as the part
    /// has, or more: there is none.
    virtual std::uint64_t next_iteration(std::uint64_t loop, int owner) = 0;
    /// Takes the iterations from `begin`, which is what next_iteration() returned, to before `end`. Returns false, and
    /// the new next iteration in `begin`, if another thread was faster.
    virtual bool take_iterations(std::uint64_t loop, int owner, std::uint64_t& begin, std::uint64_t end) = 0;
    static constexpr std::uint64_t most_iterations = std::uint64_t{1} << 40;

    /// Waits until the iterations before `begin` of an ordered loop are done, and enters its ordered region. Returns
    /// false if the region is cancelled.
    virtual bool begin_turn(std::uint64_t loop, std::uint64_t begin) = 0;
    /// Leaves it; `end` is the next iteration.
    virtual void end_turn(std::uint64_t loop, std::uint64_t end) = 0;

    /// `count` words, at first zero, that the threads of all ranks share in a loop with dependences. Each rank calls
    /// this once for the loop, and gives the words back when its threads have left it.
    virtual std::uint64_t* take_words(std::uint64_t loop, std::size_t count) = 0;
    virtual void give_words(std::uint64_t loop) = 0;
    /// Tells the threads of all ranks that such a word, which the caller has raised, reaches `value`; with all that
    /// this rank has written before.
    virtual void post(const LoopWord& word, std::uint64_t value) = 0;
    /// Waits until such a word reaches `value`, or the region is cancelled.
    virtual void await(const LoopWord& word, std::uint64_t value) = 0;

    /// Whether all ranks have this function.
    virtual bool has_code(void (*function)(void*)) const = 0;
    /// At rank 0: whether the ranks exchange tasks in the next region of all ranks: the program creates some, and it is
    /// not known of this region's code that it does not.
    virtual bool exchanges_tasks(const void* code) const = 0;
    virtual TaskExchange& task_exchange() = 0;
    /// A thread of this rank has created the first task of a region of all ranks.
    virtual void note_task() = 0;

    /// An event of this rank is open, or has been fulfilled by one of its threads.
    virtual void note_open_event() = 0;
    virtual void note_fulfilled_event() = 0;
    /// Lets the rank to which the event belongs fulfil it.
    virtual void fulfill(Event& event) = 0;

    /// Lets the other ranks see what this one has written, and this one what they have released before.
    virtual void flush() = 0;
    /// The same, if there are threads that may wait for a variable that this one has written, before it waits itself.
    virtual void flush_before_wait() = 0;

    /// The bytes that a variable of the program had before anything of it ran.
    virtual void copy_initial(const void* variable, std::span<std::byte> into) const = 0;

    /// Memory that the program gets from the runtime, in its heap; free() takes it back. Null: there is none left.
    virtual void* allocate(std::size_t bytes, std::size_t alignment) = 0;

    /// Locks that the constructs have for themselves.
    enum class Own : int { atomic = 1, critical = 3 };
    virtual void enter(Own lock) = 0;
    virtual void leave(Own lock) = 0;
    /// Locks in words of the program; zero is an open lock that no thread has entered yet.
    virtual void enter(std::uint32_t& word) = 0;
    virtual bool try_enter(std::uint32_t& word) = 0;
    virtual void leave(std::uint32_t& word) = 0;
    /// The lock, which is open, will not be used again.
    virtual void forget(std::uint32_t& word) = 0;

    /// The calling thread has got something that only its process has, and that it may use in later regions.
    virtual void note_tie() = 0;
    /// The same if it has changed variables of the program that each thread has for itself (thread_local).
    virtual void note_own_variables() = 0;

    /// Ends the program, because it asks for what several processes cannot do.
    [[noreturn]] virtual void refuse(const char* what) const = 0;
};

} // namespace kumiki::openmp
