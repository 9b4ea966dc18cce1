"""The gateway of this process, as the loop speaks to it: the methods and the shapes of the wire, without the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from gateway.agent.ports import Stop
from gateway.protocol.codec import admit
from gateway.runtime.connections import Connection
from gateway.server.methods.table import Method

_Answer = TypeVar("_Answer")


class MethodLink:
    """The GatewayLink port over a method table."""

    def __init__(self, methods: Mapping[str, Method[Connection]], connection: Connection) -> None:
        self._methods = methods
        self._connection = connection

    async def call(self, method: str, params: Mapping[str, Any], stop: Stop | None = None) -> Mapping[str, Any]:
        """The result's members. Raises what the method raises, or the halt."""
        row = self._methods[method]
        admitted = admit(row.params, dict(params))

        async def answer() -> Mapping[str, Any]:
            return (await row.answer(self._connection, admitted)).to_members()

        return await answer() if stop is None else await until_stopped(stop, answer())


async def until_stopped(stop: Stop, work: Coroutine[Any, Any, _Answer]) -> _Answer:
    """What `work` gives. Raises the halt as soon as `stop` is set; then nobody waits for the work any more."""
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
