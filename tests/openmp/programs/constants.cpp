// Constants that lie beside the code, where older linkers put them, and look like atomic instructions (0x87 exchanges);
// and exceptions, whose tables lie there, too.
#include <cstdint>
#include <cstdio>
#include <stdexcept>

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
    std::printf("wrong %d, caught %d\n", wrong, caught);
}
