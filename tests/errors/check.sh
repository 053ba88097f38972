#!/bin/sh
# Wrong programs do not compile, and the compiler's output holds the sentence that helps ("wanted:" in each file's first line).
# Usage: check.sh COMPILER INCLUDE_DIRECTORY
here=$(dirname "$0") failures=0
for file in "$here"/*.cpp; do
  wanted=$(sed -n '1s|^// wanted: ||p' "$file")
  if output=$("$1" -std=c++20 -fsyntax-only -I"$2" "$file" 2>&1); then echo "FAILED: $file compiles"; failures=1
  elif printf '%s' "$output" | grep -qF "$wanted"; then echo "ok: $(basename "$file")"
  else echo "FAILED: $file: not in the output: $wanted"; printf '%s\n' "$output" | grep error: | head -5; failures=1
  fi
done
exit $failures
