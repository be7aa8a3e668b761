# The compiler's settings for everything: language, warnings, optimisation, sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The tests build the library several times; where ccache is, what is the same is compiled once, in whichever clone.
find_program(KUMIKI_CCACHE ccache)
if(KUMIKI_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${KUMIKI_CCACHE}")
endif()

# Most of the time of a compilation goes into headers, which the files of a library share: they are compiled together, some at a time.
function(kumiki_compile_together TARGET)
    set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

add_compile_options(-Wall -Wextra -Wpedantic)
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Wshadow;-Wconversion;-Wno-sign-conversion>")

if(KUMIKI_SANITIZE STREQUAL "thread")
    add_compile_options(-fsanitize=thread -fno-omit-frame-pointer -g)
    add_link_options(-fsanitize=thread)
    # gcc warns that ThreadSanitizer does not model fences; where we use one, its argument stands beside it.
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
elseif(KUMIKI_SANITIZE STREQUAL "address")
    # Callers of the C interface can pass any number as an enumeration; that it is checked is tested.
    add_compile_options(-fsanitize=address,undefined -fno-sanitize=enum -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g)
    add_link_options(-fsanitize=address,undefined)
elseif(KUMIKI_SANITIZE)
    message(FATAL_ERROR "KUMIKI_SANITIZE=${KUMIKI_SANITIZE} is not known; give thread or address")
endif()
