# Outlive. `make help` lists what there is. Every target sets up what it needs.
# The environment is .venv; another one: make VENV=/some/folder test

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
FRAMEWORKS := .venv-frameworks
PG15 ?= /usr/lib/postgresql/15/bin
PYTHON ?= $(firstword $(foreach name,python3.11 python3 python3.12 python3.13 python3.14,\
	$(shell command -v $(name) >/dev/null 2>&1 && \
	$(name) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && \
	echo $(name))))

.PHONY: pages model mutants properties chaos messages simulate help setup run demo test check lint lock clean table crash races cases bad-input guards \
	pg15 audit-tamper sandbox story replan decisions runs fuzz roles soak frameworks \
	telemetry-kill schemas secrets same-decisions compose-check e2e hostile a11y bench

help: ## What there is
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Python environment with the locked versions

$(READY): requirements.lock pyproject.toml
	@if [ -z "$(PYTHON)" ]; then \
		echo "Outlive needs Python 3.11 or newer with venv (Debian: apt-get install python3-venv)." >&2; \
		echo "If it has another name here: make PYTHON=/path/to/python $(MAKECMDGOALS)" >&2; \
		exit 1; \
	fi
	@echo "Setting up $(VENV) with $(PYTHON), once…"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		--no-deps --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--no-build-isolation --editable .
	@touch $@

run: $(READY) ## The embedded engine and a worker, until Ctrl-C
	@$(BIN)/outlive up

demo: $(READY) ## Asked for, approved, its sender killed: see the promise held (under a minute)
	@$(BIN)/outlive demo

sandbox: $(READY) ## The provider to try against, until Ctrl-C
	@$(BIN)/outlive sandbox

test: $(READY) ## All tests
	@$(BIN)/python -m pytest -q

check: $(READY) ## What CI checks: ruff, mypy, pyright, import-linter
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@$(BIN)/lint-imports

lint: $(READY) ## Format, and correct what can be corrected by itself
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

messages: $(READY) ## Texts of the console that lack their Spanish, as lines for its catalogue
	@$(BIN)/python -m tests.console.messages

pages: $(READY) ## Proof: every page of the console on a big ledger (ROWS=100000)
	@$(BIN)/python -m tests.console.pages_at_size $(or $(ROWS),100000) $(if $(JSON),--json)

table: $(READY) ## Proof: the whole decision space, row by row
	@$(BIN)/python tests/recovery/print_table.py

crash: $(READY) ## Proof: the full kill matrix, with real processes
	@$(BIN)/python tests/crash/run.py --all

chaos: $(READY) ## Proof: real parts fail under load (ONLY=failover for one)
	@$(BIN)/python tests/chaos/run.py $(if $(ONLY),--only $(ONLY))

races: $(READY) ## Proof: claims, fences, revocation and expiry against each other
	@$(BIN)/python tests/tables/run.py races

cases: $(READY) ## Proof: faults that others reported, played here
	@$(BIN)/python tests/tables/run.py cases

bad-input: $(READY) ## Proof: what bad input gets
	@$(BIN)/python tests/tables/run.py bad-input

simulate: $(READY) ## Proof: seeded worlds, judged by true effects (SEEDS=200 JOBS=1, SEED=7 for one)
	@$(BIN)/python tests/simulation/run.py $(if $(SEED),--seed $(SEED)) \
		$(if $(SEEDS),--seeds $(SEEDS)) $(if $(JOBS),--jobs $(JOBS)) $(if $(JSON),--json)

mutants: $(READY) ## Proof: each protection is needed, since without it a test fails (ONLY=window)
	@$(BIN)/python tests/guards/run.py $(if $(ONLY),--only "$(ONLY)")

guards: mutants ## The same as mutants

model: $(READY) ## Proof: every state of a small model of the protocol, and each protection needed
	@$(BIN)/python -m tests.model.run

properties: $(READY) ## Proof: what holds for any input that Hypothesis thinks of
	@$(BIN)/python tests/tables/run.py properties

audit-tamper: $(READY) ## Proof: each way of tampering with the history is found
	@$(BIN)/python tests/tables/audit_tamper.py

telemetry-kill: $(READY) ## Proof: what evidence a SIGKILL at each step leaves
	@$(BIN)/python -m tests.telemetry.kill

schemas: $(READY) ## Proof: every known shape of the trace tables reads alike
	@$(BIN)/python -m tests.telemetry.schemas

secrets: $(READY) ## Proof: planted secrets reach no spool, exporter or log
	@$(BIN)/python -m tests.telemetry.secrets

same-decisions: $(READY) ## Proof: decisions with telemetry on, off, down, slow and lying
	@$(BIN)/python -m tests.telemetry.same_decisions

compose-check: $(READY) ## Proof: the Compose file read, and its commands run as processes
	@$(BIN)/python -m tests.telemetry.compose_check

e2e: $(READY) ## Proof: the console's 25 points of acceptance, in a real browser
	@$(BIN)/python -m tests.console.acceptance

hostile: $(READY) ## Proof: hostile text in every field of every page of the console stays text
	@$(BIN)/python tests/tables/run.py hostile

a11y: $(READY) ## Proof: every page and state of the console, by axe, at every width, in both themes
	@$(BIN)/python tests/tables/run.py a11y

story: $(READY) ## Proof: 38 approved, 41 asked for again; only the new ones are asked about
	@$(BIN)/python tests/story/story.py

replan: $(READY) ## Proof: an agent that plans anew gets no second effect by policy alone
	@$(BIN)/python tests/story/replan.py

decisions: $(READY) ## Proof: decided once, about what was read, by somebody who may
	@$(BIN)/python tests/http/decisions.py

runs: $(READY) ## Proof: suspended, decided in any order, claimed by one, resumed
	@$(BIN)/python tests/runs/runs.py

fuzz: $(READY) ## Proof: the API fuzzed from its own description
	@$(BIN)/python tests/http/fuzz.py

roles: $(READY) ## Proof: every endpoint asked by every role
	@$(BIN)/python tests/http/roles.py

soak: $(READY) ## Proof: processes killed at random while N=1000 refunds go through
	@$(BIN)/python tests/soak/soak.py $(or $(N),1000)

frameworks: $(READY) $(FRAMEWORKS)/.ready ## Proof: agents of three frameworks, killed and resumed
	@$(BIN)/python tests/frameworks/run.py

$(FRAMEWORKS)/.ready: examples/requirements.lock | $(READY)
	@echo "Setting up $(FRAMEWORKS) for the examples, once…"
	@test -x $(FRAMEWORKS)/bin/python || $(PYTHON) -m venv $(FRAMEWORKS)
	@$(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check \
		--requirement examples/requirements.lock
	@$(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--editable clients/python
	@touch $@

BENCHES := operation http growth orphans truth peers memory dispatch_with_telemetry

bench: $(READY) $(if $(filter peers,$(or $(ONLY),peers)),.venv-peers/.ready) ## Ratios and rates (ONLY=http, SAVE=1, QUICK=1)
	@for name in $(or $(ONLY),$(BENCHES)); do \
		$(BIN)/python -m bench.$$name $(if $(SAVE),--save) $(if $(QUICK),--quick); \
	done
	@$(if $(SAVE),$(BIN)/python -m bench.report)

.venv-peers/.ready: bench/peers/requirements.lock
	@echo "Setting up .venv-peers for the benchmark of peers, once…"
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check \
		--requirement bench/peers/requirements.lock
	@touch $@

pg15: $(READY) ## Proof: the database tests against PostgreSQL 15
	@if [ ! -x $(PG15)/postgres ]; then \
		echo "PostgreSQL 15 is not at $(PG15)." >&2; \
		echo "Debian 12: apt-get install postgresql-15. Elsewhere: make pg15 PG15=/its/bin" >&2; \
		exit 1; \
	fi
	@OUTLIVE_TEST_PG_BIN=$(PG15) $(BIN)/python tests/tables/run.py pg15

lock: ## Pin the versions anew (needs a package index)
	@$(or $(PYTHON),python3) .ci/lock.py

clean: ## Remove the environment, caches and what demos left
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build
	@rm -rf *.egg-info
	@for folder in .outlive-demo-*; do [ ! -d "$$folder" ] || rm -rf "$$folder"; done
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
