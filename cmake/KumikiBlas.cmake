# The dense kernels are those of any CBLAS: OpenBLAS when there is one, else BLIS, MKL, or what the system calls cblas.
# -DKUMIKI_CBLAS=/path/to/library.so takes another. Defines the targets kumiki_cblas, if there is one, and kumiki_blas_library.
include_guard(GLOBAL)
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

# How the CBLAS library is told its threads; its functions are looked up in the program, which is linked with it.
add_library(kumiki_blas_library STATIC "${PROJECT_SOURCE_DIR}/kernels/common/blas_library.cpp")
target_include_directories(kumiki_blas_library PUBLIC "${PROJECT_SOURCE_DIR}")
target_link_libraries(kumiki_blas_library PRIVATE ${CMAKE_DL_LIBS})
