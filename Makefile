# `make run` and `make test` are all a newcomer needs; the rest are their parts.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The packages of Python, those of the web and the browsers are installed beside each other. Several goals, as in `make clean test`,
# are one after another.
ifeq (1,$(words $(or $(MAKECMDGOALS),run)))
MAKEFLAGS += -j3
endif

.PHONY: browsers firefox run test check requirements pictures mutants kills soak bench eval wheel lock clean prerequisites

# What the machine has to have for is decided by the target that was asked for.
NEEDED_FOR := run
test: NEEDED_FOR := test

run: $(VENV)/ready web/dist/ready
	@$(BIN)/countersign serve

test: $(VENV)/ready-dev web/node_modules/ready browsers
	@deploy/test.sh

check: $(VENV)/ready-dev
	@deploy/check.sh

# Each requirement with the tests that assert it, and with what is missing.
requirements: $(VENV)/ready-dev
	@$(BIN)/python -m tests.scenarios.claims

# Looks at every page and keeps the pictures that changed; `git diff --stat tests/pictures` then says which.
pictures: $(VENV)/ready-dev web/dist/ready
	@COUNTERSIGN_RENEW_PICTURES=1 $(BIN)/python -m pytest -q tests/e2e/test_pictures.py

# Every browser test that Firefox can run, in Firefox; `make test` runs a part of them there (tests/e2e/browsers.py).
firefox: $(VENV)/ready-dev web/dist/ready
	@COUNTERSIGN_BROWSERS=firefox $(BIN)/python -m pytest -q tests/e2e -k firefox

# Faults that the tests must notice, put in one at a time; goes on where it was interrupted.
mutants: $(VENV)/ready-dev web/node_modules/ready
	@$(BIN)/python -m tests.mutants

# A working gateway, killed at random moments: effects doubled, silent, answers lost. KILLS, CALLERS and SEED may be set.
kills: $(VENV)/ready-dev
	@$(BIN)/python -m tests.crash.kills --kills $(or $(KILLS),200) --callers $(or $(CALLERS),8) --seed $(or $(SEED),1)

# A busy gateway for a long time, with its memory once a minute. MINUTES and CALLERS may be set.
soak: $(VENV)/ready-dev
	@$(BIN)/python -m tests.crash.soak --minutes $(or $(MINUTES),10) --callers $(or $(CALLERS),20)

bench: $(VENV)/ready-dev
	@$(BIN)/python -m bench

# An hour or two per model; goes on where it was interrupted.
eval: $(VENV)/ready-dev
	@$(BIN)/countersign models fetch
	@$(BIN)/python -m eval --write

# Everything in one file; see "Without a checkout" in the README.
wheel: $(VENV)/ready web/dist/ready
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/*.whl

# Where packages can be installed already, what else the tests need comes beside them.
prerequisites:
	@deploy/prerequisites.sh run $(PYTHON) 2>/dev/null || deploy/prerequisites.sh $(NEEDED_FOR) $(PYTHON)

browsers: | prerequisites
	@deploy/prerequisites.sh test $(PYTHON)

$(VENV)/ready: requirements.lock pyproject.toml | prerequisites
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Python packages…"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/ready-dev: requirements-dev.lock $(VENV)/ready
	@echo "Installing development packages…"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

web/node_modules/ready: web/package-lock.json | prerequisites
	@echo "Installing web packages…"
	@cd web && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

tests/mcp_servers/node_modules/ready: tests/mcp_servers/package-lock.json $(VENV)/ready-dev
	@echo "Installing tool servers for the tests…"
	@deploy/tool-servers.sh

# Everything the browser gets; rebuilt when any source changed.
WEB_SOURCES := $(shell find web/src loop web/*.html web/*.ts web/package.json -type f 2>/dev/null)
web/dist/ready: web/node_modules/ready $(WEB_SOURCES)
	@echo "Building the web apps…"
	@cd web && npm run --silent build
	@touch $@

lock: $(VENV)/ready-dev
	@deploy/lock.sh

clean:
	rm -rf $(VENV) web/node_modules tests/mcp_servers/node_modules web/dist dist
