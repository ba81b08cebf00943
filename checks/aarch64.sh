#!/bin/sh
# Builds the workspace for AArch64 without a warning, and runs the tests of the kernels and of rings there under emulation.
#
# Needs `rustup target add aarch64-unknown-linux-gnu`, and Debian's gcc-aarch64-linux-gnu and qemu-user-static.
set -eu

target=aarch64-unknown-linux-gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
export RUSTFLAGS="-D warnings"

cargo check --workspace --all-targets --target $target --quiet
# The tests of kernels go over all tables. The emulator knows no locked pages, and turns a bus error of a child into another
# signal.
cargo test --package noren-math --tests --target $target --quiet -- \
    --skip guarded_rows_are_locked --skip bus_errors_elsewhere_end_the_process
# All verbs of rings, compared with those of the naive device; bytes and noise compared with the golden files of x86-64.
cargo test --package noren-ring --test devices --target $target --quiet
cargo test --package noren-rlwe --test wire golden --target $target --quiet
cargo test --package noren --test golden --target $target --quiet
