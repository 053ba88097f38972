#!/bin/sh
# with_python.sh REQUIREMENTS ARGUMENT...: runs python3 with these arguments and the packages of a
# requirements file. They come from PyPI; a copy is kept in build/python. Exits with 77, CTest's
# code for "skipped", if they cannot be installed.
set -eu
requirements=$1
shift
command -v python3 >/dev/null || { echo "there is no python3: nothing is done" >&2; exit 77; }
kept=$(cd "$(dirname "$0")/.." && pwd)/build/python
folder=$kept/prefix-$( (python3 --version; cat "$requirements") | cksum | tr ' ' -)
if [ ! -d "$folder" ]; then
  mkdir -p "$kept"
  made=$(mktemp -d "$kept/XXXXXX")
  trap 'rm -rf "$made"' EXIT
  if ! python3 -m pip install --quiet --root-user-action ignore --disable-pip-version-check \
    --retries 1 --timeout 10 --no-deps --only-binary :all: --ignore-installed --prefix "$made/packages" \
    --requirement "$requirements"; then
    echo "the packages of $requirements cannot be installed from PyPI: nothing is done" >&2
    exit 77
  fi
  # Another process may have been faster.
  mv -T "$made/packages" "$folder" 2>/dev/null || [ -d "$folder" ]
  rm -rf "$made"
  trap - EXIT
fi
modules=$(find "$folder" -name site-packages -o -name dist-packages)
PYTHONPATH=$modules${PYTHONPATH:+:$PYTHONPATH} exec python3 "$@"
