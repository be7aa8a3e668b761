#include "openmp/ranks/process/random_numbers.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>
#include <random>
#include <utility>
#include <vector>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "openmp/ranks/ranks.hpp"
#include "platform/next_function.hpp"

namespace kumiki::openmp {
namespace {

/// An array of one dimension as gfortran passes it (libgfortran.h of GCC 9 and newer).
struct FortranArray {
    void* base;
    std::size_t offset = 0, element_bytes;
    int version = 0;
    signed char dimensions = 1, type = 1; ///< integer
    short attribute = 0;
    std::ptrdiff_t span, stride = 1, lower = 0, upper;

    explicit FortranArray(std::vector<std::uint32_t>& values)
        : base(values.data()),
          element_bytes(sizeof values.front()),
          span(sizeof values.front()),
          upper(static_cast<std::ptrdiff_t>(values.size()) - 1) {}
};

using FortranSeed = void (*)(void* size, void* put, void* get);
/// Null: the program has no library of Fortran.
FortranSeed fortran_seed() {
    static const auto function = reinterpret_cast<FortranSeed>(dlsym(RTLD_NEXT, "_gfortran_random_seed_i4"));
    return function;
}

std::vector<std::uint32_t> room_for_fortran_seed() {
    std::int32_t size = 0;
    fortran_seed()(&size, nullptr, nullptr);
    return std::vector<std::uint32_t>(static_cast<std::size_t>(size));
}

/// So many words of a rank's own seed.
std::vector<std::uint32_t> own_seed(std::uint64_t of_program, int rank, std::size_t words) {
    std::vector<std::uint32_t> own(words);
    std::seed_seq{static_cast<std::uint32_t>(of_program), static_cast<std::uint32_t>(of_program >> 32),
                  static_cast<std::uint32_t>(rank)}
        .generate(own.begin(), own.end());
    return own;
}

void seed(Seeds::Generator generator, std::uint64_t of_program, int rank) {
    switch (generator) {
    case Seeds::c_library: {
        static auto* const after = platform::next_function(&::srandom, "srandom");
        return after(own_seed(of_program, rank, 1).front());
    }
    case Seeds::c_library_48: {
        static auto* const after = platform::next_function(&::srand48, "srand48");
        return after(own_seed(of_program, rank, 1).front());
    }
    case Seeds::fortran:
        if (fortran_seed() == nullptr) return;
        auto words = own_seed(of_program, rank, room_for_fortran_seed().size());
        FortranArray put(words);
        fortran_seed()(nullptr, &put, nullptr);
    }
}

/// Null: not the thread that runs main.
RandomNumbers* of_main() {
    auto* const ranks = static_cast<Ranks*>(process().others());
    return ranks != nullptr && ranks->rank() == 0 && ranks->leads() ? &ranks->random_numbers() : nullptr;
}

void note_fortran() {
    RandomNumbers* const numbers = of_main();
    if (numbers == nullptr) return;
    auto words = room_for_fortran_seed();
    FortranArray get(words);
    fortran_seed()(nullptr, nullptr, &get);
    std::array<std::uint32_t, 2> of_all{};
    std::seed_seq(words.begin(), words.end()).generate(of_all.begin(), of_all.end());
    numbers->note(Seeds::fortran, std::bit_cast<std::uint64_t>(of_all));
}

} // namespace

void RandomNumbers::note(Seeds::Generator generator, std::uint64_t seed) {
    Seeds::Seed& noted = seeds_.all[generator];
    noted = {noted.times + 1, seed};
}

void RandomNumbers::take_in(const Seeds& seeds) {
    const bool first = !std::exchange(began_, true);
    for (std::size_t each = 0; each < seeds.all.size(); ++each) {
        if (!first && seeds.all[each].times == seeds_.all[each].times) continue;
        seed(Seeds::Generator(each), seeds.all[each].value, rank_);
    }
    seeds_ = seeds;
}

} // namespace kumiki::openmp

using kumiki::openmp::Seeds;

#define KUMIKI_SEED_CALL(name, type, generator)                                                                        \
    KUMIKI_ENTRY void name(type seed) {                                                                                \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        after(seed);                                                                                                   \
        if (auto* const numbers = kumiki::openmp::of_main())                                                           \
            numbers->note(generator, static_cast<std::uint64_t>(seed));                                                \
    }
KUMIKI_SEED_CALL(srand, unsigned, Seeds::c_library)
KUMIKI_SEED_CALL(srandom, unsigned, Seeds::c_library)
KUMIKI_SEED_CALL(srand48, long, Seeds::c_library_48)

// With an array of either kind of integer; and with two logical variables and a number.
#define KUMIKI_FORTRAN_SEED_CALL(name, third)                                                                          \
    KUMIKI_ENTRY void name(void* one, void* other, third last) {                                                       \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        after(one, other, last);                                                                                       \
        kumiki::openmp::note_fortran();                                                                                \
    }
KUMIKI_FORTRAN_SEED_CALL(_gfortran_random_seed_i4, void*)
KUMIKI_FORTRAN_SEED_CALL(_gfortran_random_seed_i8, void*)
KUMIKI_FORTRAN_SEED_CALL(_gfortran_random_init, int)
