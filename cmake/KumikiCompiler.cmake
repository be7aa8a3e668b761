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

# Most of the time of a compilation goes into headers, which the files of a library share: they are compiled together, some at a time. Files
# that have the property KUMIKI_ALONE are compiled by themselves. It is CMake's unity build with names that are relative to the project,
# so that the cache of the compiler knows a unit in whichever clone (CMake 4 can do that, as UNITY_BUILD_RELOCATABLE).
function(kumiki_compile_together TARGET)
    set(files_of_a_unit 8)
    get_target_property(sources ${TARGET} SOURCES)
    set(alone "")
    set(together "")
    foreach(source IN LISTS sources)
        get_source_file_property(by_itself "${source}" KUMIKI_ALONE)
        if(by_itself OR NOT source MATCHES "\\.cpp$")
            list(APPEND alone "${source}")
        else()
            cmake_path(ABSOLUTE_PATH source)
            cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
            list(APPEND together "${source}")
        endif()
    endforeach()
    set(unit 0)
    while(together)
        list(SUBLIST together 0 ${files_of_a_unit} files)
        list(REMOVE_ITEM together ${files})
        list(TRANSFORM files REPLACE "(.+)" "#include \"\\1\"\n")
        string(CONCAT content ${files})
        set(name "${CMAKE_CURRENT_BINARY_DIR}/${TARGET}-${unit}.cpp")
        file(CONFIGURE OUTPUT "${name}" CONTENT "${content}" @ONLY)
        list(APPEND alone "${name}")
        math(EXPR unit "${unit} + 1")
    endwhile()
    set_property(TARGET ${TARGET} PROPERTY SOURCES "${alone}")
    target_include_directories(${TARGET} PRIVATE "${PROJECT_SOURCE_DIR}")
endfunction()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

add_compile_options(-Wall -Wextra -Wpedantic)
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Wshadow;-Wconversion;-Wno-sign-conversion>")

# Lines are all that reports of sanitizers need to name; with -O2 -g a file takes half as long again, and an object four times the space.
if(KUMIKI_SANITIZE)
    add_compile_options(-O1 -g1 -fno-omit-frame-pointer)
endif()
if(KUMIKI_SANITIZE STREQUAL "thread")
    add_compile_options(-fsanitize=thread)
    add_link_options(-fsanitize=thread)
    # gcc warns that ThreadSanitizer does not model fences; where we use one, its argument stands beside it.
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
elseif(KUMIKI_SANITIZE STREQUAL "address")
    # Callers of the C interface can pass any number as an enumeration; that it is checked is tested.
    add_compile_options(-fsanitize=address,undefined -fno-sanitize=enum -fno-sanitize-recover=undefined)
    add_link_options(-fsanitize=address,undefined)
elseif(KUMIKI_SANITIZE)
    message(FATAL_ERROR "KUMIKI_SANITIZE=${KUMIKI_SANITIZE} is not known; give thread or address")
endif()
