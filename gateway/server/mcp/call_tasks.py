"""Calls of one connection that its client asks about later instead of waiting: MCP's tasks.

The SDK has the types of tasks and leaves their methods out, so that they are served here. Nothing of a task outlives its
connection: a client that has gone has nobody to ask for, and the record of its calls is in the ledger.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from gateway.core.canonical import Json
from gateway.core.errors import InvalidRequest, NotFound, TooManyRequests
from gateway.runtime.ports import Clock, Entropy

TASKS: Final = 32
"""Of one connection, finished ones included; as many as it may have requests in flight."""

LEAST_SECONDS: Final = 900.0
"""No task ends before a person had time to answer its question, whatever its client asks for."""

MOST_SECONDS: Final = 3_600.0

POLL_MILLISECONDS: Final = 1_000
"""How often a client is asked to look."""

TaskState = Literal["working", "input_required", "completed", "failed", "cancelled"]


class Answer(Protocol):
    """How a call ended, in the protocol's shape."""

    @property
    def is_error(self) -> bool: ...


Work = Callable[["CallTask"], Awaitable[Answer]]
"""The call; it tells its task how far it is. Whatever it raises is kept for who asks for the answer."""


@dataclass(eq=False, slots=True)
class CallTask:
    """One call and how far it is."""

    id: str
    call_id: str
    tool: str
    arguments: Mapping[str, Json]
    created_at: int
    updated_at: int
    seconds: float
    clock: Clock
    state: TaskState = "working"
    message: str | None = None
    outcome: Answer | Exception | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, message: str, *, asks: bool = False) -> None:
        """Take down what the call says while it goes on. `asks`: it waits for a person."""
        if not self.ended.is_set():
            self._become("input_required" if asks else "working", message)

    def finish(self, outcome: Answer | Exception) -> None:
        """It has its answer."""
        if not self.ended.is_set():
            self.outcome = outcome
            is_error = isinstance(outcome, Exception) or outcome.is_error
            self._become("failed" if is_error else "completed", None)
            self.ended.set()

    def cancel(self, message: str) -> None:
        """It will have none."""
        if not self.ended.is_set():
            self._become("cancelled", message)
            self.ended.set()

    def _become(self, state: TaskState, message: str | None) -> None:
        self.state, self.message, self.updated_at = state, message, self.clock.now()
        self.changed.set()


class CallTasks:
    """The tasks of one connection."""

    def __init__(self, clock: Clock, entropy: Entropy) -> None:
        self._clock = clock
        self._entropy = entropy
        self._tasks: dict[str, CallTask] = {}
        self._jobs: dict[str, asyncio.Task[None]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def start(self, call_id: str, tool: str, arguments: Mapping[str, Json], work: Work, seconds: float | None = None) -> CallTask:
        """Begin a call that goes on by itself; the one that there is, where the same request is sent again.

        Raises InvalidRequest for another request with its id, TooManyRequests.
        """
        before = self.of_call(call_id)
        if before is not None:
            if (before.tool, before.arguments) != (tool, arguments):
                raise InvalidRequest("a task of another request with this id is there already")
            return before
        self._make_room()
        now = self._clock.now()
        kept = min(max(seconds or LEAST_SECONDS, LEAST_SECONDS), MOST_SECONDS)
        task = CallTask(self._entropy.identifier("tsk_"), call_id, tool, arguments, now, now, kept, self._clock)
        self._tasks[task.id] = task
        loop = asyncio.get_running_loop()
        self._jobs[task.id] = loop.create_task(self._run(task, work))
        self._timers[task.id] = loop.call_later(kept, self._expire, task)
        return task

    def of_call(self, call_id: str) -> CallTask | None:
        """The task of a call."""
        return next((task for task in self._tasks.values() if task.call_id == call_id), None)

    def find(self, task_id: str) -> CallTask:
        """Raises NotFound; also for those of other connections, which are not known here."""
        task = self._tasks.get(task_id)
        if task is None:
            raise NotFound("there is no such task on this connection; it may have been too old")
        return task

    def list(self) -> Sequence[CallTask]:
        """All of them, oldest first."""
        return tuple(self._tasks.values())

    def cancel(self, task: CallTask) -> None:
        """Withdraw its question, or stop what runs. What has ended stays as it is."""
        task.cancel("cancelled by the client")
        self._stop(task)

    def forget(self, task: CallTask) -> None:
        """Nobody was told of it."""
        self._tasks.pop(task.id, None)
        timer = self._timers.pop(task.id, None)
        if timer is not None:
            timer.cancel()

    def close(self) -> None:
        """The connection is gone: every call that goes on is cancelled."""
        for task in self.list():
            self._expire(task)

    async def _run(self, task: CallTask, work: Work) -> None:
        try:
            task.finish(await work(task))
        except Exception as error:  # noqa: BLE001 - it is raised again where the answer is asked for
            task.finish(error)
        finally:
            self._jobs.pop(task.id, None)
            task.cancel("the call was broken off")

    def _make_room(self) -> None:
        if len(self._tasks) < TASKS:
            return
        oldest = next((task for task in self._tasks.values() if task.ended.is_set()), None)
        if oldest is None:
            raise TooManyRequests(f"{TASKS} tasks are under way already")
        self.forget(oldest)

    def _expire(self, task: CallTask) -> None:
        task.cancel("its time is over")
        self._stop(task)
        self.forget(task)

    def _stop(self, task: CallTask) -> None:
        job = self._jobs.pop(task.id, None)
        if job is not None:
            job.cancel()
