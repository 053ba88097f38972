#!/bin/sh
# Wrong programs do not compile, and the compiler's output holds the sentences that help, which stand in a file's first lines: after
# "wanted:" GCC's, after "wanted by nvcc:" nvcc's, after "wanted by both:" both's. Where a file says "lines: n", what the compiler says is
# at most n lines for each sentence, and of GCC's errors each is one of the sentences. nvcc compiles for compute_80, or for what a
# file says after "architecture:".
# Usage: check.sh COMPILER INCLUDE_DIRECTORY
here=$(dirname "$0") failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
newline='
'
case $(basename "$1") in
  nvcc*) by='by \(both\|nvcc\)' place= arch=80 options="-x cu --expt-relaxed-constexpr -ptx -o /dev/null" ;;
  *)
    by='\(by both\)\{0,1\}' place='error: .*' arch= options="-fsyntax-only -include $work/dsl.hpp"
    # The library's headers are parsed once for all programs.
    printf '#include <dsl/%s.hpp>\n' dsl ode scan >"$work/dsl.hpp"
    "$1" -std=c++20 -I"$2" -x c++-header "$work/dsl.hpp" -o "$work/dsl.hpp.gch" || exit 1
    ;;
esac
for file in "$here"/*.cpp; do
  all=$(sed -n "s#^// wanted *$by: ##p" "$file") lines=$(sed -n 's|^// lines: ||p' "$file") sentences=0 failed=0
  if [ -z "$all" ]; then continue; fi
  given=$(sed -n 's|^// architecture: ||p' "$file")
  if output=$("$1" -std=c++20 $options ${arch:+-arch=compute_${given:-$arch}} -I"$2" "$file" 2>&1); then echo "FAILED: $file compiles"; failures=1; continue; fi
  IFS=$newline
  for wanted in $all; do
    sentences=$((sentences + 1))
    pattern=${lines:+$place}$(printf '%s' "$wanted" | sed 's/[].*^$\[]/\\&/g')
    if ! printf '%s\n' "$output" | grep -q "$pattern"; then echo "FAILED: $file: not in the output: $wanted"; failed=1; fi
  done
  unset IFS
  errors=$(printf '%s\n' "$output" | grep -c 'error:') length=$(printf '%s\n' "$output" | wc -l)
  if [ -n "$lines" ] && [ -n "$place" ] && [ "$errors" -ne "$sentences" ]; then echo "FAILED: $file: $errors errors for $sentences sentences"; failed=1; fi
  if [ -n "$lines" ] && [ "$length" -gt $((lines * sentences)) ]; then echo "FAILED: $file: $length lines for $sentences sentences"; failed=1; fi
  if [ $failed -eq 0 ]; then echo "ok: $(basename "$file")"; else printf '%s\n' "$output" | grep error: | head -5; failures=1; fi
done
exit $failures
