#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "openmp/ranks/code/instructions.hpp"
#include "openmp/ranks/code/spin_loops.hpp"

namespace kumiki::openmp {

/// Finds the looks at variables before the first pass of a loop that waits for them. Compilers put the condition of a
/// loop at its end, and a copy of it before the loop, which finds what the loop would wait for if that has come
/// already, and jumps. Between that jump and the loop other loads may stand, as of registers that were saved. Or the
/// code that follows the loop stands there, and the jump leads around it. Or the program looks by itself before it
/// calls a function that waits: `if (busy[k]) await(&busy[k]);`.
class LooksBefore {
public:
    /// `code`: in which the loops are.
    LooksBefore(std::span<const SpinLoop> loops, std::span<std::byte> code);
    /// The next instruction of the code, in the order of addresses. If it enters a loop, returns the load before the
    /// last conditional jump, which may have another purpose, and those before other jumps to where the loop goes on.
    /// If it is a conditional jump that leads to a loop, or lets the thread go on to one, returns the load before it.
    std::vector<Decoded> loads_before(const Glance& glance);

private:
    struct Loop {
        std::set<std::byte*> body;
        std::vector<std::byte*> exits;
    };
    const Loop* entered_by(const Glance& glance) const;
    bool leads_into_loop(std::byte* at, bool in_called = false) const;
    std::optional<Decoded> load_before(std::size_t number) const;

    static constexpr std::size_t longest = 6; ///< instructions from the load to the jump
    static constexpr std::size_t most = 4;    ///< jumps
    static constexpr int longest_way = 12;    ///< instructions from a jump to a loop
    std::map<std::byte*, Loop> loops_;        ///< by their beginnings
    std::set<const std::byte*> in_loops_;     ///< the instructions of all of them
    std::span<std::byte> code_;
    LastInstructions last_;
};

} // namespace kumiki::openmp
