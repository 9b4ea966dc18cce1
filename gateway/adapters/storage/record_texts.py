"""How the text of a record is kept: those of a call about which a person was asked are deflated, with their shapes as dictionary.

Such a call has twice the records of another, and waits for a person, so that the time it takes counts least there. It is the text
that is hashed, so it is given back to the byte; the hash beside it says whether it was. What is kept in its place is a BLOB: one
byte names the form. Every other record stays TEXT, and so does what was written before there were forms: who reads takes any. A
BLOB that no text can be made of is given back as it is: it is no JSON and has another hash, so whoever reads it finds damage and
can name the record.

* `1f`: raw deflate follows (RFC 1951).
* `2f`: how many records before it the question of its call stands, in seven bits a byte, least first, zero where it is not told;
  then raw deflate, whose dictionary is the shapes and the text of that question; then the octets of the digests, and after them
  of the ids, that are not in the question: the text has a placeholder for each. What is random cannot be deflated, and a table of
  how often each of its characters occurs costs more than the rest of a record.

Records that are looked for by their text in SQL are never packed: keys, losses, policies, and all that is rare.
"""

from __future__ import annotations

import re
import zlib
from binascii import a2b_base64, b2a_base64, hexlify, unhexlify
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Label, LargeBinary, Text, TypeDecorator, cast
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

LONGEST_QUESTION: Final = 2_048
"""Bytes of a text that others are packed with. Questions have less than a thousand, and each reader remembers some."""

_WINDOW: Final = -13
"""Raw deflate that looks back over 8 KiB: the dictionary and the record. A larger window takes longer to set up."""

_MEMORY: Final = 6
_LEVEL: Final = 6


def _read_shapes(number: int) -> bytes:
    return Path(__file__).with_name(f"record_shapes_{number}.txt").read_bytes()


# No JSON in SQLite's binary form begins with a byte that ends in 15, so that none is taken for what it is not.
_ALONE: Final = 0x1F
_WITH_QUESTION: Final = 0x2F

_DICTIONARIES: Final[Mapping[int, bytes]] = {_ALONE: _read_shapes(1), _WITH_QUESTION: _read_shapes(2)}
"""By the byte that names the form. What was written with one is read with it for ever: none is changed or taken away."""

_EMPTY: Final = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, _DICTIONARIES[_WITH_QUESTION])
"""That has read the dictionary and nothing else; to copy it takes a fifth of making it."""

# Neither character stands in canonical JSON, which escapes it.
_DIGEST: Final = b"\x01"
_ID: Final = b"\x02"
_RANDOM: Final = re.compile(rb'(?<=")[0-9a-f]{64}(?=")|(?<=_)[-0-9A-Z_a-z]{21}[-FVk](?=")')
"""A digest, or what follows the prefix of an id: 22 characters for 128 bits, of which the last has two."""
_DIGEST_SIZE: Final = 32
_ID_SIZE: Final = 16
_ID_CHARACTERS: Final = 22

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_IN_ORDER = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_TO_BASE64: Final = bytes.maketrans(_IN_ORDER, _BASE64)
_FROM_BASE64: Final = bytes.maketrans(_BASE64, _IN_ORDER)
"""Ids have the characters of base64url, in the order of their codes."""


class AskedCall(NamedTuple):
    """What is known of a record that is packed: whose it is, and whether it is the question itself."""

    conversation_id: str
    call_id: str
    is_question: bool


class QuestionText(NamedTuple):
    """The record of a question, with whose text the later ones of its call are packed."""

    position: int
    text: bytes


def asked_call(body: Mapping[str, Json]) -> AskedCall | None:
    """Whose record it is, if its text is packed; None if it stays as it is."""
    event = body["event"]
    if event not in _PACKED or (body.get("approvalId") is None and body.get("decision") not in _ASKED):
        return None
    return AskedCall(body["conversationId"], body["callId"], event == ApprovalRequested.EVENT)


def pack(text: str, position: int = 0, question: QuestionText | None = None) -> bytes | str:
    """What is kept of the text of the record at that position. `question`: one that stands before it and is not packed with
    another."""
    octets = text.encode()
    if len(octets) > LONGEST_PACKED or _DIGEST in octets or _ID in octets:
        return text
    deflating, before, back = _EMPTY.copy(), b"", 0
    if question is not None and len(question.text) <= LONGEST_QUESTION:
        before, back = question.text, position - question.position
        deflating.compress(before)
        deflating.flush(zlib.Z_SYNC_FLUSH)
    digests, ids = list[bytes](), list[bytes]()

    def take_out(found: re.Match[bytes]) -> bytes:
        characters = found[0]
        if characters in before:
            return characters
        if len(characters) == _ID_CHARACTERS:
            ids.append(_read_id(characters))
            return _ID
        digests.append(unhexlify(characters))
        return _DIGEST

    shorter = deflating.compress(_RANDOM.sub(take_out, octets)) + deflating.flush()
    packed = b"".join((bytes((_WITH_QUESTION,)), _write_number(back), shorter, *digests, *ids))
    return packed if len(packed) < len(octets) else text


def unpack(packed: bytes, question: bytes | None = None) -> bytes:
    """The text that was packed. `question`: what is kept of the record that `find_question` tells. Raises ValueError for what
    `pack` does not make."""
    form = packed[0] if packed else 0
    if form == _ALONE:
        return _unpack_alone(packed, 1)
    if form != _WITH_QUESTION:
        raise ValueError("no form of that name")
    back, begin = _read_number(packed)
    if back == 0:
        return _unpack_alone(packed, begin)
    if question is None:
        raise ValueError("the question is not there")
    return _unpack(packed, begin, _DICTIONARIES[_WITH_QUESTION] + _text_of_question(question))


@lru_cache(64)
def _unpack_alone(packed: bytes, begin: int) -> bytes:
    """Questions are remembered: the other records of their calls lie close to them."""
    return _unpack(packed, begin, _DICTIONARIES[packed[0]])


def _unpack(packed: bytes, begin: int, dictionary: bytes) -> bytes:
    octets, rest = _inflate(packed[begin:], dictionary)
    if packed[0] == _WITH_QUESTION:
        octets, rest = _put_in(octets, rest)
    if rest or len(octets) > LONGEST_PACKED:
        raise ValueError("not one whole text")
    return octets


def find_question(packed: bytes, position: int) -> int | None:
    """Where the question stands that a record at that position was packed with; None where it was packed alone."""
    if not packed or packed[0] != _WITH_QUESTION:
        return None
    try:
        back, _ = _read_number(packed)
    except ValueError:
        return None
    return position - back if 0 < back <= position else None


def _inflate(deflated: bytes, dictionary: bytes) -> tuple[bytes, bytes]:
    """The text, no longer than may be, and what follows it."""
    inflating = zlib.decompressobj(_WINDOW, dictionary)
    try:
        octets = inflating.decompress(deflated, LONGEST_PACKED + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not inflating.eof:
        raise ValueError("not one whole text")
    return octets, inflating.unused_data


def _put_in(octets: bytes, random: bytes) -> tuple[bytes, bytes]:
    """The text with what its placeholders stand for, and what is left of that."""
    end = _DIGEST_SIZE * octets.count(_DIGEST)
    used = end + _ID_SIZE * octets.count(_ID)
    if used > len(random) or len(octets) + used > LONGEST_PACKED:
        raise ValueError("not one whole text")
    # One by one: there are few, and whatever finds all of them at once takes longer than the rest of reading a record.
    for begin in range(0, end, _DIGEST_SIZE):
        octets = octets.replace(_DIGEST, hexlify(random[begin : begin + _DIGEST_SIZE]), 1)
    for begin in range(end, used, _ID_SIZE):
        octets = octets.replace(_ID, _write_id(random[begin : begin + _ID_SIZE]), 1)
    return octets, random[used:]


def _read_id(characters: bytes) -> bytes:
    return a2b_base64(characters.translate(_TO_BASE64) + b"==")


def _write_id(octets: bytes) -> bytes:
    return b2a_base64(octets, newline=False)[:_ID_CHARACTERS].translate(_FROM_BASE64)


def _text_of_question(kept: bytes) -> bytes:
    """A question that was packed with another is none that `pack` takes."""
    text = kept if kept[:1] == b"{" else unpack(kept)
    if len(text) > LONGEST_QUESTION:
        raise ValueError("longer than any question")
    return text


def _write_number(number: int) -> bytes:
    octets = bytearray()
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    octets.append(number)
    return bytes(octets)


def _read_number(packed: bytes) -> tuple[int, int]:
    """The number behind the first byte, and where it ends. A position has at most 63 bits."""
    if len(packed) > 1 and packed[1] < 0x80:
        return packed[1], 2
    number = 0
    for index, octet in enumerate(packed[1:10]):
        number |= (octet & 0x7F) << 7 * index
        if octet < 0x80:
            return number, index + 2
    raise ValueError("no number")


def _text_or_itself(packed: bytes, question: bytes | None = None) -> str | bytes:
    try:
        return unpack(packed, question).decode()
    except ValueError:
        return packed


def _octets_or_itself(packed: bytes, question: bytes | None = None) -> bytes:
    try:
        return unpack(packed, question)
    except ValueError:
        return packed


def register_functions(connection: Any) -> None:
    """Let a connection of the driver know what the statements here call."""
    connection.create_function("record_text", 1, _text_or_itself, deterministic=True)
    connection.create_function("record_text", 2, _text_or_itself, deterministic=True)
    connection.create_function("record_octets", 2, _octets_or_itself, deterministic=True)
    connection.create_function("record_question", 2, find_question, deterministic=True)


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
    body, unpacked = _call_to_unpack("record_text", element, compiler, how)
    return f"CASE typeof({body}) WHEN 'blob' THEN {unpacked} ELSE {body} END"


@compiles(UnpackedOctets, "sqlite")
def _unpack_octets(element: UnpackedOctets, compiler: SQLCompiler, **how: Any) -> str:  # pyright: ignore[reportUnusedFunction] - likewise
    body, unpacked = _call_to_unpack("record_octets", element, compiler, how)
    return f"CASE typeof({body}) WHEN 'blob' THEN {unpacked} ELSE CAST({body} AS BLOB) END"


def _call_to_unpack(
    function: str, element: FunctionElement[Any], compiler: SQLCompiler, how: Mapping[str, Any]
) -> tuple[str, str]:
    """The column as it is written there, and the call that unpacks it with its question."""
    column: Any = next(iter(element.clauses))
    body, place = (compiler.process(each, **how) for each in (column, column.table.c.position))
    question = f"SELECT CAST(asked.body AS BLOB) FROM leaves AS asked WHERE asked.position = record_question({body}, {place})"  # noqa: S608 # names of columns
    return body, f"{function}({body}, ({question}))"


class RecordText(TypeDecorator[str]):
    """The text of a record, in a column that may have it packed. Only what is selected is unpacked; a condition on it has to say
    `UnpackedText`."""

    impl = Text
    cache_ok = True

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """How it is selected."""
        return UnpackedText(column.element if isinstance(column, Label) else column)
