#!/bin/sh
# Wrong programs do not compile, and the compiler's output holds the sentence that helps ("wanted:" in each file's first line), in no
# more lines than the second line allows ("lines:"), where it does. A sentence "wanted by both:" is GCC's and nvcc's, one "by nvcc" its alone.
# Usage: check.sh COMPILER INCLUDE_DIRECTORY
here=$(dirname "$0") failures=0
case $(basename "$1") in
  nvcc*) by='by \(both\|nvcc\)' options="-x cu --expt-relaxed-constexpr -ptx -o /dev/null" ;;
  *) by='\(by both\)\{0,1\}' options=-fsyntax-only ;;
esac
for file in "$here"/*.cpp; do
  wanted=$(sed -n "1s#^// wanted *$by: ##p" "$file") most=$(sed -n '2s|^// lines: ||p' "$file")
  if [ -z "$wanted" ]; then continue
  elif output=$("$1" -std=c++20 $options -I"$2" "$file" 2>&1); then echo "FAILED: $file compiles"; failures=1
  elif ! printf '%s' "$output" | grep -qF "$wanted"; then
    echo "FAILED: $file: not in the output: $wanted"; printf '%s\n' "$output" | grep error: | head -5; failures=1
  elif [ -n "$most" ] && [ "$(printf '%s\n' "$output" | wc -l)" -gt "$most" ]; then
    echo "FAILED: $file: more than $most lines"; printf '%s\n' "$output" | head -30; failures=1
  else echo "ok: $(basename "$file")"
  fi
done
exit $failures
