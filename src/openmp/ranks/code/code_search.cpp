#include "openmp/ranks/code/code_search.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "openmp/ranks/code/functions.hpp"
#include "openmp/ranks/code/instructions.hpp"
#include "openmp/ranks/code/lock_attempts.hpp"
#include "openmp/ranks/code/looks_before.hpp"
#include "openmp/ranks/code/search_cache.hpp"
#include "openmp/ranks/code/spin_loops.hpp"

namespace kumiki::openmp {
namespace {

/// Where threads wait for variables no home carries an update out (Ranks::change_word).
void add_updates(std::span<const RealUpdate> updates, std::vector<Finding>& found) {
    std::set<const std::byte*> changes;
    for (const Finding& each : found)
        if (each.use == Use::changes) changes.insert(each.at);
    for (const RealUpdate& update : updates) {
        if (!changes.contains(update.exchange)) continue;
        if (update.use == update.exchange) {
            std::ranges::find(found, update.exchange, &Finding::at)->update = update;
            continue;
        }
        found.push_back({update.use, Use::updates, update.use, update});
        if (update.load != update.use) found.push_back({update.load, Use::loads, update.load, update});
    }
}

using Functions = std::span<const std::span<std::byte>>;

template <class Each>
void for_each_instruction_of(Functions functions, Each each) {
    for (const std::span<std::byte> function : functions) for_each_instruction(function, each);
}

std::vector<Finding> search(std::span<std::byte> code, Functions functions, WaitingCalls& calls) {
    SpinLoops loops(calls);
    LockAttempts attempts;
    RealUpdates updates;
    std::vector<Finding> found;
    for_each_instruction_of(functions, [&](const Glance& glance) {
        const bool enters = attempts.add(glance);
        if (glance.may_be_atomic && is_atomic(glance.decoded()))
            found.push_back({glance.at, enters ? Use::enters : Use::changes, glance.at, {}});
        loops.add(glance);
        updates.add(glance);
    });
    const std::vector<SpinLoop> waits = loops.found();
    if (waits.empty()) {
        add_updates(updates.found(), found);
        return found;
    }
    std::erase_if(found, [&](const Finding& each) {
        return std::ranges::any_of(
            waits, [&](const SpinLoop& loop) { return std::ranges::binary_search(loop.body, each.at); });
    });
    LooksBefore looks(waits, code);
    for (const SpinLoop& loop : waits)
        for (const Decoded& load : loop.loads) found.push_back({load.at, Use::waits, loop.begin, {}});
    for_each_instruction_of(functions, [&](const Glance& glance) {
        for (const Decoded& load : looks.loads_before(glance)) found.push_back({load.at, Use::waits, load.at, {}});
    });
    return found;
}

} // namespace

std::vector<Finding> find_in(const Image& image, const std::function<void()>& begins) {
    const SearchCache cache(image);
    if (auto kept = cache.read()) return *std::move(kept);
    if (begins) begins();
    WaitingCalls calls(image);
    std::vector<Finding> found;
    const std::vector<std::span<std::byte>> functions = functions_of(image);
    for (const auto& code : image.code) {
        const auto begin = [](std::span<std::byte> function) { return function.data(); };
        const auto first = std::ranges::lower_bound(functions, code.data(), {}, begin),
                   last = std::ranges::lower_bound(functions, code.data() + code.size(), {}, begin);
        const std::vector<Finding> here = search(code, Functions(first, last), calls);
        found.insert(found.end(), here.begin(), here.end());
    }
    std::ranges::stable_sort(found, {}, &Finding::at);
    cache.keep(found, calls.slots());
    return found;
}

} // namespace kumiki::openmp
