#!/bin/sh
# storeys.sh INCLUDE_DIR: includes run down the storeys only (ode -> lang -> exec -> mem -> ir), every header may be included twice, and
# none exceeds 400 lines.
set -eu
cd "$1"
find dsl -type f | LC_ALL=C sort | xargs awk '
  function storey(path, part) {  # dsl/mem/array.hpp: 2; dsl/dsl.hpp, which stands on top of all: 5
    split(path, part, "/")
    return part[3] == "" ? 5 : part[2] in level ? level[part[2]] : 0
  }
  function complain(what) { print FILENAME ":" FNR ": " what; bad = 1 }
  BEGIN { level["ir"] = 1; level["mem"] = 2; level["exec"] = 3; level["lang"] = 4; level["ode"] = 5 }
  function finish(header) { if (header ~ /[.]hpp$/ && !once) { print header ": has no #pragma once"; bad = 1 } }
  FNR == 1 { finish(last); last = FILENAME; once = 0; ++files; if (!storey(FILENAME)) complain("is in no storey (ode, lang, exec, mem or ir)") }
  /^#pragma once$/ { once = 1 }
  FNR == 401 { complain("has more than 400 lines") }
  /^[ \t]*#[ \t]*include[ \t]*"/ { complain("write #include <dsl/...>") }
  /^[ \t]*#[ \t]*include[ \t]*<dsl\// {
    path = $0
    sub(/^[^<]*</, "", path)
    sub(/>.*/, "", path)
    ++includes
    if (!storey(path)) complain("includes " path ", which is in no storey")
    else if (storey(path) > storey(FILENAME)) complain("includes " path ", from a storey above")
  }
  END {
    finish(last)
    printf "%d headers, %d includes among them\n", files, includes
    exit bad || files == 0 || includes == 0
  }'
