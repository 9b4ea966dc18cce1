"""Payloads of leaves, read back only where they are what their leaf was sealed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import ColumnElement, FromClause

from gateway.core.audit import is_sealed
from gateway.core.canonical import Json


def sealed_columns(leaves: FromClause) -> Sequence[ColumnElement[Any]]:
    """What `read_payload` needs of a leaf."""
    return leaves.c.body, leaves.c.salt, leaves.c.payload


def read_payload(body: str, salt: bytes | None, payload: bytes | None) -> Mapping[str, Json] | None:
    """A payload that is the one its leaf was sealed over; None for one that was erased, or is not there yet."""
    if payload is None:
        return None
    if not is_sealed(body.encode(), salt, payload):
        raise ValueError("not the payload that was recorded")
    return orjson.loads(payload)
