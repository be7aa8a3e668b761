# Where things are installed, relative to the prefix: bin, lib, include, libexec/kumiki, share/kumiki.
# Under `pip install` the prefix is the Python environment's, which scikit-build-core stages in SKBUILD_DATA_DIR.
if(DEFINED SKBUILD_DATA_DIR)
    set(KUMIKI_PREFIX_DIR "${SKBUILD_DATA_DIR}/")
else()
    set(KUMIKI_PREFIX_DIR "")
endif()
