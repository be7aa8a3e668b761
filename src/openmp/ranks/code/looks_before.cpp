#include "openmp/ranks/code/looks_before.hpp"

#include <algorithm>

namespace kumiki::openmp {

LooksBefore::LooksBefore(std::span<const SpinLoop> loops, std::span<std::byte> code) : code_(code) {
    for (const SpinLoop& loop : loops) {
        in_loops_.insert(loop.body.begin(), loop.body.end());
        Loop& known = loops_[loop.begin];
        known.body.insert(loop.body.begin(), loop.body.end());
        known.exits.insert(known.exits.end(), loop.exits.begin(), loop.exits.end());
    }
}

const LooksBefore::Loop* LooksBefore::entered_by(const Decoded& decoded) const {
    if (const auto loop = loops_.find(decoded.at); loop != loops_.end()) return &loop->second; // from the one before
    const auto loop = loops_.find(jump_target_of(decoded));
    const bool enters = loop != loops_.end() && !loop->second.body.contains(decoded.at);
    return enters ? &loop->second : nullptr;
}

/// Whether a thread that goes on there comes to a loop, and decides nothing before.
bool LooksBefore::leads_into_loop(std::byte* at) const {
    for (int step = 0; step < longest_way && at >= code_.data() && at < code_.data() + code_.size(); ++step) {
        if (in_loops_.contains(at)) return true;
        const auto decoded = decode(code_.subspan(static_cast<std::size_t>(at - code_.data())));
        if (!decoded || leaves_the_function(*decoded)) return false;
        const auto [next, target] = successors_of(*decoded);
        if ((next == nullptr) == (target == nullptr)) return false;
        at = next != nullptr ? next : target;
    }
    return false;
}

std::vector<Decoded> LooksBefore::loads_before(const Decoded& decoded) {
    const auto category = decoded.instruction.meta.category;
    std::vector<Decoded> found;
    ++age_;
    if (category == ZYDIS_CATEGORY_COND_BR) {
        if (load_ && age_ <= longest && !in_loops_.contains(decoded.at) &&
            std::ranges::any_of(successors_of(decoded), [this](std::byte* next) { return leads_into_loop(next); }))
            found.push_back(*load_);
        if (jumps_.size() == most) jumps_.pop_front();
        jumps_.push_back({age_ <= longest ? load_ : std::nullopt, target_of(decoded)});
    }
    if (const Loop* const loop = entered_by(decoded))
        for (const Jump& jump : jumps_)
            if (jump.load && (&jump == &jumps_.back() || std::ranges::count(loop->exits, jump.target) != 0))
                found.push_back(*jump.load);
    if (category == ZYDIS_CATEGORY_UNCOND_BR || leaves_the_function(decoded)) {
        load_.reset();
        jumps_.clear();
    } else if (!is_atomic(decoded) && reads_memory(decoded)) {
        load_ = decoded;
        age_ = 0;
    }
    return found;
}

} // namespace kumiki::openmp
