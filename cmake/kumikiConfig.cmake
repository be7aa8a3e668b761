# find_package(kumiki) -> kumiki::kumiki. Relocatable: everything is found from this file's own place, <prefix>/lib/cmake/kumiki.
get_filename_component(kumiki_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET kumiki::kumiki)
    add_library(kumiki::kumiki SHARED IMPORTED)
    set_target_properties(kumiki::kumiki PROPERTIES
        IMPORTED_LOCATION "${kumiki_prefix}/lib/libkumiki.so"
        INTERFACE_INCLUDE_DIRECTORIES "${kumiki_prefix}/include"
        INTERFACE_COMPILE_FEATURES cxx_std_20)
endif()
unset(kumiki_prefix)
