"""A socket for tests that validates every result and notification against its wire type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.protocol.frames import AGENT, CONSOLE
from tests.harness.socket import RpcError, Socket
from tests.server.sockets import Stage


class CheckedSocket(Socket):
    """A socket whose results and notifications must match their wire types exactly."""

    def __init__(self, opened: Socket, site: str) -> None:
        self._opened = opened
        self._dialect = AGENT if site == "agent" else CONSOLE

    async def call(self, method: str, params: Mapping[str, Any] | None = None, *, patience: float = 20.0) -> Any:
        """The result, validated."""
        result = await self._opened.call(method, params, patience=patience)
        assert self._dialect.methods[method].result.admit(result).to_members() == result
        return result

    async def send(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Send a request without validating its result."""
        return await self._opened.send(method, params)

    async def notification(self, method: str, *, patience: float = 20.0, **matching: Any) -> Mapping[str, Any]:
        """The params, validated."""
        params = await self._opened.notification(method, patience=patience, **matching)
        assert self._dialect.notifications[method].admit(params).to_members() == params
        return params


async def open_checked(stage: Stage, site: str, session: str | None = None) -> CheckedSocket:
    """Connect to a site, with that session's cookie."""
    return CheckedSocket(await stage.connect(site, session), site)


async def refusal(opened: Socket, method: str, params: Mapping[str, Any] | None = None) -> tuple[int, str]:
    """The error number and code of a request that must fail."""
    with pytest.raises(RpcError) as caught:
        await opened.call(method, params)
    return caught.value.code, caught.value.error["data"]["code"]
