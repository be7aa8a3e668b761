# How the measuring programs are built: every form of a program with the same flags, so that a comparison compares
# the programs and not their compilers.
#
#   kumiki_program(NAME sources... [LIBRARIES ...])          -> libexec/kumiki/NAME, linked with libkumiki
#   kumiki_mpi_program(NAME sources... [LIBRARIES ...])      -> libexec/kumiki/NAME-openmpi and NAME-mpich, for each MPI found

find_package(OpenMP REQUIRED COMPONENTS CXX)

add_library(kumiki_program_flags INTERFACE)
target_compile_options(kumiki_program_flags INTERFACE -O3)
if(KUMIKI_NATIVE)
    include(CheckCXXCompilerFlag)
    check_cxx_compiler_flag(-march=native KUMIKI_HAS_MARCH_NATIVE)
    if(KUMIKI_HAS_MARCH_NATIVE)
        target_compile_options(kumiki_program_flags INTERFACE -march=native)
    endif()
endif()
target_include_directories(kumiki_program_flags INTERFACE "${PROJECT_SOURCE_DIR}")

# gcc prefers 256-bit vectors even where 512-bit ones are faster; a kernel for which they are adds this.
set(KUMIKI_WIDE_VECTORS)
if(KUMIKI_NATIVE)
    check_cxx_compiler_flag(-mprefer-vector-width=512 KUMIKI_HAS_PREFER_VECTOR_WIDTH)
    if(KUMIKI_HAS_PREFER_VECTOR_WIDTH)
        set(KUMIKI_WIDE_VECTORS -mprefer-vector-width=512)
    endif()
endif()

# Each MPI is asked through its own compiler wrapper, because CMake's FindMPI can hold one MPI only.
function(kumiki_find_mpi NAME)
    set(wrapper_names mpicxx.${NAME})
    find_program(KUMIKI_MPICXX_${NAME} NAMES ${wrapper_names})
    if(NOT KUMIKI_MPICXX_${NAME})
        message(STATUS "MPI ${NAME}: not found (mpicxx.${NAME}); its programs are left out")
        return()
    endif()
    if(NAME STREQUAL "openmpi")
        set(ask_compile --showme:compile)
        set(ask_link --showme:link)
    else()
        set(ask_compile -compile_info)
        set(ask_link -link_info)
    endif()
    execute_process(COMMAND ${KUMIKI_MPICXX_${NAME}} ${ask_compile} OUTPUT_VARIABLE compile OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${KUMIKI_MPICXX_${NAME}} ${ask_link} OUTPUT_VARIABLE link OUTPUT_STRIP_TRAILING_WHITESPACE)
    separate_arguments(includes UNIX_COMMAND "${compile}")
    list(FILTER includes INCLUDE REGEX "^-I")
    list(TRANSFORM includes REPLACE "^-I" "")
    separate_arguments(libraries UNIX_COMMAND "${link}")
    list(FILTER libraries INCLUDE REGEX "^-(L|l|Wl,)")
    # The MPI C++ bindings are long dead; leaving them out keeps the programs plain C MPI.
    list(FILTER libraries EXCLUDE REGEX "cxx")
    add_library(kumiki_mpi_${NAME} INTERFACE)
    target_include_directories(kumiki_mpi_${NAME} SYSTEM INTERFACE ${includes})
    target_link_libraries(kumiki_mpi_${NAME} INTERFACE ${libraries})
    target_compile_definitions(kumiki_mpi_${NAME} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX KUMIKI_MPI_NAME="${NAME}")
endfunction()

kumiki_find_mpi(openmpi)
kumiki_find_mpi(mpich)

function(kumiki_install_program NAME)
    set_target_properties(${NAME} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/kumiki"
        INSTALL_RPATH "$ORIGIN/../../lib")
    install(TARGETS ${NAME} RUNTIME DESTINATION "${KUMIKI_PREFIX_DIR}libexec/kumiki")
endfunction()

function(kumiki_program NAME)
    cmake_parse_arguments(P "" "" "LIBRARIES" ${ARGN})
    add_executable(${NAME} ${P_UNPARSED_ARGUMENTS})
    target_link_libraries(${NAME} PRIVATE kumiki kumiki_measure kumiki_program_flags OpenMP::OpenMP_CXX ${P_LIBRARIES})
    kumiki_install_program(${NAME})
endfunction()

function(kumiki_mpi_program NAME)
    cmake_parse_arguments(P "" "" "LIBRARIES" ${ARGN})
    foreach(mpi openmpi mpich)
        if(TARGET kumiki_mpi_${mpi})
            add_executable(${NAME}-${mpi} ${P_UNPARSED_ARGUMENTS})
            target_link_libraries(${NAME}-${mpi} PRIVATE kumiki_measure kumiki_program_flags kumiki_mpi_${mpi} ${P_LIBRARIES})
            kumiki_install_program(${NAME}-${mpi})
        endif()
    endforeach()
endfunction()
