"""The gateway of this process, as the loop calls it: the methods and message shapes of the protocol, without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from gateway.agent.messages import Result
from gateway.agent.ports import StopSignal
from gateway.protocol.codec import admit
from gateway.runtime.connections import Connection
from gateway.server.methods.table import Method

_Answer = TypeVar("_Answer")


class LocalGatewayLink:
    """The GatewayLink port over a method table."""

    def __init__(self, methods: Mapping[str, Method[Connection]], connection: Connection) -> None:
        self._methods = methods
        self._connection = connection

    async def call(self, method: str, params: Mapping[str, Any], stop: StopSignal | None = None) -> Mapping[str, Any]:
        """The result's members. Raises what the method raises, or the halt."""
        row = self._methods[method]
        admitted = admit(row.params, dict(params))

        async def answer() -> Mapping[str, Any]:
            return (await row.answer(self._connection, admitted)).to_members()

        return await answer() if stop is None else await until_stopped(stop, answer())


async def until_stopped(stop: StopSignal, work: Coroutine[Any, Any, _Answer]) -> _Answer:
    """What `work` gives. Raises the halt as soon as `stop` is set; then the work is no longer waited for."""
    if stop.halt is not None:
        work.close()
        raise stop.halt
    task = asyncio.ensure_future(work)
    forget = stop.listen(task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        stop.check()
        raise
    finally:
        forget()
        task.cancel()


async def side_by_side(calls: Sequence[Coroutine[Any, Any, Result]]) -> AsyncGenerator[Result, None]:
    """Begin all of these calls and give their results in their order; whatever is still under way at the end is cancelled."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
