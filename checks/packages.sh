#!/bin/sh
# Makes the package of each crate that is published, in the order in which they depend on each other, and compiles it from the
# package alone; nothing is uploaded. Any warning of cargo fails.
#
#     checks/packages.sh [OPTION...]     # options of `cargo publish`: --allow-dirty, --no-verify
set -eu
cd "$(dirname "$0")/.."

# Tests stay in the repository on purpose.
expected='^warning: (ignoring test `|aborting upload due to dry run)'
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
${CARGO:-cargo} publish --workspace --dry-run --locked "$@" 2> "$log" || status=$?
if grep -vE "$expected" "$log" | tee /dev/stderr | grep -q '^warning'; then
    echo "packages have warnings" >&2
    status=1
fi
exit "$status"
