#pragma once

#include <cstddef>
#include <dlfcn.h>
#include <link.h>
#include <ranges>
#include <span>
#include <string_view>
#include <vector>

namespace kumiki::openmp {

/// The program, or a library, as the dynamic linker has loaded it and for as long as it stays.
class Object {
public:
    explicit Object(const dl_phdr_info& loaded);

    /// The file; empty for the program.
    std::string_view name() const { return name_; }
    /// The file's name without folder and version, as the user may give it.
    std::string_view plain_name() const;
    std::byte* base() const { return base_; }
    std::byte* address_of(ElfW(Addr) offset) const { return base_ + offset; }
    std::span<const ElfW(Phdr)> segments() const { return segments_; }
    /// The parts of it that may be executed. Needs no memory.
    auto executable() const {
        return segments_ | std::views::filter([](const ElfW(Phdr) & segment) {
                   return segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0;
               }) |
               std::views::transform([this](const ElfW(Phdr) & segment) {
                   return std::span(address_of(segment.p_vaddr), segment.p_memsz);
               });
    }
    /// Whether it wants stacks on which code may be executed, for functions within functions (trampolines).
    bool wants_executable_stacks() const;
    /// Whether this instruction is its own.
    bool executes(const void* instruction) const;
    bool operator==(const Object& other) const { return base_ == other.base_; }

    /// Whether the file's name is this one, or begins with it and a dot.
    bool has_name(std::string_view name) const;
    /// Whether this is the name by which others need it.
    bool is_called(std::string_view library) const;
    /// The names of the libraries that it is linked with.
    std::vector<std::string_view> needed() const;
    bool needs(const Object& library) const;
    /// Whether it uses one of these functions of other objects.
    bool uses_one_of(std::span<const std::string_view> functions) const;
    /// Variables of libraries that the linker has put among its own, by copy relocations.
    std::vector<std::span<std::byte>> variables_of_libraries() const;
    /// The variables in which the dynamic linker keeps the functions of other objects that it calls, in order.
    std::vector<const std::byte*> slots_of_calls() const;
    /// Of its dynamic section; null if there is none.
    const ElfW(Dyn) * entry_of(ElfW(Sxword) tag) const;

private:
    /// The file's name without its folder.
    std::string_view file() const { return name_.substr(name_.rfind('/') + 1); }
    ElfW(Addr) value_of(ElfW(Sxword) tag) const;
    std::span<const ElfW(Rela)> relocations(ElfW(Sxword) table, ElfW(Sxword) bytes) const;
    bool uses(std::span<const std::string_view> functions, ElfW(Sxword) table, ElfW(Sxword) bytes) const;

    std::string_view name_;
    std::byte* base_;
    std::span<const ElfW(Phdr)> segments_;
    const ElfW(Dyn) * entries_ = nullptr;
    const char* strings_ = nullptr;
};

/// The program comes first. Must be called when all libraries are loaded.
std::vector<Object> loaded_objects();

/// The file that has been loaded at this address; all null: it is not known. Needs no memory.
Dl_info file_at(const void* address);

/// All pages of which some part lies between these addresses.
std::span<std::byte> whole_pages(std::byte* begin, std::byte* end);

} // namespace kumiki::openmp
