#include "openmp/ranks/code/real_updates.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "openmp/ranks/code/following.hpp"
#include "openmp/ranks/code/vector_registers.hpp"

namespace kumiki::openmp {
namespace {

bool is_load(const Decoded& decoded) {
    const ZydisDecodedOperand &to = decoded.operands[0], &from = decoded.operands[1];
    return decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOV && to.type == ZYDIS_OPERAND_TYPE_REGISTER &&
           from.type == ZYDIS_OPERAND_TYPE_MEMORY && !is_of_thread(from.mem) && (to.size == 64 || to.size == 32);
}

bool goes_straight_on(const Decoded& decoded) {
    return !is_jump(decoded) && !leaves_the_function(decoded) && !is_atomic(decoded);
}

Following behind_load(const Decoded& load) {
    return {load.operands[0].size / 8U, std::span(&load.operands[0].reg.value, 1)};
}

/// The update that is made before, or in the place of, this instruction, where these registers have what was loaded.
std::optional<RealUpdate> update_from(const Decoded& use, const Following& following, const Decoded& exchange,
                                      std::span<const ZydisRegister> loaded) {
    auto update = following.end(exchange);
    if (!update) return {};
    update->use = use.at;
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
    for (; !behind.empty() && !copying.is_used_by(behind.front()); behind = behind.subspan(1))
        copying.add(behind.front());
    if (behind.empty()) return {};
    const std::vector<ZydisRegister> loaded = copying.loaded();
    Following following = copying.from_here();
    for (const Decoded& each : behind) following.add(each);
    return update_from(behind.front(), following, exchange, loaded);
}

/// Where the program goes on behind a compare-and-exchange if it has succeeded, and if it has failed. It may compare
/// what it has found with what it has expected. Null: it does something else.
struct Ends {
    std::byte *succeeds = nullptr, *fails = nullptr;
};
Ends ends_of(std::byte* exchange) {
    auto decoded = decode({exchange, longest_instruction});
    const auto next = [&decoded] { decoded = decode({decoded->end(), longest_instruction}); };
    next();
    if (decoded && decoded->instruction.mnemonic == ZYDIS_MNEMONIC_CMP) next();
    if (decoded && decoded->instruction.mnemonic == ZYDIS_MNEMONIC_JNZ)
        return {decoded->end(), jump_target_of(*decoded)};
    if (decoded && decoded->instruction.mnemonic == ZYDIS_MNEMONIC_JZ)
        return {jump_target_of(*decoded), decoded->end()};
    return {};
}

/// Whether a compare-and-exchange that has failed is tried again with what it has found.
bool is_tried_again(const Decoded& load, const Decoded& exchange) {
    constexpr int longest_way = 4; // instructions that copy what it has found
    std::byte* at = ends_of(exchange.at).fails;
    for (int count = 0; at != nullptr && count < longest_way; ++count) {
        if (at > load.at && at <= exchange.at) return true;
        const auto decoded = decode({at, longest_instruction});
        if (!decoded) return false;
        if (std::byte* const there = jump_target_of(*decoded)) {
            if (decoded->instruction.meta.category != ZYDIS_CATEGORY_UNCOND_BR) return false;
            at = there;
        } else if (copies_register(*decoded)) {
            at = decoded->end();
        } else {
            return false;
        }
    }
    return false;
}

/// The same, if it can be made in the place of the compare-and-exchange: the operand is still known there.
std::optional<RealUpdate> update_from_exchange(const Decoded& load, std::span<const Decoded> behind,
                                               const Decoded& exchange) {
    Following loading = behind_load(load);
    for (; !behind.empty() && !loading.is_operand_of(behind.front()); behind = behind.subspan(1))
        loading.add(behind.front());
    if (behind.empty() || !is_tried_again(load, exchange)) return {};
    Following following = loading.from_here();
    if (!std::ranges::all_of(behind, [&](const Decoded& each) { return following.add(each); })) return {};
    const auto update = update_from(exchange, following, exchange, {});
    return update && following.keeps_operand() ? update : std::nullopt;
}

/// In the first way in which it can be made. Instructions lie between the load and the exchange.
std::optional<RealUpdate> update_of(const Decoded& load, std::span<const Decoded> behind, const Decoded& exchange) {
    Following following = behind_load(load);
    bool writes_memory = false;
    for (const Decoded& each : behind) writes_memory |= !following.add(each);
    if (!writes_memory) {
        if (auto update = update_from(load, following, exchange, std::span(&load.operands[0].reg.value, 1)))
            return update;
        if (auto update = update_from_use(load, behind, exchange)) return update;
    }
    return update_from_exchange(load, behind, exchange);
}

} // namespace

bool RealUpdate::uses_result(FunctionCalls* calls) const {
    std::byte* const goes_on = ends_of(exchange).succeeds;
    return goes_on == nullptr || uses_any(goes_on, results, exchange, calls);
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
    for (std::size_t at = between.size(); at-- > 0 && goes_straight_on(between[at]);) {
        if (!is_load(between[at])) continue;
        auto update = update_of(between[at], std::span(between).subspan(at + 1), exchange);
        if (!update) continue;
        update->load = between[at].at;
        found_.push_back(*update);
        return;
    }
}

} // namespace kumiki::openmp
