#include "dsm/word_change.hpp"

#include <atomic>
#include <bit>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace kumiki::dsm {
namespace {

/// While it exists, this thread calculates as the one that wants the change: it rounds as that one, and takes small
/// numbers for zeros where that one does.
class Arithmetic {
#if defined(__x86_64__)
public:
    explicit Arithmetic(std::uint64_t control) : before_(_mm_getcsr()) {
        constexpr unsigned no_exceptions = 0x1f80;
        _mm_setcsr(static_cast<unsigned>(control) | no_exceptions);
    }
    ~Arithmetic() { _mm_setcsr(before_); }
    Arithmetic(const Arithmetic&) = delete;
    Arithmetic& operator=(const Arithmetic&) = delete;

private:
    unsigned before_;
#else
public:
    explicit Arithmetic(std::uint64_t) {}
#endif
};

/// Of two zeros, and where one is no number, minimum and maximum are the operand, as the processor has it. The numbers
/// are volatile because the compiler does not know that `Arithmetic` matters to them.
template <class Real>
Real calculate(WordChange::Kind kind, Real given_before, Real given_operand) {
    const volatile Real before = given_before, operand = given_operand;
    volatile Real after = before;
    switch (kind) {
    case WordChange::Kind::real_add: after = before + operand; break;
    case WordChange::Kind::real_subtract: after = before - operand; break;
    case WordChange::Kind::real_multiply: after = before * operand; break;
    case WordChange::Kind::real_divide: after = before / operand; break;
    case WordChange::Kind::real_minimum: after = before < operand ? before : operand; break;
    case WordChange::Kind::real_maximum: after = before > operand ? before : operand; break;
    default: break;
    }
    return after;
}

template <class Real, class Word>
Word real_after(const WordChange& change, std::uint64_t before) {
    const Arithmetic arithmetic(change.expected);
    return std::bit_cast<Word>(calculate(change.kind, std::bit_cast<Real>(static_cast<Word>(before)),
                                         std::bit_cast<Real>(static_cast<Word>(change.operand))));
}

std::uint32_t wide_after(const WordChange& change, std::uint64_t before) {
    const Arithmetic arithmetic(change.expected);
    const double wide = std::bit_cast<float>(static_cast<std::uint32_t>(before));
    const volatile double after = calculate(change.kind, wide, std::bit_cast<double>(change.operand));
    const volatile auto narrow = static_cast<float>(after);
    return std::bit_cast<std::uint32_t>(static_cast<float>(narrow));
}

template <class Word>
Word make_as(const WordChange& change, std::byte* at) {
    const std::atomic_ref word(reinterpret_cast<Word&>(*at));
    Word before = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(before, static_cast<Word>(change.after(before)))) {}
    return before;
}

} // namespace

std::uint64_t WordChange::after(std::uint64_t before) const {
    switch (kind) {
    case Kind::add: return before + operand;
    case Kind::bit_and: return before & operand;
    case Kind::bit_or: return before | operand;
    case Kind::bit_xor: return before ^ operand;
    case Kind::exchange: return operand;
    case Kind::compare_exchange: return before == expected ? operand : before;
    case Kind::real_add:
    case Kind::real_subtract:
    case Kind::real_multiply:
    case Kind::real_divide:
    case Kind::real_minimum:
    case Kind::real_maximum:
        if (is_wide) return wide_after(*this, before);
        return bytes == sizeof(float) ? real_after<float, std::uint32_t>(*this, before)
                                      : real_after<double, std::uint64_t>(*this, before);
    }
    return before;
}

std::uint64_t WordChange::make(std::byte* word) const {
    return bytes == sizeof(std::uint32_t) ? make_as<std::uint32_t>(*this, word) : make_as<std::uint64_t>(*this, word);
}

bool WordChange::combines() const {
    return kind != Kind::exchange && kind != Kind::compare_exchange && kind != Kind::real_divide;
}

std::optional<WordChange> WordChange::and_then(const WordChange& other) const {
    if (!combines() || kind != other.kind || bytes != other.bytes || is_wide != other.is_wide ||
        (is_real() && expected != other.expected))
        return {};
    WordChange of_operands = other;
    if (kind == Kind::real_subtract) of_operands.kind = Kind::real_add; // the sum of what is subtracted
    if (is_wide) of_operands.bytes = sizeof(double);
    of_operands.is_wide = false;
    WordChange both = other;
    both.operand = of_operands.after(operand);
    return both;
}

} // namespace kumiki::dsm
