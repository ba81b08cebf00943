#!/bin/sh
# Whether a tag can be a release: it is `v` and the version of the workspace, and the changelog has that version with a day.
#
#     checks/release.sh v0.1.0
set -eu
cd "$(dirname "$0")/.."

tag=${1:?a tag, as v0.1.0}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
if test "$tag" != "v$version"; then
    echo "the tag is $tag, the version in Cargo.toml $version: wanted v$version" >&2
    exit 1
fi
if ! grep -qE "^## $version, [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md; then
    echo "CHANGELOG.md has no heading '## $version, YYYY-MM-DD'" >&2
    exit 1
fi
# Crates name the versions of those below them.
if grep -E '^noren[a-z-]* = .*version = ' Cargo.toml | grep -vF "version = \"$version\"" >&2; then
    echo "these dependencies in Cargo.toml have another version than $version" >&2
    exit 1
fi
if ! grep -qx "version: $version" CITATION.cff; then
    echo "CITATION.cff has another version than $version" >&2
    exit 1
fi
echo "$tag can be released"
