# How the measuring programs are built: every form of a program with the same flags, so that a comparison compares
# the programs and not their compilers.
#
#   kumiki_program(NAME sources... [LIBRARIES ...])          -> libexec/kumiki/NAME, linked with libkumiki
#   kumiki_mpi_program(NAME sources... [LIBRARIES ...])      -> libexec/kumiki/NAME-openmpi and NAME-mpich, for each MPI found
#   kumiki_ucx_program(NAME sources... [LIBRARIES ...])      -> libexec/kumiki/NAME-ucx, where UCX was found
#
# With KUMIKI_PEER=NAME the last two make the programs of that one peer (KumikiPeer.cmake).

find_package(OpenMP REQUIRED COMPONENTS CXX)

include(KumikiFlags)

# gcc prefers 256-bit vectors even where 512-bit ones are faster; a kernel for which they are adds this.
set(KUMIKI_WIDE_VECTORS)
if(KUMIKI_NATIVE)
    include(CheckCXXCompilerFlag)
    check_cxx_compiler_flag(-mprefer-vector-width=512 KUMIKI_HAS_PREFER_VECTOR_WIDTH)
    if(KUMIKI_HAS_PREFER_VECTOR_WIDTH)
        set(KUMIKI_WIDE_VECTORS -mprefer-vector-width=512)
    endif()
endif()

# An MPI is asked through its own compiler wrapper, because CMake's FindMPI can hold one MPI only.
#
#   kumiki_use_mpi(NAME KIND WRAPPER)    KIND: openmpi or mpich, whose words the wrapper understands
function(kumiki_use_mpi NAME KIND WRAPPER)
    if(KIND STREQUAL "openmpi")
        set(ask_compile --showme:compile)
        set(ask_link --showme:link)
    else()
        set(ask_compile -compile_info)
        set(ask_link -link_info)
    endif()
    foreach(asked compile link)
        execute_process(COMMAND ${WRAPPER} ${ask_${asked}}
            OUTPUT_VARIABLE ${asked} ERROR_VARIABLE said RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
        if(failed)
            message(FATAL_ERROR "${WRAPPER} ${ask_${asked}} failed (${failed}): ${said}")
        endif()
    endforeach()
    separate_arguments(includes UNIX_COMMAND "${compile}")
    list(FILTER includes INCLUDE REGEX "^-I")
    list(TRANSFORM includes REPLACE "^-I" "")
    separate_arguments(libraries UNIX_COMMAND "${link}")
    list(FILTER libraries INCLUDE REGEX "^-(L|l|Wl,)")
    # The MPI C++ bindings are long dead; leaving them out keeps the programs plain C MPI.
    list(FILTER libraries EXCLUDE REGEX "^-l.*cxx")
    add_library(kumiki_mpi_${NAME} INTERFACE)
    target_include_directories(kumiki_mpi_${NAME} SYSTEM INTERFACE ${includes})
    target_link_libraries(kumiki_mpi_${NAME} INTERFACE ${libraries})
    target_compile_definitions(kumiki_mpi_${NAME} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX KUMIKI_PEER_NAME="${NAME}")
endfunction()

# UCX: kumiki_use_ucx(NAME TARGET), with TARGET from kumiki_find_ucx().
function(kumiki_use_ucx NAME TARGET)
    add_library(kumiki_ucx_${NAME} INTERFACE)
    target_link_libraries(kumiki_ucx_${NAME} INTERFACE ${TARGET})
    target_compile_definitions(kumiki_ucx_${NAME} INTERFACE KUMIKI_PEER_NAME="${NAME}")
endfunction()

# The names of the peers that programs are built for: those of the distribution, or the one that KUMIKI_PEER names.
set(KUMIKI_MPIS)
set(KUMIKI_UCXS)
if(NOT KUMIKI_PEER)
    foreach(mpi openmpi mpich)
        find_program(KUMIKI_MPICXX_${mpi} NAMES mpicxx.${mpi})
        if(KUMIKI_MPICXX_${mpi})
            kumiki_use_mpi(${mpi} ${mpi} "${KUMIKI_MPICXX_${mpi}}")
            list(APPEND KUMIKI_MPIS ${mpi})
        else()
            message(STATUS "MPI ${mpi}: not found (mpicxx.${mpi}); its programs are left out")
        endif()
    endforeach()
    if(TARGET kumiki_ucx)
        kumiki_use_ucx(ucx kumiki_ucx)
        list(APPEND KUMIKI_UCXS ucx)
    endif()
endif()

function(kumiki_install_program NAME)
    set_target_properties(${NAME} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/kumiki"
        INSTALL_RPATH "$ORIGIN/../../lib" INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${NAME} RUNTIME DESTINATION "${KUMIKI_PREFIX_DIR}libexec/kumiki")
endfunction()

function(kumiki_program NAME)
    cmake_parse_arguments(P "" "" "LIBRARIES" ${ARGN})
    add_executable(${NAME} ${P_UNPARSED_ARGUMENTS})
    target_link_libraries(${NAME} PRIVATE kumiki::kumiki kumiki_measure kumiki_program_flags OpenMP::OpenMP_CXX ${P_LIBRARIES})
    kumiki_install_program(${NAME})
endfunction()

function(kumiki_mpi_program NAME)
    cmake_parse_arguments(P "" "" "LIBRARIES" ${ARGN})
    foreach(mpi IN LISTS KUMIKI_MPIS)
        add_executable(${NAME}-${mpi} ${P_UNPARSED_ARGUMENTS})
        target_link_libraries(${NAME}-${mpi} PRIVATE kumiki_measure kumiki_program_flags kumiki_mpi_${mpi} ${P_LIBRARIES})
        kumiki_install_program(${NAME}-${mpi})
    endforeach()
endfunction()

function(kumiki_ucx_program NAME)
    cmake_parse_arguments(P "" "" "LIBRARIES" ${ARGN})
    foreach(ucx IN LISTS KUMIKI_UCXS)
        kumiki_program(${NAME}-${ucx} ${P_UNPARSED_ARGUMENTS} LIBRARIES kumiki_ucx_${ucx} ${P_LIBRARIES})
    endforeach()
endfunction()
