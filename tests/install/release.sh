#!/bin/sh
# release.sh TREE RELEASE: vcpkg.json and the changelog name this release.
set -eu
grep -q "^  \"version\": \"$2\"," "$1/vcpkg.json" || { echo "vcpkg.json is not of release $2" >&2; exit 1; }
grep -q "^## $2 - 20[0-9][0-9]-[01][0-9]-[0-3][0-9]$" "$1/CHANGELOG.md" || { echo "CHANGELOG.md has no heading for release $2" >&2; exit 1; }
