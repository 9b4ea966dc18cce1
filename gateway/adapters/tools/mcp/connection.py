"""The worker of one server as the gateway sees it: orders out, lines in, and which answer is whose.

The worker reads what a hostile server wrote, so it is not believed either: lines have a largest size and a largest rate, and
a worker that breaks them, or writes what it should not, is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Final, Protocol

import orjson

from gateway.adapters.tools.mcp.launching import WorkerProcess
from gateway.adapters.tools.mcp.wire import BYTES_AT_ONCE, BYTES_PER_SECOND, LINES_AT_ONCE, LINES_PER_SECOND, MAX_LINE, MAX_WHY
from gateway.core.canonical import Json

UNREADABLE: Final = "its worker wrote something that cannot be read"


class ConnectionLost(Exception):
    """The worker is gone, and with it whatever was asked. `why` is one sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class LineListener(Protocol):
    """Who hears what belongs to no request. All from the event loop's thread."""

    def changed(self) -> None:
        """The server's tools changed."""
        ...

    def noted(self, why: str) -> None:
        """Something the operator should know."""
        ...

    def lost(self, why: str) -> None:
        """The worker is gone; called once."""
        ...


class WorkerConnection:
    """An open connection to a worker. Made by the event loop that uses it."""

    def __init__(
        self, worker: WorkerProcess, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, listener: LineListener
    ) -> None:
        self._worker = worker
        self._reader = reader
        self._writer = writer
        self._listener = listener
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Queue[dict[str, Any] | None]] = {}
        self._why: str | None = None
        self.has_ended = False
        """Whether the server ended by itself, as the worker says."""
        self.challenge: str | None = None
        """What the server said of the sign-in that it wants, where the connection ended for that."""
        self.detail = ""
        """What only the operator is told of why it ended."""
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def over(cls, worker: WorkerProcess, listener: LineListener) -> WorkerConnection:
        """The connection over a started worker's socket."""
        worker.socket.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=worker.socket.dup(), limit=MAX_LINE)
        return cls(worker, reader, writer, listener)

    @property
    def lost_because(self) -> str | None:
        """Why there is no connection any more; None while there is one."""
        return self._why

    @contextlib.asynccontextmanager
    async def ask(self, order: Mapping[str, Json]) -> AsyncGenerator[AnswerLines]:
        """Give an order; the lines that answer it. Leaving before the last of them tells the worker to stop.

        Raises ConnectionLost, also while lines are awaited.
        """
        if self._why is not None:
            raise ConnectionLost(self._why)
        number = next(self._numbers)
        lines: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._waiting[number] = lines
        answers = AnswerLines(
            lines, lambda: self._why or "", lambda answer: self._write({**answer, "do": "answer", "id": number})
        )
        self._write({**order, "id": number})
        try:
            yield answers
        finally:
            del self._waiting[number]
            if not answers.are_over and self._why is None:
                self._write({"do": "cancel", "id": number})

    def tell(self, order: Mapping[str, Json]) -> None:
        """Give an order that nothing answers."""
        if self._why is None:
            self._write(order)

    async def close(self) -> None:
        """Let go of the worker, and end it where it does not end by itself."""
        self._lose("the gateway closed the connection")
        self._reading.cancel()
        await asyncio.wait((self._reading,))
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        await asyncio.to_thread(self._worker.end)

    def kill(self, why: str) -> None:
        """End a worker that does not do what it should."""
        self._lose(why)
        self._worker.process.kill()

    def _write(self, order: Mapping[str, Json]) -> None:
        # Never waits: what is written is bounded by the calls under way, and a worker that reads nothing misses their deadline.
        self._writer.write(orjson.dumps(order) + b"\n")

    async def _read(self) -> None:
        lines, size, then = float(LINES_AT_ONCE), float(BYTES_AT_ONCE), time.monotonic()
        try:
            while line := await self._reader.readline():
                now = time.monotonic()
                lines = min(float(LINES_AT_ONCE), lines + (now - then) * LINES_PER_SECOND) - 1
                size = min(float(BYTES_AT_ONCE), size + (now - then) * BYTES_PER_SECOND) - len(line)
                then = now
                if lines < 0 or size < 0 or not self.take(orjson.loads(line)):
                    break
                # A buffer full of lines must leave everybody else of the loop their turn.
                await asyncio.sleep(0)
            else:
                self._lose("its worker ended")
                return
        except OSError:
            self._lose("its worker ended")
            return
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        if self._why is None:
            self.kill(UNREADABLE)

    def take(self, line: dict[str, Any]) -> bool:
        """Hear one line of the worker's; whether to go on after it."""
        match line["tell"]:
            case "changed":
                self._listener.changed()
            case "note":
                self._listener.noted(str(line["why"])[:MAX_WHY])
            case "gone":
                self.has_ended = line["ended"] is True
                self.challenge = None if "challenge" not in line else str(line["challenge"])
                self.detail = str(line.get("detail", ""))
                self._lose(str(line["why"])[:MAX_WHY])
                return False
            case _:
                # Who waited for it may have left.
                if (lines := self._waiting.get(int(line["id"]))) is not None:
                    lines.put_nowait(line)
        return True

    def _lose(self, why: str) -> None:
        if self._why is None:
            self._why = why
            for lines in self._waiting.values():
                lines.put_nowait(None)
            self._listener.lost(why)


class AnswerLines:
    """The lines that answer one order."""

    def __init__(
        self,
        lines: asyncio.Queue[dict[str, Any] | None],
        find_why: Callable[[], str],
        write_answer: Callable[[Mapping[str, Json]], None],
    ) -> None:
        self._lines = lines
        self._find_why = find_why
        self._write_answer = write_answer
        self.are_over = False

    async def next(self) -> dict[str, Any]:
        """The next line. Raises ConnectionLost."""
        line = await self._lines.get()
        if line is None:
            self.are_over = True
            raise ConnectionLost(self._find_why())
        self.are_over = line["tell"] in ("listed", "done", "failed")
        return line

    def reply(self, answer: Mapping[str, Json]) -> None:
        """Answer a question that one of the lines asked; nothing where nobody waits for it any more."""
        if not self.are_over and not self._find_why():
            self._write_answer(answer)
