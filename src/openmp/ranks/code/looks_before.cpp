#include "openmp/ranks/code/looks_before.hpp"

#include <algorithm>

namespace kumiki::openmp {
namespace {

/// Whether a thread that executes what follows has not executed what was before.
bool parts_from_what_follows(const Decoded& decoded) {
    return decoded.instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR || leaves_the_function(decoded);
}

} // namespace

LooksBefore::LooksBefore(std::span<const SpinLoop> loops, std::span<std::byte> code) : code_(code) {
    for (const SpinLoop& loop : loops) {
        in_loops_.insert(loop.body.begin(), loop.body.end());
        Loop& known = loops_[loop.begin];
        known.body.insert(loop.body.begin(), loop.body.end());
        known.exits.insert(known.exits.end(), loop.exits.begin(), loop.exits.end());
    }
}

const LooksBefore::Loop* LooksBefore::entered_by(const Glance& glance) const {
    if (const auto loop = loops_.find(glance.at); loop != loops_.end()) return &loop->second; // from the one before
    if (glance.jump_target() == nullptr) return nullptr;
    const auto loop = loops_.find(glance.jump_target());
    const bool enters = loop != loops_.end() && !loop->second.body.contains(glance.at);
    return enters ? &loop->second : nullptr;
}

/// Whether a thread that goes on there comes to a loop, and decides nothing before; or calls a function that begins so.
bool LooksBefore::leads_into_loop(std::byte* at, bool in_called) const {
    for (int step = 0; step < longest_way && at >= code_.data() && at < code_.data() + code_.size(); ++step) {
        if (in_loops_.contains(at)) return true;
        const auto glance = glance_at(code_.subspan(static_cast<std::size_t>(at - code_.data())));
        if (!glance || glance->is_conditional) return false;
        if (glance->leaves_the_function)
            return glance->target != nullptr && !in_called && leads_into_loop(glance->target, true);
        at = glance->is_unconditional ? glance->jump_target() : glance->end();
    }
    return false;
}

/// The last load before one of the last instructions, if it is near. A thread waits for no variable of its own: what
/// it compares with one has been loaded before.
std::optional<Decoded> LooksBefore::load_before(std::size_t number) const {
    for (std::size_t each = number + 1; each <= number + longest && each < last_.size(); ++each) {
        const Decoded decoded = last_[each];
        if (parts_from_what_follows(decoded)) return {};
        if (!is_atomic(decoded) && reads_memory(decoded) && !uses_variable_of_thread(decoded)) return decoded;
    }
    return {};
}

std::vector<Decoded> LooksBefore::loads_before(const Glance& glance) {
    std::vector<Decoded> found;
    last_.add(glance);
    if (glance.is_conditional && !in_loops_.contains(glance.at) &&
        (leads_into_loop(glance.end()) || leads_into_loop(glance.jump_target())))
        if (const auto load = load_before(0)) found.push_back(*load);
    const Loop* const loop = entered_by(glance);
    if (loop == nullptr) return found;
    std::size_t jumps = 0;
    for (std::size_t number = 0; jumps < most && number < last_.size(); ++number) {
        const Decoded jump = last_[number];
        if (number > 0 && parts_from_what_follows(jump)) break;
        if (jump.instruction.meta.category != ZYDIS_CATEGORY_COND_BR) continue;
        if (const auto load = load_before(number);
            load && (jumps == 0 || std::ranges::count(loop->exits, target_of(jump)) != 0))
            found.push_back(*load);
        ++jumps;
    }
    return found;
}

} // namespace kumiki::openmp
