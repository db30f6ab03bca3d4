# Targets: demo, test, bench, build, lock, clean. `make` alone lists them.
# One virtual environment (.venv, exact versions from requirements/lock.txt) and one native
# module, built in release, serve them all.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
STEP = @printf '\n== %s\n'

.PHONY: help demo test bench build lock clean rust-test python-test

help:
	@echo 'make demo   set everything up, run incast-8mb, print its table, write its report'
	@echo 'make test   run every check: Rust and Python tests, linters, types, schema'
	@echo 'make bench  measure the simulator, print a table, write target/bench.json'
	@echo 'make build  only set up: virtual environment and native module'
	@echo 'make lock   pin anew: requirements/lock.txt from pyproject.toml'
	@echo 'make clean  remove what was built; results stay'

demo: build
	$(STEP) 'incast-8mb: two switches, 1 to 23 servers, 1000 iterations each'
	@$(BIN)/tailback run incast-8mb --report

test: build rust-test python-test

# That the scenario schema is up to date is a test of its crate.
rust-test: .venv/installed
	$(STEP) 'Rust: format'
	cargo fmt --all --check
	$(STEP) 'Rust: clippy, warnings are errors'
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(STEP) 'Rust: tests, documentation examples among them'
	cargo test --workspace --locked --quiet

python-test: build
	$(STEP) 'Python: format and lint'
	$(BIN)/ruff format --check python tests benches
	$(BIN)/ruff check python tests benches
	$(STEP) 'Python: types'
	$(BIN)/mypy
	$(BIN)/stubtest tailback._native
	$(STEP) 'Python: tests'
	$(BIN)/pytest

bench: build
	@$(BIN)/python benches/bench.py

build: .venv/installed
	$(STEP) 'Native module, release build'
	env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/.venv PIP_QUIET=1 $(BIN)/maturin develop --release --locked --quiet

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
	rm -rf .venv target .pytest_cache .ruff_cache .mypy_cache python/tailback/_native*.so
