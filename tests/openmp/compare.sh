#!/bin/sh
# Runs a program on Kumiki's OpenMP runtime, and REFERENCE, the same program, on the runtime of its compiler; compares what they print and how
# they end. A REFERENCE that ends with .txt is what the program prints.
#
#   compare.sh LIBRARY PROGRAM REFERENCE THREADS...      with OMP_NUM_THREADS=THREADS for each number
set -u
. "$(dirname "$0")/same.sh"
library=$1
program=$2
reference=$3
shift 3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export OMP_CANCELLATION=true # which programs do not notice unless they cancel something
for threads in "$@"; do
    export OMP_NUM_THREADS="$threads"
    case $reference in
    *.txt) cat "$reference" >"$work/expected" ;;
    *) "$reference" >"$work/expected" 2>&1 ;;
    esac
    expected=$?
    # With OMP_DISPLAY_ENV, libgomp of GCC 13 and newer says before each variable which devices it is for.
    sed -i 's/^  \[[a-z]*\] OMP_/  OMP_/' "$work/expected"
    LD_LIBRARY_PATH=$(dirname "$library")/kumiki-openmp LD_PRELOAD=$library "$program" >"$work/found" 2>&1
    found=$?
    same "$program with $threads threads" "$reference"
done
