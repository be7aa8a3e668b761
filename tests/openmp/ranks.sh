#!/bin/sh
# Runs a program on libgomp, and as several processes with a copy of their memory each, and compares what it prints and how it ends.
#
#   ranks.sh copies|hosts KUMIKI_RUN "RANKSxTHREADS..." PROGRAM [ARGUMENT...]
#
# copies: on one host. hosts: over as many "hosts" as ranks, which all are this machine, for the remote shell drops their names.
set -u
where=$1
run=$2
shapes=$3
shift 3
remote_shell=$(dirname "$0")/../bench/same-machine
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
start() {
    case $where in
    copies) KUMIKI_SHARED_COPIES=rank "$run" -n "$ranks" -t "$threads" --openmp "$@" ;;
    hosts) "$run" --remote-shell "$remote_shell" --hosts "$(seq -s, -f host%g "$ranks")" -t "$threads" --openmp "$@" ;;
    esac
}
for shape in $shapes; do
    ranks=${shape%x*}
    threads=${shape#*x}
    OMP_NUM_THREADS=$((ranks * threads)) "$@" >"$work/expected" 2>&1
    expected=$?
    start "$@" >"$work/found" 2>&1
    found=$?
    if [ $expected -ne $found ] || ! cmp -s "$work/expected" "$work/found"; then
        echo "as $ranks ranks x $threads threads: exit code $expected on libgomp, $found on Kumiki"
        diff "$work/expected" "$work/found"
        exit 1
    fi
    [ -s "$work/expected" ] || { echo "$1 prints nothing: there is nothing to compare"; exit 1; }
done
