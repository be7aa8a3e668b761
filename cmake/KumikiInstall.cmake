# What is installed beside the programs: the library, its headers, what find_package and pkg-config need, and a note of how it was built.
include(CMakePackageConfigHelpers)

# Every file finds the others from its own place, so one small hand-written package serves every prefix, a Python environment included.
install(TARGETS kumiki LIBRARY DESTINATION "${KUMIKI_PREFIX_DIR}lib")
if(TARGET kumiki-ucx)
    install(TARGETS kumiki-ucx LIBRARY DESTINATION "${KUMIKI_PREFIX_DIR}lib")
endif()
install(DIRECTORY include/kumiki DESTINATION "${KUMIKI_PREFIX_DIR}include")

# The sources of the measuring programs, of which `kumiki evaluate --peer` builds those of other MPIs and UCXs: the same
# loops as the programs that are installed beside them.
if(KUMIKI_PROGRAMS)
    set(KUMIKI_SOURCES "${KUMIKI_PREFIX_DIR}share/kumiki/source")
    install(FILES CMakeLists.txt DESTINATION "${KUMIKI_SOURCES}")
    install(DIRECTORY bench cmake kernels measure DESTINATION "${KUMIKI_SOURCES}")
endif()

write_basic_package_version_file("${PROJECT_BINARY_DIR}/kumikiConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES cmake/kumikiConfig.cmake "${PROJECT_BINARY_DIR}/kumikiConfigVersion.cmake" DESTINATION "${KUMIKI_PREFIX_DIR}lib/cmake/kumiki")

configure_file(cmake/kumiki.pc.in kumiki.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/kumiki.pc" DESTINATION "${KUMIKI_PREFIX_DIR}lib/pkgconfig")

execute_process(COMMAND git -C "${PROJECT_SOURCE_DIR}" describe --always --dirty
    OUTPUT_VARIABLE KUMIKI_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" KUMIKI_LIBRARY_FLAGS)
set(KUMIKI_PROGRAM_FLAGS "${KUMIKI_LIBRARY_FLAGS} -O3")
if(KUMIKI_HAS_MARCH_NATIVE)
    string(APPEND KUMIKI_PROGRAM_FLAGS " -march=native")
endif()
configure_file(cmake/build.json.in build.json @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/build.json" DESTINATION "${KUMIKI_PREFIX_DIR}share/kumiki")
