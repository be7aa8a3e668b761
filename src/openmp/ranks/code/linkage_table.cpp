#include "openmp/ranks/code/linkage_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "openmp/ranks/code/writable_code.hpp"
#include "openmp/ranks/memory/image.hpp"

namespace kumiki::openmp {
namespace {

using Code = std::span<const std::byte>;

template <std::size_t count>
bool starts_with(Code code, const std::array<unsigned char, count>& bytes) {
    return code.size() >= count && std::memcmp(code.data(), bytes.data(), count) == 0;
}

constexpr std::array<unsigned char, 4> endbr64{0xf3, 0x0f, 0x1e, 0xfa};
constexpr std::array<unsigned char, 1> bnd{0xf2}, push{0x68}, jump{0xe9};
constexpr std::array<unsigned char, 2> jump_by_variable{0xff, 0x25};
constexpr std::size_t jump_bytes = 6, push_bytes = 5;

/// The displacement of the variable in an entry, behind the jump; nothing: it is no entry.
std::optional<std::size_t> displacement_in(Code entry) {
    std::size_t at = 0;
    const bool is_marked = starts_with(entry, endbr64);
    if (is_marked) at += endbr64.size();
    if (is_marked && starts_with(entry.subspan(at), bnd)) at += bnd.size();
    if (!starts_with(entry.subspan(at), jump_by_variable)) return {};
    const Code rest = entry.subspan(at + jump_bytes);
    // Behind the jump an entry without a mark has what binds the function when it is called first; the other has it in
    // a table of its own, and is filled up.
    if (!is_marked && (!starts_with(rest, push) || !starts_with(rest.subspan(push_bytes), jump))) return {};
    return at + jump_by_variable.size();
}

} // namespace

void LinkageEntry::jump_to(const void* function) const {
    constexpr std::array<unsigned char, 2> move{0x49, 0xbb};        // movabs r11, function
    constexpr std::array<unsigned char, 3> go_on{0x41, 0xff, 0xe3}; // jmp r11
    std::memcpy(at, move.data(), move.size());
    std::memcpy(at + move.size(), &function, sizeof function);
    std::memcpy(at + move.size() + sizeof function, go_on.data(), go_on.size());
}

std::vector<LinkageEntry> linkage_entries(std::span<std::byte> code) {
    std::vector<LinkageEntry> found;
    const auto misplaced = reinterpret_cast<std::uintptr_t>(code.data()) % LinkageEntry::bytes;
    for (std::size_t at = (LinkageEntry::bytes - misplaced) % LinkageEntry::bytes;
         at + LinkageEntry::bytes <= code.size(); at += LinkageEntry::bytes) {
        const std::span<std::byte> entry = code.subspan(at, LinkageEntry::bytes);
        const auto place = displacement_in(entry);
        if (!place) continue;
        std::int32_t displacement = 0;
        std::memcpy(&displacement, entry.data() + *place, sizeof displacement);
        found.push_back({entry.data(), entry.data() + *place + sizeof displacement + displacement});
    }
    return found;
}

Result<> bind_calls(std::span<const Image> images) {
    if (const char* const bound = std::getenv("LD_BIND_NOW"); bound == nullptr || *bound == '\0') return {};
    for (const Image& image : images) {
        if (image.slots.empty()) continue;
        for (const auto& code : image.code) {
            std::vector<LinkageEntry> entries = linkage_entries(code);
            std::erase_if(entries, [&image](const LinkageEntry& entry) {
                return !std::ranges::binary_search(image.slots, entry.slot);
            });
            if (entries.empty()) continue;
            auto changed = change_code(code, [&] {
                for (const LinkageEntry& entry : entries) {
                    const void* function = nullptr;
                    std::memcpy(&function, entry.slot, sizeof function);
                    entry.jump_to(function);
                }
            });
            if (!changed) return changed;
        }
    }
    return {};
}

} // namespace kumiki::openmp
