"""Somebody's OpenAI-compatible server, in the test's own process, that says what it is told to."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

from gateway.adapters.inference.scripted import Reply, ScriptedBackend, in_order
from tests.adapters.inference.conftest import gguf
from tests.harness.process import free_port

_SIDECAR = Path(__file__).with_name("scripted_llama_server.py")


class ScriptedServer:
    """Chat completions from a script. `open_streams` counts the answers that are still being given."""

    def __init__(self) -> None:
        self._backend = ScriptedBackend(in_order())
        self._port = free_port()
        self._fault: str | None = None

    @property
    def url(self) -> str:
        """For COUNTERSIGN_MODEL_URL."""
        return f"http://127.0.0.1:{self._port}/v1"

    def as_small_model(self, folder: Path) -> dict[str, str]:
        """The settings of a gateway that takes the script for a small model of its own; its parts are put into `folder`.

        Behind a URL a model is taken at its word. One on this machine is led: examples, a schema, one action at a time.
        """
        weights, server = folder / "small.gguf", folder / "llama-server"
        weights.write_bytes(gguf(name="Small model", license="mit"))
        program = f"import runpy, sys\nsys.argv.insert(1, {self.url!r})\nrunpy.run_path({str(_SIDECAR)!r}, run_name='__main__')\n"
        server.write_text(f"#!{sys.executable} -I\n{program}", encoding="utf-8")
        server.chmod(0o755)
        # It is a program of this interpreter, which may lie where a sandbox shows nothing.
        return {
            "COUNTERSIGN_MODEL": str(weights),
            "COUNTERSIGN_LLAMA_SERVER": str(server),
            "COUNTERSIGN_MODEL_SANDBOX": "off",
            # It plays what each test wrote for it, and nothing else.
            "COUNTERSIGN_MODEL_TIER": "single",
        }

    @property
    def asked(self) -> Sequence[Mapping[str, Any]]:
        """What it was asked, oldest first."""
        return self._backend.asked

    @property
    def open_streams(self) -> int:
        """Answers under way: a client that hangs up ends one."""
        return self._backend.open_streams

    def will_answer(self, *replies: Reply) -> None:
        """The next replies, in order; what was left of the ones before is forgotten."""
        self._backend.script = in_order(*replies)
        self._fault = None

    def will_fail(self, message: str) -> None:
        """Until it is told what to answer, every request meets a fault of the server's, which it says in these words."""
        self._fault = message

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncGenerator[ScriptedServer]:
        """While this runs, it answers."""
        app = web.Application()
        app.add_routes([web.get("/v1/models", self._list), web.post("/v1/chat/completions", self._complete)])
        # Else aiohttp would notice a client that went away only at the next write, and a stalled script writes none.
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self._port).start()
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _list(self, _request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        if self._fault is not None:
            return web.json_response({"error": {"message": self._fault}}, status=500)
        async with self._backend.ask("/v1/chat/completions", await request.read()) as answer:
            response = web.StreamResponse(headers={"Content-Type": answer.content_type})
            await response.prepare(request)
            async for chunk in answer.chunks():
                await response.write(chunk)
            await response.write_eof()
            return response
