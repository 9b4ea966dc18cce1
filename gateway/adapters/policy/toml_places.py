"""Where values stand in a TOML document that parses: the parser keeps no places, and a wrong value is found after it."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from gateway.adapters.policy.breaks import TextPlace, place_of
from gateway.adapters.policy.documents import explain_fault
from gateway.adapters.policy.naming import suggest

TomlPath = tuple[str | int, ...]
"""Names of keys, and positions in arrays from 0."""

_BLANK: Final = re.compile(r"(?:\s|#[^\n]*)*")
_STRING: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'",
    re.DOTALL,
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR: Final = re.compile(r"[^,\]}#\n]+")
_CHOICES: Final = frozenset({"enum", "literal_error"})
_CHOICE: Final = re.compile(r"'([^']*)'")


class TomlPlace(NamedTuple):
    """The offsets of a key and of its value; of a table, both are those of its head."""

    key: int
    value: int


def find_places(text: str) -> Mapping[TomlPath, TomlPlace]:
    """Every key, table and member of an array of a document that parses."""
    reader = _Reader(text)
    reader.read_document()
    return reader.places


def describe_errors(text: str, error: ValidationError) -> Iterator[tuple[TextPlace, str]]:
    """Each thing that is wrong with a document that parses, with its place: the value, or the key where the key is."""
    places = find_places(text)
    for fault in error.errors(include_url=False):
        path: TomlPath = fault["loc"]
        known = next(places[path[:length]] for length in range(len(path), -1, -1) if path[:length] in places)
        is_value = path in places and fault["type"] != "extra_forbidden"
        advice = ""
        if fault["type"] in _CHOICES:
            advice = suggest(str(fault["input"]), _CHOICE.findall(str(fault.get("ctx", {}).get("expected", ""))))
        yield place_of(text, known.value if is_value else known.key), explain_fault(fault) + advice


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._tables = Counter[TomlPath]()
        self.places: dict[TomlPath, TomlPlace] = {(): TomlPlace(0, 0)}

    def read_document(self) -> None:
        table: TomlPath = ()
        while self._peek():
            if self._peek() == "[":
                table = self._read_head()
            else:
                self._read_pair(table)

    def _read_head(self) -> TomlPath:
        begin, many = self._at, self._text.startswith("[[", self._at)
        self._at += 1 + many
        table = self._read_key()
        self._at = self._text.index("]", self._at) + 1 + many
        path: TomlPath = ()
        for at, name in enumerate(table):
            path += (name,)
            if many and at == len(table) - 1:
                self._tables[path] += 1
            self.places.setdefault(path, TomlPlace(begin, begin))
            if path in self._tables:
                path += (self._tables[path] - 1,)
            self.places.setdefault(path, TomlPlace(begin, begin))
        return path

    def _read_pair(self, table: TomlPath) -> None:
        self._peek()
        begin = self._at
        path = (*table, *self._read_key())
        self._at = self._text.index("=", self._at) + 1
        self._peek()
        for length in range(len(table) + 1, len(path)):
            self.places.setdefault(path[:length], TomlPlace(begin, begin))
        self.places[path] = TomlPlace(begin, self._at)
        self._read_value(path)

    def _read_key(self) -> Sequence[str]:
        names: list[str] = []
        while True:
            self._peek()
            if quoted := _STRING.match(self._text, self._at):
                names.append(tomllib.loads(f"value = {quoted[0]}")["value"])
                self._at = quoted.end()
            else:
                names.append(self._take(_BARE))
            if self._peek() != ".":
                return names
            self._at += 1

    def _read_value(self, path: TomlPath) -> None:
        match self._peek():
            case "[":
                self._at += 1
                for number in self._members("]"):
                    self.places[*path, number] = TomlPlace(self._at, self._at)
                    self._read_value((*path, number))
            case "{":
                self._at += 1
                for _ in self._members("}"):
                    self._read_pair(path)
            case '"' | "'":
                self._take(_STRING)
            case _:
                self._take(_SCALAR)

    def _members(self, end: str) -> Iterator[int]:
        """Once for each member up to that bracket, with the reader at the member."""
        number = 0
        while (found := self._peek()) != end:
            if found == ",":
                self._at += 1
            else:
                yield number
                number += 1
        self._at += 1

    def _peek(self) -> str:
        """The next character that says something; empty at the end."""
        self._take(_BLANK)
        return self._text[self._at : self._at + 1]

    def _take(self, pattern: re.Pattern[str]) -> str:
        found: Any = pattern.match(self._text, self._at)
        self._at = found.end()
        return found[0]
