# Targets: demo, test, bench, drawn, packetdrill, build, guided, lock, clean. `make` alone lists them.
# One virtual environment (.venv, exact versions from requirements/lock.txt) and one native
# module, built in release, serve them all.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
STEP = @printf '\n== %s\n'
# cargo and other makes would take up this make's jobserver, which is closed to them.
ALONE := env -u MAKEFLAGS -u MFLAGS
CARGO := $(ALONE) cargo

# Where cargo puts what it builds.
TARGET := $(or $(CARGO_TARGET_DIR),target)
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
AGENT := python/tailback/_agent

.PHONY: help demo studies test bench bench-ns3 bench-guided bench-record drawn packetdrill build guided agent kernel lock clean rust-lint rust-built rust-test python-lint python-test bench-programs test-packages

help:
	@echo 'make demo   set everything up, run incast-8mb, print its table, write its report'
	@echo 'make test   run every check: Rust and Python tests, linters, types, schema'
	@echo 'make studies'
	@echo '            run the five published studies at their published size, write one report'
	@echo 'make bench  measure the simulator and sweeps, print tables, write target/bench.json'
	@echo 'make bench-ns3  the same cases here and on ns-3 (Debian package), side by side'
	@echo 'make bench-guided  the same cases by the plain build and by that of make guided, in turn'
	@echo 'make bench-record  count instructions a hop and a segment anew: benches/instructions.json'
	@echo 'make drawn DRAWN=5000 [DRAWN_FROM=150]'
	@echo '            draw so many scenarios by lot and run what a check accepts, on one thread and on two'
	@echo 'make packetdrill PACKETDRILL=binary SCRIPTS=folder'
	@echo '            run packetdrill scripts against the TCP, print a table'
	@echo 'make build  only set up: virtual environment, native module, agent'
	@echo 'make guided build the native module guided by a profile of its own: faster runs, same results'
	@echo 'make kernel build or find the Linux kernel that runs as a host (minutes, once)'
	@echo 'make lock   pin anew: requirements/lock.txt from pyproject.toml'
	@echo 'make clean  remove what was built; results stay'

demo: build
	$(STEP) 'incast-8mb: two switches, 1 to 23 servers, 1000 iterations each'
	@$(BIN)/tailback run incast-8mb --report

studies: build
	@$(BIN)/tailback reproduce studies

# Rust and Python side by side: linking the native module and most Python tests keep one core busy.
test: test-packages
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target rust-test python-test

test-packages:
	@PYTHON=$(PYTHON) tools/system-packages test

rust-lint: test-packages
	$(STEP) 'Rust: format'
	$(CARGO) fmt --all --check
	$(STEP) 'Rust: clippy, warnings are errors'
	$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings

rust-built: rust-lint
	$(STEP) 'Rust: tests are built'
	$(CARGO) test --workspace --locked --quiet --no-run

# That the scenario schema is up to date is a test of its crate.
rust-test: rust-built agent kernel
	$(STEP) 'Rust: tests, documentation examples among them'
	TAILBACK_AGENT=$(CURDIR)/$(AGENT) $(CARGO) test --workspace --locked --quiet

python-lint: test-packages build
	$(STEP) 'Python: format and lint'
	$(BIN)/ruff format --check python tests benches tools
	$(BIN)/ruff check python tests benches tools
	$(STEP) 'Python: types'
	$(BIN)/mypy
	$(BIN)/mypy tools/packetdrill
	$(ALONE) $(BIN)/stubtest tailback._native

# What counts instructions and measures; linking takes a minute, which tests would wait for.
bench-programs: build
	$(STEP) 'Programs that are measured, release build'
	$(CARGO) build --release --locked --quiet -p tailback-sim --example case
	$(CARGO) build --release --locked --quiet -p tailback-tcp --example endpoints

python-test: python-lint kernel bench-programs
	$(STEP) 'Python: tests'
	$(ALONE) $(BIN)/pytest --numprocesses=2 --dist=loadfile --max-worker-restart=0

bench: build
	@$(BIN)/python benches/bench.py
	@$(BIN)/python benches/sweep.py
	@$(BIN)/python benches/kernel.py

bench-ns3: build
	@tools/system-packages ns3
	@$(BIN)/python benches/bench.py --ns3 --rounds 3

bench-guided: guided
	@$(BIN)/python benches/bench.py --guided

bench-record: build
	@$(BIN)/python benches/instructions.py

# `make test` draws the first 150: these are others. Each is named before it runs.
DRAWN ?= 5000
DRAWN_FROM ?= 150
drawn:
	TAILBACK_DRAWN=$(DRAWN) TAILBACK_DRAWN_FROM=$(DRAWN_FROM) $(CARGO) test --locked --quiet \
	  -p tailback-sim --test simulator drawn::what -- --nocapture

# packetdrill itself is the user's to bring (docs/models/packetdrill.md).
packetdrill:
	@if [ -z '$(PACKETDRILL)' ] || [ -z '$(SCRIPTS)' ]; then \
	  echo 'make packetdrill PACKETDRILL=binary SCRIPTS=folder' >&2; exit 2; fi
	@$(CARGO) build --quiet --locked -p tailback-packetdrill
	@$(PYTHON) tools/packetdrill --packetdrill '$(PACKETDRILL)' --built $(TARGET)/debug $(SCRIPTS)

build: .venv/installed agent
	$(STEP) 'Native module, release build'
	$(ALONE) -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/.venv PIP_QUIET=1 $(BIN)/maturin develop --release --locked --quiet

# Counts, trains, builds again: minutes, and worth it before long sweeps (docs/guide/running.md).
guided: .venv/installed agent
	@tools/system-packages guided
	$(STEP) 'Native module, release build guided by a profile'
	@$(BIN)/python benches/guided.py

# Linked statically, so that it runs in a guest that has nothing else; a target named in full keeps
# the flag away from build scripts.
agent: .venv/installed
	$(STEP) 'Agent, release build'
	RUSTFLAGS='-C target-feature=+crt-static' \
	  $(CARGO) build --release --locked --quiet --package tailback-agent --target $(HOST)
	strip -o $(AGENT) $(TARGET)/$(HOST)/release/tailback-agent

kernel: build
	$(STEP) 'Linux kernel for hosts'
	@$(ALONE) $(BIN)/tailback kernel build

.venv/installed: requirements/lock.txt
	@PYTHON=$(PYTHON) tools/system-packages
	$(STEP) 'Virtual environment'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/lock.txt
	@touch $@

lock:
	$(PYTHON) -m venv target/lock-venv
	target/lock-venv/bin/pip install --quiet pip-tools==7.6.2
	target/lock-venv/bin/pip-compile --quiet --upgrade --generate-hashes --strip-extras --all-extras \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	  --output-file requirements/lock.txt pyproject.toml

clean:
	rm -rf .venv target .pytest_cache .ruff_cache .mypy_cache python/tailback/_native*.so $(AGENT)
