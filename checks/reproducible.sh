#!/bin/sh
# Builds the wheel of the last commit twice, in directories of different names, and compares the bytes.
set -eu

root=$(git rev-parse --show-toplevel)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
for name in one another-directory; do
    mkdir "$work/$name"
    git -C "$root" archive HEAD | tar -x -C "$work/$name"
    mkdir -p "$work/$name/.venv"
    touch "$work/$name/.venv/.tools" "$work/$name/.venv/.zig"
    make -C "$work/$name" wheel BIN="$root/.venv/bin" WHEEL_TARGET="$work/$name-target"
    # The first build's products are not needed any more.
    rm -rf "$work/$name-target"
done
cd "$work"
sha256sum one/dist/*.whl another-directory/dist/*.whl
for wheel in one/dist/*.whl; do
    cmp "$wheel" "another-directory/dist/$(basename "$wheel")"
done
echo "the wheels are equal"
