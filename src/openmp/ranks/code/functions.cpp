#include "openmp/ranks/code/functions.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <set>

#include "openmp/ranks/code/instructions.hpp"

/// What libgcc finds in the tables by which exceptions are unwound (GCC, unwind-dw2-fde.h).
extern "C" {
struct dwarf_eh_bases { // NOLINT(readability-identifier-naming)
    void *text, *data, *function;
};
const void* _Unwind_Find_FDE(void* instruction, dwarf_eh_bases* bases); // NOLINT(bugprone-reserved-identifier)
}

namespace kumiki::openmp {
namespace {

/// The beginning of the table, which linkers sort by address (Linux Standard Base, core, section 10.6.2).
struct UnwindingTable {
    std::uint8_t version, encodings[3];
    std::int32_t frames;
    std::uint32_t count;
    struct Entry {
        std::int32_t function, frame; ///< from the beginning of the table
    };
    static constexpr std::uint8_t usual[3] = {0x1b, 0x03, 0x3b}; ///< 4 bytes each; what all linkers write
};

/// Where functions begin, in order. Empty: there is no table.
std::vector<std::byte*> begins_of_functions(const std::byte* unwinding) {
    UnwindingTable table{};
    if (unwinding == nullptr) return {};
    std::memcpy(&table, unwinding, sizeof table);
    if (table.version != 1 || !std::ranges::equal(table.encodings, UnwindingTable::usual)) return {};
    std::vector<std::byte*> begins;
    for (std::uint32_t each = 0; each < table.count; ++each) {
        UnwindingTable::Entry entry{};
        std::memcpy(&entry, unwinding + sizeof table + each * sizeof entry, sizeof entry);
        begins.push_back(const_cast<std::byte*>(unwinding + entry.function));
    }
    return begins;
}

/// Between two functions is hardly more than padding, so this looks near `next` first.
std::byte* end_of_function(std::byte* begin, std::byte* next) {
    const auto has = [begin](const std::byte* at) { return begin_of_function(at) == begin; };
    if (begin == next || !has(begin)) return begin;
    const auto bytes = static_cast<std::size_t>(next - begin);
    std::size_t padding = 0;
    for (std::size_t step = 1; padding < bytes && !has(next - padding - 1); step *= 2) padding += step;
    padding = std::min(padding, bytes - 1);
    std::byte *within = next - padding - 1, *behind = next;
    while (behind - within > 1) {
        std::byte* const middle = within + (behind - within) / 2;
        (has(middle) ? within : behind) = middle;
    }
    return behind;
}

/// Reads code of which the tables for unwinding know the functions that begin at these places.
class KnownFunctions {
public:
    KnownFunctions(std::span<std::byte> code, std::span<std::byte* const> begins) : code_(code) {
        std::byte* const end = code.data() + code.size();
        for (std::size_t each = 0; each < begins.size(); ++each) {
            std::byte* const next = each + 1 < begins.size() ? begins[each + 1] : end;
            const std::span<std::byte> function{begins[each], end_of_function(begins[each], next)};
            bytes_ += function.size();
            if (!function.empty()) functions_.push_back(function);
        }
    }
    std::size_t bytes() const { return bytes_; }

    /// With what can be reached from them.
    std::vector<std::span<std::byte>> and_what_they_reach() {
        for (const std::span<std::byte> function : functions_)
            for_each_instruction(function, [&](const Glance& glance) { note(glance.target); });
        std::vector<std::span<std::byte>> parts = functions_;
        while (!unread_.empty()) {
            std::byte* const begin = unread_.back();
            unread_.pop_back();
            if (std::byte* const end = read(begin); end != begin) parts.emplace_back(begin, end);
        }
        std::ranges::sort(parts, {}, [](std::span<std::byte> part) { return part.data(); });
        return parts;
    }

private:
    bool is_outside(const std::byte* at) const {
        if (at < code_.data() || at >= code_.data() + code_.size()) return false;
        const auto next = std::ranges::upper_bound(functions_, at, std::less<>(),
                                                   [](std::span<std::byte> function) { return function.data(); });
        return next == functions_.begin() || at >= std::prev(next)->data() + std::prev(next)->size();
    }
    void note(std::byte* target) {
        if (target != nullptr && is_outside(target)) unread_.push_back(target);
    }
    /// Reads on until a jump leads away, or what has been read before. Returns where.
    std::byte* read(std::byte* at) {
        for (bool goes_on = true; goes_on && is_outside(at) && read_.insert(at).second;) {
            const auto decoded = decode(code_.subspan(static_cast<std::size_t>(at - code_.data())));
            if (!decoded) break;
            note(target_of(*decoded));
            goes_on = successors_of(*decoded).front() != nullptr;
            at = decoded->end();
        }
        return at;
    }

    std::span<std::byte> code_;
    std::vector<std::span<std::byte>> functions_;
    std::size_t bytes_ = 0; ///< of all functions
    std::vector<std::byte*> unread_;
    std::set<std::byte*> read_; ///< instructions
};

} // namespace

const std::byte* begin_of_function(const std::byte* instruction) {
    dwarf_eh_bases bases{};
    const void* const found = _Unwind_Find_FDE(const_cast<std::byte*>(instruction), &bases);
    return found != nullptr ? static_cast<const std::byte*>(bases.function) : nullptr;
}

std::vector<std::span<std::byte>> functions_of(const Image& image) {
    const std::vector<std::byte*> begins = begins_of_functions(image.unwinding);
    std::vector<KnownFunctions> known;
    std::size_t bytes = 0, known_bytes = 0;
    for (const std::span<std::byte> code : image.code) {
        const auto first = std::ranges::lower_bound(begins, code.data()),
                   last = std::ranges::lower_bound(begins, code.data() + code.size());
        bytes += code.size();
        known_bytes += known.emplace_back(code, std::span(first, last)).bytes();
    }
    if (2 * known_bytes < bytes) return image.code;
    std::vector<std::span<std::byte>> all;
    for (KnownFunctions& each : known) std::ranges::copy(each.and_what_they_reach(), std::back_inserter(all));
    return all;
}

} // namespace kumiki::openmp
