#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace kumiki::dsm {

/// A change of an aligned word, as processors make it by an atomic instruction; or of a floating-point number, as
/// programs make it by several.
struct WordChange {
    enum class Kind : std::uint8_t {
        add,
        bit_and,
        bit_or,
        bit_xor,
        exchange,
        compare_exchange,
        real_add,
        real_subtract,
        real_multiply,
        real_divide,
        real_minimum,
        real_maximum,
    };
    Kind kind{};
    std::uint8_t bytes{};     ///< of the word: 4 or 8
    std::uint64_t operand{};  ///< what is added and so on, or the new value
    std::uint64_t expected{}; ///< by compare_exchange, which changes nothing else; of floating-point numbers, how the
                              ///< processor rounds (x86-64: MXCSR)
    bool is_wide = false;     ///< the word is a float and the operand a double: both are combined as doubles

    /// The value of a word that had this one. Its bits above those of the word mean nothing.
    std::uint64_t after(std::uint64_t before) const;
    /// Changes the word, atomically; returns the value before.
    std::uint64_t make(std::byte* word) const;

    bool is_real() const { return kind >= Kind::real_add; }
    /// Whether changes of this kind may be made in any order, and several of them as one.
    bool combines() const;
    /// One change that does the same as this one and another one; of floating-point numbers, but for rounding. Nothing:
    /// there is none.
    std::optional<WordChange> and_then(const WordChange& other) const;
};

/// The lock under which words are changed at their home, which must be its manager.
struct ChangeLock {
    int first = 0;
    bool is_of_each_home = false; ///< that of rank r is `first` + r; false: all words are changed under `first`
    int of(int home) const { return is_of_each_home ? first + home : first; }
};

/// A change of a word of a shared array, as ranks ask the word's home for it.
struct WordRequest {
    std::uint64_t array{}, offset{}; ///< in bytes from the array's begin
    WordChange change{};
};

} // namespace kumiki::dsm
