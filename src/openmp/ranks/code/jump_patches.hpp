#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <ucontext.h>

#include "error/result.hpp"

namespace kumiki::openmp {

/// Addresses from `lowest` to `highest`, of which those close to `nearest` are best.
struct Reach {
    std::uintptr_t nearest, lowest, highest;

    /// Those to which the code here can jump, and whose code can name the same variables relative to itself.
    static Reach around(const void* code);
};

/// Memory that begins within reach, readable and writable; null: there is none.
std::byte* map_within(const Reach& reach, std::size_t bytes);

/// Calls of a handler that the program makes in the place of one of its instructions. They do what a trap would do, in
/// a tenth of its time, because the system takes no part.
///
/// A jump takes five bytes. If the instruction is shorter, the last bytes of the jump are those of the instructions
/// behind it, which stay as they are, because the program may jump to them. So the distance of the jump is known in
/// part, and the code that calls the handler is put where it leads. (Duck, Gao, Roychoudhury: Binary Rewriting without
/// Control Flow Recovery, PLDI 2020.)
class JumpPatches {
public:
    /// Gets the registers as in a signal's handler, with REG_RIP at the instruction; the thread goes on at REG_RIP,
    /// with the others as they are then, but for REG_RSP and the vector registers, which cannot be changed. A walk
    /// over the callers of the handler (backtrace()) leads into the program.
    using Handler = void (*)(mcontext_t& context, const void* given);

    /// Whether this processor can save its vector registers in a known number of bytes (XSAVEC).
    static bool possible();

    /// Where the thread goes on instead of calling the handler, while a byte is not 0.
    struct Detour {
        const std::atomic<std::uint8_t>* taken;
        const std::byte* to;
    };

    static constexpr std::size_t call_bytes = 48;
    /// Code that calls the handler in the place of the instruction at `at`.
    static void write_call(std::byte* place, const std::byte* at, Handler handler, const void* given);

    static constexpr std::size_t jump_bytes = 5;
    /// A jump to code within Reach::around(place).
    static void write_jump(std::byte* place, const std::byte* to);

    /// Replaces an instruction of the code, which can be written. Returns false if there is no memory where the jump
    /// could lead, if the program may also come to its second byte, or if jumps are not possible(). Of several
    /// instructions the last one comes first: those before it may have its first bytes in their jumps.
    bool replace(std::span<const std::byte> code, std::span<std::byte> instruction, Handler handler, const void* given,
                 const std::optional<Detour>& detour = {});

    /// Now the calls can be executed.
    Result<> finish();

private:
    std::byte* place_within(const Reach& reach, std::size_t bytes);

    static constexpr std::size_t most_pages = 1024;
    std::map<std::uintptr_t, std::size_t> pages_; ///< how many bytes of them are used
};

} // namespace kumiki::openmp
