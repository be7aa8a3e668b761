#include "openmp/ranks/code/lock_attempts.hpp"

namespace kumiki::openmp {
namespace {

bool writes(const Decoded& decoded, const Thing& wanted) {
    bool found = false;
    for_each_use(decoded,
                 [&](const Thing& thing, bool, bool is_written) { found = found || (is_written && thing == wanted); });
    return found;
}

bool is_copy(const Decoded& decoded) {
    switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD: return true;
    default: return false;
    }
}

} // namespace

/// Where a value comes from that an instruction behind those so far finds in a register or on the stack. What is
/// written in between by a jump to here is not looked for.
LockAttempts::Origin LockAttempts::origin_of(Thing thing, const Thing& variable) const {
    for (std::size_t number = 0; number < before_.size(); ++number) {
        const Decoded decoded = before_[number];
        const auto category = decoded.instruction.meta.category;
        if (category == ZYDIS_CATEGORY_RET || category == ZYDIS_CATEGORY_UNCOND_BR) break;
        if (is_call(decoded) && !thing.is_memory()) break;
        if (!writes(decoded, thing)) continue;
        if (is_zeroing(decoded)) return Origin::constant;
        if (!is_copy(decoded)) return Origin::computed;
        const ZydisDecodedOperand& source = decoded.operands[1];
        if (source.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return Origin::constant;
        const Thing from = source.type == ZYDIS_OPERAND_TYPE_REGISTER ? register_named(source.reg.value)
                                                                      : variable_of(decoded, source.mem);
        if (from == variable) return Origin::same_variable;
        if (from.is_memory() && !from.is_on_stack()) break;
        thing = from;
    }
    return Origin::unknown;
}

bool LockAttempts::may_enter(const Decoded& decoded) const {
    if (!is_atomic(decoded)) return false;
    switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_XCHG:
    case ZYDIS_MNEMONIC_BTS:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTC: return true;
    case ZYDIS_MNEMONIC_CMPXCHG: break;
    default: return false;
    }
    const Thing variable = variable_of(decoded, decoded.operands[0].mem);
    const Origin expected = origin_of(register_named(ZYDIS_REGISTER_RAX), variable);
    if (expected == Origin::constant) return true;
    return expected != Origin::same_variable &&
           origin_of(register_named(decoded.operands[1].reg.value), variable) != Origin::computed;
}

bool LockAttempts::add(const Glance& glance) {
    const bool found = glance.may_be_atomic && may_enter(glance.decoded());
    before_.add(glance);
    return found;
}

} // namespace kumiki::openmp
