#include "openmp/ranks/memory/image.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <link.h>
#include <string_view>
#include <sys/mman.h>
#include <utility>

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
    const auto to = platform::round_up(reinterpret_cast<std::uintptr_t>(end), page);
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

/// The parts of the program that are code, by the table in its file: what can be executed besides are often constants,
/// which may look like instructions. Without the table, all that can be executed.
std::vector<std::span<std::byte>> code_of(const dl_phdr_info& program) {
    std::vector<std::span<std::byte>> code;
    std::ifstream file("/proc/self/exe", std::ios::binary);
    ElfW(Ehdr) header{};
    if (file.read(reinterpret_cast<char*>(&header), sizeof header) && header.e_shentsize == sizeof(ElfW(Shdr))) {
        std::vector<ElfW(Shdr)> sections(header.e_shnum);
        file.seekg(static_cast<std::streamoff>(header.e_shoff));
        file.read(reinterpret_cast<char*>(sections.data()),
                  static_cast<std::streamsize>(sections.size() * sizeof(ElfW(Shdr))));
        for (const auto& section : sections)
            if (file && (section.sh_flags & SHF_ALLOC) != 0 && (section.sh_flags & SHF_EXECINSTR) != 0)
                code.emplace_back(address_of(program, section.sh_addr), section.sh_size);
    }
    if (!code.empty()) return code;
    for (const auto& segment : segments_of(program))
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
            code.emplace_back(address_of(program, segment.p_vaddr), segment.p_memsz);
    return code;
}

std::span<std::byte> initialized_of(const dl_phdr_info& program) {
    for (const auto& segment : segments_of(program))
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0)
            return {address_of(program, segment.p_vaddr), segment.p_filesz};
    return {};
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

/// What the dynamic linker knows of an object.
class Dynamic {
public:
    explicit Dynamic(const dl_phdr_info& object) {
        for (const auto& segment : segments_of(object))
            if (segment.p_type == PT_DYNAMIC)
                entries_ = reinterpret_cast<const ElfW(Dyn)*>(address_of(object, segment.p_vaddr));
        const auto strings = value_of(DT_STRTAB);
        if (strings >= object.dlpi_addr) strings_ = reinterpret_cast<const char*>(strings); // not so in the vdso
    }

    bool needs(std::string_view library) const {
        if (strings_ == nullptr) return false;
        for (const auto* entry = entries_; entry->d_tag != DT_NULL; ++entry)
            if (entry->d_tag == DT_NEEDED && library == strings_ + entry->d_un.d_val) return true;
        return false;
    }

    /// Whether the object uses one of these functions of other objects.
    bool uses_one_of(std::span<const std::string_view> functions) const {
        return uses(functions, DT_JMPREL, DT_PLTRELSZ) || uses(functions, DT_RELA, DT_RELASZ);
    }

    /// By copy relocations.
    std::vector<std::span<std::byte>> variables_of_libraries(const dl_phdr_info& program) const {
        std::vector<std::span<std::byte>> found;
        const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(value_of(DT_SYMTAB));
        const std::span relocations(reinterpret_cast<const ElfW(Rela)*>(value_of(DT_RELA)),
                                    value_of(DT_RELASZ) / sizeof(ElfW(Rela)));
        for (const auto& each : relocations)
            if (ELF64_R_TYPE(each.r_info) == R_X86_64_COPY)
                found.emplace_back(address_of(program, each.r_offset), symbols[ELF64_R_SYM(each.r_info)].st_size);
        return found;
    }

    /// Null if there is none.
    const ElfW(Dyn) * entry_of(ElfW(Sxword) tag) const {
        for (const auto* entry = entries_; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
            if (entry->d_tag == tag) return entry;
        return nullptr;
    }

private:
    ElfW(Addr) value_of(ElfW(Sxword) tag) const {
        const auto* const entry = entry_of(tag);
        return entry == nullptr ? 0 : entry->d_un.d_ptr;
    }
    bool uses(std::span<const std::string_view> functions, ElfW(Sxword) table, ElfW(Sxword) bytes) const {
        const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(value_of(DT_SYMTAB));
        if (strings_ == nullptr || symbols == nullptr) return false;
        const std::span relocations(reinterpret_cast<const ElfW(Rela)*>(value_of(table)),
                                    value_of(bytes) / sizeof(ElfW(Rela)));
        return std::ranges::any_of(relocations, [&](const ElfW(Rela) & each) {
            const auto symbol = ELF64_R_SYM(each.r_info);
            return symbol != 0 && std::ranges::find(functions, strings_ + symbols[symbol].st_name) != functions.end();
        });
    }

    const ElfW(Dyn) * entries_ = nullptr;
    const char* strings_ = nullptr;
};

} // namespace

constexpr std::string_view runtimes[] = {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"};
constexpr std::string_view copying_functions[] = {"__kmpc_threadprivate_cached", "__kmpc_threadprivate"};
constexpr std::string_view yielding_functions[] = {"sched_yield", "thrd_yield", "sleep",          "thrd_sleep",
                                                   "usleep",      "nanosleep",  "clock_nanosleep"};

Image find_image() {
    Image image;
    image.layout = 0xcbf29ce484222325;
    for_each_object([&](const dl_phdr_info& object, bool program) {
        add(image.layout, object);
        const Dynamic dynamic(object);
        if (!program) {
            if (std::ranges::any_of(runtimes, [&](auto runtime) { return dynamic.needs(runtime); }))
                image.other_user = object.dlpi_name;
            return;
        }
        image.yields = dynamic.uses_one_of(yielding_functions);
        image.base = address_of(object, 0);
        image.data = data_of(object);
        image.initialized = initialized_of(object);
        image.copies_variables = dynamic.uses_one_of(copying_functions);
        image.of_libraries = dynamic.variables_of_libraries(object);
        for (const auto& segment : segments_of(object)) {
            if (segment.p_type == PT_LOAD)
                image.segments.emplace_back(address_of(object, segment.p_vaddr), segment.p_memsz);
        }
        image.code = code_of(object);
    });
    return image;
}

void run_last_functions(std::string_view library) {
    ElfW(Dyn)* length = nullptr;
    void (*const* functions)() = nullptr;
    for_each_object([&](const dl_phdr_info& object, bool program) {
        if (library.empty() ? !program : std::string_view(object.dlpi_name).find(library) == std::string_view::npos)
            return;
        const Dynamic dynamic(object);
        length = const_cast<ElfW(Dyn)*>(dynamic.entry_of(DT_FINI_ARRAYSZ));
        if (const auto* const entry = dynamic.entry_of(DT_FINI_ARRAY))
            functions = reinterpret_cast<void (*const*)()>(address_of(object, entry->d_un.d_ptr));
    });
    if (length == nullptr || functions == nullptr) return;
    // The linker has made its table read-only.
    auto* const begin = reinterpret_cast<std::byte*>(length);
    const std::span<std::byte> pages = whole_pages(begin, begin + sizeof *length);
    if (mprotect(pages.data(), pages.size(), PROT_READ | PROT_WRITE) != 0) return;
    for (auto left = std::exchange(length->d_un.d_val, 0) / sizeof *functions; left > 0; --left) functions[left - 1]();
}

Callers::Callers() {
    for_each_object([this](const dl_phdr_info& object, bool program) {
        const std::string_view name = object.dlpi_name;
        const auto is_one_of = [name](std::initializer_list<std::string_view> names) {
            return std::ranges::any_of(names, [name](auto each) { return name.find(each) != name.npos; });
        };
        Code code;
        for (const auto& segment : segments_of(object))
            if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
                code.emplace_back(address_of(object, segment.p_vaddr), segment.p_memsz);
        const bool is_this = is_in(code, reinterpret_cast<const void*>(&find_image));
        if (program || is_one_of({"/libstdc++.so", "/libgfortran.so"}))
            program_.insert(program_.end(), code.begin(), code.end());
        else if (is_this || is_one_of({"/libc.so", "/libpthread.so"}))
            callers_of_program_.insert(callers_of_program_.end(), code.begin(), code.end());
    });
}

} // namespace kumiki::openmp
