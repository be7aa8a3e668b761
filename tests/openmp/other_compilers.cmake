# Programs of OpenMP that other compilers than gcc have built. The reference is gcc's program on libgomp, because libomp 14 of Debian itself ends
# some of them with a failed assertion (cancel, detach).

# Sets RESULT to whether COMPILER builds this one of the programs.
function(kumiki_builds RESULT COMPILER FILE)
    set(${RESULT} OFF PARENT_SCOPE)
    if(COMPILER)
        execute_process(COMMAND "${COMPILER}" -O1 -fopenmp -w -o "${CMAKE_CURRENT_BINARY_DIR}/${FILE}.out" "${CMAKE_CURRENT_SOURCE_DIR}/programs/${FILE}"
            RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
        string(COMPARE EQUAL "${failed}" 0 built)
        set(${RESULT} ${built} PARENT_SCOPE)
    endif()
endfunction()

# kumiki_program_by(BY FILE COMPILER REFERENCE [FLAGS...]): tests openmp.BY.*; REFERENCE is the program that gcc has built, or a text: what it
# prints.
function(kumiki_program_by BY FILE COMPILER REFERENCE)
    get_filename_component(name "${FILE}" NAME_WE)
    set(binary "${CMAKE_CURRENT_BINARY_DIR}/programs/${name}.${BY}")
    set(reference "${CMAKE_CURRENT_BINARY_DIR}/programs/${REFERENCE}")
    if(REFERENCE MATCHES "[.]txt$")
        set(reference "${CMAKE_CURRENT_SOURCE_DIR}/programs/${REFERENCE}")
    endif()
    add_custom_command(OUTPUT "${binary}" DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/programs/${FILE}"
        COMMAND "${COMPILER}" -O1 -fopenmp -w ${ARGN} -o "${binary}" "${CMAKE_CURRENT_SOURCE_DIR}/programs/${FILE}")
    add_custom_target(openmp-${BY}-${name} ALL DEPENDS "${binary}")
    add_dependencies(openmp-${BY}-${name} kumiki-openmp)
    add_test(NAME openmp.${BY}.${name}
        COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/compare.sh" $<TARGET_FILE:kumiki-openmp> "${binary}" "${reference}" 1 2 3)
    set_tests_properties(openmp.${BY}.${name} PROPERTIES LABELS openmp TIMEOUT 120 PROCESSORS 2)
endfunction()

# And as several processes.
function(kumiki_ranks_by BY WHERE SHAPES)
    foreach(program IN LISTS ARGN)
        set(name openmp.${BY}.${WHERE}.${program})
        add_test(NAME ${name} COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/ranks.sh" ${WHERE} $<TARGET_FILE:kumiki-run> "${SHAPES}"
            "${CMAKE_CURRENT_BINARY_DIR}/programs/${program}.${BY}" ${arguments_of_${program}})
        set_tests_properties(${name} PROPERTIES LABELS openmp TIMEOUT 300 PROCESSORS 2
            ENVIRONMENT "REFERENCE=$<TARGET_PROPERTY:openmp-${program},KUMIKI_PROGRAM>")
    endforeach()
endfunction()

find_program(KUMIKI_CLANG clang)
find_program(KUMIKI_CLANGXX clang++)
find_program(KUMIKI_FLANG NAMES flang flang-new)
mark_as_advanced(KUMIKI_CLANG KUMIKI_CLANGXX KUMIKI_FLANG)
kumiki_builds(has_clang "${KUMIKI_CLANG}" parallel.c)
kumiki_builds(has_flang "${KUMIKI_FLANG}" fortran.f90) # which flang 18 does not
if(NOT KUMIKI_CLANGXX)
    set(has_clang OFF)
endif()

if(has_clang)
    # Left out: queries prints what differs between the compilers, target needs LLVM's library for devices, which Kumiki does not replace, and
    # scans is wrong with clang 14 on libomp, too.
    foreach(program IN ITEMS c_threads cancel depend detach doacross flags flushes loops many_locks masked memory ordered_stores parallel pipelines placement real_updates sharing streams texts
            task_reductions tasks waits)
        kumiki_program_by(clang ${program}.c "${KUMIKI_CLANG}" ${program})
    endforeach()
    kumiki_program_by(clang library_atomics.c "${KUMIKI_CLANG}" library_atomics -Wl,--no-as-needed -latomic)
    kumiki_program_by(clang locks.c "${KUMIKI_CLANG}" locks -latomic)
    kumiki_program_by(clang mutexes.cpp "${KUMIKI_CLANGXX}" mutexes -std=c++17)
    kumiki_program_by(clang once.cpp "${KUMIKI_CLANGXX}" once -std=c++17)
    kumiki_program_by(clang last_calls.cpp "${KUMIKI_CLANGXX}" last_calls -std=c++20 -O2)
    kumiki_program_by(clang semaphores.cpp "${KUMIKI_CLANGXX}" semaphores -std=c++17)
    kumiki_program_by(clang unoptimised.cpp "${KUMIKI_CLANGXX}" unoptimised -std=c++17 -O0)
    kumiki_program_by(clang waiting20.cpp "${KUMIKI_CLANGXX}" waiting20 -std=c++20)
    # So that threadprivate variables need the runtime.
    kumiki_program_by(clang forms.c "${KUMIKI_CLANG}" forms -fnoopenmp-use-tls)
    kumiki_program_by(clang ranks.c "${KUMIKI_CLANG}" ranks -fnoopenmp-use-tls)
    kumiki_program_by(clang mixed.cpp "${KUMIKI_CLANGXX}" mixed -std=c++17)
    # gcc has no such functions, and libomp 14 ends it now and then with a failed assertion (kmp_lock.cpp), with more threads than processors.
    kumiki_program_by(clang kmp_atomic.c "${KUMIKI_CLANG}" kmp_atomic.txt)
    kumiki_program_by(clang kmp_loop.c "${KUMIKI_CLANG}" kmp_loop.txt)
    kumiki_program_by(clang kmp_task.c "${KUMIKI_CLANG}" kmp_task.txt)

    add_test(NAME openmp.clang.symbols
        COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/symbols_of_libomp.sh" $<TARGET_FILE:kumiki-openmp>
        "${CMAKE_CURRENT_BINARY_DIR}/programs/kmp_atomic.clang")
    set_tests_properties(openmp.clang.symbols PROPERTIES LABELS openmp TIMEOUT 20)
    if(TARGET kumiki-openmp-ranks AND TARGET kumiki-ucx)
        kumiki_ranks_by(clang copies "3x1" doacross loops locks ranks sharing)
        kumiki_ranks_by(clang hosts "2x2" c_threads cancel depend detach doacross flags flushes last_calls library_atomics locks loops many_locks masked memory mutexes once ordered_stores parallel
            pipelines placement ranks real_updates semaphores sharing streams task_reductions tasks unoptimised waiting20 waits)
    endif()
else()
    message(STATUS "openmp.clang: left out, because there is no clang with OpenMP (Debian: clang libomp-dev)")
endif()

# Left out: printing and process_fortran print numbers in the format of their compiler's library, later_fortran says why itself.
if(has_flang AND CMAKE_Fortran_COMPILER)
    foreach(program IN ITEMS atomic_fortran formats fortran loops_fortran random_fortran)
        kumiki_program_by(flang ${program}.f90 "${KUMIKI_FLANG}" ${program})
    endforeach()
    if(TARGET kumiki-openmp-ranks AND TARGET kumiki-ucx)
        kumiki_ranks_by(flang copies "3x1" atomic_fortran fortran)
        kumiki_ranks_by(flang hosts "2x2" atomic_fortran formats fortran loops_fortran random_fortran)
    endif()
else()
    message(STATUS "openmp.flang: left out, because there is no flang 19 or newer with OpenMP (Debian 13: flang), or no gfortran")
endif()
