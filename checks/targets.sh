#!/bin/sh
# Compiles the workspace, without a warning, for platforms other than this one; no program is linked or run.
#
#     checks/targets.sh [TARGET...]      # all targets, unless some are named
#
# Standard libraries come from rustup. A target that it cannot install is skipped by name.
set -eu
cd "$(dirname "$0")/.."

CARGO=${CARGO:-cargo}
# Three systems, two processors with vectors, 32 bits, big endian, and browsers.
targets="aarch64-unknown-linux-gnu aarch64-apple-darwin x86_64-pc-windows-msvc aarch64-pc-windows-msvc
    i686-unknown-linux-gnu armv7-unknown-linux-gnueabihf s390x-unknown-linux-gnu wasm32-unknown-unknown"
test $# = 0 || targets=$*

export RUSTFLAGS="-D warnings"
for target in $targets; do
    if ! test -d "$(rustc --print sysroot)/lib/rustlib/$target" && ! rustup target add "$target" > /dev/null 2>&1; then
        echo "SKIPPED $target: rustup cannot install it"
        continue
    fi
    # Only the assembly of BLAKE3 needs a C compiler, which would be another one for each system.
    case $target in
        # The library of a client: there are no threads, and random numbers come from JavaScript. It is built, because arithmetic
        # that 32 bits do not hold is found then.
        wasm32-*)
            CARGO_PROFILE_DEV_OPT_LEVEL=0 $CARGO build --package noren --lib --no-default-features \
                --features noren/wasm_js,blake3/pure --target "$target" --quiet
            ;;
        *) $CARGO check --workspace --features blake3/pure --target "$target" --quiet ;;
    esac
    echo "$target compiles"
done
