#!/bin/sh
# Says what is missing before anything is half installed. POSIX sh: this runs on a machine we know nothing about.
python=${1:-python3}
missing=0
need() { printf 'countersign needs %s: %s\n' "$1" "$2" >&2; missing=1; }

if ! command -v "$python" >/dev/null 2>&1; then
  need "Python 3.11 or newer" "install it, or run: make run PYTHON=/path/to/python3.11"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  need "Python 3.11 or newer" "$("$python" --version 2>&1) is too old; run: make run PYTHON=/path/to/python3.11"
elif ! "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then
  need "Python's venv module" "on Debian and Ubuntu: apt-get install python3-venv"
fi
if ! command -v node >/dev/null 2>&1; then
  need "Node.js 20 or newer" "install it from your package manager or nodejs.org"
elif [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
  need "Node.js 20 or newer" "$(node --version) is too old"
fi
command -v npm >/dev/null 2>&1 || need "npm" "it comes with Node.js; on Debian: apt-get install npm"
command -v git >/dev/null 2>&1 || need "git" "install it from your package manager"
exit $missing
