#!/bin/sh
# dieharder.sh WORDS TEST...: what the numbered tests of dieharder (Debian's package; R. G. Brown, after G. Marsaglia's Diehard) say of
# the words that the program WORDS writes, of one key and across keys. Fails where one of them fails.
words=$1
shift
failed=0
for order in one keys; do
  for test in "$@"; do
    result=$("$words" "$order" 2>/dev/null | dieharder -g 200 -d "$test" -D test_name -D psamples -D pvalues -D assessment) || failed=1
    echo "$result" | sed "s/^/$order /"
    case $result in *FAILED*) failed=1 ;; esac
  done
done
exit $failed
