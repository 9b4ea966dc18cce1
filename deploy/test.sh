#!/bin/sh
# Everything that must hold before a change lands. The first failing step stops the rest, but the web's checks are always told.
#
# Made for two cores: the web's checks run beside Python's. The tests that wait for a browser or a model are in two of three
# workers (tests/conftest.py), for in one they would be what is left when all others are done.
set -e
bin=.venv/bin
web_log=$(mktemp)
web_pid=
trap 'rm -f "$web_log"; [ -z "$web_pid" ] || kill "$web_pid" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
say() { printf '\n── %s\n' "$1"; }

say "web: the apps, which the browser's tests need"
(cd web && npm run --silent build && touch dist/ready)
say "web: format, lint, types, unused code, generated protocol, unit tests (beside what follows)"
(cd web && npm run --silent check && npm run --silent test) >"$web_log" 2>&1 &
web_pid=$!

say "format, lint, types, floors"
deploy/check.sh
say "policy: table of decisions"
$bin/countersign policy test
say "the loop: every statement and branch by its own tests"
$bin/python -m coverage run -m pytest -q tests/agent
$bin/python -m coverage report
say "the default model, fetched once"
$bin/countersign models fetch

say "units, contracts, scenarios, hostile clients, crashes, the wheel, the real model and the real browser"
# Those of the loop ran above. The web's last minutes keep one core busy, so they are not waited for here. What the web's checks
# said is told also where these fail: who mends one wants to know of both.
python_ended=0
$bin/python -m pytest -q -n 3 --no-loadscope-reorder --ignore tests/agent || python_ended=$?

say "web: what its checks said"
web_ended=0
wait "$web_pid" || web_ended=$?
web_pid=
tail -n "$([ "$web_ended" = 0 ] && echo 12 || echo 200)" "$web_log"
[ "$web_ended" = 0 ] && [ "$python_ended" = 0 ]
