#!/bin/sh
# Wrong programs do not compile, and the compiler's output holds the sentences that help (after "wanted:" in each file's first lines).
# Where a file says "lines: n", each is an error, there are no others, and what the compiler says is at most n lines for each.
# Usage: check.sh COMPILER INCLUDE_DIRECTORY
here=$(dirname "$0") failures=0
newline='
'
for file in "$here"/*.cpp; do
  if output=$("$1" -std=c++20 -fsyntax-only -I"$2" "$file" 2>&1); then echo "FAILED: $file compiles"; failures=1; continue; fi
  lines=$(sed -n 's|^// lines: ||p' "$file") sentences=0 failed=0 place=
  if [ -n "$lines" ]; then place='error: .*'; fi
  IFS=$newline
  for wanted in $(sed -n 's|^// wanted: ||p' "$file"); do
    sentences=$((sentences + 1))
    pattern=$place$(printf '%s' "$wanted" | sed 's/[].*^$\[]/\\&/g')
    if ! printf '%s\n' "$output" | grep -q "$pattern"; then echo "FAILED: $file: not in the output: $wanted"; failed=1; fi
  done
  unset IFS
  errors=$(printf '%s\n' "$output" | grep -c 'error:') length=$(printf '%s\n' "$output" | wc -l)
  if [ -n "$lines" ] && [ "$errors" -ne "$sentences" ]; then echo "FAILED: $file: $errors errors for $sentences sentences"; failed=1; fi
  if [ -n "$lines" ] && [ "$length" -gt $((lines * sentences)) ]; then echo "FAILED: $file: $length lines for $sentences sentences"; failed=1; fi
  if [ $failed -eq 0 ]; then echo "ok: $(basename "$file")"; else printf '%s\n' "$output" | grep error: | head -5; failures=1; fi
done
exit $failures
