# Tests that run the measuring programs of kernels/ in their forms and check the rows (expect_rows.py).
#
#   kumiki_expect_rows(NAME [EXIT_CODE n] [ROWS n] EXPECT key=value... [FIGURES metric=value...] [LIKE ...] COMMAND ...)
#       LIKE: a command that must compute the same bits, as the checksums say that both print
#   kumiki_expect_rows_hybrid(NAME RANKS r THREADS t [FORM f] [EXIT_CODE n] [EXPECT ...] [LIKE ...] COMMAND program args...)
#       under kumiki-run; the form is hybrid unless given
#   kumiki_expect_rows_shapes(NAME SHAPES RxT... [FORM f] [EXPECT ...] [LIKE ...] COMMAND program args...)
#       one such test, NAME.RxT, for each number of ranks and threads
#   kumiki_expect_rows_shared(NAME [EXPECT ...] [LIKE ...] COMMAND program args...)
#       in the form shared: NAME.shared.one-memory, and NAME.shared.block, .cyclic, ... and .update, where every rank has a copy of its own
#   kumiki_expect_rows_mpi(NAME PROGRAM p RANKS r [FORM f] [EXPECT ...] [FIGURES ...] [LIKE ...] ARGUMENTS ...)
#       the programs p-<mpi> that were built, each under its mpirun; the form is mpi unless given
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(KUMIKI_EXPECT_ROWS "${CMAKE_CURRENT_LIST_DIR}/expect_rows.py")
set(KUMIKI_FORM_TIMEOUT 180)

function(kumiki_expect_rows NAME)
    cmake_parse_arguments(T "" "EXIT_CODE;ROWS" "EXPECT;FIGURES;LIKE;COMMAND" ${ARGN})
    set(options)
    if(DEFINED T_EXIT_CODE)
        list(APPEND options --exit-code ${T_EXIT_CODE})
    endif()
    if(DEFINED T_ROWS)
        list(APPEND options --rows ${T_ROWS})
    endif()
    foreach(figure IN LISTS T_FIGURES)
        list(APPEND options --figure ${figure})
    endforeach()
    if(T_LIKE)
        string(JOIN " " like ${T_LIKE})
        list(APPEND options --like ${like})
    endif()
    add_test(NAME ${NAME}
        COMMAND ${Python3_EXECUTABLE} ${KUMIKI_EXPECT_ROWS} ${options} ${T_EXPECT} -- ${T_COMMAND})
    # As many as the ranks and threads that its rows shall have: side by side run only tests that have processors for all of theirs.
    set(processors 1)
    foreach(count IN LISTS T_EXPECT)
        if(count MATCHES "^(ranks|threads)=([0-9]+)$")
            math(EXPR processors "${processors} * ${CMAKE_MATCH_2}")
        endif()
    endforeach()
    set_tests_properties(${NAME} PROPERTIES TIMEOUT ${KUMIKI_FORM_TIMEOUT} PROCESSORS ${processors})
endfunction()

function(kumiki_expect_rows_hybrid NAME)
    cmake_parse_arguments(T "" "RANKS;THREADS;FORM;EXIT_CODE" "EXPECT;LIKE;COMMAND" ${ARGN})
    if(NOT DEFINED T_FORM)
        set(T_FORM hybrid)
    endif()
    set(exit_code)
    if(DEFINED T_EXIT_CODE)
        set(exit_code EXIT_CODE ${T_EXIT_CODE})
    endif()
    kumiki_expect_rows(${NAME} ${exit_code}
        EXPECT implementation=kumiki form=${T_FORM} ranks=${T_RANKS} threads=${T_THREADS} ${T_EXPECT} LIKE ${T_LIKE}
        COMMAND $<TARGET_FILE:kumiki-run> -n ${T_RANKS} -t ${T_THREADS} ${T_COMMAND})
endfunction()

function(kumiki_expect_rows_shapes NAME)
    cmake_parse_arguments(T "" "FORM" "SHAPES;EXPECT;LIKE;COMMAND" ${ARGN})
    if(NOT DEFINED T_FORM)
        set(T_FORM hybrid)
    endif()
    foreach(shape IN LISTS T_SHAPES)
        string(REPLACE "x" ";" counts ${shape})
        list(GET counts 0 ranks)
        list(GET counts 1 threads)
        kumiki_expect_rows_hybrid(${NAME}.${shape} RANKS ${ranks} THREADS ${threads} FORM ${T_FORM}
            EXPECT ${T_EXPECT} LIKE ${T_LIKE} COMMAND ${T_COMMAND})
    endforeach()
endfunction()

function(kumiki_expect_rows_shared NAME)
    cmake_parse_arguments(T "" "" "EXPECT;LIKE;COMMAND" ${ARGN})
    set(run FORM shared LIKE ${T_LIKE} COMMAND ${T_COMMAND} --form shared --all-threads)
    kumiki_expect_rows_hybrid(${NAME}.shared.one-memory RANKS 2 THREADS 2
        EXPECT copies=host mechanism=none homes=first ${T_EXPECT} ${run})
    foreach(homes block first next relocated managed hand)
        kumiki_expect_rows_hybrid(${NAME}.shared.${homes} RANKS 3 THREADS 1
            EXPECT copies=rank homes=${homes} ${T_EXPECT} ${run} --homes ${homes})
        set_tests_properties(${NAME}.shared.${homes} PROPERTIES ENVIRONMENT KUMIKI_SHARED_COPIES=rank)
    endforeach()
    kumiki_expect_rows_hybrid(${NAME}.shared.update RANKS 3 THREADS 1
        EXPECT copies=rank homes=first protocol=update ${T_EXPECT} ${run} --protocol update)
    set_tests_properties(${NAME}.shared.update PROPERTIES ENVIRONMENT KUMIKI_SHARED_COPIES=rank)
    kumiki_expect_rows_hybrid(${NAME}.shared.cyclic RANKS 2 THREADS 2
        EXPECT copies=rank homes=cyclic page=8192 ${T_EXPECT} ${run} --homes cyclic --page 8192)
    set_tests_properties(${NAME}.shared.cyclic PROPERTIES ENVIRONMENT KUMIKI_SHARED_COPIES=rank)
endfunction()

function(kumiki_expect_rows_mpi NAME)
    cmake_parse_arguments(T "" "PROGRAM;RANKS;FORM" "EXPECT;FIGURES;LIKE;ARGUMENTS" ${ARGN})
    if(NOT DEFINED T_FORM)
        set(T_FORM mpi)
    endif()
    foreach(mpi openmpi mpich)
        if(NOT TARGET ${T_PROGRAM}-${mpi} OR NOT KUMIKI_MPIRUN_${mpi})
            continue()
        endif()
        kumiki_expect_rows(${NAME}.${mpi}
            EXPECT implementation=${mpi} form=${T_FORM} ranks=${T_RANKS} threads=1 ${T_EXPECT}
            FIGURES ${T_FIGURES} LIKE ${T_LIKE}
            COMMAND ${KUMIKI_MPIRUN_${mpi}} -n ${T_RANKS} $<TARGET_FILE:${T_PROGRAM}-${mpi}> ${T_ARGUMENTS})
        if(mpi STREQUAL "openmpi")
            set_tests_properties(${NAME}.${mpi} PROPERTIES ENVIRONMENT "${KUMIKI_OPENMPI_SETTINGS}")
        endif()
    endforeach()
endfunction()
