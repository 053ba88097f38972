#!/bin/sh
# storeys.sh FOLDER...: of include/ and lib/, includes run down the storeys only: python, ode -> lang -> exec -> mem -> ir, and in lib/ each back end
# (cuda, host, sim) stands on exec and includes no other one; files beside the storeys stand on top of all. Every header may be included
# twice, and no file exceeds 400 lines.
set -eu
find "$@" -type f ! -name '*.py' | LC_ALL=C sort | xargs awk '
  # dsl/mem/array.hpp, mem/text.hpp: mem; dsl/dsl.hpp, back_ends.cpp: top
  function folder(path, part) {
    sub(/^(.*\/)?(include\/dsl|lib)\//, "", path)
    sub(/^dsl\//, "", path)
    split(path, part, "/")
    return part[2] == "" ? "top" : part[1]
  }
  function complain(what) { print FILENAME ":" FNR ": " what; bad = 1 }
  function finish(header) { if (header ~ /[.]hpp$/ && !once) { print header ": has no #pragma once"; bad = 1 } }
  BEGIN {
    level["ir"] = 1; level["mem"] = 2; level["exec"] = 3; level["lang"] = 4; level["python"] = level["ode"] = level["top"] = 5
    level["cuda"] = level["host"] = level["sim"] = 4
  }
  FNR == 1 { finish(last); last = FILENAME; once = 0; ++files; in_lib = FILENAME ~ /(^|\/)lib\//; here = folder(FILENAME) }
  FNR == 1 && !(here in level) { complain("is in no storey (python, ode, lang, cuda, host, sim, exec, mem or ir)") }
  /^#pragma once$/ { once = 1 }
  FNR == 401 { complain("has more than 400 lines") }
  !in_lib && /^[ \t]*#[ \t]*include[ \t]*"/ { complain("write #include <dsl/...>") }
  /^[ \t]*#[ \t]*include[ \t]*(<dsl\/|"[^"]*[.]hpp")/ {
    path = $0
    sub(/^[^<"]*[<"]/, "", path)
    sub(/[>"].*/, "", path)
    ++includes
    there = folder(path)
    if (!(there in level)) complain("includes " path ", which is in no storey")
    else if (level[there] > level[here]) complain("includes " path ", from a storey above")
    else if (there != here && level[there] == 4 && level[here] == 4) complain("includes " path ", from beside its own storey")
  }
  END {
    finish(last)
    printf "%d files, %d includes among them\n", files, includes
    exit bad || files == 0 || includes == 0
  }'
