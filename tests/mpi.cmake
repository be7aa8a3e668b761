# Sets KUMIKI_MPIRUN_openmpi and KUMIKI_MPIRUN_mpich to the launchers of the MPIs for which there are programs; empty: there is none, or its
# ranks do not find each other, as those of MPICH 4.2.0 of Ubuntu 24.04, whose library does not understand its launcher.
set(mpi_probe "${CMAKE_CURRENT_BINARY_DIR}/mpi-probe")
file(WRITE "${mpi_probe}.cpp" "#include <mpi.h>\n#include <cstdio>\nint main() { int size; MPI_Init(nullptr, nullptr);
MPI_Comm_size(MPI_COMM_WORLD, &size); std::printf(\"ranks: %d\\n\", size); MPI_Finalize(); }\n")
foreach(mpi IN LISTS KUMIKI_MPIS)
    find_program(KUMIKI_FOUND_MPIRUN_${mpi} NAMES mpirun.${mpi})
    mark_as_advanced(KUMIKI_FOUND_MPIRUN_${mpi})
    set(KUMIKI_MPIRUN_${mpi} ${KUMIKI_FOUND_MPIRUN_${mpi}})
    if(NOT KUMIKI_MPIRUN_${mpi})
        continue()
    endif()
    execute_process(COMMAND ${KUMIKI_MPICXX_${mpi}} "${mpi_probe}.cpp" -o "${mpi_probe}-${mpi}" OUTPUT_QUIET ERROR_QUIET)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env ${KUMIKI_OPENMPI_SETTINGS} ${KUMIKI_MPIRUN_${mpi}} -n 2 "${mpi_probe}-${mpi}" OUTPUT_VARIABLE found
        ERROR_QUIET TIMEOUT 60)
    if(found MATCHES "ranks: 1")
        message(STATUS "MPI ${mpi}: its tests are left out, because its ranks do not find each other")
        set(KUMIKI_MPIRUN_${mpi})
    endif()
endforeach()
