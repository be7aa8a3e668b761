// Constants that lie beside the code, where older linkers put them, and look like atomic instructions (0x87 exchanges),
// or between functions, where programmers in assembly language do; and exceptions, whose tables lie there, too.
#include <cstdint>
#include <cstdio>
#include <stdexcept>

// LOCK CMPXCHG eight times; and a function of which no table for unwinding knows.
asm(".pushsection .text\n"
    "numbers_in_code: .rept 8\n .byte 0xf0, 0x48, 0x0f, 0xb1, 0x0f\n .endr\n"
    "count_one: lock incl (%rdi)\n ret\n"
    ".popsection");
extern "C" {
extern const unsigned char numbers_in_code[40];
void count_one(int* counter);
}

namespace {

template <int count, int... numbers>
struct Up : Up<count - 1, count - 1, numbers...> {};
template <int... numbers>
struct Up<0, numbers...> {
    static constexpr std::uint64_t values[] = {0x0187018601870187u * (numbers + 1)...};
    static constexpr int count = sizeof...(numbers);
};
using Table = Up<256>;

int caught = 0;

void fail_at(int number) {
    if (number % 3 == 0) throw std::runtime_error("every third one");
}

} // namespace

int main() {
    const volatile std::uint64_t* const table = Table::values;
    int wrong = 0;
#pragma omp parallel for
    for (int i = 0; i < Table::count; ++i) {
        if (table[i] != 0x0187018601870187u * static_cast<std::uint64_t>(i + 1))
#pragma omp atomic
            ++wrong;
        try {
            fail_at(i);
        } catch (const std::runtime_error&) {
#pragma omp atomic
            ++caught;
        }
    }
    int sum = 0, counted = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 400; ++i) {
        sum += numbers_in_code[i % 40];
        count_one(&counted);
    }
    std::printf("sum %d, counted %d\n", sum, counted);
    std::printf("wrong %d, caught %d\n", wrong, caught);
}
