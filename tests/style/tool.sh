#!/bin/sh
# tool.sh NAME ARGUMENT...: runs clang-format, clang-tidy or nvdisasm of the version in requirements.txt. PyPI has it; a copy is kept in build/style.
# Exits with 77, which CTest takes for skipped, where it cannot be had.
set -eu
name=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
package=$(sed -n "s/^\(.*$name\)==.*/\1/p" "$here/requirements.txt")
version=$(sed -n "s/^$package==//p" "$here/requirements.txt")
kept=$here/../../build/style
folder=$kept/$name-$version
if [ ! -d "$folder" ]; then
  mkdir -p "$kept"
  made=$(mktemp -d "$kept/XXXXXX")
  trap 'rm -rf "$made"' EXIT
  if ! python3 -m pip install --quiet --root-user-action ignore --disable-pip-version-check --retries 1 --timeout 10 \
    --no-deps --only-binary :all: --target "$made/$name" "$package==$version"; then
    echo "$name $version cannot be installed from PyPI: nothing is checked" >&2
    exit 77
  fi
  mv -T "$made/$name" "$folder" 2>/dev/null || [ -d "$folder" ]  # another process may have been first
  rm -rf "$made"
  trap - EXIT
fi
exec "$(find "$folder" -path "*/bin/$name" ! -path "$folder/bin/*")" "$@"
