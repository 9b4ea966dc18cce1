#!/bin/sh
# Resolve and hash the locks for every platform. No index address is written, so each machine uses its own.
set -e
pip=".venv/bin/python -m uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --quiet pyproject.toml"
$pip --group build --output-file requirements.lock
$pip --group build --group dev --constraints requirements.lock --output-file requirements-dev.lock
