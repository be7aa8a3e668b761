#include "kernels/matmul/blas.hpp"

#include <cblas.h>
#include <dlfcn.h>

#include <cstdint>

namespace kumiki::kernels::matmul {

namespace {

/// How a library is told its number of threads. The functions are looked up in the running process, so that any CBLAS
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

void multiply(std::size_t rows, std::size_t columns, std::size_t depth, Operand a, Operand b, double* c,
              std::size_t c_leading, bool accumulate) {
    if (rows == 0 || columns == 0 || depth == 0) return;
    const auto number = [](std::size_t value) { return static_cast<int>(value); };
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, number(rows), number(columns), number(depth), 1.0, a.data,
                number(a.leading), b.data, number(b.leading), accumulate ? 1.0 : 0.0, c, number(c_leading));
}

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
               : "this CBLAS library cannot be told how many threads to use: it does as it likes";
}

} // namespace kumiki::kernels::matmul
