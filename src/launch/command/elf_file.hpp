#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

namespace kumiki::launch {

/// What kind of program a file is.
enum class FileKind { unreadable, other, script, program };

/// Reads as much of a program (an ELF file of 64 bits) as tells how it was linked.
class ElfFile {
public:
    explicit ElfFile(const std::string& path);

    FileKind kind() const { return kind_; }
    /// Whether it is for this kind of processor.
    bool is_native() const { return native_; }
    /// The dynamic linker that it asks for; empty: it is linked statically.
    std::string interpreter() const;
    /// Whether it contains a function of this name. Always false when its symbols have been stripped.
    bool defines(std::string_view function) const;

    struct Variable {
        std::string name;
        std::uint64_t address, bytes; ///< the address before the program is loaded
        bool is_constant, is_of_thread;
    };
    /// Nothing when its symbols have been stripped.
    std::vector<Variable> variables() const;

private:
    template <class Entry>
    std::vector<Entry> table(Elf64_Off offset, std::size_t count) const;
    std::string text(Elf64_Off offset, std::size_t length) const;
    /// Calls each(name, symbol, sections) for all symbols.
    template <class Each>
    void for_each_symbol(Each each) const;

    std::string path_;
    FileKind kind_ = FileKind::unreadable;
    bool native_ = false;
    Elf64_Ehdr head_{};
};

} // namespace kumiki::launch
