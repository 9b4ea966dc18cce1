"""The worker: drives one MCP server with the official SDK, in a process of its own with little memory and low priority.

    forking      the process that has loaded everything and forks a worker for each server
    run          the process from its start to its end
    lines        the lines from and to the gateway
    session      what the gateway asks of the server: its tools, a call, an end
    stdio, http  transports with limits; watching: what both count and refuse
    listing      the server's tools as offers; dialects: their schemas as the one that is published
    results      a result as text and JSON
    errors_log   what a server writes to stderr
    inert        text that cannot move a cursor, hide or turn around

It is started by `gateway/adapters/tools/mcp/launching.py` and ends with its connection to the gateway.
"""
