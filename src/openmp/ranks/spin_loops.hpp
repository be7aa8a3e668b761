#pragma once

#include <Zydis/Zydis.h>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace kumiki::openmp {

/// An instruction of the program.
struct Decoded {
    std::byte* at;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/// Finds the loops in which the program waits for a variable, as for a flag that another thread sets (OpenMP's atomic
/// read, std::atomic, volatile): the compiler makes of such a read a plain load, by which alone nothing tells that the
/// thread wants to see what others have written.
///
/// Such a loop does the same in each pass: it calls nothing, and whatever it reads it has either not changed at all or
/// computed anew in the same pass. So it can only end because another thread changes its memory. A loop that counts,
/// searches or computes has a register that it changes from pass to pass.
class SpinLoops {
public:
    /// The next instruction of the program, in the order of addresses. Returns the last load of the loop that ends
    /// with it; null: none ends.
    const Decoded* ends_with(const Decoded& decoded);

private:
    static constexpr std::size_t longest = 48; ///< instructions
    std::deque<Decoded> before_;
};

/// Whether it is one of those that are trapped in any case, and so let the thread see what others have written.
bool is_atomic(const Decoded& decoded);

} // namespace kumiki::openmp
