"""The lines from and to the gateway; see `gateway/adapters/tools/mcp/wire.py`."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import orjson

from gateway.adapters.tools.mcp.wire import MAX_LINE, MAX_ORDER, RequestFailure
from gateway.adapters.tools.mcp.worker.inert import inert_line

MASK: Final = "[secret]"

SHORTEST: Final = 4
"""Characters of a secret that is looked for: a shorter one would be found in every other word."""


class Masker:
    """Takes the secrets that the server was given out of what it says. What it says in other words cannot be found."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = tuple(secrets)
        # The longest first, since one may be part of another.
        words = sorted({each for each in secrets if len(each) >= SHORTEST}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, words))) if words else None

    def with_secret(self, secret: str) -> Masker:
        """One that takes out this secret too."""
        return Masker((*self._secrets, secret))

    def mask(self, value: Any) -> Any:
        """The same text or JSON value without the secrets."""
        if self._pattern is None:
            return value
        match value:
            case str():
                return self._pattern.sub(MASK, value)
            case list():
                return [self.mask(each) for each in cast("list[Any]", value)]
            case dict():
                return {self.mask(name): self.mask(each) for name, each in cast("dict[str, Any]", value).items()}
            case _:
                return value


class GatewayLines:
    """The gateway at the other end of the socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.masker = Masker(())

    @classmethod
    async def at(cls, descriptor: int) -> GatewayLines:
        """The gateway at an open socket."""
        return cls(*await asyncio.open_connection(sock=socket.socket(fileno=descriptor), limit=MAX_ORDER))

    async def read(self) -> dict[str, Any] | None:
        """The next order; None when the gateway let go."""
        line = await self._reader.readline()
        return orjson.loads(line) if line else None

    def tell(self, **members: Any) -> bool:
        """Write a line without waiting; False for one that is too long to be taken."""
        masked = {name: value if name in ("tell", "id", "how") else self.masker.mask(value) for name, value in members.items()}
        line = orjson.dumps(masked) + b"\n"
        if len(line) > MAX_LINE:
            return False
        self._writer.write(line)
        return True

    def fail(self, number: int, why: str, how: RequestFailure, more: Mapping[str, str]) -> None:
        """Say why a request failed; `more` are further members."""
        self.tell(tell="failed", id=number, why=inert_line(why, 500), how=how, **more)

    def mask(self, secret: str) -> None:
        """Keep one more secret out of what is told from now on."""
        self.masker = self.masker.with_secret(secret)

    async def drained(self) -> None:
        """Wait until the gateway took what was written, so that nothing piles up here."""
        await self._writer.drain()
