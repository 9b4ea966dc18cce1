"""What the gateway says unasked, on the terminal's own connection."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import orjson

from gateway.agent.runner import Runner
from gateway.cli.terminal.consent import Questions
from gateway.cli.terminal.screen import Screen
from gateway.runtime.connections import Connection

_ENDED: Final = "The session has ended; start the agent again."


class Notices:
    """Reads the connection's outbox, as a socket's writer does."""

    def __init__(self, connection: Connection, questions: Questions, runner: Runner, screen: Screen) -> None:
        self._outbox = connection.outbox
        self._questions = questions
        self._runner = runner
        self._screen = screen
        self._reading: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._reading = asyncio.ensure_future(self._read())

    async def close(self) -> None:
        """Stop listening."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    async def _read(self) -> None:
        while self._outbox.closing is None:
            await self._outbox.wait()
            while (message := self._outbox.take()) is not None:
                self._take(orjson.loads(message))

    def _take(self, message: Any) -> None:
        params = message["params"]
        match message["method"]:
            case "approvals/requested":
                self._questions.requested(params["approval"]["id"])
            case "approvals/resolved":
                self._questions.resolved(params["approvalId"], params["status"])
            case "tools/progress":
                self._screen.progress(params["message"])
            case "snapshot/revoked":
                self._runner.revoked(params["snapshotId"])
            case "session/ended":
                self._screen.say(_ENDED)
                self._runner.over()
            case _:
                pass
