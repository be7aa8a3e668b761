#include "openmp/ranks/code/atomic_changes.hpp"

#include <array>
#include <span>

#include "openmp/ranks/code/live_registers.hpp"

namespace kumiki::openmp {
namespace {

using WordKind = dsm::WordChange::Kind;

/// The flags that arithmetic sets, as they are in the processor's register of flags.
constexpr std::uint64_t carry = 0x001, overflow = 0x800, arithmetic = overflow | 0x0d4 | carry;

/// LAHF stores all of them but the overflow in AH, each at its place.
std::uint64_t flags_from(std::uint16_t ax) { return (ax >> 8 & 0xd5U) | ((ax & 1U) != 0 ? overflow : 0); }

template <class Word>
std::uint64_t flags_of_sum(Word one, Word other) {
    std::uint16_t ax = 0;
    asm("add %2, %1\n\tlahf\n\tseto %%al" : "=&a"(ax), "+r"(one) : "r"(other) : "cc");
    return flags_from(ax);
}

template <class Word>
std::uint64_t flags_of_difference(Word one, Word other) {
    std::uint16_t ax = 0;
    asm("cmp %2, %1\n\tlahf\n\tseto %%al" : "=&a"(ax) : "r"(one), "r"(other) : "cc");
    return flags_from(ax);
}

template <class Word>
std::uint64_t flags_of_bits(Word result) {
    std::uint16_t ax = 0;
    asm("test %1, %1\n\tlahf\n\tseto %%al" : "=&a"(ax) : "r"(result) : "cc");
    return flags_from(ax);
}

} // namespace

std::optional<int> context_register(ZydisRegister name) {
    if (name == ZYDIS_REGISTER_NONE) return -1;
    constexpr std::array names{REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                               REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    if (ZydisRegisterGetClass(name) != ZYDIS_REGCLASS_GPR64) return {};
    return names.at(static_cast<std::size_t>(ZydisRegisterGetId(name)));
}

std::optional<Variable> Variable::of(const Thing& thing) {
    const bool relative = thing.base == whole(ZYDIS_REGISTER_RIP); // then the displacement is the address
    const auto base = relative ? -1 : context_register(thing.base), index = context_register(thing.index);
    if (!base || !index) return {};
    return Variable{*base, *index, thing.scale, thing.displacement, true};
}

const void* Variable::address(const gregset_t& registers) const {
    if (!known) return nullptr;
    const auto value = [&](int name) { return name < 0 ? 0 : std::int64_t{registers[name]}; };
    return reinterpret_cast<const void*>(value(base) + value(index) * scale + displacement); // NOLINT
}

std::optional<AtomicChange::Operation> AtomicChange::operation_of(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_ADD: return Operation::add;
    case ZYDIS_MNEMONIC_SUB: return Operation::subtract;
    case ZYDIS_MNEMONIC_INC: return Operation::increment;
    case ZYDIS_MNEMONIC_DEC: return Operation::decrement;
    case ZYDIS_MNEMONIC_AND: return Operation::bit_and;
    case ZYDIS_MNEMONIC_OR: return Operation::bit_or;
    case ZYDIS_MNEMONIC_XOR: return Operation::bit_xor;
    case ZYDIS_MNEMONIC_XCHG: return Operation::exchange;
    case ZYDIS_MNEMONIC_XADD: return Operation::exchange_add;
    case ZYDIS_MNEMONIC_CMPXCHG: return Operation::compare_exchange;
    default: return {};
    }
}

std::optional<AtomicChange> AtomicChange::of(const Decoded& decoded) {
    AtomicChange made;
    const auto operation = operation_of(decoded.instruction.mnemonic);
    if (!operation) return {};
    made.operation_ = *operation;
    if (made.operation_ == Operation::increment || made.operation_ == Operation::decrement) made.immediate_ = 1;
    for (const auto& operand : std::span(decoded.operands, decoded.instruction.operand_count_visible)) {
        if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
            if (operand.size != 32 && operand.size != 64) return {};
            made.bytes_ = static_cast<std::uint8_t>(operand.size / 8);
        } else if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
            made.immediate_ = operand.imm.value.u;
        } else if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
            const auto whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value);
            const auto place = context_register(whole);
            if (!place) return {};
            made.register_ = *place;
        } else return {};
    }
    if (made.bytes_ == 0) return {};
    return made;
}

bool AtomicChange::uses_result(std::byte* end) const {
    if (register_ < 0 && immediate_ == 0) return true; // it changes nothing: compilers make fences of it
    const bool gives_value = operation_ == Operation::exchange || operation_ == Operation::exchange_add ||
                             operation_ == Operation::compare_exchange;
    return gives_value || uses_any(end, arithmetic_flags, end);
}

std::uint64_t AtomicChange::operand(const gregset_t& registers) const {
    return of_word(register_ < 0 ? immediate_ : static_cast<std::uint64_t>(registers[register_]));
}

dsm::WordChange AtomicChange::wanted(const gregset_t& registers) const {
    const auto change = [&](WordKind kind, std::uint64_t value) { return dsm::WordChange{kind, bytes_, value, 0}; };
    const std::uint64_t value = operand(registers);
    switch (operation_) {
    case Operation::add:
    case Operation::increment:
    case Operation::exchange_add: return change(WordKind::add, value);
    case Operation::subtract:
    case Operation::decrement: return change(WordKind::add, -value);
    case Operation::bit_and: return change(WordKind::bit_and, value);
    case Operation::bit_or: return change(WordKind::bit_or, value);
    case Operation::bit_xor: return change(WordKind::bit_xor, value);
    case Operation::exchange: return change(WordKind::exchange, value);
    case Operation::compare_exchange: break;
    }
    return {WordKind::compare_exchange, bytes_, value, of_word(static_cast<std::uint64_t>(registers[REG_RAX]))};
}

template <class Word>
void AtomicChange::set_flags(Word before, gregset_t& registers) const {
    const auto value = static_cast<Word>(operand(registers));
    std::uint64_t changed = arithmetic, flags = 0;
    switch (operation_) {
    case Operation::exchange: return;
    case Operation::increment: changed &= ~carry; [[fallthrough]];
    case Operation::add:
    case Operation::exchange_add: flags = flags_of_sum(before, value); break;
    case Operation::decrement: changed &= ~carry; [[fallthrough]];
    case Operation::subtract: flags = flags_of_difference(before, value); break;
    case Operation::bit_and:
    case Operation::bit_or:
    case Operation::bit_xor: flags = flags_of_bits(static_cast<Word>(wanted(registers).after(before))); break;
    case Operation::compare_exchange: flags = flags_of_difference(static_cast<Word>(registers[REG_RAX]), before); break;
    }
    auto& all = registers[REG_EFL];
    all = static_cast<greg_t>((static_cast<std::uint64_t>(all) & ~changed) | (flags & changed));
}

/// A register of 32 bits that is written has zeros above them. The accumulator is not written where it is equal.
void AtomicChange::finish(std::uint64_t before, gregset_t& registers) const {
    if (bytes_ == 4) set_flags(static_cast<std::uint32_t>(before), registers);
    else set_flags(before, registers);
    if (operation_ == Operation::exchange || operation_ == Operation::exchange_add)
        registers[register_] = static_cast<greg_t>(before);
    if (operation_ == Operation::compare_exchange && before != of_word(static_cast<std::uint64_t>(registers[REG_RAX])))
        registers[REG_RAX] = static_cast<greg_t>(before);
}

} // namespace kumiki::openmp
