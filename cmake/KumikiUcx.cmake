# kumiki_find_ucx(TARGET [PREFIX]) -> an interface target of UCX's headers and libraries, where they are found.
#
# Without PREFIX: below CMAKE_PREFIX_PATH, where pkg-config says, or where the system has it. With PREFIX: there alone.
# pkg-config gives hints only, and UCX's own CMake package is not asked: neither stays right when an installation has
# been moved, as a Python wheel is, and the package of Debian 12 names files that do not exist.
function(kumiki_find_ucx TARGET)
    if(ARGC GREATER 1)
        set(where PATHS "${ARGV1}" PATH_SUFFIXES include lib lib64 NO_DEFAULT_PATH)
    else()
        find_package(PkgConfig QUIET)
        if(PkgConfig_FOUND)
            pkg_check_modules(hint QUIET ucx)
        endif()
        set(where HINTS ${hint_INCLUDE_DIRS} ${hint_LIBRARY_DIRS})
    endif()
    find_path(KUMIKI_UCX_INCLUDE ucp/api/ucp.h ${where})
    find_library(KUMIKI_UCP_LIBRARY ucp ${where})
    find_library(KUMIKI_UCS_LIBRARY ucs ${where})
    mark_as_advanced(KUMIKI_UCX_INCLUDE KUMIKI_UCP_LIBRARY KUMIKI_UCS_LIBRARY)
    if(KUMIKI_UCX_INCLUDE AND KUMIKI_UCP_LIBRARY AND KUMIKI_UCS_LIBRARY)
        add_library(${TARGET} INTERFACE)
        target_include_directories(${TARGET} SYSTEM INTERFACE "${KUMIKI_UCX_INCLUDE}")
        target_link_libraries(${TARGET} INTERFACE "${KUMIKI_UCP_LIBRARY}" "${KUMIKI_UCS_LIBRARY}")
    endif()
endfunction()
