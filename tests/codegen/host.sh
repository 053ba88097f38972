#!/bin/sh
# What a compiler makes of the RK4 step on the host, alone and beside a sum: for each instruction set a loop in which all arithmetic on elements is
# on whole vectors of its width. What scalar operands give (h / 2, 2 * d) is computed on one number, once for all lanes. Usage: host.sh CXX INCLUDE_DIRECTORY
set -eu
cxx=$1 include=$2 here=$(dirname "$0")
failures=0
for sum in 0 1; do
  "$cxx" -std=c++20 -O3 -DWITH_SUM=$sum -I"$include" -S -o - "$here/host.cpp" | awk -v sum=$sum '
    # A loop: from a label to a jump back to it. Of a function the one with most arithmetic counts, and of two that hold the same the inner one.
    function end_of_function(  i, k, from, whole, other, most, most_other) {
      if (level in width && !(level in seen)) {
        seen[level] = 1
        most = most_other = 0
        for (i = 1; i <= jumps; ++i) {
          from = label[target[i]]
          if (from == "" || from > at[i]) continue
          whole = wholes[at[i]] - wholes[from]
          other = others[at[i]] - others[from]
          if (whole > most || (whole == most && other < most_other)) { most = whole; most_other = other }
        }
        good = most >= 100 && most_other <= 8
        printf "%s: WITH_SUM=%d: level %s: arithmetic on whole vectors in the loop: %d, other: %d\n", good ? "ok" : "FAILED", sum, level, most, most_other
        if (!good) failed = 1
      }
      level = ""
      line = jumps = 0
      split("", label)
    }
    BEGIN { width[2] = "%xmm"; width[3] = "%ymm"; width[4] = "%zmm" }
    /^_Z[A-Za-z0-9_]*host_loop[A-Za-z0-9_]*E2v[234]E[A-Za-z0-9_]*:/ {
      match($0, /E2v[234]E/)
      level = substr($0, RSTART + 3, 1)
      line = wholes[0] = others[0] = 0
      next
    }
    /\.cfi_endproc/ { end_of_function() }
    level == "" { next }
    { ++line; wholes[line] = wholes[line - 1]; others[line] = others[line - 1] }
    /^\.L[A-Z0-9_]+:/ { label[substr($1, 1, length($1) - 1)] = line }
    /^\tj[a-z]+\t\.L/ { ++jumps; target[jumps] = $2; at[jumps] = line }
    /^\tv?(fn?m(add|sub)(132|213|231)|mul|add|sub|div)[ps][sd]\t/ {
      if (index($0, width[level]) && $1 ~ /ps$/) ++wholes[line]
      else ++others[line]
    }
    END {
      for (l in width) if (!(l in seen)) { print "FAILED: no loop for level " l; failed = 1 }
      exit failed
    }' || failures=1
done
exit $failures
