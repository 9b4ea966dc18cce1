"""The worker's process: `python -m gateway.adapters.tools.mcp.worker DESCRIPTOR`."""

import sys

from gateway.adapters.tools.mcp.worker.run import main

main(int(sys.argv[1]))
