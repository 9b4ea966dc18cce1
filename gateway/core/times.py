"""Instants. Inside: epoch milliseconds as int. On the wire and in what is signed: RFC 3339, UTC, milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def rfc3339(milliseconds: int) -> str:
    """`2026-11-21T09:57:09.123Z` for epoch milliseconds."""
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1000:03d}Z"


def read_rfc3339(text: str) -> int:
    """The epoch milliseconds of what `rfc3339` wrote. Raises ValueError."""
    return round((datetime.fromisoformat(text) - _EPOCH) / timedelta(milliseconds=1))
