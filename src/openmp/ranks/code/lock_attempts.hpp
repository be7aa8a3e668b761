#pragma once

#include "openmp/ranks/code/instructions.hpp"

namespace kumiki::openmp {

/// Finds the atomic instructions by which the program may enter a lock of its own: the holder leaves such a lock by a
/// plain store, so what it has written before becomes visible only as for a thread that waits for a variable.
///
/// These are exchanges, and instructions that compare and exchange, unless they bring home a new value that was
/// computed from the old one, as reductions do: a lock's holder expects a value of its own choice, and writes one.
class LockAttempts {
public:
    /// The next instruction of the program, in the order of addresses: whether it is one.
    bool add(const Glance& glance);

private:
    enum class Origin : std::uint8_t { constant, same_variable, computed, unknown };
    Origin origin_of(Thing thing, const Thing& variable) const;
    bool may_enter(const Decoded& decoded) const;

    LastInstructions before_;
};

} // namespace kumiki::openmp
