"""Which arguments of a call were taken from untrusted results: taint that follows values, not only the conversation.

Everything of twelve letters and digits that an untrusted result holds is kept as a hash, never as text. An argument that
holds one of them is a copy, whatever is between its characters and however they are written. What is rewritten in other
words, encoded, or shorter than that is not found (docs/LIMITATIONS.md).
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate
from typing import Final, NamedTuple, cast
from urllib.parse import unquote

from gateway.core.canonical import Json, canonical_bytes

LEAST: Final = 12
"""Letters and digits in a row that make a copy."""

MOST_KEPT: Final = 256 * 1024
"""Hashes of one conversation, of 8 bytes each. Some 32 results of the usual size; what comes after them is not compared."""

MOST_COMPARED: Final = 32 * 1024
"""Letters and digits of one call's arguments that are looked up, in some tens of milliseconds."""

_FEW: Final = 2048
_MOST_ORIGINS: Final = 2**16
_HASH: Final = 2**48 - 1
_SHOWN: Final = 200
_SHOWN_PER_ARGUMENT: Final = 2
_SHOWN_IN_ALL: Final = 16
_ABOUT: Final = 120

# Every address begins with it, so that it says nothing about where one came from.
_SCHEME: Final = re.compile(r"https?://(?:www\.)?", re.IGNORECASE)
_ESCAPE: Final = re.compile(
    r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]{1,5})\}|U000([0-9A-Fa-f]{5})|(.))", re.DOTALL
)

_LATIN: Final = str.maketrans(
    # Of Cyrillic and Greek, then small capitals, then what a stroke or a missing dot makes another letter of.
    dict(zip("абеорсухіјѕԁһѵмткпοανρτυικϲ", "a6eopcyxijsdhvmtknoavptuikc", strict=True))
    | dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɑɡ", "abcdefghijklmnoprstuvwyzag", strict=True))
    | dict(zip("øłđıħŧ", "oldiht", strict=True))
)
"""Small letters that people read as these of ours."""

_TAGS: Final = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
"""Invisible characters that say ASCII to a model."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The call whose result a text came with. `about` is what it was called with, in short."""

    call_id: str
    tool: str
    about: str


@dataclass(frozen=True, slots=True)
class CopiedText:
    """A part of an argument that stands in an untrusted result, as it is written in the argument."""

    argument: str
    text: str
    origin: Origin

    def described(self) -> dict[str, Json]:
        """What a record keeps of it."""
        return {"argument": self.argument, "text": self.text, "tool": self.origin.tool, "callId": self.origin.call_id}


class Comparison(NamedTuple):
    """What of a call's arguments was taken from untrusted results. `complete` is False where there was more than is compared, so
    that nobody can say that nothing else was."""

    copies: tuple[CopiedText, ...] = ()
    complete: bool = True

    @property
    def found(self) -> bool:
        """Whether the arguments count as taken from untrusted results."""
        return bool(self.copies) or not self.complete


_NOTHING: Final = Comparison()


class HashedText(NamedTuple):
    """Texts as sorted hashes of all that they hold of `LEAST` characters; `complete` as in `Comparison`."""

    hashes: Sequence[int]
    complete: bool = True


class UntrustedTexts:
    """What untrusted results brought into one conversation."""

    def __init__(self) -> None:
        self._levels: list[array[int]] = []
        self._origins: list[Origin] = []
        self._complete = True

    def add(self, text: HashedText, origin: Origin) -> None:
        """One more result. Beyond `MOST_KEPT` hashes every argument counts as taken from it."""
        kept = sum(map(len, self._levels))
        if not text.complete or kept + len(text.hashes) > MOST_KEPT or len(self._origins) == _MOST_ORIGINS:
            self.give_up()
            return
        if not text.hashes:
            return
        number = len(self._origins)
        self._origins.append(origin)
        self._levels.append(array("Q", (each << 16 | number for each in text.hashes)))
        # Each level stays more than twice as long as the next one, so that there are few of them to look into.
        while len(self._levels) > 1 and len(self._levels[-2]) <= 2 * len(self._levels[-1]):
            last = self._levels.pop()
            self._levels[-1] = array("Q", sorted([*self._levels[-1], *last]))

    def give_up(self) -> None:
        """There is more than can be compared, or some of it is not known any more."""
        self._complete = False

    def compare(self, arguments: Mapping[str, Json]) -> Comparison:
        """What of these arguments was taken from the results so far."""
        if not self._levels:
            return _NOTHING if self._complete else Comparison((), complete=False)
        copies: dict[CopiedText, None] = {}
        complete = self._complete
        for sequence in _read_arguments(arguments):
            complete = complete and len(sequence.joined) <= MOST_COMPARED
            runs = self._runs(sequence.joined[:MOST_COMPARED])
            for begin, end, origin in nlargest(_SHOWN_IN_ALL, runs, key=lambda run: run[1] - run[0]):
                for name, text in sequence.cut(begin, end):
                    copies.setdefault(CopiedText(name, text, origin))
        return Comparison(_choose(copies), complete)

    def _runs(self, text: str) -> Iterator[tuple[int, int, Origin]]:
        """Where the text holds what results hold, as long as can be, and the origin of its beginning."""
        hashes = list(_hashes(text))
        known = self._find_known(hashes)
        begin = -1
        for position, hashed in enumerate((*hashes, None) if known else ()):
            if hashed in known and begin < 0:
                begin = position
            elif hashed not in known and begin >= 0:
                yield begin, position + LEAST - 1, self._origin_of(hashes[begin])
                begin = -1

    def _find_known(self, hashes: Sequence[int]) -> frozenset[int | None]:
        if len(hashes) < _FEW:
            return frozenset(hashed for hashed in hashes if self._place(hashed) is not None)
        # One pass over what is kept costs less than a search for each of many.
        wanted = frozenset(hashes)
        return frozenset[int | None]().union(*(wanted.intersection(kept >> 16 for kept in level) for level in self._levels))

    def _place(self, hashed: int) -> int | None:
        """What is kept under that hash."""
        least = hashed << 16
        for level in self._levels:
            place = bisect_left(level, least)
            if place < len(level) and level[place] >> 16 == hashed:
                return level[place]
        return None

    def _origin_of(self, hashed: int) -> Origin:
        kept = self._place(hashed)
        assert kept is not None, "found just now"
        return self._origins[kept & 0xFFFF]


def hash_texts(texts: Iterable[str], arguments: Mapping[str, Json]) -> HashedText:
    """The texts of a result of a call with these arguments. What the arguments said themselves did not come from the result."""
    said = {hashed for sequence in _read_arguments(arguments) for hashed in _hashes(sequence.joined[:MOST_COMPARED])}
    found: set[int] = set()
    for text in texts:
        for reading in dict.fromkeys((normalise(text), normalise(_decode(text)))):
            for hashed in _hashes(reading):
                if hashed not in said:
                    found.add(hashed)
                    if len(found) > MOST_KEPT:
                        return HashedText((), complete=False)
    return HashedText(sorted(found))


def normalise(text: str) -> str:
    """Its letters and digits, without case, accents, width, blanks, marks and what cannot be seen, and the commonest letters of
    other scripts as those that they look like."""
    text = _SCHEME.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.translate(_TAGS)).casefold().translate(_LATIN)
    return "".join(filter(str.isalnum, text.casefold()))


def list_values(value: Json, *, names: bool = True) -> Iterator[str | int | float]:
    """Every text and number in a JSON value, in their order, with or without the names of its members."""
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack.extend(reversed(cast("list[Json]", part)))
        elif isinstance(part, dict):
            members = reversed(cast("dict[str, Json]", part).items())
            stack.extend(each for name, member in members for each in ((member, name) if names else (member,)))
        elif isinstance(part, str | int | float) and not isinstance(part, bool):
            yield part


def describe_call(arguments: Mapping[str, Json]) -> str:
    """What a call was made with, in short: its only argument, else all of them."""
    values = list(arguments.values())
    only = values[0] if len(values) == 1 else None
    every = canonical_bytes(dict(arguments)).decode() if arguments else ""
    told = str(only) if isinstance(only, str | int | float) else every
    return told if len(told) <= _ABOUT else f"{told[:_ABOUT]}…"


def _decode(text: str) -> str:
    """Without the escapes of JSON, HTML and URLs, also where one is within another."""
    # Imported by the first text: all of HTML's characters come with it.
    from html import unescape

    for _ in range(2):
        plain = unquote(unescape(_ESCAPE.sub(_unescape, text)))
        if plain == text:
            break
        text = plain
    return text


def _unescape(escape: re.Match[str]) -> str:
    *codes, char = escape.groups()
    code = next(filter(None, codes), None)
    return chr(int(code, 16)) if code else " " if char in "nrtbf" else char


def _hashes(text: str) -> Iterator[int]:
    return (hash(text[begin : begin + LEAST]) & _HASH for begin in range(len(text) - LEAST + 1))


def _sequences(arguments: Mapping[str, Json]) -> Iterator[list[tuple[str, str]]]:
    """What is compared, as rows of texts with the names of their arguments. A text or a number may be handed over in pieces, with
    numbers or names of members between them that belong to it or do not: texts alone, texts and numbers, texts and names."""
    values = [(name, value) for name, argument in arguments.items() for value in list_values(argument, names=False)]
    texts = [(name, value) for name, value in values if isinstance(value, str)]
    yield texts
    if len(texts) < len(values):
        yield [(name, str(value)) for name, value in values]
    named = [(name, value) for name, each in arguments.items() for value in list_values(each) if isinstance(value, str)]
    if len(named) > len(texts):
        yield named


def _read_arguments(arguments: Mapping[str, Json]) -> Iterator[_Sequence]:
    """What is compared of them, as it stands and, where that is something else, without its escapes."""
    for parts in _sequences(arguments):
        yield _Sequence(parts)
        decoded = [(name, _decode(text)) for name, text in parts]
        if decoded != parts:
            yield _Sequence(decoded)


class _Sequence:
    """Texts, and what is left of them one after the other once they are normalised."""

    def __init__(self, parts: Sequence[tuple[str, str]]) -> None:
        self._parts = [(name, _SCHEME.sub("", text)) for name, text in parts]
        self._normal = [normalise(text) for _, text in self._parts]
        self._ends: dict[int, list[int]] = {}
        self.joined = "".join(self._normal)

    def cut(self, begin: int, end: int) -> Iterator[tuple[str, str]]:
        """What lies there, as it is written in each text that it touches, with the name of its argument."""
        offset = 0
        for number, ((name, text), normal) in enumerate(zip(self._parts, self._normal, strict=True)):
            first, last = max(begin - offset, 0), min(end - offset, len(normal))
            offset += len(normal)
            if first < last:
                yield name, self._cut_written(number, text, first, last)

    def _cut_written(self, number: int, text: str, first: int, last: int) -> str:
        """The characters of a text that its normal form has from `first` to `last`."""
        if number not in self._ends:
            self._ends[number] = list(accumulate(len(normalise(char)) for char in text))
        ends = self._ends[number]
        written = text[bisect_right(ends, first) : bisect_left(ends, last) + 1]
        return written if len(written) <= _SHOWN else f"{written[:_SHOWN]}…"


def _choose(copies: Iterable[CopiedText]) -> tuple[CopiedText, ...]:
    """The longest of each argument, so that a page stays one that is read."""
    by_argument: dict[str, list[CopiedText]] = {}
    for copy in sorted(copies, key=lambda each: -len(each.text)):
        shown = by_argument.setdefault(copy.argument, [])
        if len(shown) < _SHOWN_PER_ARGUMENT and not any(copy.text in other.text for other in shown):
            shown.append(copy)
    return tuple(copy for shown in by_argument.values() for copy in shown)[:_SHOWN_IN_ALL]
