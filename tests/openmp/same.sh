# Sourced by compare.sh and ranks.sh.
#
#   same WHAT REFERENCE
#
# ends the test unless $work/found with exit code $found is what REFERENCE gave: $work/expected with exit code $expected.
same() {
    if [ "$expected" -ne "$found" ] || ! cmp -s "$work/expected" "$work/found"; then
        echo "$1: exit code $expected of $2, $found on Kumiki"
        diff "$work/expected" "$work/found"
        exit 1
    fi
    [ -s "$work/expected" ] || { echo "$2 prints nothing: there is nothing to compare"; exit 1; }
}
