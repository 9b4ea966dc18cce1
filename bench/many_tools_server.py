"""A small MCP server with as many tools as are asked for: `python -S many_tools_server.py COUNT`. Each gives its text back."""

from __future__ import annotations

import json
import sys
from typing import Any

TEXT = {"type": "string", "description": "Some text that the tool works with, in whatever language it is written."}
SCHEMA = {
    "type": "object",
    "properties": {"text": TEXT, "from": TEXT, "to": TEXT},
    "required": ["text"],
    "additionalProperties": False,
}
TOOLS: list[dict[str, Any]] = [
    {"name": f"t{number}", "description": f"Tool number {number}: it gives its text back as it was.", "inputSchema": SCHEMA}
    for number in range(int(sys.argv[1]))
]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; None for a method that is not there."""
    match method:
        case "initialize":
            server = {"name": "many", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
        case "ping":
            return {}
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return {"content": [{"type": "text", "text": params["arguments"]["text"]}]}
        case _:
            return None


for received in sys.stdin:
    message = json.loads(received)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params") or {})
        error = {"error": {"code": -32601, "message": "no such method"}}
        reply = {"jsonrpc": "2.0", "id": message["id"], **(error if result is None else {"result": result})}
        sys.stdout.write(f"{json.dumps(reply)}\n")
        sys.stdout.flush()
