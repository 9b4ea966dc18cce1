#!/bin/sh
# Format, lint, types, floors. Most of it is pyright: some three minutes of one core for 220,000 lines.
set -e
bin=.venv/bin
$bin/ruff format --check --quiet .
$bin/ruff check --quiet .
$bin/lint-imports --no-logo >/dev/null || $bin/lint-imports --no-logo
$bin/pyright --warnings
