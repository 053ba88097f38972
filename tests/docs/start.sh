#!/bin/sh
# start.sh PAGE BUILD WORK: docs/start.md as it is typed. The library comes from the build folder, not from the page's lines that build it: those
# are checked for what a shell takes them for. The program's folder is made, and it is built and run, by the page's own lines in WORK.
set -eu
page=$1 build=$2 work=$3

# block LANGUAGE N: the n-th block of a language.
block() {
  awk -v fence="\`\`\`$1" -v wanted="$2" '
    inside && /^```/ { inside = 0 }
    inside { print }
    $0 == fence && ++n == wanted { inside = 1 }' "$page"
}

rm -rf "$work"
mkdir -p "$work"
for n in 1 2 3 4; do block sh $n >"$work/$n.sh"; sh -n "$work/$n.sh"; done
grep -q '^mkdir' "$work/3.sh" && grep -q '^cmake -B' "$work/4.sh" || { echo "the blocks of $page have moved" >&2; exit 1; }
prefix=$(sed -n 's|^cmake --install build/library --prefix ~/||p' "$work/2.sh")
[ -n "$prefix" ] || { echo "$page does not say where to install" >&2; exit 1; }
cmake --install "$build" --prefix "$work/$prefix" >"$work/install.log"

export HOME="$work" DSL_DEVICE=host
. "$work/3.sh"
sed 1d "$build/pages/docs/start/a-program-of-your-own.inc" >main.cpp  # but for its #line
block cmake 1 >CMakeLists.txt
sh -e "$work/4.sh" >"$work/log"
block text 1 >"$work/expected"
tail -n 1 "$work/log" | diff - "$work/expected"
