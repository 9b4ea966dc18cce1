"""Threads for functions that block."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

_Value = TypeVar("_Value")

_Job = Callable[[], Callable[[], None]]


class _Jobs(queue.SimpleQueue[_Job | None]):
    """Jobs in line; None ends the thread that takes it."""


class WorkerThreads:
    """At most `limit` threads, started when needed, one job each at a time; further jobs wait in line.

    They are daemons, unlike `concurrent.futures`' threads, which the interpreter joins on exit: a tool that never comes
    back must not keep the gateway from stopping. They are also not the event loop's default executor, so that a stuck tool
    holds up no other part of the gateway.
    """

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = limit
        self._jobs = _Jobs()
        self._lock = threading.Lock()
        self._count = 0
        self._free = 0
        """Idle threads less jobs in line; below zero while jobs wait."""

    def submit(self, work: Callable[[], _Value]) -> asyncio.Future[_Value]:
        """Run `work` in a thread, in the caller's context variables; the future belongs to the running loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Value] = loop.create_future()
        context = contextvars.copy_context()

        def job() -> Callable[[], None]:
            try:
                value = context.run(work)
            except StopIteration as error:
                # A future cannot carry it: `await` would take it for its own end.
                return partial(_post, loop, _fail, future, RuntimeError(f"stray {error!r}"))
            except BaseException as error:  # noqa: BLE001 # the waiting caller decides; the thread itself must continue
                return partial(_post, loop, _fail, future, error)
            return partial(_post, loop, _fulfil, future, value)

        with self._lock:
            if self._free <= 0 and self._count < self._limit:
                thread = threading.Thread(target=self._work, args=(self._jobs,), name=f"{self._name}-{self._count}", daemon=True)
                thread.start()
                self._count += 1
            else:
                self._free -= 1
            # Under the lock, so that no job gets into a line that is closed meanwhile.
            self._jobs.put(job)
        return future

    def close(self) -> None:
        """Let every thread end: those that are idle now, the others when their job and what waits in line is done. A later
        job starts another thread."""
        with self._lock:
            for _ in range(self._count):
                self._jobs.put(None)
            # A thread that never comes back must not take what is meant for those that start later.
            self._jobs, self._count, self._free = _Jobs(), 0, 0

    def _work(self, jobs: _Jobs) -> None:
        while (job := jobs.get()) is not None:
            answer = job()
            # Free before it answers, so that the next job at once finds this thread.
            with self._lock:
                if jobs is self._jobs:
                    self._free += 1
            answer()
            del answer


def _post(loop: asyncio.AbstractEventLoop, settle: Callable[..., None], *values: object) -> None:
    # The loop may have closed while the job ran; then nobody waits for it.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(settle, *values)


def _fulfil(future: asyncio.Future[_Value], value: _Value) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: asyncio.Future[object], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
        # Looked at once here, so that an abandoned job does not complain when it is collected.
        future.exception()
