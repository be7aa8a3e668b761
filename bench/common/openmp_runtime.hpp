#pragma once

#include <dlfcn.h>
#include <omp.h>

#include <string_view>

namespace kumiki::bench {

/// The OpenMP runtime on which this program runs, as rows name it: that whose functions the dynamic linker has found.
inline const char* openmp_runtime() {
    Dl_info found{};
    dladdr(reinterpret_cast<void*>(&omp_get_wtime), &found);
    const std::string_view file = found.dli_fname != nullptr ? found.dli_fname : "";
    if (file.find("libkumiki-openmp") != file.npos) return "kumiki";
    return file.find("libgomp") != file.npos ? "libgomp" : "libomp";
}

} // namespace kumiki::bench
