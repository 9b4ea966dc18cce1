# `make run` and `make test` are all a newcomer needs; the rest are their parts.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test check types unit web-check e2e bench eval lock clean prerequisites

run: $(VENV)/ready web/dist/ready
	@$(BIN)/countersign serve

test: $(VENV)/ready-dev web/node_modules/ready
	@deploy/test.sh

check: $(VENV)/ready-dev
	@deploy/check.sh

bench: $(VENV)/ready-dev
	@$(BIN)/python -m bench

# An hour or two per model; goes on where it was interrupted.
eval: $(VENV)/ready-dev
	@$(BIN)/countersign models fetch
	@$(BIN)/python -m tests.eval --write

prerequisites:
	@deploy/prerequisites.sh $(PYTHON)

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

# Everything the browser gets; rebuilt when any source changed.
WEB_SOURCES := $(shell find web/src web/*.html web/*.ts web/package.json -type f 2>/dev/null)
web/dist/ready: web/node_modules/ready $(WEB_SOURCES)
	@echo "Building the web apps…"
	@cd web && npm run --silent build
	@touch $@

lock: $(VENV)/ready-dev
	@deploy/lock.sh

clean:
	rm -rf $(VENV) web/node_modules web/dist
