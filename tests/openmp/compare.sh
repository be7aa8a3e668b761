#!/bin/sh
# Runs a program on libgomp and on Kumiki's OpenMP runtime, and compares what it prints and how it ends.
#
#   compare.sh LIBRARY PROGRAM THREADS...      with OMP_NUM_THREADS=THREADS for each number
set -u
library=$1
program=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export OMP_CANCELLATION=true # which programs do not notice unless they cancel something
for threads in "$@"; do
    export OMP_NUM_THREADS="$threads"
    "$program" >"$work/expected" 2>&1
    expected=$?
    LD_PRELOAD=$library "$program" >"$work/found" 2>&1
    found=$?
    if [ $expected -ne $found ] || ! cmp -s "$work/expected" "$work/found"; then
        echo "with $threads threads: exit code $expected on libgomp, $found on $library"
        diff "$work/expected" "$work/found"
        exit 1
    fi
    [ -s "$work/expected" ] || { echo "$program prints nothing: there is nothing to compare"; exit 1; }
done
