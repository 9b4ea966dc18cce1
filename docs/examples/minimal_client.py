"""A client of the gateway in one file, written from docs/PROTOCOL.md: one conversation, one turn, one call.

    pip install websockets
    python minimal_client.py --cookie=VALUE list_directory '{"path": "."}'

The cookie is the value of `countersign_agent` of a browser that has the shell open (docs/PROTOCOL.md section 1). Where the
tool needs a person, the client says so and waits until somebody answers on the console. It prints one JSON object per line
and exits with 0 when the call closed `ok`, with 1 for any other outcome and with 2 when there was no call.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin, Subprotocol


class Refused(Exception):
    """The gateway answered a request with a JSON-RPC error."""


def digest(value: Any) -> str:
    """SHA-256 of RFC 8785 canonical JSON (section 3). Sorted, compact and unescaped is enough for ASCII names and integers."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def tell(event: str, **members: Any) -> None:
    """Print what happened."""
    print(json.dumps({"event": event, **members}), flush=True)


class Gateway:
    """Requests and their answers over one socket; notifications are told as they come."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._console = ""

    async def call(self, method: str, **params: Any) -> Any:
        """The result of a method. Raises Refused, or ConnectionClosed when the gateway hung up."""
        number = len(self._waiting) + 1
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        return await answer

    async def listen(self) -> None:
        """Read until the connection ends. Then nothing more is answered."""
        try:
            async for frame in self._socket:
                self._read(json.loads(frame))
        except ConnectionClosed:
            pass  # With an error; whoever waits is told below, as after any other end.
        lost = ConnectionError(f"closed with {self._socket.close_code} {self._socket.close_reason}")
        for answer in (each for each in self._waiting.values() if not each.done()):
            answer.set_exception(lost)

    def _read(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            answer = self._waiting[message["id"]]
            if "error" in message:
                answer.set_exception(Refused(f"{message['error']['code']}: {message['error']['message']}"))
            else:
                answer.set_result(message["result"])
            return
        params = message["params"]
        match message["method"]:
            case "approvals/requested":
                approval = params["approval"]
                tell("waiting", summary=approval["summary"], answer=f"{self._console}/approvals/{approval['id']}")
            case "approvals/resolved":
                tell("answered", status=params["status"])
            case "tools/progress" | "snapshot/revoked" | "session/ended" as method:
                tell(method, **params)
            case _:
                pass  # A further notification is no reason to stop.

    async def run(self, tool: str, arguments: dict[str, Any]) -> str:
        """One call from an empty conversation to the end of its turn. Gives the outcome."""
        described = await self.call("session/describe")
        self._console = described["consoleOrigin"]
        tell("session", principal=described["session"]["principalName"], profile=described["session"]["profile"])
        conversation = (await self.call("conversations/open"))["conversation"]["id"]
        snapshot = (await self.call("turns/begin", conversationId=conversation))["snapshot"]
        covered = {name: value for name, value in snapshot.items() if name != "digest"}
        if digest(covered) != snapshot["digest"]:
            raise Refused("the snapshot is not what its digest says")
        tell("turn", tools={each["name"]: each["permission"] for each in snapshot["tools"]})
        turn = {"conversationId": conversation, "turnId": snapshot["turnId"]}
        result = await self.call(
            "tools/invoke",
            **turn,
            snapshotId=snapshot["id"],
            snapshotDigest=snapshot["digest"],
            call={"id": "call-1", "name": tool, "arguments": arguments},
        )
        tell("result", **result)
        listed = (await self.call("tools/list-calls", conversationId=conversation))["calls"]
        tell("calls", calls={each["call"]["id"]: each["state"] for each in listed})
        await self.call("turns/end", **turn)
        return str(result["outcome"])


async def main(origin: str, cookie: str, tool: str, arguments: dict[str, Any]) -> int:
    """Connect, make the call and say how it went."""
    parts = urlsplit(origin)
    secure = origin.startswith("https:")
    name = "__Host-countersign_agent" if secure else "countersign_agent"
    # Only browsers resolve *.localhost everywhere; the Host header is the origin's either way.
    host = "127.0.0.1" if (parts.hostname or "").endswith(".localhost") else parts.hostname
    try:
        async with connect(
            f"{'wss' if secure else 'ws'}://{parts.netloc}/ws",
            host=host,
            port=parts.port or (443 if secure else 80),
            origin=Origin(origin),
            subprotocols=[Subprotocol("countersign.v1")],
            additional_headers={"Cookie": f"{name}={cookie}"},
            compression=None,
            max_size=None,
            proxy=None,
        ) as socket:
            gateway = Gateway(socket)
            listening = asyncio.create_task(gateway.listen())
            outcome = await gateway.run(tool, arguments)
        await listening
        return 0 if outcome == "ok" else 1
    except (Refused, InvalidStatus, OSError, ConnectionClosed) as error:
        tell("failed", why=str(error))
        return 2


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make one call through a Countersign gateway.")
    parser.add_argument("--origin", default="http://agent.localhost:8765", help="the agent origin")
    parser.add_argument("--cookie", required=True, help="value of the agent session's cookie")
    parser.add_argument("tool")
    parser.add_argument("arguments", nargs="?", default="{}", help="a JSON object")
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.origin, given.cookie, given.tool, json.loads(given.arguments))))
