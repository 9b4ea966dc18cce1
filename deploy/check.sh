#!/bin/sh
# The fast checks: format, lint, types, floors. Under half a minute on two cores.
set -e
bin=.venv/bin
$bin/ruff format --check --quiet .
$bin/ruff check --quiet .
$bin/lint-imports --no-logo >/dev/null || $bin/lint-imports --no-logo
$bin/pyright --warnings
