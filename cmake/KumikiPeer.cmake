# The measuring programs of one peer (an installation of an MPI or of UCX), beside a Kumiki that is installed:
# `kumiki evaluate --peer NAME=PREFIX` configures these sources so (tool/kumiki/peers/programs.py).
#
#   KUMIKI_PEER=NAME            in the names of the programs and in their rows
#   KUMIKI_PEER_KIND            openmpi, mpich or ucx
#   KUMIKI_PEER_PREFIX          where it is installed
#   KUMIKI_INSTALLED            the prefix of the installed Kumiki
#   KUMIKI_COMPILER             the compiler that it was built with, which must be the same: what is compared are the
#                               programs and not their compilers
if(NOT "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" STREQUAL "${KUMIKI_COMPILER}")
    message(FATAL_ERROR "Kumiki was built with ${KUMIKI_COMPILER}, and ${CMAKE_CXX_COMPILER} is "
        "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}: set CXX to the former, or build Kumiki again with the latter")
endif()
find_package(kumiki REQUIRED PATHS "${KUMIKI_INSTALLED}" NO_DEFAULT_PATH)
include(KumikiProgram)
if(KUMIKI_PEER_KIND STREQUAL "ucx")
    include(KumikiUcx)
    kumiki_find_ucx(kumiki_ucx "${KUMIKI_PEER_PREFIX}")
    if(NOT TARGET kumiki_ucx)
        message(FATAL_ERROR "${KUMIKI_PEER_PREFIX} lacks UCX's headers (include/ucp/api/ucp.h) or its libraries (lib/libucp.so, lib/libucs.so)")
    endif()
    kumiki_use_ucx(${KUMIKI_PEER} kumiki_ucx)
    set(KUMIKI_UCXS ${KUMIKI_PEER})
else()
    kumiki_use_mpi(${KUMIKI_PEER} ${KUMIKI_PEER_KIND} "${KUMIKI_PEER_PREFIX}/bin/mpicxx")
    set(KUMIKI_MPIS ${KUMIKI_PEER})
    # Not every wrapper says where its libraries are to be found when a program starts.
    foreach(folder lib lib64)
        if(IS_DIRECTORY "${KUMIKI_PEER_PREFIX}/${folder}")
            target_link_options(kumiki_mpi_${KUMIKI_PEER} INTERFACE "-Wl,-rpath,${KUMIKI_PEER_PREFIX}/${folder}")
        endif()
    endforeach()
endif()
add_subdirectory(measure)
add_subdirectory(bench)
add_subdirectory(kernels)
