#!/bin/sh
# Every symbol of libgomp.so.1, with its version, must be in Kumiki's OpenMP runtime, too.
#
#   symbols.sh LIBRARY COMPILER
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
symbols() { nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@@/, "@", $3); print $3 }' | sort -u; }
symbols "$("$2" -print-file-name=libgomp.so.1)" >"$work/libgomp"
symbols "$1" >"$work/kumiki"
[ "$(wc -l <"$work/libgomp")" -gt 300 ] || { echo "libgomp.so.1 of $2 cannot be read"; exit 1; }
missing=$(comm -23 "$work/libgomp" "$work/kumiki")
[ -z "$missing" ] || { echo "missing: $missing"; exit 1; }
