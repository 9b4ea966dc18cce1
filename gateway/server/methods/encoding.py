"""Ids and positions as short strings: base64url for credential ids, cursors for listings."""

from __future__ import annotations

import binascii
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

from gateway.core.errors import InvalidParams, NotFound

_TIME_AND_ID = re.compile(r"([0-9]{1,16})\.(.{1,64})", re.DOTALL)
_MESSAGE = re.compile(r"([0-9]{1,16})\.([0-9]{1,16})\.(.{1,64})", re.DOTALL)
_INDEX = re.compile(r"[0-9]{1,16}")


def encode_base64url(raw: bytes) -> str:
    """Without padding, as WebAuthn writes credential ids."""
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode_credential_id(text: str) -> bytes:
    """Raises NotFound for a string that is no valid id."""
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        raise NotFound("unknown passkey") from None


def write_cursor(place: tuple[int, str] | None) -> str | None:
    """The cursor of a listing by time and id."""
    return None if place is None else f"{place[0]}.{place[1]}"


def read_cursor(cursor: str | None) -> tuple[int, str] | None:
    """The position of a cursor. Raises InvalidParams for one that was not made here."""
    if cursor is None:
        return None
    match = _TIME_AND_ID.fullmatch(cursor)
    if match is None:
        raise InvalidParams("`cursor` is not one of this listing")
    return int(match[1]), match[2]


def write_message_cursor(place: tuple[int, str, int] | None) -> str | None:
    """The cursor of a listing of messages: when, in which conversation, and its index there."""
    return None if place is None else f"{place[0]}.{place[2]}.{place[1]}"


def read_message_cursor(cursor: str | None) -> tuple[int, str, int] | None:
    """The place of a cursor. Raises InvalidParams for one that was not made here."""
    if cursor is None:
        return None
    match = _MESSAGE.fullmatch(cursor)
    if match is None:
        raise InvalidParams("`cursor` is not one of this listing")
    return int(match[1]), match[3], int(match[2])


def read_index(cursor: str | None) -> int | None:
    """The index of a cursor into the log. Raises InvalidParams for one that was not made here."""
    if cursor is None:
        return None
    if _INDEX.fullmatch(cursor) is None:
        raise InvalidParams("`cursor` is not one of this listing")
    return int(cursor)
