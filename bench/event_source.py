"""A model that costs nothing: it streams as many tokens as it is asked for, as fast as they are taken.

python -m bench.event_source PORT
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import orjson
import uvloop

MODEL = "bench"
_LISTED = orjson.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
_EVENT = {
    "id": "chatcmpl-bench",
    "object": "chat.completion.chunk",
    "created": 0,
    "model": MODEL,
    "choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}],
}
_TOKEN = b"data: %b\n\n" % orjson.dumps(_EVENT)
_END = b"data: [DONE]\n\n"


class _Conversation(asyncio.Protocol):
    """HTTP/1.1, as much as it takes."""

    def __init__(self) -> None:
        self._transport: Any = None
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio.Protocol."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """asyncio.Protocol."""
        self._buffer += data
        head, end, body = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        size = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
        if len(body) < size:
            return
        self._buffer = b""
        if head.startswith(b"GET"):
            self._write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(_LISTED), _LISTED)
            )
            return
        self._write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(orjson.loads(body)["max_tokens"]):
            self._write(b"%x\r\n%b\r\n" % (len(_TOKEN), _TOKEN))
        self._write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(_END), _END))

    def _write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(_Conversation, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
