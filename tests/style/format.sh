#!/bin/sh
# format.sh [--fix]: whether all sources are formatted as .clang-format says; with --fix they are afterwards.
set -eu
cd "$(dirname "$0")/../.."
case ${1-} in
  --fix) what=-i ;;
  *) what="--dry-run --Werror" ;;
esac
exec sh tests/style/tool.sh clang-format $what \
  $(find include lib tests bench examples -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' | LC_ALL=C sort)
