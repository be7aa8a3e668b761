# The programs and the runtime, both built for ThreadSanitizer: what the runtime synchronises is seen without annotations, so races in the
# runtime and orders that it fails to establish between threads of the programs are found. `race` has a race, which must be found, too.
if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
    message(STATUS "openmp: left out, because its programs need gcc (libgomp)")
    return()
endif()
# The runtime is found in the place of libgomp by its name: the sanitizer's own library must be loaded before it.
set(folder "${CMAKE_CURRENT_BINARY_DIR}/races")
file(MAKE_DIRECTORY "${folder}")
file(CREATE_LINK "${PROJECT_BINARY_DIR}/lib/libkumiki-openmp.so" "${folder}/libgomp.so.1" SYMBOLIC)

function(kumiki_openmp_races FILE COMPILER)
    get_filename_component(name "${FILE}" NAME_WE)
    set(source "${CMAKE_CURRENT_SOURCE_DIR}/programs/${FILE}")
    add_custom_command(OUTPUT "${folder}/${name}" DEPENDS "${source}"
        COMMAND "${COMPILER}" -O1 -g -fopenmp -fsanitize=thread ${ARGN} -o "${folder}/${name}" "${source}")
    add_custom_target(openmp-races-${name} ALL DEPENDS "${folder}/${name}")
    add_dependencies(openmp-races-${name} kumiki-openmp)
    foreach(threads IN ITEMS 2 3)
        add_test(NAME openmp.races.${name}.${threads} COMMAND "${folder}/${name}")
        set_tests_properties(openmp.races.${name}.${threads} PROPERTIES LABELS openmp TIMEOUT 120 PROCESSORS 2
            ENVIRONMENT "${sanitizer_options};LD_LIBRARY_PATH=${folder};OMP_NUM_THREADS=${threads};OMP_CANCELLATION=true")
    endforeach()
endfunction()

foreach(program IN ITEMS cancel depend detach doacross forms locks loops memory parallel sharing task_reductions task_trees tasks)
    kumiki_openmp_races(${program}.c "${CMAKE_C_COMPILER}")
endforeach()
kumiki_openmp_races(mixed.cpp "${CMAKE_CXX_COMPILER}" -std=c++17)
kumiki_openmp_races(race.c "${CMAKE_C_COMPILER}")
set_tests_properties(openmp.races.race.2 openmp.races.race.3 PROPERTIES PASS_REGULAR_EXPRESSION "data race")
