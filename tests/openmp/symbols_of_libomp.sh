#!/bin/sh
# Every function of OpenMP and of LLVM's interface that libomp.so exports must be in Kumiki's OpenMP runtime, too, with its version.
# kmp_threadprivate_insert... and what begins with __kmp_ are libomp's own.
#
#   symbols_of_libomp.sh LIBRARY PROGRAM      a program that clang made
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
symbols() {
    nm -D --defined-only "$1" | awk '$2 ~ /[TWi]/ { sub(/@@/, "@", $3); print $3 }' |
        grep -E '^(__kmpc|kmpc|kmp|omp|ompc)_.*@VERSION$' | grep -v '^kmp_threadprivate_insert' | sort -u
}
symbols "$(ldd "$2" | awk '/libomp/ { print $3 }')" >"$work/libomp"
symbols "$1" >"$work/kumiki"
[ "$(wc -l <"$work/libomp")" -gt 500 ] || { echo "the libomp.so of $2 cannot be read"; exit 1; }
missing=$(comm -23 "$work/libomp" "$work/kumiki")
[ -z "$missing" ] || { echo "missing: $missing"; exit 1; }
