#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"

/// What libgomp has and this runtime has not: OpenACC, and what libgomp's modules for devices call; and what libomp has
/// and this runtime has not. Also the error directive, which ends the program as well.
using namespace kumiki::openmp;

namespace {

[[noreturn]] void refuse_symbol(const char* name) {
    refuse(fmt::format("the program calls {}, which is not OpenMP: OpenACC and libgomp's modules for devices need "
                       "libgomp itself; run it without --openmp",
                       name));
}

[[noreturn]] void refuse_libomp(const char* name) {
    refuse(fmt::format("the program calls {} of LLVM's OpenMP runtime, which this runtime does not have; build it with "
                       "gcc, or run it without --openmp",
                       name));
}

/// The compiler passes no message, one that ends with a zero (and the largest number as its length), or one of a known
/// length, which Fortran's have.
std::string message_of(const char* message, std::size_t length) {
    if (message == nullptr) return {};
    return fmt::format(": {}", length == SIZE_MAX ? std::string_view(message) : std::string_view(message, length));
}

} // namespace

#define KUMIKI_REFUSE(name)                                                                                            \
    KUMIKI_ENTRY void name() { refuse_symbol(#name); }
#include "openmp/entry/refused.def"

#undef KUMIKI_REFUSE
#define KUMIKI_REFUSE(name)                                                                                            \
    KUMIKI_ENTRY void name() { refuse_libomp(#name); }
#include "openmp/entry/refused_kmp.def"

KUMIKI_ENTRY void GOMP_warning(const char* message, std::size_t length) {
    say(fmt::format("the program warns (error directive){}", message_of(message, length)));
}
KUMIKI_ENTRY void GOMP_error(const char* message, std::size_t length) {
    say(fmt::format("the program ends itself (error directive){}", message_of(message, length)));
    std::exit(1);
}
