#include "openmp/ranks/image.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <functional>
#include <link.h>
#include <string_view>

#include "platform/memory.hpp"

namespace kumiki::openmp {
namespace {

using Each = std::function<void(const dl_phdr_info& object, bool program)>;

/// The program comes first, and has no name.
void for_each_object(const Each& each) {
    struct State {
        const Each& each;
        bool first = true;
    } state{each};
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* argument) {
            auto& now = *static_cast<State*>(argument);
            now.each(*object, now.first);
            now.first = false;
            return 0;
        },
        &state);
}

std::byte* address_of(const dl_phdr_info& object, ElfW(Addr) offset) {
    return reinterpret_cast<std::byte*>(object.dlpi_addr + offset);
}

std::span<const ElfW(Phdr)> segments_of(const dl_phdr_info& object) { return {object.dlpi_phdr, object.dlpi_phnum}; }

std::span<std::byte> whole_pages(std::byte* begin, std::byte* end) {
    const auto page = static_cast<std::uintptr_t>(platform::page_size());
    const auto from = reinterpret_cast<std::uintptr_t>(begin) / page * page;
    const auto to = (reinterpret_cast<std::uintptr_t>(end) + page - 1) / page * page;
    if (from >= to) return {};
    return {reinterpret_cast<std::byte*>(from), to - from};
}

std::span<std::byte> data_of(const dl_phdr_info& program) {
    std::byte *begin = nullptr, *end = nullptr, *fixed = nullptr;
    for (const auto& segment : segments_of(program)) {
        std::byte* const from = address_of(program, segment.p_vaddr);
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0) {
            if (begin == nullptr) begin = from;
            end = from + segment.p_memsz;
        }
        if (segment.p_type == PT_GNU_RELRO) fixed = from + segment.p_memsz;
    }
    // The dynamic linker has made only whole pages read-only.
    if (fixed != nullptr) {
        const auto page = static_cast<std::uintptr_t>(platform::page_size());
        begin = std::max(begin, reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(fixed) / page * page));
    }
    return begin == nullptr ? std::span<std::byte>{} : whole_pages(begin, end);
}

/// FNV-1a.
void add(std::uint64_t& hash, const void* bytes, std::size_t count) {
    for (const auto* at = static_cast<const unsigned char*>(bytes); count > 0; ++at, --count)
        hash = (hash ^ *at) * 0x100000001b3;
}

/// Where an object lies, what its segments are, and its build-id among its notes.
void add(std::uint64_t& hash, const dl_phdr_info& object) {
    add(hash, &object.dlpi_addr, sizeof object.dlpi_addr);
    for (const auto& segment : segments_of(object)) {
        add(hash, &segment, sizeof segment);
        if (segment.p_type == PT_NOTE) add(hash, address_of(object, segment.p_vaddr), segment.p_memsz);
    }
}

bool needs_openmp(const dl_phdr_info& object) {
    const char* strings = nullptr;
    const ElfW(Dyn)* entries = nullptr;
    for (const auto& segment : segments_of(object))
        if (segment.p_type == PT_DYNAMIC)
            entries = reinterpret_cast<const ElfW(Dyn)*>(address_of(object, segment.p_vaddr));
    for (const auto* entry = entries; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (strings == nullptr || reinterpret_cast<std::uintptr_t>(strings) < object.dlpi_addr) return false; // the vdso
    for (const auto* entry = entries; entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_NEEDED && std::string_view(strings + entry->d_un.d_val) == "libgomp.so.1") return true;
    return false;
}

} // namespace

Image find_image() {
    Image image;
    image.layout = 0xcbf29ce484222325;
    for_each_object([&](const dl_phdr_info& object, bool program) {
        add(image.layout, object);
        if (!program) {
            if (needs_openmp(object)) image.other_user = object.dlpi_name;
            return;
        }
        image.data = data_of(object);
        for (const auto& segment : segments_of(object))
            if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
                image.code.emplace_back(address_of(object, segment.p_vaddr), segment.p_memsz);
    });
    return image;
}

Callers::Callers() {
    for_each_object([this](const dl_phdr_info& object, bool program) {
        const std::string_view name = object.dlpi_name;
        if (!program && name.find("/libstdc++.so") == name.npos && name.find("/libgfortran.so") == name.npos) return;
        for (const auto& segment : segments_of(object))
            if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
                ranges_.emplace_back(address_of(object, segment.p_vaddr), segment.p_memsz);
    });
}

} // namespace kumiki::openmp
