"""The form of an exported log: JSON lines, each of which can be written in one way only.

Each line is an object that begins with its `type`, then the members of that type in the order of `MEMBERS`, each value in
canonical JSON (RFC 8785). First one `log` with the verification key, then every `descriptor` and every `snapshot` that was
published, then the `leaf`s by index, each `checkpoint` after the last leaf that it covers, what each `anchor` gave
(`gateway.core.anchors`), and at the end one `end` with the number of lines before it: a file that was cut off has none. A file of
version 2 is one without anchors. Hashes are over bodies and payloads as they stand in the line, so any verifier can make them
again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import orjson

from gateway.core.canonical import MAX_DEPTH, Json, canonical_bytes, parse
from gateway.core.errors import MalformedJson

EXPORT_VERSION: Final = 3

LINE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes; a record with its payload is a few kilobytes, and the longest result a few megabytes."""

MEMBERS: Final[Mapping[str, Sequence[str]]] = {
    "log": ("v", "key"),
    "descriptor": ("digest", "body"),
    "snapshot": ("digest", "body"),
    "leaf": ("index", "hash", "body", "salt", "payload"),
    "checkpoint": ("note",),
    "anchor": ("evidence",),
    "end": ("lines",),
}

_TYPE: Final = re.compile(rb'\{"type":"([a-z]{1,16})"')
_SIZE: Final = re.compile(r"[^\n]*\n([0-9]{1,16})\n")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_SALT: Final = re.compile(r"(?:[0-9a-f]{2}){0,64}")

_AFTER: Final[Mapping[str, Sequence[str]]] = {
    "": ("log",),
    "log": ("descriptor", "snapshot", "leaf", "checkpoint", "anchor", "end"),
    "descriptor": ("descriptor", "snapshot", "leaf", "checkpoint", "anchor", "end"),
    "snapshot": ("snapshot", "leaf", "checkpoint", "anchor", "end"),
    "leaf": ("leaf", "checkpoint", "anchor", "end"),
    "checkpoint": ("leaf", "checkpoint", "anchor", "end"),
    "anchor": ("anchor", "end"),
    "end": (),
}
"""Which types of line may stand after which."""


class MalformedLine(Exception):
    """A line that no export has. `detail` is a sentence about it."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


def write_line(kind: str, *values: bytes) -> bytes:
    """A line of that type, with the canonical bytes of its members in order."""
    members = b"".join(b',"%b":%b' % (name.encode(), value) for name, value in zip(MEMBERS[kind], values, strict=True))
    return b'{"type":"%b"%b}\n' % (kind.encode(), members)


def type_of(line: bytes) -> str | None:
    """The type that a line begins with."""
    found = _TYPE.match(line)
    return None if found is None else found[1].decode()


def size_of(note: str) -> int | None:
    """The number of records that a checkpoint claims to cover; None where it claims none."""
    found = _SIZE.match(note)
    return None if found is None else int(found[1])


class ExportForm:
    """Reads an export line by line, from its beginning.

    `misplaced` is the first line that is whole by itself and does not fit the others, with a sentence about it. It counts only
    where the log itself is in order: of a log that lacks a record, that is what has to be said. A file without an end is none of
    these: what else is wrong with it may be in the part that is gone.
    """

    def __init__(self) -> None:
        self.misplaced: tuple[int, str] | None = None
        self._last = ""
        self._lines = 0
        self._leaves = 0
        self._covered = 0

    def read(self, line: bytes) -> None:
        """The next line, with its newline. Raises MalformedLine for one that no export has."""
        if len(line) > LINE_LIMIT:
            raise MalformedLine(f"a line has at most {LINE_LIMIT} bytes")
        if not line.endswith(b"\n"):
            raise MalformedLine("the file was cut off inside this line")
        kind = type_of(line)
        if kind is None or kind not in MEMBERS:
            raise MalformedLine("it does not begin with a type of line that an export has")
        if kind not in _AFTER[self._last]:
            after = f"after `{self._last}`" if self._last else "at the beginning"
            raise MalformedLine(f"a line of type `{kind}` does not stand {after}")
        members = _read_members(kind, line[:-1])
        self._check(kind, members)
        self._last = kind
        self._lines += 1

    def finish(self) -> None:
        """The end of the file. Raises MalformedLine where its last line is not the one that every export ends with."""
        _require(self._last != "", "the file is empty")
        _require(self._last == "end", "the file was cut off: the line of type `end` is missing")

    def _check(self, kind: str, members: Mapping[str, Json]) -> None:
        match kind:
            case "log":
                _require(members["v"] in (2, EXPORT_VERSION), "this export is of another version")
                _require(isinstance(members["key"], str), "its `key` is no text")
            case "leaf":
                _check_leaf(members)
                self._place(self._covered <= self._leaves, "a checkpoint that covers this record stands before it")
                self._leaves += 1
            case "checkpoint":
                _require(isinstance(members["note"], str), "its `note` is no text")
                size = size_of(members["note"])
                fits = size is None or size >= self._leaves
                self._place(fits, "this checkpoint stands after records that it does not cover")
                self._covered = size or 0
            case "anchor":
                _require(isinstance(members["evidence"], dict), "its `evidence` is no object")
            case "end":
                counted = members["lines"] == self._lines and members["lines"] is not True
                self._place(counted, "the number of lines is not the one that is written here")
            case _:
                _require(isinstance(members["digest"], str), "its `digest` is no text")
                _require(isinstance(members["body"], dict), "its `body` is no object")

    def _place(self, fits: bool, detail: str) -> None:
        if not fits and self.misplaced is None:
            self.misplaced = (self._lines + 1, detail)


def _read_members(kind: str, line: bytes) -> Mapping[str, Json]:
    try:
        # Written again as it is, a line has no name twice, no number out of range and no lone surrogate.
        shallow = line.count(b"[") + line.count(b"{") <= MAX_DEPTH
        members = cast("dict[str, Any]", orjson.loads(line) if shallow else parse(line))
        _require(list(members) == ["type", *MEMBERS[kind]], "it has not the members of its type, in their order")
        again = write_line(kind, *(canonical_bytes(members[name]) for name in MEMBERS[kind]))
    except orjson.JSONDecodeError:
        raise MalformedLine("this is no JSON, or not UTF-8") from None
    except MalformedJson as fault:
        raise MalformedLine(f"this is no canonical JSON: {fault.message}") from None
    _require(again == line + b"\n", "this is no canonical JSON")
    return members


def _check_leaf(members: Mapping[str, Json]) -> None:
    index, salt, payload = members["index"], members["salt"], members["payload"]
    _require(isinstance(index, int) and not isinstance(index, bool) and index >= 0, "its `index` is no place in a log")
    _require(_matches(members["hash"], _HASH), "its `hash` is no SHA-256 digest")
    _require(isinstance(members["body"], dict), "its `body` is no object")
    _require(salt is None or _matches(salt, _SALT), "its `salt` is no bytes in hex")
    _require(payload is None or isinstance(payload, dict), "its `payload` is no object")
    _require((salt is None) is (payload is None), "a payload and its salt are there together, or neither is")


def _matches(value: Json, pattern: re.Pattern[str]) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _require(holds: bool, detail: str) -> None:
    if not holds:
        raise MalformedLine(detail)
