"""Threads for functions that block."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from gateway.runtime.ports import ASKED_BY

_Value = TypeVar("_Value")

_Job = Callable[[], Callable[[], None]]


class _Jobs(queue.SimpleQueue[tuple[str | None, _Job] | None]):
    """Jobs that begin, and for whom; None ends the thread that takes it."""


class WorkerThreads:
    """At most `limit` threads, started when needed, one job each at a time; further jobs wait in line.

    Whoever has many jobs takes no more threads than they leave to others, so that those need not wait until one of them ends.

    They are daemons, unlike `concurrent.futures`' threads, which the interpreter joins on exit: a tool that never comes
    back must not keep the gateway from stopping. They are also not the event loop's default executor, so that a stuck tool
    holds up no other part of the gateway.
    """

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = limit
        self._jobs = _Jobs()
        self._lock = threading.Lock()
        self._line: deque[tuple[str | None, _Job]] = deque()
        self._count = 0
        self._begun = 0
        self._begun_for: Counter[str] = Counter()

    def submit(self, work: Callable[[], _Value], owner: str | None = None) -> asyncio.Future[_Value]:
        """Run `work` in a thread, in the caller's context variables; the future belongs to the running loop. `owner`: whose job
        it is, since one person's are to leave room for others'; that of the person whose call this is, where nothing is said."""
        owner = owner or ASKED_BY.get()
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
            # Under the lock, so that no job gets into a line that is closed meanwhile.
            self._line.append((owner, job))
            self._hand_out()
        return future

    def close(self) -> None:
        """Let every thread end: those that are idle now, the others when their job and what waits in line is done. A later
        job starts another thread."""
        with self._lock:
            for waiting in self._line:
                self._jobs.put(waiting)
            for _ in range(self._count):
                self._jobs.put(None)
            # A thread that never comes back must not take what is meant for those that start later.
            self._jobs, self._count, self._begun = _Jobs(), 0, 0
            self._line.clear()
            self._begun_for.clear()

    def _hand_out(self) -> None:
        """Begin what may begin of the line, in its order. Under the lock."""
        waiting: deque[tuple[str | None, _Job]] = deque()
        while self._line and self._begun < self._limit:
            owner, job = self._line.popleft()
            if owner is not None and self._begun_for[owner] >= self._limit - self._begun:
                waiting.append((owner, job))
                continue
            if self._begun == self._count and not self._start_thread():
                waiting.append((owner, job))
                break
            self._begun += 1
            if owner is not None:
                self._begun_for[owner] += 1
            self._jobs.put((owner, job))
        self._line.extendleft(reversed(waiting))

    def _start_thread(self) -> bool:
        """Whether there is one more. Raises RuntimeError where there is none at all, for which a job could wait."""
        thread = threading.Thread(target=self._work, args=(self._jobs,), name=f"{self._name}-{self._count}", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The machine, or the container, lets this process have no more.
            if not self._count:
                raise
            return False
        self._count += 1
        return True

    def _work(self, jobs: _Jobs) -> None:
        while (begun := jobs.get()) is not None:
            owner, job = begun
            answer = job()
            # Free before it answers, so that the next job at once finds this thread.
            with self._lock:
                if jobs is self._jobs:
                    self._end_of(owner)
            answer()
            del answer, begun, job

    def _end_of(self, owner: str | None) -> None:
        self._begun -= 1
        if owner is not None:
            self._begun_for[owner] -= 1
            if not self._begun_for[owner]:
                del self._begun_for[owner]
        self._hand_out()


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
