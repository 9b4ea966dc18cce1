"""How the text of a record is kept: those of a call about which a person was asked are deflated, with their shapes as dictionary.

Such a call has twice the records of another, and waits for a person, so that the time it takes counts least there. It is the text
that is hashed, so it is given back to the byte; the hash beside it says whether it was. What is kept in its place is a BLOB: one
byte names the dictionary, and raw deflate follows (RFC 1951). Every other record stays TEXT, and so does what was written before
there were dictionaries: who reads takes either. A BLOB that no text can be made of is given back as it is: it is no JSON and has
another hash, so whoever reads it finds damage and can name the record.

Records that are looked for by their text in SQL are never packed: keys, losses, policies, and all that is rare.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sqlalchemy import ColumnElement, LargeBinary, Text, TypeDecorator, cast
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from gateway.core.canonical import Json
from gateway.core.ledger import ApprovalRequested, ApprovalResolved, CallClosed, CallIntended
from gateway.core.vocabulary import Decision

_PACKED: Final = frozenset(each.EVENT for each in (ApprovalRequested, ApprovalResolved, CallIntended, CallClosed))
_ASKED: Final = frozenset((Decision.CONSENTED, Decision.DENIED, Decision.STEP_UP_SUCCEEDED, Decision.STEP_UP_FAILED))

LONGEST_PACKED: Final = 32_768
"""Bytes of a text. A longer one is kept as it is, so that nothing that was put in its place makes more of itself when read."""

_WINDOW: Final = -13
"""Raw deflate that looks back over 8 KiB: the dictionary and the record. A larger window takes longer to set up."""

_MEMORY: Final = 6
_LEVEL: Final = 6


def _read_shapes(number: int) -> bytes:
    return Path(__file__).with_name(f"record_shapes_{number}.txt").read_bytes()


# No JSON in SQLite's binary form begins with a byte that ends in 15, so that none is taken for what it is not.
_DICTIONARIES: Final[Mapping[bytes, bytes]] = {b"\x1f": _read_shapes(1)}
"""By the byte that names them. What was written with one is read with it for ever: none is changed or taken away."""

_NEWEST: Final = b"\x1f"
_EMPTY: Final = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, _DICTIONARIES[_NEWEST])
"""That has read the dictionary and nothing else; to copy it takes a fifth of making it."""


def is_packed(body: Mapping[str, Json]) -> bool:
    """Whether the text of a record with these members is packed."""
    return body["event"] in _PACKED and (body.get("approvalId") is not None or body.get("decision") in _ASKED)


def pack(text: str) -> bytes | str:
    """What is kept of a record's text."""
    octets = text.encode()
    if len(octets) > LONGEST_PACKED:
        return text
    deflating = _EMPTY.copy()
    packed = _NEWEST + deflating.compress(octets) + deflating.flush()
    return packed if len(packed) < len(octets) else text


def unpack(packed: bytes) -> bytes:
    """The text that was packed. Raises ValueError for what `pack` does not make."""
    dictionary = _DICTIONARIES.get(packed[:1])
    if dictionary is None:
        raise ValueError("no dictionary of that name")
    inflating = zlib.decompressobj(_WINDOW, dictionary)
    try:
        octets = inflating.decompress(packed[1:], LONGEST_PACKED + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not inflating.eof or inflating.unused_data or len(octets) > LONGEST_PACKED:
        raise ValueError("not one whole text")
    return octets


def _text_or_itself(packed: bytes) -> str | bytes:
    try:
        return unpack(packed).decode()
    except ValueError:
        return packed


def _octets_or_itself(packed: bytes) -> bytes:
    try:
        return unpack(packed)
    except ValueError:
        return packed


def register_functions(connection: Any) -> None:
    """Let a connection of the driver know what the statements here call."""
    connection.create_function("record_text", 1, _text_or_itself, deterministic=True)
    connection.create_function("record_octets", 1, _octets_or_itself, deterministic=True)


class UnpackedText(FunctionElement[str]):
    """`UnpackedText(body)`: the text of a record."""

    type = Text()
    inherit_cache = True


class UnpackedOctets(FunctionElement[bytes]):
    """`UnpackedOctets(body)`: the same as the bytes that are hashed."""

    type = LargeBinary()
    inherit_cache = True


@compiles(UnpackedText)
def _keep_text(element: UnpackedText, compiler: SQLCompiler, **how: Any) -> str:  # pyright: ignore[reportUnusedFunction] - called by the compiler
    return compiler.process(element.clauses, **how)


@compiles(UnpackedOctets)
def _cast_text(element: UnpackedOctets, compiler: SQLCompiler, **how: Any) -> str:  # pyright: ignore[reportUnusedFunction] - likewise
    (body,) = element.clauses
    return compiler.process(cast(body, LargeBinary), **how)


# A TEXT is not handed to a function: one that is no UTF-8 would end the statement there, and not where it is named.
@compiles(UnpackedText, "sqlite")
def _unpack_text(element: UnpackedText, compiler: SQLCompiler, **how: Any) -> str:  # pyright: ignore[reportUnusedFunction] - likewise
    body = compiler.process(element.clauses, **how)
    return f"CASE typeof({body}) WHEN 'blob' THEN record_text({body}) ELSE {body} END"


@compiles(UnpackedOctets, "sqlite")
def _unpack_octets(element: UnpackedOctets, compiler: SQLCompiler, **how: Any) -> str:  # pyright: ignore[reportUnusedFunction] - likewise
    body = compiler.process(element.clauses, **how)
    return f"CASE typeof({body}) WHEN 'blob' THEN record_octets({body}) ELSE CAST({body} AS BLOB) END"


class RecordText(TypeDecorator[str]):
    """The text of a record, in a column that may have it packed. Only what is selected is unpacked; a condition on it has to say
    `UnpackedText`."""

    impl = Text
    cache_ok = True

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """How it is selected."""
        return UnpackedText(column)
