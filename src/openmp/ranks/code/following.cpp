#include "openmp/ranks/code/following.hpp"

#include <algorithm>

#include "openmp/ranks/code/vector_registers.hpp"

namespace kumiki::openmp {
namespace {

bool is_load_of_number(ZydisMnemonic mnemonic) {
    return mnemonic == ZYDIS_MNEMONIC_MOVSD || mnemonic == ZYDIS_MNEMONIC_VMOVSD || mnemonic == ZYDIS_MNEMONIC_MOVSS ||
           mnemonic == ZYDIS_MNEMONIC_VMOVSS;
}

bool is_register(const ZydisDecodedOperand& operand) { return operand.type == ZYDIS_OPERAND_TYPE_REGISTER; }
bool is_memory(const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && !is_of_thread(operand.mem);
}

} // namespace

bool copies_register(const Decoded& decoded) {
    if (!is_register(decoded.operands[0]) || !is_register(decoded.operands[1])) return false;
    switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVQ:
    case ZYDIS_MNEMONIC_VMOVQ:
    case ZYDIS_MNEMONIC_MOVD:
    case ZYDIS_MNEMONIC_VMOVD:
    case ZYDIS_MNEMONIC_MOVAPS:
    case ZYDIS_MNEMONIC_VMOVAPS:
    case ZYDIS_MNEMONIC_MOVAPD:
    case ZYDIS_MNEMONIC_VMOVAPD: return true;
    default: return false;
    }
}

std::optional<Following::Operation> Following::operation_of(ZydisMnemonic mnemonic) {
    using UpdateKind = dsm::WordChange::Kind;
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_ADDSD:
    case ZYDIS_MNEMONIC_VADDSD: return Operation{UpdateKind::real_add, true, 8};
    case ZYDIS_MNEMONIC_ADDSS:
    case ZYDIS_MNEMONIC_VADDSS: return Operation{UpdateKind::real_add, true, 4};
    case ZYDIS_MNEMONIC_MULSD:
    case ZYDIS_MNEMONIC_VMULSD: return Operation{UpdateKind::real_multiply, true, 8};
    case ZYDIS_MNEMONIC_MULSS:
    case ZYDIS_MNEMONIC_VMULSS: return Operation{UpdateKind::real_multiply, true, 4};
    case ZYDIS_MNEMONIC_SUBSD:
    case ZYDIS_MNEMONIC_VSUBSD: return Operation{UpdateKind::real_subtract, false, 8};
    case ZYDIS_MNEMONIC_SUBSS:
    case ZYDIS_MNEMONIC_VSUBSS: return Operation{UpdateKind::real_subtract, false, 4};
    case ZYDIS_MNEMONIC_DIVSD:
    case ZYDIS_MNEMONIC_VDIVSD: return Operation{UpdateKind::real_divide, false, 8};
    case ZYDIS_MNEMONIC_DIVSS:
    case ZYDIS_MNEMONIC_VDIVSS: return Operation{UpdateKind::real_divide, false, 4};
    case ZYDIS_MNEMONIC_MINSD:
    case ZYDIS_MNEMONIC_VMINSD: return Operation{UpdateKind::real_minimum, false, 8};
    case ZYDIS_MNEMONIC_MINSS:
    case ZYDIS_MNEMONIC_VMINSS: return Operation{UpdateKind::real_minimum, false, 4};
    case ZYDIS_MNEMONIC_MAXSD:
    case ZYDIS_MNEMONIC_VMAXSD: return Operation{UpdateKind::real_maximum, false, 8};
    case ZYDIS_MNEMONIC_MAXSS:
    case ZYDIS_MNEMONIC_VMAXSS: return Operation{UpdateKind::real_maximum, false, 4};
    default: return {};
    }
}

Following::Following(unsigned bytes, std::span<const ZydisRegister> loaded) : bytes_(static_cast<std::uint8_t>(bytes)) {
    for (const ZydisRegister name : loaded) write(name, {Value::Is::old, {}});
}

std::vector<ZydisRegister> Following::loaded() const {
    std::vector<ZydisRegister> names;
    for (const auto& [name, value] : values_)
        if (value.is == Value::Is::old) names.push_back(name);
    return names;
}

bool Following::is_used_by(const Decoded& decoded) const {
    const auto is_general = [](const ZydisDecodedOperand& operand) {
        return is_register(operand) && context_register(whole(operand.reg.value));
    };
    if (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOV && is_general(decoded.operands[0]) &&
        is_general(decoded.operands[1]))
        return false;
    bool uses = false;
    for_each_use(decoded, [&](const Thing& thing, bool is_read, bool) {
        uses |= is_read && !thing.is_memory() && read(thing.base).is == Value::Is::old;
    });
    return uses;
}

bool Following::is_operand_of(const Decoded& decoded) const {
    const auto operands = std::span(decoded.operands, decoded.instruction.operand_count_visible);
    return operation_of(decoded.instruction.mnemonic) && std::ranges::any_of(operands, [&](const auto& operand) {
               return is_register(operand) && read(operand.reg.value).is == Value::Is::old;
           });
}

Following Following::from_here() const {
    Following made(*this);
    std::erase_if(made.values_, [](const auto& each) { return !depends_on_variable(each.second); });
    return made;
}

bool Following::keeps_operand() const {
    return std::ranges::none_of(operand_, [this](ZydisRegister name) { return values_.contains(whole(name)); });
}

bool Following::add(const Decoded& decoded) {
    const std::optional<Value> result = result_of(decoded); // of the first operand
    bool writes_memory = false, is_derived = false;
    for_each_use(decoded, [&](const Thing& thing, bool is_read, bool) {
        is_derived |= is_read && !thing.is_memory() && depends_on_variable(read(thing.base));
    });
    for_each_use(decoded, [&](const Thing& thing, bool, bool is_written) {
        if (is_written && thing.is_memory()) writes_memory = true;
        else if (is_written) write(thing.base, {is_derived ? Value::Is::derived : Value::Is::other});
    });
    if (result) write(decoded.operands[0].reg.value, *result);
    escapes_ |= writes_memory && is_derived;
    return !writes_memory;
}

/// Nothing: it is not known.
std::optional<Following::Value> Following::result_of(const Decoded& decoded) {
    const auto operands = std::span(decoded.operands, decoded.instruction.operand_count_visible);
    const auto mnemonic = decoded.instruction.mnemonic;
    if (copies_register(decoded)) return copied(operands[0], operands[1]);
    if (is_load_of_number(mnemonic) && is_memory(operands.back())) {
        const unsigned bytes = operands.back().size / 8U;
        const auto address = address_of(decoded, operands.back());
        return address && bytes >= bytes_ ? std::optional(Value{Value::Is::number, *address, bytes > bytes_})
                                          : std::nullopt;
    }
    if (mnemonic == ZYDIS_MNEMONIC_LEA && operands[0].size == 64) {
        const auto address = address_of(decoded, operands[1]);
        return address ? std::optional(Value{Value::Is::address, *address}) : std::nullopt;
    }
    if (const auto operation = operation_of(mnemonic)) return calculated(*operation, decoded, operands);
    if (is_conversion(decoded) && is_register(operands.back()))
        return converted(mnemonic, read(operands.back().reg.value));
    return {};
}

std::optional<RealUpdate> Following::end(const Decoded& exchange) const {
    const auto& [at, instruction, operands] = exchange;
    if (escapes_ || operations_ != 1 || !is_memory(operands[0]) || !is_register(operands[1]) ||
        operands[0].size != 8U * bytes_)
        return {};
    const auto address = address_of(exchange, operands[0]);
    const auto exchanged = address ? Variable::of(*address) : std::nullopt;
    if (!exchanged || read(ZYDIS_REGISTER_RAX).is != Value::Is::old ||
        read(operands[1].reg.value) != Value{Value::Is::changed})
        return {};
    RealUpdate update = update_;
    update.exchange = at;
    update.exchanged = *exchanged;
    for (const auto& [name, value] : values_)
        if (depends_on_variable(value)) update.results |= bit_of(name);
    return update;
}

bool Following::depends_on_variable(const Value& value) {
    return value.is == Value::Is::old || value.is == Value::Is::changed || value.is == Value::Is::derived;
}

Following::Value Following::read(ZydisRegister name) const {
    const auto found = values_.find(whole(name));
    if (found != values_.end()) return found->second;
    return {Value::Is::address, {whole(name), ZYDIS_REGISTER_NONE, 0, 0}};
}

/// By the registers in the beginning.
std::optional<Thing> Following::address_of(const Decoded& decoded, const ZydisDecodedOperand& operand) const {
    if (operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS) return {};
    Thing address = variable_of(decoded, operand.mem);
    if (address.base != ZYDIS_REGISTER_NONE && address.base != ZYDIS_REGISTER_RIP) {
        const Value base = read(address.base);
        if (base.is != Value::Is::address) return {};
        const auto [displacement, index] = std::pair(address.displacement, address.index);
        if (index != ZYDIS_REGISTER_NONE && base.thing.index != ZYDIS_REGISTER_NONE) return {};
        const int scale = address.scale;
        address = base.thing;
        address.displacement += displacement;
        if (index == ZYDIS_REGISTER_NONE) return address;
        address.index = index;
        address.scale = scale;
    }
    if (address.index != ZYDIS_REGISTER_NONE &&
        read(address.index) != Value{Value::Is::address, {address.index, ZYDIS_REGISTER_NONE, 0, 0}})
        return {};
    if (address.index == ZYDIS_REGISTER_NONE) address.scale = 0;
    return address;
}

/// Half a register is a number of that length; of an address it is none.
std::optional<Following::Value> Following::copied(const ZydisDecodedOperand& to,
                                                  const ZydisDecodedOperand& from) const {
    const Value value = read(from.reg.value);
    const unsigned bits = std::min(to.size, from.size);
    if (value.is == Value::Is::address || value.is_wide ? bits < 64 : bits < 8U * bytes_) return {};
    return value;
}

/// Of a float to a double and back.
std::optional<Following::Value> Following::converted(ZydisMnemonic mnemonic, Value value) const {
    const bool widens = mnemonic == ZYDIS_MNEMONIC_CVTSS2SD || mnemonic == ZYDIS_MNEMONIC_VCVTSS2SD;
    const bool narrows = mnemonic == ZYDIS_MNEMONIC_CVTSD2SS || mnemonic == ZYDIS_MNEMONIC_VCVTSD2SS;
    const bool fits =
        (widens && value == Value{Value::Is::old}) || (narrows && value == Value{Value::Is::changed, {}, true});
    if (bytes_ != 4 || !fits) return {};
    value.is_wide = widens;
    return value;
}

std::optional<Following::Value> Following::calculated(const Operation& operation, const Decoded& decoded,
                                                      std::span<const ZydisDecodedOperand> operands) {
    const ZydisDecodedOperand& left = operands[operands.size() - 2]; // also what is written, where there are two
    const ZydisDecodedOperand& right = operands.back();
    if (operation.bytes < bytes_ || !is_register(left)) return {};
    const Value old{Value::Is::old, {}, operation.bytes > bytes_};
    const bool is_left = read(left.reg.value) == old, is_right = is_register(right) && read(right.reg.value) == old;
    if (is_left == is_right || (is_right && !operation.commutes)) return {};
    const ZydisDecodedOperand& other = is_left ? right : left;
    RealUpdate made{nullptr, nullptr, nullptr, 0, operation.kind, bytes_, -1, {}, old.is_wide, {}, 0};
    std::optional<Thing> address; // of the number in memory
    if (!is_register(other)) address = address_of(decoded, other);
    else if (const Value value = read(other.reg.value); value.is == Value::Is::number && value.is_wide == old.is_wide)
        address = value.thing;
    else if (value == Value{Value::Is::address, {whole(other.reg.value), ZYDIS_REGISTER_NONE, 0, 0}})
        made.vector_register = ZydisRegisterGetId(other.reg.value);
    if (const auto variable = address ? Variable::of(*address) : std::nullopt) {
        made.variable = *variable;
        operand_ = {address->base, address->index};
    } else {
        if (made.vector_register < 0 || made.vector_register >= VectorRegisters::number) return {};
        operand_ = {other.reg.value};
    }
    update_ = made;
    ++operations_;
    return Value{Value::Is::changed, {}, old.is_wide};
}

} // namespace kumiki::openmp
