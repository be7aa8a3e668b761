#pragma once

#include <cstdint>
#include <optional>
#include <ucontext.h>

#include "dsm/word_change.hpp"
#include "openmp/ranks/code/instructions.hpp"

namespace kumiki::openmp {

/// The place of a 64-bit register in the context of a signal; -1: `name` is no register. Nothing: there is no place.
std::optional<int> context_register(ZydisRegister name);

/// How an instruction names a variable. Registers are indexes into those of a signal's context; -1: none.
struct Variable {
    int base = -1, index = -1;
    std::int64_t scale = 0, displacement = 0;
    bool known = false;

    /// Nothing: other registers name it.
    static std::optional<Variable> of(const Thing& thing);
    const void* address(const gregset_t& registers) const;
};

/// An atomic instruction that a variable's home can carry out for this rank: what it does to the variable, and then to
/// the registers of the thread. (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.)
class AtomicChange {
public:
    /// Nothing: it is another instruction.
    static std::optional<AtomicChange> of(const Decoded& decoded);

    /// Whether the program uses what the variable had, or the flags, behind the instruction that ends at `end`.
    bool uses_result(std::byte* end) const;
    dsm::WordChange wanted(const gregset_t& registers) const;
    /// `before`: what the variable had.
    void finish(std::uint64_t before, gregset_t& registers) const;

private:
    enum class Operation : std::uint8_t {
        add,
        subtract,
        increment,
        decrement,
        bit_and,
        bit_or,
        bit_xor,
        exchange,
        exchange_add,
        compare_exchange
    };
    static std::optional<Operation> operation_of(ZydisMnemonic mnemonic);

    std::uint64_t operand(const gregset_t& registers) const;
    std::uint64_t of_word(std::uint64_t value) const { return bytes_ == 4 ? value & 0xffff'ffff : value; }
    template <class Word>
    void set_flags(Word before, gregset_t& registers) const;

    Operation operation_{};
    std::uint8_t bytes_ = 0;
    int register_ = -1; ///< of the operand; -1: it is `immediate_`
    std::uint64_t immediate_ = 0;
};

} // namespace kumiki::openmp
