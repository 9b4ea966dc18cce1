"""An MCP server whose tools are what a file beside it says, read anew for every question: what a test changes, it offers.

Started as `python changing_mcp_server.py FILE`. Each line of the file is a tool, `name|hint|description`; a call answers with
what it was called with, and writes a line to `FILE.calls` first.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

offers = Path(sys.argv[1])


def tools() -> list[dict[str, Any]]:
    """The tools of the file."""
    listed: list[dict[str, Any]] = []
    for line in offers.read_text().splitlines():
        name, hint, description = line.split("|")
        schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        annotations = {hint: True} if hint else {}
        listed.append({"name": name, "description": description, "inputSchema": schema, "annotations": annotations})
    return listed


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of a request. Raises KeyError for a method that is not there."""
    match method:
        case "initialize":
            capabilities = {"tools": {"listChanged": True}}
            server = {"name": "changing", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": server}
        case "ping":
            return {}
        case "tools/list":
            return {"tools": tools()}
        case "tools/call":
            with offers.with_name(f"{offers.name}.calls").open("a") as calls:
                calls.write(f"{params['name']} {json.dumps(params['arguments'])}\n")
            return {"content": [{"type": "text", "text": f"{params['name']} said {params['arguments']['text']}"}]}
        case _:
            raise KeyError(method)


for received in sys.stdin:
    message = json.loads(received)
    if "id" not in message or "method" not in message:
        continue
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        reply["result"] = answer(message["method"], message.get("params") or {})
    except KeyError:
        reply["error"] = {"code": -32601, "message": "no such method"}
    sys.stdout.write(f"{json.dumps(reply)}\n")
    sys.stdout.flush()
