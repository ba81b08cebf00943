# The two commands of this project are `make demo` and `make test`; each sets up all that it needs.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CARGO  ?= cargo
RUST_SOURCES := $(shell find crates checks -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
TARGET := $(or $(CARGO_TARGET_DIR),target)
RELEASE := $(TARGET)/release
EXAMPLES := $(TARGET)/debug/examples
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What is built here is built as a whole: incremental compilation would keep three times the files. CARGO_INCREMENTAL=1 where
# sources change between calls.
export CARGO_INCREMENTAL ?= 0

.PHONY: demo test test-full test-parquet test-cluster test-flower build .package lint .lint-rust .lint-python test-rust test-python test-constant-time timing docs bench fuzz fuzz-api fuzz-files licences sbom wheel sdist reproducible packages targets test-arm test-s390x clean

## demo: score real clinical records under encryption, client and server as separate processes.
demo: .package
	$(BIN)/noren demo --out demo-out

## test: formatting, lints, documentation, and every test under every instruction set of this machine.
test: lint test-rust test-python test-constant-time

# Runs a command, then says the most memory that any process of it has held.
define PEAK_MEMORY
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(f"peak memory {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20:.2f} GiB")
sys.exit(code)
endef
export PEAK_MEMORY

## test-full: what `test` leaves out: sets of 128 bits end to end, one after the other, in 12 GB: bootstrapping takes about 3 minutes,
## lookups 2 to 3 on two cores and 5.5 GiB, switching 10, integers and TFHE some more; then questions, retrieval and models at full
## size, whose answers are compared with those in clear: about 5 minutes.
FULL_TESTS := --lib --test bootstrapping --test integers --test lookup --test switching --test tfhe
test-full:
	$(CARGO) test --release --package noren --features papers $(FULL_TESTS) --no-run
	@$(PYTHON) -c "$$PEAK_MEMORY" $(CARGO) test --release --package noren --features papers $(FULL_TESTS) -- --ignored --nocapture --test-threads=1
	$(MAKE) --no-print-directory .package
	@for bench in tables retrieval models; do $(BIN)/python bench/$$bench.py --rounds 2 || exit 1; done

## test-parquet: the tool with the feature `parquet`: its lints, its tests, and files of pandas.
test-parquet: $(VENV)/.tools
	$(CARGO) clippy --package noren-cli --features parquet --all-targets --quiet -- -D warnings
	$(CARGO) test --package noren-cli --features parquet --quiet --lib --bins
	$(CARGO) build --package noren-cli --features parquet --quiet
	$(BIN)/pip install --quiet 'pyarrow>=18'
	NOREN_PARQUET_TOOL=$(TARGET)/debug/noren $(BIN)/pytest --quiet python/tests/test_parquet.py

## test-cluster: a Ray cluster on this machine, whose workers, nodes and drivers are killed at 20 random times each: some minutes.
test-cluster: .package
	NOREN_CLUSTER_KILLS=20 $(BIN)/pytest --quiet python/tests/test_cluster_faults.py

## test-flower: averages under Flower, in an environment of its own: Flower asks for older versions of what other tests use.
test-flower: .package
	$(PYTHON) -m venv target/flower
	target/flower/bin/pip install --quiet 'flwr>=1.22' 'numpy>=1.26' 'pytest>=8'
	PYTHONPATH=python target/flower/bin/python -m pytest --quiet python/tests/test_flower.py

## build: the tool at target/release/noren and .venv/bin/noren, benchmarks at target/release/noren-lab, the Python package in
## .venv.
build: .package
	@$(MAKE) --no-print-directory target/.lab

# The tool and the Python package; Python's tools are installed while cargo runs.
.package:
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/.installed

$(VENV)/.tools: pyproject.toml
	$(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed: install your system's python3-venv package" >&2; exit 1; }
	$(BIN)/pip install --quiet 'maturin>=1.11,<2' 'numpy>=1.26' 'scikit-learn>=1.4' 'matplotlib>=3.8' 'pandas>=2.1' \
		'pytest>=8' 'pytest-xdist>=3.6' 'mypy>=1.11' 'ruff>=0.6' 'pandas-stubs>=2.1' 'blake3>=1'
	$(BIN)/pip install --quiet 'ray>=2.40' || echo "there is no Ray for this Python: tests of noren.cluster are skipped"
	$(BIN)/pip install --quiet 'xgboost-cpu>=2' 'lightgbm>=4' || echo "there is no XGBoost or LightGBM for this Python: tests of their models are skipped"
	$(BIN)/pip install --quiet 'onnx>=1.16' 'onnxruntime>=1.18' || echo "there is no onnxruntime for this Python: tests of graphs of ONNX are skipped"
	touch $@

# The extension is named too, although it is not built here: with the features that it asks of other crates, all find
# the same libraries compiled. noren-lab asks `noren` for the feature `papers`, so the tool and the extension of `maturin develop`
# ask for it too; wheels do not. The stamps are no products of cargo, because those may lie elsewhere (CARGO_TARGET_DIR).
target/.tool: $(RUST_SOURCES)
	$(CARGO) build --release --package noren-cli --package noren-py --bins --features noren-py/extension-module,noren-py/papers
	mkdir -p target && touch $@

# Programs that the demonstration does without, and the tests all but the last. Both packages above are named once more, for their
# features.
target/.lab: target/.tool
	$(CARGO) build --release --package noren-cli --package noren-py --package noren-lab --bins --features noren-py/extension-module
	touch $@

target/.constant-time: target/.tool
	$(CARGO) build --release --package noren-cli --package noren-py --package constant-time --bins --features noren-py/extension-module,noren-py/papers
	touch $@

$(VENV)/.installed: $(VENV)/.tools target/.tool $(shell find python -name '*.py' -o -name '*.pyi')
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet --features extension-module,papers
	touch $@

# The oldest Rust that the project is for; what it compiles lies apart.
RUST_VERSION := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

# Fuzz targets are checked, which links nothing: the fuzzer's library, in C++, is not needed. The oldest Rust checks where it
# is installed. Python's tools are installed while clippy runs.
lint:
	@$(MAKE) --no-print-directory --jobs=2 .lint-rust .lint-python
	$(BIN)/python checks/dependencies.py check

.lint-rust:
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	$(CARGO) clippy --package noren-ring --package noren --no-default-features --lib --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	CUSTOM_LIBFUZZER_PATH=/none/libfuzzer.a $(CARGO) clippy --manifest-path fuzz/Cargo.toml --target-dir $(TARGET) --all-targets --quiet -- -D warnings
	@if $(CARGO) +$(RUST_VERSION) --version > /dev/null 2>&1; then \
		$(CARGO) +$(RUST_VERSION) check --workspace --quiet --target-dir target/oldest; fi
	@if command -v cargo-deny > /dev/null; then $(CARGO) deny --log-level error check bans licenses sources; fi

.lint-python: $(VENV)/.tools
	$(BIN)/ruff check python bench examples checks
	$(BIN)/ruff format --check python bench examples checks
	MYPYPATH=python $(BIN)/mypy --strict python bench checks

# The first line builds all, examples too; the loop then runs the same binaries once per table. The last table is the
# fastest: of tests of many cases it alone runs all (`cases` in CONTRIBUTING.md). Examples of the documentation, which are
# compiled whenever they run, run once. Nothing here names a package: cargo would choose other features for it alone, and
# compile every crate once more.
test-rust:
	$(CARGO) test --workspace --no-run --quiet
	@for isa in $$($(EXAMPLES)/isa_tables); do \
		echo "== NOREN_ISA=$$isa"; \
		NOREN_ISA=$$isa $(CARGO) test --workspace --tests --quiet || exit 1; \
	done
	$(CARGO) test --workspace --doc --quiet
	@for example in 1_ckks 3_integers "4_lookup --preset toy" 5_tfhe; do \
		$(EXAMPLES)/$$example > /dev/null || exit 1; \
	done

# Tests of the tool that run once more through the entry point of the Python package: those of verbs that start themselves, and
# of what a process prints and reads.
TOOL_TESTS_IN_PYTHON = advise:: compare:: measure:: pipes:: printing:: signing:: usage::

test-python: .package
	$(BIN)/pytest --quiet --numprocesses=2 --dist=loadgroup python/tests bench/tests
	NOREN_TOOL=$(abspath $(BIN)/noren) $(CARGO) test --quiet --workspace --test tool -- $(TOOL_TESTS_IN_PYTHON)

# Under valgrind, if there is one: without overflow checks.
test-constant-time: target/.constant-time
	$(RELEASE)/constant_time

## timing: whether the time of decryption and decoding depends on messages, with each instruction set; some minutes on a
## quiet machine.
timing: target/.constant-time
	@for isa in $$($(EXAMPLES)/isa_tables); do \
		echo "== NOREN_ISA=$$isa"; \
		NOREN_ISA=$$isa $(RELEASE)/constant_time timing || exit 1; \
	done

## bench: noren beside the installed peers, all suites, in about 35 minutes; then the pages that show the results.
bench: build
	bench/setup.sh
	$(BIN)/python bench/run.py --suite all
	$(BIN)/python bench/docs.py

## fuzz: every decoder for FUZZ_SECONDS each (needs a nightly toolchain and cargo-fuzz).
FUZZ_SECONDS ?= 60
fuzz:
	$(CARGO) run --quiet --manifest-path fuzz/Cargo.toml --example seeds
	@for target in $$($(CARGO) +nightly fuzz list); do \
		$(CARGO) +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -rss_limit_mb=2048 || exit 1; \
	done

## fuzz-api: random programs and mistakes on the public API of Python and Rust, against numpy and plain arithmetic, for
## FUZZ_API_SECONDS each, one after the other. A finding is shown with the command that runs it again.
FUZZ_API_SECONDS ?= 300
fuzz-api: .package
	cd python && ../$(BIN)/python -m fuzz_api --seconds $(FUZZ_API_SECONDS)
	FUZZ_API_SECONDS=$(FUZZ_API_SECONDS) $(CARGO) test --release --package noren --test api_fuzz -- --ignored --nocapture

## fuzz-files: changed files of every kind, through the tool and through Python, for FUZZ_FILES_SECONDS. A finding is shown
## with the command that runs it again.
FUZZ_FILES_SECONDS ?= 600
fuzz-files: .package
	cd python && ../$(BIN)/python -m fuzz_api --scheme files --seconds $(FUZZ_FILES_SECONDS)

## licences: the list of what is linked into the tool and the wheel, THIRD-PARTY-LICENSES.txt; `lint` refuses a stale one.
licences: $(VENV)/.tools
	$(BIN)/python checks/dependencies.py licences

## sbom: bills of materials (CycloneDX) of the tool and the wheel, in dist.
sbom: $(VENV)/.tools
	$(BIN)/python checks/dependencies.py sbom noren-cli dist/noren-cli.cdx.json
	$(BIN)/python checks/dependencies.py sbom noren-py dist/noren-py.cdx.json

## wheel: the Python package for this platform in dist, with its bill of materials; equal sources, compilers and maturin
## give equal bytes, whatever the directories are called.
## WHEEL_FOR names another platform: `make wheel WHEEL_FOR=aarch64-unknown-linux-gnu`.
WHEEL_TARGET ?= target/wheel
WHEEL_FOR ?= $(shell rustc -vV | sed -n 's/^host: //p')
REMAP = $(foreach pair,$(CURDIR)=/noren $(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo $(shell rustc --print sysroot)=/rust,--remap-path-prefix=$(pair))
wheel: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)
wheel: export RUSTFLAGS = $(REMAP)
# For Linux, zig links against an old C library, glibc 2.28, whatever this system has.
ifneq ($(findstring linux-gnu,$(WHEEL_FOR)),)
wheel: $(VENV)/.zig
wheel: LINKER = --zig --compatibility manylinux_2_28
endif
wheel: sbom
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin build --profile wheel --locked --target $(WHEEL_FOR) $(LINKER) --out dist \
		--compression-level 9 --target-dir $(WHEEL_TARGET) --sbom-include dist/noren-py.cdx.json

$(VENV)/.zig: $(VENV)/.tools
	$(BIN)/pip install --quiet 'ziglang>=0.13'
	touch $@

## sdist: the sources of the Python package in dist, which pip compiles where there is no wheel.
sdist: $(VENV)/.tools
	$(BIN)/maturin sdist --out dist

## reproducible: whether two builds of the last commit, in directories of different names, give the same wheel; about ten
## minutes.
reproducible: $(VENV)/.tools
	checks/reproducible.sh

## packages: the packages of the crates for crates.io, in order, each compiled by itself; nothing is uploaded. Some minutes;
## PACKAGES_OPTIONS=--no-verify compiles nothing.
PACKAGES_OPTIONS ?=
packages:
	CARGO="$(CARGO)" checks/packages.sh $(PACKAGES_OPTIONS)

## targets: the workspace compiled without a warning for Linux, macOS and Windows, 64 and 32 bits, little and big endian, and
## the library for WebAssembly; TARGETS names some of them.
TARGETS ?=
targets:
	CARGO="$(CARGO)" checks/targets.sh $(TARGETS)

## test-arm: the tests of the library for AArch64, with each table of kernels, under emulation; long.
test-arm:
	CARGO="$(CARGO)" checks/emulated.sh arm

## test-s390x: the bytes of files and keys, and noise of known streams, on a big-endian machine, under emulation.
test-s390x:
	CARGO="$(CARGO)" checks/emulated.sh s390x

clean:
	rm -rf target dist $(VENV) demo-out fuzz/target bench/peers/*/build* bench/peers/*/target* bench/peers/*/venv
