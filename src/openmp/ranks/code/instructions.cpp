#include "openmp/ranks/code/instructions.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace kumiki::openmp {
namespace {

const ZydisDecoder& decoder() {
    static const ZydisDecoder decoder = [] {
        ZydisDecoder made;
        ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        return made;
    }();
    return decoder;
}

bool leaves_the_function(ZydisInstructionCategory category) {
    return category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_RET || category == ZYDIS_CATEGORY_SYSCALL ||
           category == ZYDIS_CATEGORY_INTERRUPT;
}

} // namespace

std::optional<Decoded> decode(std::span<std::byte> code) {
    std::optional<Decoded> decoded(std::in_place);
    decoded->at = code.data();
    if (ZYAN_FAILED(
            ZydisDecoderDecodeFull(&decoder(), code.data(), code.size(), &decoded->instruction, decoded->operands)))
        return {};
    return decoded;
}

std::optional<Glance> glance_at(std::span<std::byte> code) {
    ZydisDecodedInstruction instruction;
    if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder(), nullptr, code.data(), code.size(), &instruction)))
        return {};
    const auto category = instruction.meta.category;
    Glance glance{.at = code.data(),
                  .bytes = instruction.length,
                  .may_be_atomic = (instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 ||
                                   instruction.mnemonic == ZYDIS_MNEMONIC_MFENCE ||
                                   instruction.mnemonic == ZYDIS_MNEMONIC_XCHG,
                  .is_conditional = category == ZYDIS_CATEGORY_COND_BR,
                  .is_unconditional = category == ZYDIS_CATEGORY_UNCOND_BR,
                  .leaves_the_function = leaves_the_function(category) || instruction.mnemonic == ZYDIS_MNEMONIC_UD2,
                  .target = nullptr};
    if (instruction.raw.imm[0].is_relative != 0) glance.target = glance.end() + instruction.raw.imm[0].value.s;
    return glance;
}

std::size_t LastInstructions::since(const std::byte* at) const {
    for (std::size_t number = 0; number < size(); ++number)
        if (all_[(count_ - 1 - number) % most].data() == at) return number + 1;
    return 0;
}

/// From a table, because a program's code names millions of registers when it starts.
ZydisRegister whole(ZydisRegister name) {
    static const auto all = [] {
        std::array<ZydisRegister, ZYDIS_REGISTER_MAX_VALUE + 1> made{};
        for (std::size_t each = 0; each < made.size(); ++each) {
            const auto part = static_cast<ZydisRegister>(each);
            const ZydisRegister longest = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, part);
            made[each] = longest == ZYDIS_REGISTER_NONE ? part : longest;
        }
        return made;
    }();
    return all[name];
}

Thing register_named(ZydisRegister name) { return {whole(name), ZYDIS_REGISTER_NONE, -1, 0}; }

Thing variable_of(const Decoded& decoded, const ZydisDecodedOperandMem& memory) {
    Thing thing{whole(memory.base), whole(memory.index), memory.scale, memory.disp.value};
    // The same variable has another displacement in each instruction.
    if (memory.base == ZYDIS_REGISTER_RIP)
        thing.displacement += static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(decoded.end()));
    return thing;
}

bool has(const std::vector<Thing>& things, const Thing& thing) {
    return std::ranges::find(things, thing) != things.end();
}

bool is_no_operation(const Decoded& decoded) {
    return decoded.instruction.meta.category == ZYDIS_CATEGORY_WIDENOP ||
           decoded.instruction.mnemonic == ZYDIS_MNEMONIC_NOP;
}

bool is_zeroing(const Decoded& decoded) {
    const auto& [at, instruction, operands] = decoded;
    constexpr std::array zeroing{ZYDIS_MNEMONIC_XOR,    ZYDIS_MNEMONIC_SUB,   ZYDIS_MNEMONIC_PXOR,
                                 ZYDIS_MNEMONIC_XORPS,  ZYDIS_MNEMONIC_XORPD, ZYDIS_MNEMONIC_VPXOR,
                                 ZYDIS_MNEMONIC_VXORPS, ZYDIS_MNEMONIC_VXORPD};
    if (std::ranges::find(zeroing, instruction.mnemonic) == zeroing.end()) return false;
    const std::size_t count = instruction.operand_count_visible; // the last two are what is combined
    const ZydisDecodedOperand &one = operands[count - 2], &other = operands[count - 1];
    return one.type == ZYDIS_OPERAND_TYPE_REGISTER && other.type == ZYDIS_OPERAND_TYPE_REGISTER &&
           one.reg.value == other.reg.value;
}

bool is_conversion(const Decoded& decoded) {
    switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_CVTSI2SD:
    case ZYDIS_MNEMONIC_CVTSI2SS:
    case ZYDIS_MNEMONIC_CVTSD2SS:
    case ZYDIS_MNEMONIC_VCVTSD2SS:
    case ZYDIS_MNEMONIC_CVTSS2SD:
    case ZYDIS_MNEMONIC_VCVTSS2SD: return true;
    default: return false;
    }
}

bool reads_memory(const Decoded& decoded) {
    bool found = false;
    for_each_use(decoded,
                 [&](const Thing& thing, bool is_read, bool) { found = found || (is_read && thing.is_memory()); });
    return found;
}

bool is_of_thread(const ZydisDecodedOperandMem& memory) {
    return memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS;
}

bool uses_variable_of_thread(const Decoded& decoded) {
    return std::ranges::any_of(std::span(decoded.operands, decoded.instruction.operand_count),
                               [](const ZydisDecodedOperand& operand) {
                                   return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && is_of_thread(operand.mem);
                               });
}

bool reads_stack_guard(const Decoded& decoded) {
    constexpr std::int64_t place = 0x28; // by the interface of the processor
    return std::ranges::any_of(std::span(decoded.operands, decoded.instruction.operand_count),
                               [](const ZydisDecodedOperand& operand) {
                                   return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && is_of_thread(operand.mem) &&
                                          operand.mem.base == ZYDIS_REGISTER_NONE &&
                                          operand.mem.index == ZYDIS_REGISTER_NONE && operand.mem.disp.value == place;
                               });
}

bool reads_stack_only(const Decoded& decoded) {
    bool only = true;
    for_each_use(decoded, [&](const Thing& thing, bool is_read, bool) {
        if (is_read && thing.is_memory()) only = only && thing.is_on_stack();
    });
    return only;
}

bool is_atomic(const Decoded& decoded) {
    const auto& [at, instruction, operands] = decoded;
    if ((instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0) return true;
    if (instruction.mnemonic == ZYDIS_MNEMONIC_MFENCE) return true;
    return instruction.mnemonic == ZYDIS_MNEMONIC_XCHG &&
           (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY || operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY);
}

bool is_fence(const Decoded& decoded) {
    const auto& [at, instruction, operands] = decoded;
    if (instruction.mnemonic == ZYDIS_MNEMONIC_MFENCE) return true;
    return (instruction.mnemonic == ZYDIS_MNEMONIC_OR || instruction.mnemonic == ZYDIS_MNEMONIC_ADD) &&
           operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[0].mem.base == ZYDIS_REGISTER_RSP &&
           operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[1].imm.value.u == 0;
}

bool is_call(const Decoded& decoded) { return decoded.instruction.meta.category == ZYDIS_CATEGORY_CALL; }

bool is_jump(const Decoded& decoded) {
    const auto category = decoded.instruction.meta.category;
    return category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR;
}

bool leaves_the_function(const Decoded& decoded) { return leaves_the_function(decoded.instruction.meta.category); }

std::byte* target_of(const Decoded& decoded) {
    const ZydisDecodedOperand& where = decoded.operands[0];
    if (where.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || where.imm.is_relative == 0) return nullptr;
    return decoded.end() + where.imm.value.s;
}

std::byte* jump_target_of(const Decoded& decoded) { return is_jump(decoded) ? target_of(decoded) : nullptr; }

std::array<std::byte*, 2> successors_of(const Decoded& decoded) {
    const auto category = decoded.instruction.meta.category;
    const bool goes_on = category != ZYDIS_CATEGORY_UNCOND_BR && category != ZYDIS_CATEGORY_RET &&
                         decoded.instruction.mnemonic != ZYDIS_MNEMONIC_UD2;
    return {goes_on ? decoded.end() : nullptr, jump_target_of(decoded)};
}

std::uintptr_t slot_of(const Decoded& decoded) {
    const ZydisDecodedOperand& where = decoded.operands[0];
    if (where.type != ZYDIS_OPERAND_TYPE_MEMORY || where.mem.base != ZYDIS_REGISTER_RIP) return 0;
    return reinterpret_cast<std::uintptr_t>(decoded.end()) + static_cast<std::uintptr_t>(where.mem.disp.value);
}

} // namespace kumiki::openmp
