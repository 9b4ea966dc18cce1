#!/bin/sh
# Everything that must hold before a change lands, cheapest first. One failing step stops the rest.
set -e
bin=.venv/bin
say() { printf '\n── %s\n' "$1"; }

say "format, lint, types, floors"
deploy/check.sh
say "web: format, lint, types, unused code, generated protocol"
(cd web && npm run --silent check)
say "web: unit tests"
(cd web && npm run --silent test)
say "web: build"
(cd web && npm run --silent build) && touch web/dist/ready
say "policy: table of decisions"
$bin/countersign policy test
say "the loop: every statement and branch by its own tests"
$bin/python -m coverage run -m pytest -q tests/agent
$bin/python -m coverage report
say "python: units, contracts, scenarios, hostile clients, crashes"
# Those of the loop ran a moment ago.
$bin/python -m pytest -q -m "not live" -n 2 --ignore tests/agent
say "the default model, fetched once"
$bin/countersign models fetch
say "the real model and the real browser"
$bin/python -m pytest -q -m live
