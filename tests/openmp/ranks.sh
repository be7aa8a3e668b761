#!/bin/sh
# Runs a program on libgomp, and as several processes with a copy of their memory each, and compares what it prints and how it ends.
#
#   ranks.sh copies|hosts KUMIKI_RUN "RANKSxTHREADS..." PROGRAM [ARGUMENT...]
#
# KUMIKI_RUN_OPTIONS: more options of kumiki-run, none of which has a blank. REFERENCE: the same program, built for libgomp; without it PROGRAM is.
# copies: on one host. hosts: over as many "hosts" as ranks, which all are this machine, for the remote shell drops their names.
set -u
. "$(dirname "$0")/same.sh"
where=$1
run=$2
shapes=$3
program=$4
shift 4
remote_shell=$(dirname "$0")/../bench/same-machine
set -f # options may look like patterns
options=${KUMIKI_RUN_OPTIONS-}
unset KUMIKI_RUN_OPTIONS
export KUMIKI_OPENMP_REGIONS="${KUMIKI_OPENMP_REGIONS-all}" # short programs would not run long enough for another choice
case $program in
*/cancel | */cancel.*) export OMP_CANCELLATION=true ;; # for all others it must be as it is by default
esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
start() {
    case $where in
    copies) KUMIKI_SHARED_COPIES=rank "$run" -n "$ranks" -t "$threads" $options --openmp "$@" ;;
    hosts) "$run" --remote-shell "$remote_shell" --hosts "$(seq -s, -f host%g "$ranks")" -t "$threads" $options --openmp "$@" ;;
    esac
}
for shape in $shapes; do
    ranks=${shape%x*}
    threads=${shape#*x}
    OMP_NUM_THREADS=$((ranks * threads)) "${REFERENCE-$program}" "$@" >"$work/expected" 2>&1
    expected=$?
    start "$program" "$@" >"$work/found" 2>&1
    found=$?
    same "$program as $ranks ranks x $threads threads" libgomp
done
