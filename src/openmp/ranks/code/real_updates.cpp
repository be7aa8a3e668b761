#include "openmp/ranks/code/real_updates.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

#include "openmp/ranks/code/vector_registers.hpp"

namespace kumiki::openmp {
namespace {

using UpdateKind = dsm::WordChange::Kind;

/// What a register has, as far as it matters.
struct Value {
    enum class Is : std::uint8_t {
        address, ///< `thing`, by the registers before the load; at first each register has itself
        number,  ///< what the variable with this address has
        old,     ///< what the load has found
        changed, ///< the result of the operation
        other,
    };
    Is is = Is::other;
    Thing thing{};
    bool is_wide = false; ///< a double, where the variable is a float
    bool operator==(const Value&) const = default;
};

struct Operation {
    UpdateKind kind;
    bool commutes;
    std::uint8_t bytes;
};

std::optional<Operation> operation_of(ZydisMnemonic mnemonic) {
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

bool is_load_of_number(ZydisMnemonic mnemonic) {
    return mnemonic == ZYDIS_MNEMONIC_MOVSD || mnemonic == ZYDIS_MNEMONIC_VMOVSD || mnemonic == ZYDIS_MNEMONIC_MOVSS ||
           mnemonic == ZYDIS_MNEMONIC_VMOVSS;
}

/// Copies of a register, or of its lowest element, into another one of either kind.
bool is_copy(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
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

bool is_register(const ZydisDecodedOperand& operand) { return operand.type == ZYDIS_OPERAND_TYPE_REGISTER; }
bool is_memory(const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && !is_of_thread(operand.mem);
}

bool is_load(const Decoded& decoded) {
    return decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOV && is_register(decoded.operands[0]) &&
           is_memory(decoded.operands[1]) && (decoded.operands[0].size == 64 || decoded.operands[0].size == 32);
}

/// Follows what instructions do to the registers, of which some have what a load has found.
class Following {
public:
    Following(unsigned bytes, std::span<const ZydisRegister> loaded) : bytes_(static_cast<std::uint8_t>(bytes)) {
        for (const ZydisRegister name : loaded) write(name, {Value::Is::old, {}});
    }

    /// The registers that have what the load has found.
    std::vector<ZydisRegister> loaded() const {
        std::vector<ZydisRegister> names;
        for (const auto& [name, value] : values_)
            if (value.is == Value::Is::old) names.push_back(name);
        return names;
    }
    /// Whether an instruction does more with what the load has found than copy it to another general register.
    bool is_used_by(const Decoded& decoded) const {
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

    /// Returns false if it is none that may stand there.
    bool add(const Decoded& decoded) {
        if (is_jump(decoded) || leaves_the_function(decoded) || is_atomic(decoded)) return false;
        std::optional<Value> result; // of the first operand
        const auto operands = std::span(decoded.operands, decoded.instruction.operand_count_visible);
        if (is_copy(decoded.instruction.mnemonic) && is_register(operands[0]) && is_register(operands[1]))
            result = copied(operands[0], operands[1]);
        else if (is_load_of_number(decoded.instruction.mnemonic) && is_memory(operands.back())) {
            const unsigned bytes = operands.back().size / 8U;
            if (const auto address = address_of(decoded, operands.back()); address && bytes >= bytes_)
                result = {Value::Is::number, *address, bytes > bytes_};
        } else if (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_LEA && operands[0].size == 64) {
            if (const auto address = address_of(decoded, operands[1])) result = {Value::Is::address, *address};
        } else if (const auto operation = operation_of(decoded.instruction.mnemonic)) {
            result = calculated(*operation, decoded, operands);
        } else if (is_conversion(decoded) && is_register(operands.back())) {
            result = converted(decoded.instruction.mnemonic, read(operands.back().reg.value));
        }
        bool writes_memory = false;
        for_each_use(decoded, [&](const Thing& thing, bool, bool is_written) {
            if (is_written && thing.is_memory()) writes_memory = true;
            else if (is_written) write(thing.base, {});
        });
        if (result) write(operands[0].reg.value, *result);
        return !writes_memory;
    }

    /// The update that ends with this compare-and-exchange, but for what the load is.
    std::optional<RealUpdate> end(const Decoded& exchange) const {
        const auto& [at, instruction, operands] = exchange;
        if (operations_ != 1 || !is_memory(operands[0]) || !is_register(operands[1]) || operands[0].size != 8U * bytes_)
            return {};
        const auto address = address_of(exchange, operands[0]);
        const auto exchanged = address ? Variable::of(*address) : std::nullopt;
        if (!exchanged || read(ZYDIS_REGISTER_RAX).is != Value::Is::old ||
            read(operands[1].reg.value) != Value{Value::Is::changed})
            return {};
        RealUpdate update = update_;
        update.exchange = at;
        update.exchanged = *exchanged;
        return update;
    }

private:
    Value read(ZydisRegister name) const {
        const auto found = values_.find(whole(name));
        if (found != values_.end()) return found->second;
        return {Value::Is::address, {whole(name), ZYDIS_REGISTER_NONE, 0, 0}};
    }
    void write(ZydisRegister name, Value value) { values_[whole(name)] = value; }

    /// By the registers before the load.
    std::optional<Thing> address_of(const Decoded& decoded, const ZydisDecodedOperand& operand) const {
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
    std::optional<Value> copied(const ZydisDecodedOperand& to, const ZydisDecodedOperand& from) const {
        const Value value = read(from.reg.value);
        const unsigned bits = std::min(to.size, from.size);
        if (value.is == Value::Is::address || value.is_wide ? bits < 64 : bits < 8U * bytes_) return {};
        return value;
    }

    /// Of a float to a double and back.
    std::optional<Value> converted(ZydisMnemonic mnemonic, Value value) const {
        const bool widens = mnemonic == ZYDIS_MNEMONIC_CVTSS2SD || mnemonic == ZYDIS_MNEMONIC_VCVTSS2SD;
        const bool narrows = mnemonic == ZYDIS_MNEMONIC_CVTSD2SS || mnemonic == ZYDIS_MNEMONIC_VCVTSD2SS;
        if (bytes_ != 4 ||
            !(widens && value == Value{Value::Is::old}) && !(narrows && value == Value{Value::Is::changed, {}, true}))
            return {};
        value.is_wide = widens;
        return value;
    }

    std::optional<Value> calculated(const Operation& operation, const Decoded& decoded,
                                    std::span<const ZydisDecodedOperand> operands) {
        const ZydisDecodedOperand& left = operands[operands.size() - 2]; // also what is written, where there are two
        const ZydisDecodedOperand& right = operands.back();
        if (operation.bytes < bytes_ || !is_register(left)) return {};
        const Value old{Value::Is::old, {}, operation.bytes > bytes_};
        const bool is_left = read(left.reg.value) == old, is_right = is_register(right) && read(right.reg.value) == old;
        if (is_left == is_right || (is_right && !operation.commutes)) return {};
        const ZydisDecodedOperand& other = is_left ? right : left;
        RealUpdate made{nullptr, nullptr, nullptr, 0, operation.kind, bytes_, -1, {}, old.is_wide, {}};
        std::optional<Thing> address; // of the number in memory
        if (!is_register(other)) address = address_of(decoded, other);
        else if (const Value value = read(other.reg.value);
                 value.is == Value::Is::number && value.is_wide == old.is_wide)
            address = value.thing;
        else if (value == Value{Value::Is::address, {whole(other.reg.value), ZYDIS_REGISTER_NONE, 0, 0}})
            made.vector_register = ZydisRegisterGetId(other.reg.value);
        const auto variable = address ? Variable::of(*address) : std::nullopt;
        if (variable) made.variable = *variable;
        else if (made.vector_register < 0 || made.vector_register >= VectorRegisters::number) return {};
        update_ = made;
        ++operations_;
        return Value{Value::Is::changed, {}, old.is_wide};
    }

    std::uint8_t bytes_;
    std::map<ZydisRegister, Value> values_;
    int operations_ = 0; ///< on what was loaded
    RealUpdate update_{};
};

Following behind_load(const Decoded& load) {
    return {load.operands[0].size / 8U, std::span(&load.operands[0].reg.value, 1)};
}

/// The update that is made before the first of the instructions that have been followed, which is `first`.
std::optional<RealUpdate> update_from(const Decoded& first, const Following& following, const Decoded& exchange,
                                      std::span<const ZydisRegister> loaded) {
    auto update = following.end(exchange);
    if (!update) return {};
    update->use = first.at;
    for (const ZydisRegister name : loaded) {
        const auto place = context_register(whole(name));
        if (!place) return {};
        update->loaded |= 1U << *place;
    }
    return update;
}

/// The same, if the update can be made before the first instruction behind the load that uses what it has found.
std::optional<RealUpdate> update_from_use(const Decoded& load, std::span<const Decoded> behind,
                                          const Decoded& exchange) {
    Following copying = behind_load(load);
    while (!behind.empty() && !copying.is_used_by(behind.front())) {
        copying.add(behind.front());
        behind = behind.subspan(1);
    }
    if (behind.empty()) return {};
    const std::vector<ZydisRegister> loaded = copying.loaded();
    Following following(load.operands[0].size / 8U, loaded);
    for (const Decoded& each : behind) following.add(each);
    return update_from(behind.front(), following, exchange, loaded);
}

} // namespace

/// Behind the compare-and-exchange the program compares what it has found with what it has expected, perhaps, and
/// jumps; where they are equal it goes on.
bool RealUpdate::uses_result(FunctionCalls* calls) const {
    auto decoded = decode({exchange, longest_instruction});
    const auto next = [&decoded] { decoded = decode({decoded->end(), longest_instruction}); };
    next();
    if (decoded && decoded->instruction.mnemonic == ZYDIS_MNEMONIC_CMP) next();
    if (!decoded) return true;
    std::byte* goes_on = nullptr;
    if (decoded->instruction.mnemonic == ZYDIS_MNEMONIC_JNZ) goes_on = decoded->end();
    if (decoded->instruction.mnemonic == ZYDIS_MNEMONIC_JZ) goes_on = jump_target_of(*decoded);
    return goes_on == nullptr || uses_any(goes_on, written_by(load, exchange), exchange, calls);
}

dsm::WordChange RealUpdate::wanted(const mcontext_t& context) const {
    std::uint64_t operand = 0;
    const std::size_t length = is_wide ? sizeof(double) : bytes;
    if (vector_register < 0) std::memcpy(&operand, variable.address(context.gregs), length);
    else operand = VectorRegisters(context).lowest(vector_register, length);
    return {kind, bytes, operand, context.fpregs->mxcsr, is_wide};
}

void RealUpdate::load_into(gregset_t& registers, std::uint64_t before) const {
    for (int name = 0; name < NGREG; ++name)
        if ((loaded >> name & 1U) != 0)
            registers[name] = static_cast<greg_t>(bytes == 4 ? before & 0xffff'ffff : before);
}

void RealUpdates::add(const Glance& glance) {
    if (end_ != glance.at) before_.clear();
    end_ = glance.end();
    if (glance.may_be_atomic)
        if (const Decoded decoded = glance.decoded(); decoded.instruction.mnemonic == ZYDIS_MNEMONIC_CMPXCHG)
            search(decoded);
    before_.push_back(glance.at);
    if (before_.size() > longest) before_.pop_front();
}

/// From the last load before it on. Once more instructions do not fit, those before do not either.
void RealUpdates::search(const Decoded& exchange) {
    std::vector<Decoded> between;
    for (std::byte* const at : before_)
        if (auto decoded = decode({at, exchange.end()})) between.push_back(*decoded);
    for (std::size_t at = between.size(); at-- > 0;) {
        if (!is_load(between[at])) continue;
        const std::span behind = std::span(between).subspan(at + 1);
        Following following = behind_load(between[at]);
        if (!std::ranges::all_of(behind, [&](const Decoded& each) { return following.add(each); })) return;
        auto update = update_from(between[at], following, exchange, std::span(&between[at].operands[0].reg.value, 1));
        if (!update) update = update_from_use(between[at], behind, exchange);
        if (!update) continue;
        update->load = between[at].at;
        found_.push_back(*update);
        return;
    }
}

} // namespace kumiki::openmp
