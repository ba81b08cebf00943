#!/bin/sh
# Tests that are built for another processor, and run under QEMU's user emulation.
#
#   checks/emulated.sh arm     AArch64: the tests of the library, with each table of kernels
#   checks/emulated.sh s390x   big endian: the bytes of files and keys, and noise of known streams
#
# The cross compiler, its C library and the emulator are packages of Debian, and the standard library comes from rustup. What is
# missing is installed, packages by root or sudo without a password. Where it cannot be had, the tests are skipped by name.
set -eu
cd "$(dirname "$0")/.."

CARGO=${CARGO:-cargo}
case ${1:-} in
arm) name=test-arm processor=aarch64 packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" ;;
s390x) name=test-s390x processor=s390x packages="gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user" ;;
*) echo "wanted: arm or s390x" >&2 && exit 2 ;;
esac
target=$processor-unknown-linux-gnu

skip() {
    echo "SKIPPED $name: $1"
    exit 0
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

has_tools() {
    command -v $processor-linux-gnu-gcc && command -v qemu-$processor && test -e /usr/$processor-linux-gnu/lib/libc.so.6
} > /dev/null

install_tools() {
    as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $packages
} > /dev/null 2>&1

has_tools || install_tools || true
has_tools || skip "it needs the packages $packages, which are not here and cannot be installed"
test -d "$(rustc --print sysroot)/lib/rustlib/$target" || rustup target add $target > /dev/null 2>&1 ||
    skip "it needs the target $target, which rustup cannot install"

prefix=CARGO_TARGET_$(echo $target | tr a-z- A-Z_)
export "${prefix}_LINKER=$processor-linux-gnu-gcc" "${prefix}_RUNNER=qemu-$processor -L /usr/$processor-linux-gnu"
export "CC_$(echo $target | tr - _)=$processor-linux-gnu-gcc"

if [ $name = test-s390x ]; then
    $CARGO test --package noren-rlwe --package noren --test wire --test golden --test ckks_wire --target $target --quiet
    $CARGO test --package noren-rlwe --test torus --target $target --quiet -- samplers
    exit
fi

library="--package noren-math --package noren-ring --package noren-rlwe --package noren --features noren/papers"
# The emulator knows no locked pages, and turns a bus error of a child into another signal.
skipped="--skip guarded_rows_are_locked --skip bus_errors_elsewhere_end_the_process"
# A test cannot start itself again, with another table or little memory, where the kernel does not know the emulator.
skipped="$skipped --skip bytes_do_not_depend_on_the_instruction_set --skip memory_for_keys_that_cannot_be_had_is_an_error
    --skip a_matrix_that_memory_cannot_hold_is_refused_before_it_is_made"
# Samples of noise under many parameters, and orders of work on many threads, take the emulator minutes each. They follow
# from kernels and verbs of rings, which are compared here word for word.
skipped="$skipped --skip bounds_hold --skip every_way_on_any_threads_gives_the_same_bytes
    --skip a_switch_is_its_steps_one_after_the_other --skip a_polynomial_with_vectors_as_coefficients_gives_the_same
    --skip all_numbers_modulo_t_are_looked_up_in_several_blocks --skip functions_of_a_line_need_no_matrix
    --skip lines_that_meet_modulo_t_need_equal_values --skip bounds_are_sharp_for_data_that_fill_the_range
    --skip encrypted_models_stay_within_their_error_bounds --skip controls_have_the_noise_of_their_law
    --skip lookups_add_the_noise_of_their_law"
$CARGO test $library --tests --target $target --no-run --quiet
for isa in $($CARGO run --quiet --package noren-math --example isa_tables --target $target); do
    echo "== NOREN_ISA=$isa"
    NOREN_ISA=$isa $CARGO test $library --tests --target $target --quiet -- $skipped
done
