#!/bin/sh
# Installs and builds the libraries that noren is measured beside: those that package registries offer, and the
# drivers of OpenFHE and HElib where these are installed (where cmake does not look by itself:
# CMAKE_PREFIX_PATH=/where/it/is). A library
# that cannot be had is named and left out; run.py leaves it out too.
cd "$(dirname "$0")/peers" || exit 1

skip() { echo "left out: $1 ($2)" >&2; }

# Go, where its own installer puts it.
PATH="$PATH:/usr/local/go/bin"
if command -v go >/dev/null; then
    (cd lattigo && go build -o lattigo .) || skip lattigo "go build failed"
else
    skip lattigo "no go on this machine"
fi

if cargo build --release --quiet --manifest-path tfhe-ntt/Cargo.toml --target-dir tfhe-ntt/target; then
    cargo build --release --quiet --manifest-path tfhe-ntt/Cargo.toml --target-dir tfhe-ntt/target-avx2 \
        --no-default-features || skip "tfhe-ntt for AVX2" "cargo build failed"
else
    skip tfhe-ntt "cargo build failed"
fi

# For the processor that they are measured on, as their authors advise; and for processors without AVX-512.
for peer in tfhe-fft tfhe-rs; do
    RUSTFLAGS="-C target-cpu=native" cargo build --release --quiet --manifest-path $peer/Cargo.toml \
        --target-dir $peer/target || skip $peer "cargo build failed"
    RUSTFLAGS="-C target-cpu=x86-64-v3" cargo build --release --quiet --manifest-path $peer/Cargo.toml \
        --target-dir $peer/target-avx2 --no-default-features || skip "$peer for AVX2" "cargo build failed"
done

if "${PYTHON:-python3}" -m venv tenseal/venv && tenseal/venv/bin/pip install --quiet --disable-pip-version-check tenseal; then
    tenseal/venv/bin/python -c 'import tenseal.sealapi' || skip tenseal "its wheel does not load"
else
    skip tenseal "no wheel for this Python"
fi

for peer in openfhe helib; do
    if command -v cmake >/dev/null && cmake -S $peer -B $peer/build >$peer/build.log 2>&1; then
        cmake --build $peer/build >>$peer/build.log 2>&1 || skip $peer "its driver does not build: bench/peers/$peer/build.log"
    else
        skip $peer "not installed, or cmake does not find it: set CMAKE_PREFIX_PATH"
    fi
done
