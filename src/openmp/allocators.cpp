#include "openmp/allocators.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "text/text.hpp"

namespace kumiki::openmp {
namespace {

using Text = std::string_view;

enum Key { alignment_trait = 2, pool_trait = 4, fallback_trait = 5, other_trait = 6, pinned_trait = 7 };

/// Their handles are their places, from 1 on.
constexpr std::array<Text, 8> predefined{"omp_default_mem_alloc", "omp_large_cap_mem_alloc", "omp_const_mem_alloc",
                                         "omp_high_bw_mem_alloc", "omp_low_lat_mem_alloc",   "omp_cgroup_mem_alloc",
                                         "omp_pteam_mem_alloc",   "omp_thread_mem_alloc"};
/// Each is what the predefined allocator at the same place uses.
constexpr std::array<Text, 5> spaces{"omp_default_mem_space", "omp_large_cap_mem_space", "omp_const_mem_space",
                                     "omp_high_bw_mem_space", "omp_low_lat_mem_space"};

struct Word {
    Text text;
    std::uintptr_t value;
};
struct NamedTrait {
    Text name;
    int key;
    std::vector<Word> values; ///< empty: a number
};

const std::vector<NamedTrait>& named_traits() {
    static const std::vector<NamedTrait> all{
        {"sync_hint", 1, {{"contended", 3}, {"uncontended", 4}, {"serialized", 5}, {"private", 6}}},
        {"alignment", alignment_trait, {}},
        {"access", 3, {{"all", 7}, {"thread", 8}, {"pteam", 9}, {"cgroup", 10}}},
        {"pool_size", pool_trait, {}},
        {"fallback", fallback_trait, {{"default_mem_fb", 11}, {"null_fb", 12}, {"abort_fb", 13}, {"allocator_fb", 14}}},
        {"fb_data", other_trait, {}},
        {"pinned", pinned_trait, {{"false", 0}, {"true", 1}}},
        {"partition", 8, {{"environment", 15}, {"nearest", 16}, {"blocked", 17}, {"interleaved", 18}}}};
    return all;
}

template <std::size_t count>
std::optional<AllocatorHandle> place_in(const std::array<Text, count>& names, Text name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return {};
    return static_cast<AllocatorHandle>(found - names.begin() + 1);
}

std::optional<Trait> read_trait(Text text) {
    const auto equals = std::min(text.find('='), text.size());
    const Text name = text::trimmed(text.substr(0, equals)),
               value = text::trimmed(text.substr(std::min(equals + 1, text.size())));
    const auto trait = std::ranges::find(named_traits(), name, &NamedTrait::name);
    if (trait == named_traits().end()) return {};
    std::optional<std::uintptr_t> read;
    if (trait->key == other_trait) {
        read = place_in(predefined, value);
    } else if (trait->values.empty()) {
        read = text::number<std::uintptr_t>(value);
    } else if (const auto word = std::ranges::find(trait->values, value, &Word::text); word != trait->values.end()) {
        read = word->value;
    }
    if (!read) return {};
    return Trait{trait->key, *read};
}

} // namespace

std::optional<Allocator> Allocator::with(std::span<const Trait> traits) {
    constexpr auto by_default = ~std::uintptr_t{0};
    Allocator made;
    for (const auto& [key, value] : traits) {
        if (value == by_default) continue;
        if (key == alignment_trait) made.alignment = value;
        if (key == pool_trait) made.pool = std::min(value, no_pool);
        if (key == fallback_trait) made.fallback = Fallback(value);
        if (key == other_trait) made.other = value;
        if (key == pinned_trait) made.pinned = value == 1;
    }
    if (!std::has_single_bit(made.alignment)) return {};
    return made;
}

std::optional<NamedAllocator> read_allocator(Text text) {
    if (const auto handle = place_in(predefined, text)) return NamedAllocator{*handle, {}};
    const auto colon = std::min(text.find(':'), text.size());
    const auto space = place_in(spaces, text::trimmed(text.substr(0, colon)));
    if (!space) return {};
    if (colon == text.size()) return NamedAllocator{*space, {}};
    std::vector<Trait> traits;
    for (const Text part : text::split(text.substr(colon + 1), ',')) {
        const auto trait = read_trait(part);
        if (!trait) return {};
        traits.push_back(*trait);
    }
    const auto allocator = Allocator::with(traits);
    if (!allocator) return {};
    return NamedAllocator{allocator_of_environment, *allocator};
}

} // namespace kumiki::openmp
