#include "launch/command/elf_file.hpp"

#include <cstring>
#include <fstream>

namespace kumiki::launch {
namespace {

#if defined(__x86_64__)
constexpr auto this_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr auto this_machine = EM_AARCH64;
#elif defined(__powerpc64__)
constexpr auto this_machine = EM_PPC64;
#elif defined(__riscv)
constexpr auto this_machine = EM_RISCV;
#else
constexpr auto this_machine = EM_NONE;
#endif

constexpr std::size_t most_bytes = std::size_t{1} << 28; ///< of a table; a file that claims more is damaged

} // namespace

ElfFile::ElfFile(const std::string& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return;
    file.read(reinterpret_cast<char*>(&head_), sizeof head_);
    const auto length = static_cast<std::size_t>(file.gcount());
    kind_ = FileKind::other;
    if (length >= 2 && std::memcmp(head_.e_ident, "#!", 2) == 0) kind_ = FileKind::script;
    if (length < EI_NIDENT || std::memcmp(head_.e_ident, ELFMAG, SELFMAG) != 0) return;
    kind_ = FileKind::program;
    native_ = length == sizeof head_ && head_.e_ident[EI_CLASS] == ELFCLASS64 &&
              head_.e_ident[EI_DATA] == ELFDATA2LSB && head_.e_machine == this_machine;
}

template <class Entry>
std::vector<Entry> ElfFile::table(Elf64_Off offset, std::size_t count) const {
    if (count > most_bytes / sizeof(Entry)) return {};
    std::vector<Entry> entries(count);
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(entries.data()), static_cast<std::streamsize>(count * sizeof(Entry)));
    if (!file) entries.clear();
    return entries;
}

std::string ElfFile::text(Elf64_Off offset, std::size_t length) const {
    const auto bytes = table<char>(offset, length);
    return {bytes.begin(), bytes.end()};
}

std::string ElfFile::interpreter() const {
    for (const auto& part : table<Elf64_Phdr>(head_.e_phoff, head_.e_phnum)) {
        if (part.p_type != PT_INTERP) continue;
        const auto name = text(part.p_offset, part.p_filesz);
        return name.substr(0, name.find('\0'));
    }
    return {};
}

template <class Each>
void ElfFile::for_each_symbol(Each each) const {
    const auto sections = table<Elf64_Shdr>(head_.e_shoff, head_.e_shnum);
    for (const auto& section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
        const auto& names_section = sections[section.sh_link];
        const auto names = text(names_section.sh_offset, names_section.sh_size);
        for (const auto& symbol : table<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym)))
            if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < names.size())
                each(std::string_view(names.c_str() + symbol.st_name), symbol, sections);
    }
}

bool ElfFile::defines(std::string_view function) const {
    bool found = false;
    for_each_symbol([&](std::string_view name, const Elf64_Sym&, const auto&) { found = found || name == function; });
    return found;
}

std::vector<ElfFile::Variable> ElfFile::variables() const {
    std::vector<Variable> all;
    for_each_symbol([&](std::string_view name, const Elf64_Sym& symbol, const std::vector<Elf64_Shdr>& sections) {
        const auto type = ELF64_ST_TYPE(symbol.st_info);
        if ((type != STT_OBJECT && type != STT_TLS) || symbol.st_size == 0 || symbol.st_shndx >= sections.size())
            return;
        all.push_back({.name = std::string(name),
                       .address = symbol.st_value,
                       .bytes = symbol.st_size,
                       .is_constant = (sections[symbol.st_shndx].sh_flags & SHF_WRITE) == 0,
                       .is_of_thread = type == STT_TLS});
    });
    return all;
}

} // namespace kumiki::launch
