#!/bin/sh
# Everything that must hold before a change lands. The first failing step stops the rest, but the web's checks are always told.
#
# Made for two cores: the web's build and checks run beside Python's. The tests that wait for a browser or a model are in two of
# three workers (tests/conftest.py), for in one they would be what is left when all others are done.
set -e
# Three workers and every gateway that they start read the same sources: what one of them compiled serves the others.
unset PYTHONDONTWRITEBYTECODE
bin=.venv/bin
web_log=$(mktemp)
web_pid=
build_pid=
fetch_pid=
trap 'rm -f "$web_log"; for pid in $web_pid $build_pid $fetch_pid; do kill "$pid" 2>/dev/null || true; done' EXIT
trap 'exit 130' INT TERM
say() { printf '\n── %s\n' "$1"; }

say "web: the apps, which the browser's tests need (beside what follows)"
(cd web && npm run --silent build && touch dist/ready) &
build_pid=$!
# None of these reads the built apps.
say "web: format, lint, types, unused code, generated protocol, unit tests (beside what follows)"
(cd web && npm run --silent check && npm run --silent test) >"$web_log" 2>&1 &
web_pid=$!

say "the default model and the tool servers of others, fetched once (beside what follows)"
($bin/countersign models fetch && MAKEFLAGS= make --no-print-directory tests/mcp_servers/node_modules/ready) &
fetch_pid=$!

say "format, lint, types, floors"
deploy/check.sh
# The browser's tests would be of old apps after a build that failed; its own words are above.
wait "$build_pid"
build_pid=
say "policy: table of decisions"
$bin/countersign policy test
say "the loop: every statement and branch by its own tests"
$bin/python -m coverage run -m pytest -q tests/agent
$bin/python -m coverage report
wait "$fetch_pid"
fetch_pid=

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
