# The dense kernels are those of any CBLAS: OpenBLAS when there is one, else BLIS, MKL, or what the system calls cblas.
# -DKUMIKI_CBLAS=/path/to/library.so takes another. Defines the target kumiki_cblas if there is one.
find_path(KUMIKI_CBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas openblas-pthread blis mkl)
find_library(KUMIKI_CBLAS NAMES openblas blis mkl_rt cblas)
mark_as_advanced(KUMIKI_CBLAS_INCLUDE)
if(KUMIKI_CBLAS AND KUMIKI_CBLAS_INCLUDE)
    add_library(kumiki_cblas INTERFACE)
    target_include_directories(kumiki_cblas SYSTEM INTERFACE ${KUMIKI_CBLAS_INCLUDE})
    target_link_libraries(kumiki_cblas INTERFACE ${KUMIKI_CBLAS})
else()
    message(STATUS "CBLAS: not found; matmul and linpack are left out (Debian: apt install libopenblas-dev)")
endif()
