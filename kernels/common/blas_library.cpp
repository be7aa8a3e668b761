#include "kernels/common/blas_library.hpp"

#include <dlfcn.h>

#include <cstdint>

namespace kumiki::kernels {

namespace {

/// How the number of threads of a library is set. The functions are looked up in the running process, so that any CBLAS
/// can be linked.
struct Setter {
    const char* library;
    const char* symbol;
    bool takes_int64;
};
constexpr Setter setters[] = {
    {"openblas", "openblas_set_num_threads", false},
    {"mkl", "MKL_Set_Num_Threads", false},
    {"blis", "bli_thread_set_num_threads", true},
};

struct Found {
    const Setter* setter = nullptr;
    void* function = nullptr;
};

Found find_setter() {
    for (const Setter& setter : setters)
        if (void* const function = dlsym(RTLD_DEFAULT, setter.symbol)) return {&setter, function};
    return {};
}

} // namespace

const char* blas_name() {
    const Found found = find_setter();
    return found.setter != nullptr ? found.setter->library : "cblas";
}

void set_blas_threads(int threads) {
    const Found found = find_setter();
    if (found.setter == nullptr) return;
    if (found.setter->takes_int64) reinterpret_cast<void (*)(std::int64_t)>(found.function)(threads);
    else reinterpret_cast<void (*)(int)>(found.function)(threads);
}

const char* blas_note() {
    return find_setter().setter != nullptr
               ? ""
               : "the number of threads of this CBLAS library cannot be set: it uses its own default";
}

} // namespace kumiki::kernels
