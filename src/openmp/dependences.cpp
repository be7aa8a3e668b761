#include "openmp/dependences.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include "openmp/team.hpp"

namespace kumiki::openmp {
namespace {

std::uintptr_t number(const void* entry) { return reinterpret_cast<std::uintptr_t>(entry); }

Access access_of_object(std::uintptr_t type) {
    switch (type) {
    case 1: return Access::in;
    case 2:
    case 3:
    case 4: return Access::out;
    case 5: return Access::inoutset;
    default:
        refuse(fmt::format("a depend object has the unknown type {}; this runtime knows those of GCC 9 to 14", type));
    }
}

void follow(const std::shared_ptr<DependenceNode>& node, const std::shared_ptr<DependenceNode>& before) {
    if (node == before) return;
    const Holding holding(before->lock);
    if (before->done) return;
    node->unfinished.fetch_add(1, std::memory_order_relaxed);
    before->successors.push_back(node);
}

bool is_all_memory(const Dependence& dependence) {
    return dependence.address == nullptr && dependence.access == Access::out;
}

} // namespace

std::vector<Dependence> read_dependences(void** array) {
    std::vector<Dependence> read;
    if (const auto count = number(array[0]); count != 0) {
        const auto outs = number(array[1]);
        for (std::uintptr_t i = 0; i < count; ++i) read.push_back({array[2 + i], i < outs ? Access::out : Access::in});
        return read;
    }
    const auto count = number(array[1]), outs = number(array[2]) + number(array[3]), plain = outs + number(array[4]);
    for (std::uintptr_t i = 0; i < count; ++i) {
        void* const entry = array[5 + i];
        if (i < plain) {
            read.push_back({entry, i < outs ? Access::out : Access::in});
        } else {
            void* const* const object = static_cast<void**>(entry);
            read.push_back({object[0], access_of_object(number(object[1]))});
        }
    }
    put_strongest_first(read);
    return read;
}

void put_strongest_first(std::vector<Dependence>& dependences) {
    std::ranges::stable_partition(dependences, [](const Dependence& each) { return each.access == Access::out; });
}

void DependenceTable::add_to_all(const std::shared_ptr<DependenceNode>& node) {
    for (const auto& [address, uses] : uses_) {
        for (const auto& before : uses.latest) follow(node, before);
        for (const auto& before : uses.before) follow(node, before);
    }
    for (const auto& before : all_memory_) follow(node, before);
    uses_.clear();
    all_memory_ = {node};
}

void DependenceTable::add(const std::shared_ptr<DependenceNode>& node, const std::vector<Dependence>& dependences) {
    if (std::ranges::any_of(dependences, is_all_memory)) return add_to_all(node);
    for (const auto& [address, access] : dependences) {
        Uses& uses = uses_.try_emplace(address, Uses{Access::out, all_memory_, {}}).first->second;
        if (!uses.latest.empty() && uses.latest.back() == node) continue;
        if (access == Access::out || access != uses.access) {
            uses.before = std::move(uses.latest);
            uses.latest.clear();
            uses.access = access;
        }
        for (const auto& before : uses.before) follow(node, before);
        uses.latest.push_back(node);
    }
}

void DependenceTable::add_wait(const std::shared_ptr<DependenceNode>& node,
                               const std::vector<Dependence>& dependences) {
    const bool all = std::ranges::any_of(dependences, is_all_memory);
    for (const auto& [address, uses] : uses_) {
        const auto named =
            std::ranges::find_if(dependences, [&](const Dependence& each) { return each.address == address; });
        if (!all && named == dependences.end()) continue;
        for (const auto& before : uses.before) follow(node, before);
        if (all || named->access == Access::out || named->access != uses.access)
            for (const auto& before : uses.latest) follow(node, before);
    }
    for (const auto& before : all_memory_) follow(node, before);
}

bool close(DependenceNode& node) { return node.unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1; }

void finish(DependenceNode& node, Member& me) {
    std::vector<std::shared_ptr<DependenceNode>> successors;
    {
        const Holding holding(node.lock);
        node.done = true;
        successors.swap(node.successors);
    }
    for (const auto& successor : successors)
        if (close(*successor) && successor->task != nullptr) me.queue.push(successor->task);
    if (!successors.empty()) me.team.ring();
}

} // namespace kumiki::openmp
