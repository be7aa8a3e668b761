#!/bin/sh
# Kumiki as its user meets it: installs the build into a prefix, moves the prefix (everything must find the rest from
# its own place), and builds programs against it, by CMake and by pkg-config.
#
#     consumer.sh BUILD EXAMPLES WORK
#
# BUILD is Kumiki's build folder, EXAMPLES the folder of that name; WORK is emptied and used.
set -eu
[ $# -eq 3 ] || { echo "usage: consumer.sh BUILD EXAMPLES WORK" >&2; exit 2; }
build=$1 examples=$2 work=$3
prefix=$work/prefix
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"

fail() { echo "consumer: $*" >&2; exit 1; }

# A step that fails says so in its log.
ended() {
    code=$?
    [ $code -eq 0 ] && return
    for log in "$work"/*.log; do
        echo "--- the end of $log" >&2
        tail -n 15 "$log" >&2
    done
    exit $code
}

# expect TEXT COMMAND...: the command ends well and prints the text.
expect() {
    text=$1
    shift
    printed=$("$@") || fail "'$*' failed and printed: $printed"
    case $printed in
    *"$text"*) echo "ok: $* -> $text" ;;
    *) fail "'$*' printed '$printed' instead of '$text'" ;;
    esac
}

rm -rf "$work"
mkdir -p "$work"
trap ended EXIT
cmake --install "$build" --prefix "$work/installed" >"$work/install.log" 2>&1
mv "$work/installed" "$prefix"
run=$prefix/bin/kumiki-run

# find_package
cmake -S "$examples/project" -B "$work/by-cmake" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_CXX_FLAGS="$warnings" >"$work/cmake.log" 2>&1
cmake --build "$work/by-cmake" >>"$work/cmake.log" 2>&1
expect "around 3 ranks: 3" "$run" -n 3 "$work/by-cmake/ring"
expect "around 1 ranks: 0" "$work/by-cmake/ring"

# pkg-config
mkdir "$work/by-make"
cp "$examples/project/main.cpp" "$examples/project/Makefile" "$work/by-make"
PKG_CONFIG_PATH=$prefix/lib/pkgconfig make -C "$work/by-make" CXXFLAGS="$warnings" >"$work/make.log" 2>&1
expect "around 2 ranks: 1" "$run" -n 2 "$work/by-make/ring"

# A C compiler alone must do for the C interface.
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046,SC2086 # both are lists of options
cc -std=c99 $warnings $(pkg-config --cflags kumiki) "$examples/plain_c.c" $(pkg-config --libs kumiki) \
    -o "$work/plain_c" >"$work/c.log" 2>&1
expect "rank 1 of 2 was greeted by rank 0" "$run" -n 2 "$work/plain_c"
mkdir "$work/c-only"
cat >"$work/c-only/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.22)
project(c-only LANGUAGES C)
find_package(kumiki REQUIRED)
add_executable(plain_c "$examples/plain_c.c")
target_link_libraries(plain_c PRIVATE kumiki::kumiki)
EOF
cmake -S "$work/c-only" -B "$work/c-only/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/c-only.log" 2>&1
cmake --build "$work/c-only/build" >>"$work/c-only.log" 2>&1
expect "rank 0 of 2 was greeted by rank 1" "$run" -n 2 "$work/c-only/build/plain_c"

# The folder of examples by itself.
cmake -S "$examples" -B "$work/examples" -DCMAKE_PREFIX_PATH="$prefix" >"$work/examples.log" 2>&1
cmake --build "$work/examples" --target example-hello >>"$work/examples.log" 2>&1
expect "100% tests passed" ctest --test-dir "$work/examples" -R '^example\.hello\.'

rm -rf "$work"
