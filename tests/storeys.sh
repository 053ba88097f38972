#!/bin/sh
# storeys.sh FOLDER...: checks include/ and lib/. Includes only go down the storeys: python, ode ->
# lang -> exec -> mem -> ir. In lib/, each back end (cuda, host, sim) may include exec and below,
# and no other back end; files outside the storeys are above all of them. The rooms of exec are
# ranked too, in include/ and lib/ alike, and rooms of the same rank may not include each other.
# Every header may be included twice, and no file has more than 460 lines.
set -eu
find "$@" -type f ! -name '*.py' | LC_ALL=C sort | xargs awk '
  # dsl/mem/array.hpp, mem/text.hpp: mem; dsl/dsl.hpp, back_ends.cpp: top
  function folder(path, part) {
    sub(/^(.*\/)?(include\/dsl|lib)\//, "", path)
    sub(/^dsl\//, "", path)
    split(path, part, "/")
    return part[2] == "" ? "top" : part[1]
  }
  # dsl/exec/rows/row_body.hpp, exec/rows/rows.hpp: rows
  function room_of(path, part) {
    sub(/^(.*\/)?(include\/dsl|lib)\//, "", path)
    sub(/^dsl\//, "", path)
    return split(path, part, "/") == 3 && part[1] == "exec" ? part[2] : ""
  }
  function complain(what) { print FILENAME ":" FNR ": " what; bad = 1 }
  function finish(header) {
    if (header ~ /[.]hpp$/ && !once) { print header ": has no #pragma once"; bad = 1 }
  }
  BEGIN {
    level["ir"] = 1; level["mem"] = 2; level["exec"] = 3; level["lang"] = 4
    level["python"] = level["ode"] = level["top"] = 5
    level["cuda"] = level["host"] = level["sim"] = 4
    rank["plan"] = 1; rank["team"] = 2; rank["access"] = 3
    rank["stencil"] = rank["reduce"] = 4; rank["map"] = 5; rank["host"] = 6
    rank["run"] = 7; rank["explain"] = 8; rank["rows"] = rank["loop"] = rank["scan"] = 9
    rank["by_key"] = rank["processes"] = 10; rank["statement"] = 11
  }
  FNR == 1 {
    finish(last)
    last = FILENAME; once = 0; ++files
    in_lib = FILENAME ~ /(^|\/)lib\//; here = folder(FILENAME); room = room_of(FILENAME)
  }
  FNR == 1 && !(here in level) {
    complain("is in no storey (python, ode, lang, cuda, host, sim, exec, mem or ir)")
  }
  FNR == 1 && here == "exec" && !(room in rank) { complain("is in no room of exec") }
  /^#pragma once$/ { once = 1 }
  FNR == 461 { complain("has more than 460 lines") }
  !in_lib && /^[ \t]*#[ \t]*include[ \t]*"/ { complain("write #include <dsl/...>") }
  /^[ \t]*#[ \t]*include[ \t]*(<dsl\/|"[^"]*[.]hpp")/ {
    path = $0
    sub(/^[^<"]*[<"]/, "", path)
    sub(/[>"].*/, "", path)
    ++includes
    there = folder(path)
    if (!(there in level)) complain("includes " path ", which is in no storey")
    else if (level[there] > level[here]) complain("includes " path ", from a storey above")
    else if (there != here && level[there] == 4 && level[here] == 4)
      complain("includes " path ", from beside its own storey")
    other = room_of(path)
    if (room != "" && other in rank && other != room && rank[other] >= rank[room])
      complain("includes " path ", from a room that " room " may not know")
  }
  END {
    finish(last)
    printf "%d files, %d includes among them\n", files, includes
    exit bad || files == 0 || includes == 0
  }'
