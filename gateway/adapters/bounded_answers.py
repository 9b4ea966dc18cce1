"""The answer of a service that is asked over the network, whole and within a bound."""

from __future__ import annotations

from collections.abc import AsyncIterable


async def read_answer(pieces: AsyncIterable[bytes], limit: int) -> bytes:
    """A body in however many pieces it comes, of which no more than `limit` bytes are taken."""
    raw = bytearray()
    async for piece in pieces:
        raw += piece
        if len(raw) > limit:
            break
    return bytes(raw[:limit])
