#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "openmp/ranks/memory/image.hpp"
#include "openmp/ranks/code/instructions.hpp"

namespace kumiki::openmp {

/// Instructions in the order of addresses.
using Body = std::span<const Decoded* const>;

/// The functions that a loop may call while it waits for a variable, because they change nothing by which it goes on:
/// those of libraries that tell a thread its number, give up the processor, let it execute tasks, or are clang's flush;
/// and functions of the program itself that only look at variables, as `bool is_ready() const` may.
class WaitingCalls {
public:
    /// The program must outlive it.
    explicit WaitingCalls(const Image& program);
    /// The loads by which the function decides what it returns, none if it is a library's; nothing: it may do something
    /// else.
    const std::optional<std::vector<Decoded>>& loads_of(const Decoded& call);
    bool is_of_library(const Decoded& call);
    /// A variable of the linker, of which the program's code alone does not say which function it leads to.
    struct Slot {
        std::uintptr_t at;
        bool waits; ///< whether that is one of a library's that a waiting loop may call
    };
    static bool is_still_true(const Slot& slot);
    /// Those that have been looked at.
    const std::vector<Slot>& slots() const { return slots_; }
    /// Whether an instruction that names this may load a variable of another thread.
    bool may_be_shared(const Thing& thing) const;
    /// The loads, by the code or by functions that it calls, that decide where its jumps lead, but for those that are
    /// `left_out`, or what it returns. These are the last one before each jump and each return; and the last one that
    /// is not on the stack, because between that and the jump unoptimised code loads its own variables. What the code
    /// writes itself is no variable of another thread.
    std::vector<Decoded> deciding_loads(Body code, Body left_out = {});

private:
    using Loads = std::optional<std::vector<Decoded>>;
    /// The rest of the program's code from here on; empty if this is none.
    std::span<std::byte> code_from(const std::byte* at) const;
    std::uintptr_t slot_behind(const Decoded& call) const;
    /// Whether it is a call that a function makes when it finds something wrong, as that its stack has been
    /// overwritten.
    bool ends_process(const Decoded& decoded) const;
    Loads loads_of_function(std::span<std::byte> code);
    Loads loads_of_body(Body body);

    static constexpr std::size_t longest = 96; ///< instructions of a function
    const Image& program_;
    std::vector<Slot> slots_;
    std::map<std::byte*, Loads> known_; ///< by the function's first instruction
};

} // namespace kumiki::openmp
