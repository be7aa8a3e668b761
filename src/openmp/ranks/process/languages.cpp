#include "openmp/ranks/process/languages.hpp"

#include <dlfcn.h>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "openmp/ranks/process/signals.hpp"
#include "openmp/ranks/ranks.hpp"

namespace kumiki::openmp {
namespace {

/// The constructor of std::ios_base::Init, of which each file that includes <iostream> has an object up to GCC 12. The
/// first one makes the standard streams and the facets that all streams use. A program of another language has none.
void make_standard_streams() {
    const auto construct = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "_ZNSt8ios_base4InitC1Ev"));
    char object = 0; // the class has no members, and what was made stays when it is not destroyed
    if (construct != nullptr) construct(&object);
}

template <class... Arguments>
void call_fortran(const char* name, Arguments... arguments) {
    const auto function = reinterpret_cast<void (*)(Arguments...)>(dlsym(RTLD_NEXT, name));
    const LastHandlers handlers; // the library installs some that print where the program was
    if (function != nullptr) function(arguments...);
}

/// Null: the program runs as one process.
FortranOptions* noted_options() {
    auto* const ranks = static_cast<Ranks*>(process().others());
    return ranks != nullptr ? &ranks->process_state().fortran() : nullptr;
}

} // namespace

void prepare_languages() { make_standard_streams(); }

void tell_fortran_arguments(int count, char** arguments) { call_fortran("_gfortran_set_args", count, arguments); }

void FortranOptions::set() const {
    if (numbers != nullptr) call_fortran("_gfortran_set_options", count, numbers);
    if (conversion != 0) call_fortran("_gfortran_set_convert", conversion);
    if (record_marker != 0) call_fortran("_gfortran_set_record_marker", record_marker);
    if (longest_subrecord != 0) call_fortran("_gfortran_set_max_subrecord_length", longest_subrecord);
}

} // namespace kumiki::openmp

/// std::ios_base::sync_with_stdio, which would give std::cout a buffer of this process, whose address all would use.
/// So the streams stay what they are: what they print goes to those of the C library. (The library that is linked into
/// the runtime has this function, too, so it has another name here.)
KUMIKI_ENTRY bool kumiki_sync_with_stdio(bool sync) {
    if (kumiki::openmp::process().others() != nullptr) return true;
    static const auto next = reinterpret_cast<bool (*)(bool)>(dlsym(RTLD_NEXT, "_ZNSt8ios_base15sync_with_stdioEb"));
    return next(sync);
}
__asm__(".symver kumiki_sync_with_stdio, _ZNSt8ios_base15sync_with_stdioEb@GLIBCXX_3.4, remove");

// What the start of a Fortran program calls.
KUMIKI_ENTRY void _gfortran_set_options(int count, const int* numbers) {
    kumiki::openmp::call_fortran("_gfortran_set_options", count, numbers);
    if (auto* const options = kumiki::openmp::noted_options()) {
        options->count = count;
        options->numbers = numbers;
    }
}
#define KUMIKI_FORTRAN_OPTION_CALL(name, option)                                                                       \
    KUMIKI_ENTRY void name(int value) {                                                                                \
        kumiki::openmp::call_fortran(#name, value);                                                                    \
        if (auto* const options = kumiki::openmp::noted_options()) options->option = value;                            \
    }
KUMIKI_FORTRAN_OPTION_CALL(_gfortran_set_convert, conversion)
KUMIKI_FORTRAN_OPTION_CALL(_gfortran_set_record_marker, record_marker)
KUMIKI_FORTRAN_OPTION_CALL(_gfortran_set_max_subrecord_length, longest_subrecord)
