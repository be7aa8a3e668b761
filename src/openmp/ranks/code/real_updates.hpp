#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <ucontext.h>
#include <vector>

#include "dsm/word_change.hpp"
#include "openmp/ranks/code/atomic_changes.hpp"
#include "openmp/ranks/code/instructions.hpp"
#include "openmp/ranks/code/live_registers.hpp"

namespace kumiki::openmp {

/// An update of a floating-point number, x = x op y. Compilers make of OpenMP's atomic constructs and reductions a load
/// of x, the operation, and a compare-and-exchange, which is tried again where another thread has changed x meanwhile.
///
/// If the home of x makes the whole update when the thread loads x, and the load finds what x had before, then the
/// thread computes the same, and its compare-and-exchange would succeed: as if nobody had come in between. Where the
/// thread computes y behind the load, the load is put off until it uses x.
///
/// If the program does not use the result, what the load has found does not matter, and the update may be made in the
/// place of the compare-and-exchange, which would be tried until it succeeds: so where compilers store registers in
/// between, which must not come behind the update.
struct RealUpdate {
    std::byte* load; ///< the first one of these instructions
    std::byte* use;  ///< the one in whose place, or before which, y is known and the update can be made; often the load
    std::byte* exchange; ///< the last one
    /// The registers that have x at `use`, and of which the load writes the first; a bit for each in the context of a
    /// signal.
    std::uint32_t loaded;
    dsm::WordChange::Kind kind;
    std::uint8_t bytes;
    int vector_register; ///< that has y at `use`; -1: it is `variable`
    Variable variable;
    bool is_wide;       ///< x is a float and y a double
    Variable exchanged; ///< what the compare-and-exchange changes, as the thread names it at `use`
    Registers results;  ///< registers with what the update has found or made, at its end

    /// Whether the program uses what the update has found or made, as far as is known (uses_any).
    bool uses_result(FunctionCalls* calls) const;
    /// When the thread is at `use`.
    dsm::WordChange wanted(const mcontext_t& context) const;
    /// Puts what x had before into the registers, at `use`.
    void load_into(gregset_t& registers, std::uint64_t before) const;
};

/// Finds the updates of a program: from the load to the compare-and-exchange no way branches off, nothing is written to
/// memory, and the new value is one operation on the old one with what was there before the old one is used. (Whether
/// both name the same variable is known when a thread comes there.) Other ways that lead into these instructions, as
/// that of a second attempt, do not matter: they come by no load.
class RealUpdates {
public:
    /// The next instruction of the program, in the order of addresses.
    void add(const Glance& glance);
    const std::vector<RealUpdate>& found() const { return found_; }

private:
    void search(const Decoded& exchange);

    static constexpr std::size_t longest = 16; ///< instructions before the compare-and-exchange
    std::deque<std::byte*> before_;            ///< the last ones, without a gap
    const std::byte* end_ = nullptr;           ///< of the last one
    std::vector<RealUpdate> found_;
};

} // namespace kumiki::openmp
