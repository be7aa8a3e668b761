#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "openmp/ranks/code/instructions.hpp"
#include "openmp/ranks/code/waiting_calls.hpp"

namespace kumiki::openmp {

/// A loop in which the program waits for variables.
struct SpinLoop {
    std::byte *begin, *end;        ///< its first instruction, and its last one
    std::vector<std::byte*> body;  ///< all of them, in order; other code may lie between them
    std::vector<Decoded> loads;    ///< with each of which it may end (WaitingCalls::deciding_loads())
    std::vector<std::byte*> exits; ///< where the program goes on then
    std::byte* entry;              ///< where its counter begins anew, before it; its first instruction, if it has none
};

/// Finds the loops in which the program waits for a variable, as for a flag that another thread sets (OpenMP's atomic
/// read, std::atomic, volatile): the compiler makes of such a read a plain load, by which alone nothing tells that the
/// thread wants to see what others have written.
///
/// Such a loop does the same in each pass: it calls nothing but WaitingCalls, and whatever it reads it has either not
/// changed at all, or computed anew in the same pass, or loaded from where it changes nothing. So it can only end
/// because another thread changes its memory. Or it counts its passes, as loops do that give up the processor after
/// some: then it must begin to count anew each time, look at the same variables in each pass, write nothing but
/// registers, and not be a part of a loop that does more. Any other loop that counts, searches or computes is none, and
/// where a backward jump leads to code that does not come back to it, there is no loop. A fence (OpenMP's flush)
/// changes nothing.
class SpinLoops {
public:
    /// `calls` must outlive it.
    explicit SpinLoops(WaitingCalls& calls) : calls_(calls) {}
    /// The next instruction of the program, in the order of addresses.
    void add(const Glance& glance);
    /// The loops among the instructions so far.
    std::vector<SpinLoop> found() const;

private:
    struct Jump {
        std::byte *from, *to;
    };
    std::optional<SpinLoop> from(std::byte* begin);

    LastInstructions before_;
    WaitingCalls& calls_;
    std::vector<SpinLoop> loops_;
    std::vector<Jump> other_loops_; ///< the backward jumps of loops that do more
};

} // namespace kumiki::openmp
