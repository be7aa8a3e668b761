#include "openmp/ranks/memory/objects.hpp"

#include <algorithm>
#include <cstdint>
#include <elf.h>

#include "platform/memory.hpp"

namespace kumiki::openmp {

Object::Object(const dl_phdr_info& loaded)
    : name_(loaded.dlpi_name),
      base_(reinterpret_cast<std::byte*>(loaded.dlpi_addr)),
      segments_(loaded.dlpi_phdr, loaded.dlpi_phnum) {
    for (const auto& segment : segments_)
        if (segment.p_type == PT_DYNAMIC) entries_ = reinterpret_cast<const ElfW(Dyn)*>(address_of(segment.p_vaddr));
    const auto strings = value_of(DT_STRTAB);
    if (strings >= loaded.dlpi_addr) strings_ = reinterpret_cast<const char*>(strings); // not so in the vdso
}

bool Object::has_name(std::string_view name) const {
    return file().starts_with(name) && (file().size() == name.size() || file()[name.size()] == '.');
}

std::string_view Object::plain_name() const { return file().substr(0, file().find(".so")); }

bool Object::wants_executable_stacks() const {
    return std::ranges::any_of(segments_, [](const ElfW(Phdr) & segment) {
        return segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X) != 0;
    });
}

bool Object::executes(const void* instruction) const {
    return std::ranges::any_of(executable(), [instruction](auto part) {
        return instruction >= part.data() && instruction < part.data() + part.size();
    });
}

bool Object::is_called(std::string_view library) const {
    if (const auto* const entry = entry_of(DT_SONAME); entry != nullptr && strings_ != nullptr)
        return library == strings_ + entry->d_un.d_val;
    return library == file();
}

std::vector<std::string_view> Object::needed() const {
    std::vector<std::string_view> names;
    for (const auto* entry = entries_; strings_ != nullptr && entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_NEEDED) names.emplace_back(strings_ + entry->d_un.d_val);
    return names;
}

bool Object::needs(const Object& library) const {
    return std::ranges::any_of(needed(), [&library](auto name) { return library.is_called(name); });
}

bool Object::uses_one_of(std::span<const std::string_view> functions) const {
    return uses(functions, DT_JMPREL, DT_PLTRELSZ) || uses(functions, DT_RELA, DT_RELASZ);
}

std::vector<std::span<std::byte>> Object::variables_of_libraries() const {
    std::vector<std::span<std::byte>> found;
    const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(value_of(DT_SYMTAB));
    for (const auto& each : relocations(DT_RELA, DT_RELASZ))
        if (ELF64_R_TYPE(each.r_info) == R_X86_64_COPY)
            found.emplace_back(address_of(each.r_offset), symbols[ELF64_R_SYM(each.r_info)].st_size);
    return found;
}

std::vector<const std::byte*> Object::slots_of_calls() const {
    std::vector<const std::byte*> found;
    for (const auto& each : relocations(DT_JMPREL, DT_PLTRELSZ))
        if (ELF64_R_TYPE(each.r_info) == R_X86_64_JUMP_SLOT) found.push_back(address_of(each.r_offset));
    std::ranges::sort(found);
    return found;
}

const ElfW(Dyn) * Object::entry_of(ElfW(Sxword) tag) const {
    for (const auto* entry = entries_; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == tag) return entry;
    return nullptr;
}

ElfW(Addr) Object::value_of(ElfW(Sxword) tag) const {
    const auto* const entry = entry_of(tag);
    return entry == nullptr ? 0 : entry->d_un.d_ptr;
}

std::span<const ElfW(Rela)> Object::relocations(ElfW(Sxword) table, ElfW(Sxword) bytes) const {
    return {reinterpret_cast<const ElfW(Rela)*>(value_of(table)), value_of(bytes) / sizeof(ElfW(Rela))};
}

bool Object::uses(std::span<const std::string_view> functions, ElfW(Sxword) table, ElfW(Sxword) bytes) const {
    const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(value_of(DT_SYMTAB));
    if (strings_ == nullptr || symbols == nullptr) return false;
    return std::ranges::any_of(relocations(table, bytes), [&](const ElfW(Rela) & each) {
        const auto symbol = ELF64_R_SYM(each.r_info);
        return symbol != 0 && std::ranges::find(functions, strings_ + symbols[symbol].st_name) != functions.end();
    });
}

std::vector<Object> loaded_objects() {
    std::vector<Object> objects;
    dl_iterate_phdr(
        [](dl_phdr_info* loaded, std::size_t, void* found) {
            static_cast<std::vector<Object>*>(found)->emplace_back(*loaded);
            return 0;
        },
        &objects);
    return objects;
}

Dl_info file_at(const void* address) {
    Dl_info found{};
    return address != nullptr && dladdr(address, &found) != 0 ? found : Dl_info{};
}

std::span<std::byte> whole_pages(std::byte* begin, std::byte* end) {
    const auto page = static_cast<std::uintptr_t>(platform::page_size());
    const auto from = reinterpret_cast<std::uintptr_t>(begin) / page * page;
    const auto to = platform::round_up(reinterpret_cast<std::uintptr_t>(end), page);
    if (from >= to) return {};
    return {reinterpret_cast<std::byte*>(from), to - from};
}

} // namespace kumiki::openmp
