#pragma once

#include <Zydis/Zydis.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// What instructions of the program do: which registers and variables they use, and where they jump.
namespace kumiki::openmp {

/// An instruction of the program.
struct Decoded {
    std::byte* at;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

    std::byte* end() const { return at + instruction.length; }
};

/// In bytes, of an instruction (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
/// section 2.3.11).
constexpr std::size_t longest_instruction = 15;

/// The first instruction of a piece of code; nothing: there is none.
std::optional<Decoded> decode(std::span<std::byte> code);

/// What is known of an instruction without its operands. Most of a program's do not matter, and need no more.
struct Glance {
    std::byte* at;
    std::size_t bytes;
    bool may_be_atomic;                    ///< false: is_atomic() is, too
    bool is_conditional, is_unconditional; ///< a jump
    bool leaves_the_function;              ///< or ends it
    std::byte* target;                     ///< as of target_of()

    std::byte* jump_target() const { return is_conditional || is_unconditional ? target : nullptr; }

    std::byte* end() const { return at + bytes; }
    Decoded decoded() const { return *decode({at, bytes}); }
};

/// The same as decode().
std::optional<Glance> glance_at(std::span<std::byte> code);

/// Calls each(glance) for the instructions of a piece of code, read from its beginning to its end.
template <class Each>
void for_each_instruction(std::span<std::byte> code, Each each) {
    while (!code.empty()) {
        const auto glance = glance_at(code);
        if (glance) each(*glance);
        code = code.subspan(glance ? glance->bytes : 1); // between functions is padding
    }
}

/// The last instructions of a piece of code that has been read so far. They are decoded anew where they matter.
class LastInstructions {
public:
    void add(const Glance& glance) { all_[count_++ % most] = {glance.at, glance.bytes}; }
    std::size_t size() const { return count_ < most ? count_ : most; }
    /// How many of them are from this one on, with it; 0: it is not among them.
    std::size_t since(const std::byte* at) const;
    /// The last one is number 0.
    Decoded operator[](std::size_t number) const { return *decode(all_[(count_ - 1 - number) % most]); }

private:
    static constexpr std::size_t most = 96;
    std::array<std::span<std::byte>, most> all_;
    std::size_t count_ = 0;
};

/// A register, or a variable by the way in which an instruction names it.
struct Thing {
    ZydisRegister base, index;
    int scale; ///< -1: a register
    std::int64_t displacement;

    bool operator==(const Thing&) const = default;
    bool is_memory() const { return scale >= 0; }
    /// Whether it may be a variable of the function itself, on the stack.
    bool is_on_stack() const {
        return is_memory() && index == ZYDIS_REGISTER_NONE &&
               (base == ZYDIS_REGISTER_RSP || (base == ZYDIS_REGISTER_RBP && displacement < 0));
    }
};

/// The whole of a register of which an instruction uses a part.
ZydisRegister whole(ZydisRegister name);
Thing register_named(ZydisRegister name);
Thing variable_of(const Decoded& decoded, const ZydisDecodedOperandMem& memory);
bool has(const std::vector<Thing>& things, const Thing& thing);

bool is_no_operation(const Decoded& decoded);
/// Whether it only writes zero into a register, as `xor eax, eax`.
bool is_zeroing(const Decoded& decoded);
/// Whether it converts a number, and leaves the part of the register as it is in which the number has no room.
bool is_conversion(const Decoded& decoded);

/// Calls each(thing, is_read, is_written) for all that an instruction uses, but for the program counter.
template <class Each>
void for_each_use(const Decoded& decoded, Each each) {
    if (is_no_operation(decoded)) return;
    const bool zeroes = is_zeroing(decoded), converts = is_conversion(decoded);
    const auto use = [&each](ZydisRegister name, ZydisOperandActions actions, bool is_set_only) {
        if (name == ZYDIS_REGISTER_NONE || whole(name) == whole(ZYDIS_REGISTER_RIP)) return;
        each(register_named(name), !is_set_only && (actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
             (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0);
    };
    for (const ZydisDecodedOperand& operand : std::span(decoded.operands, decoded.instruction.operand_count)) {
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER)
            use(operand.reg.value, operand.actions, zeroes || (converts && operand.id == 0));
        if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
        use(operand.mem.base, ZYDIS_OPERAND_ACTION_READ, false);
        use(operand.mem.index, ZYDIS_OPERAND_ACTION_READ, false);
        if (operand.mem.type == ZYDIS_MEMOP_TYPE_MEM)
            each(variable_of(decoded, operand.mem), (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
                 (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0);
    }
}

bool reads_memory(const Decoded& decoded);
/// Whether the operand is a variable of the thread (threadprivate, thread_local), of which each process has its own.
bool is_of_thread(const ZydisDecodedOperandMem& memory);
bool uses_variable_of_thread(const Decoded& decoded);
/// Whether it reads the word by which functions find that their stack has been overwritten (-fstack-protector), and
/// which nobody changes.
bool reads_stack_guard(const Decoded& decoded);
/// Whether all memory that it reads may be variables of the function itself.
bool reads_stack_only(const Decoded& decoded);

/// Whether it is one of those that are replaced in any case, and so let the thread see what others have written.
bool is_atomic(const Decoded& decoded);
/// What compilers make of a flush: MFENCE, or an atomic instruction that changes nothing of the stack.
bool is_fence(const Decoded& decoded);

bool is_call(const Decoded& decoded);
bool is_jump(const Decoded& decoded);
/// Whether it calls or returns, or enters the system.
bool leaves_the_function(const Decoded& decoded);
/// Where a jump or a call goes that the instruction itself names; null: it names nothing.
std::byte* target_of(const Decoded& decoded);
/// The same, of a jump only.
std::byte* jump_target_of(const Decoded& decoded);
/// Where a thread may go on behind an instruction, in its function; null: nowhere.
std::array<std::byte*, 2> successors_of(const Decoded& decoded);
/// The variable of the linker through which an instruction calls or jumps; 0: none.
std::uintptr_t slot_of(const Decoded& decoded);

} // namespace kumiki::openmp
