# Every target works from a fresh clone, given Python 3.11+, Java 17+ and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
GENERATED := lily/api/grpc/generated

# Compiled modules are kept, whatever the caller's environment says: each of the tests' processes would compile all of them.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help setup demo up down test test-campaigns test-faults test-cluster test-engines test-failed check format proto bench lock clean

help: ## The targets, a line each
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## The environment: packages in .venv, jars in the user's cache
	@$(BIN)/lily jars

$(READY): requirements.txt pyproject.toml
	@echo "Installing Lily's packages, about 1.6 GB unpacked; this takes some minutes the first time"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup ## Start the stack, play the story with measured latencies, stop it
	$(BIN)/lily demo

up: setup ## Start the embedded stack in the foreground
	$(BIN)/lily up

down: setup ## Stop the embedded stack
	$(BIN)/lily down

test: setup ## Every test but the long campaigns
	$(BIN)/python -m pytest -m "not campaign and not faults and not cluster and not engines" -n 4 --no-loadscope-reorder --durations 25

test-campaigns: setup ## Fuzzing, convergence in random orders, processes and whole stacks started anew
	$(BIN)/python -m pytest -m campaign -n 4 --no-loadscope-reorder --durations 15

test-faults: setup ## kill -9 under load: every acknowledged event is accounted for
	$(BIN)/python -m pytest tests/faults -m faults --timeout 1500

test-cluster: setup ## Both lanes on a two-worker Spark cluster and on an object store; what a second worker adds
	@$(BIN)/lily jars --with s3
	$(BIN)/python -m pytest tests/cluster -m cluster

test-engines: setup ## Against what others wrote: Keycloak, Trino, dbt, the listener of Spark (downloaded once, 1.5 GB)
	$(BIN)/python -m pytest tests/engines -m engines

test-failed: setup ## What failed in the last run, again and one by one
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none --timeout 1500

check: $(READY) ## Linters, types and the import contract
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## Let ruff put the code in order
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

proto: $(READY) ## Generate the code of the gRPC contract (proto/) anew
	$(BIN)/python -m grpc_tools.protoc -I $(GENERATED)=proto/lily --python_out=src --pyi_out=src --grpc_python_out=src \
		$(patsubst proto/lily/%,$(GENERATED)/%,$(wildcard proto/lily/*.proto))

bench: setup ## Every benchmark as a table of ratios (docs/benchmarks.md, bench/results)
	$(BIN)/python -m bench

lock: $(READY) ## Resolve the dependencies anew into requirements.txt
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --python-version 3.11 --universal --generate-hashes --no-emit-index-url --custom-compile-command "make lock" \
		--extra dev --extra server --extra pipeline --extra embedded --extra s3 \
		--output-file requirements.txt pyproject.toml requirements.in

clean: ## Remove the environment and the default data directory (stop the stack first)
	rm -rf $(VENV) .lily
