#pragma once

#include <mutex>
#include <vector>

namespace kumiki::openmp {

/// What the program wants done at its end (atexit, destructors of static variables of functions), as far as threads of
/// a rank other than 0 have said so: the C library would do it when the ranks have left each other. Thread-safe.
class LastCalls {
public:
    struct Call {
        void (*function)(void*);
        void* argument;
    };
    void add(Call call);
    bool empty() const { return calls_.empty(); }
    /// The last one first; each may add others.
    void make();

private:
    std::mutex mutex_;
    std::vector<Call> calls_;
};

/// Ends the job, in the process of the program that is about to end. At rank 0, in the thread that runs main and
/// outside of regions, all ranks leave it. Elsewhere the others cannot be told; the launcher then ends them.
void end_job();

/// Lets that happen also where the program ends otherwise than by rank 0's exit(). Every rank calls this before
/// anything of the program runs, so that it comes after what the program wants done at its end.
void await_other_ends(int rank);

} // namespace kumiki::openmp
