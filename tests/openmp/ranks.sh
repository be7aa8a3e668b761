#!/bin/sh
# Runs a program on libgomp, and as several processes with a copy of its memory each, and compares what it prints and how it ends.
#
#   ranks.sh KUMIKI_RUN PROGRAM RANKSxTHREADS...
set -u
run=$1
program=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for shape in "$@"; do
    ranks=${shape%x*}
    threads=${shape#*x}
    OMP_NUM_THREADS=$((ranks * threads)) "$program" >"$work/expected" 2>&1
    expected=$?
    KUMIKI_SHARED_COPIES=rank "$run" -n "$ranks" -t "$threads" --openmp "$program" >"$work/found" 2>&1
    found=$?
    if [ $expected -ne $found ] || ! cmp -s "$work/expected" "$work/found"; then
        echo "as $ranks ranks x $threads threads: exit code $expected on libgomp, $found on Kumiki"
        diff "$work/expected" "$work/found"
        exit 1
    fi
    [ -s "$work/expected" ] || { echo "$program prints nothing: there is nothing to compare"; exit 1; }
done
