"""A message as words with the marks that part them: what is quoted is one word, and so is a file's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Final, TypeAlias

from gateway.agent.acts import is_thing
from gateway.agent.words import QUOTED, bare_word, given_in, is_spaced_name

_RUN: Final = re.compile("[^ \t\r\n\f\v\u00a0\u2028\u2029\u3000;]+")
_TRAIL: Final = re.compile(r"[,.:!?)\]]*\Z")
_ITEM: Final = re.compile(r"(?:[-*•]|\(?[0-9]{1,2}[.)]|\(?[a-h]\))\Z")
_NUMBER: Final = re.compile(r"[0-9]+")
_SIGN: Final = re.compile(r"[%€$£¥₹°]+")
_DASHES: Final = frozenset({"-", "–", "—"})
STOPS: Final = frozenset({".", ";", "\n"})
"""Marks that end a sentence."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word as it is written, without the marks behind it. `mark` is what parts it from the next word, `gap` all that stands
    between the two, `at` its place in the message; a word that was put in has none."""

    text: str
    bare: str
    mark: str
    gap: str
    at: int
    is_quoted: bool = False
    is_name: bool = False


Tokens: TypeAlias = Sequence[Token]


def tokenise(message: str) -> list[Token]:
    """The words of a message. Numbers and bullets that count its wishes are no words: they end what stands before them."""
    runs = _runs_in(message)
    bullets = _bullets_in(message, runs)
    given = given_in(message)
    tokens: list[Token] = []
    for place, (start, end) in enumerate(runs):
        if place in bullets:
            tokens[-1:] = [_parted(each) for each in tokens[-1:]]
            continue
        written = message[start:end]
        is_word = bare_word(written) != "" or written == "&" or _SIGN.match(written) or QUOTED.fullmatch(written)
        if not is_word:
            is_dash = written in _DASHES and tokens and tokens[-1].mark == ""
            tokens[-1:] = [replace(each, mark=",") if is_dash else each for each in tokens[-1:]]
            continue
        following = runs[place + 1][0] if place + 1 < len(runs) else len(message)
        is_given = any(first <= start < last for first, last in given)
        tokens.append(_token(written, message[end:following], len(tokens), is_given=is_given))
    return tokens


def spoken(tokens: Tokens) -> str:
    """Words as a text: as they were written where they stood together, with a space between others."""
    parts = [
        f"{one.text}{one.gap if 0 <= one.at == two.at - 1 and STOPS.isdisjoint(one.gap) else ' '}"
        for one, two in pairwise(tokens)
    ]
    return "".join([*parts, *(each.text for each in tokens[-1:])])


def added(text: str) -> Token:
    """A word that the message does not have at this place."""
    return Token(text, bare_word(text), "", " ", -1)


def moved(token: Token) -> Token:
    """A word in another place than its own."""
    return replace(token, mark="", gap=" ", at=-1)


def phrase_at(tokens: Tokens, at: int, phrases: tuple[str, ...], passed: frozenset[str] = frozenset()) -> int:
    """How many words the longest phrase takes that stands at a place, with those of `passed` among them; 0 where none does."""
    alike = _by_first_word(phrases).get(tokens[at].bare, ()) if at < len(tokens) else ()
    return max((_length_of(tokens, at, words, passed) for words in alike), default=0)


def phrase_before(tokens: Tokens, end: int, phrases: tuple[str, ...]) -> int:
    """The same for a phrase that ends before a place."""
    lengths = _lengths(phrases)
    return max((n for n in lengths if n <= end and phrase_at(tokens[:end], end - n, phrases) == n), default=0)


@cache
def _by_first_word(phrases: tuple[str, ...]) -> dict[str, list[list[str]]]:
    """Phrases of the vocabulary as their words, by the first of them: each is looked for at every word of a message."""
    ordered: dict[str, list[list[str]]] = {}
    for phrase in phrases:
        words = phrase.split(" ")
        ordered.setdefault(words[0], []).append(words)
    return ordered


@cache
def _lengths(phrases: tuple[str, ...]) -> frozenset[int]:
    return frozenset(len(phrase.split(" ")) for phrase in phrases)


def _length_of(tokens: Tokens, at: int, words: Sequence[str], passed: frozenset[str]) -> int:
    place = at
    for number, word in enumerate(words):
        while number and place < len(tokens) and tokens[place].bare in passed and tokens[place].bare != word:
            place += 1
        is_parted = number > 0 and tokens[place - 1].mark != ""
        if place >= len(tokens) or is_parted or tokens[place].is_quoted or tokens[place].bare != word:
            return 0
        place += 1
    return place - at


def _runs_in(message: str) -> list[tuple[int, int]]:
    """Where each word begins and ends. A space inside quotes ends none."""
    quoted = [match.span() for match in QUOTED.finditer(message)]
    runs: list[tuple[int, int]] = []
    for match in _RUN.finditer(message):
        start, end = match.span()
        if runs and start < runs[-1][1]:
            continue
        end = max([end, *(stop for begin, stop in quoted if start <= begin < end)])
        more = _RUN.match(message, end)
        runs.append((start, more.end() if more else end))
    return runs


def _bullets_in(message: str, runs: Sequence[tuple[int, int]]) -> set[int]:
    """The places of bullets: signs at the beginning of a line, and numbers that count from one."""
    marks = [place for place, (start, end) in enumerate(runs) if _ITEM.match(message[start:end])]
    first = {place for place in marks if place == 0 or "\n" in message[runs[place - 1][1] : runs[place][0]]}
    counted: list[int] = []
    for place in marks:
        number = _NUMBER.search(message[slice(*runs[place])])
        if number is not None and int(number[0]) == len(counted) + 1:
            counted.append(place)
    return first | (set(counted) if len(counted) > 1 else set())


def _token(written: str, gap: str, at: int, *, is_given: bool) -> Token:
    text = written if QUOTED.fullmatch(written) else _TRAIL.sub("", written)
    trail = written[len(text) :]
    if trail.startswith((")", "]")) and (text.count("(") > text.count(")") or text.count("[") > text.count("]")):
        text, trail = text + trail[0], trail[1:]
    mark = "\n" if "\n" in gap else ";" if ";" in gap else _mark_of(trail)
    is_quoted = QUOTED.fullmatch(text) is not None
    is_text = is_given or (is_quoted and " " in text and not is_spaced_name(text[1:-1]))
    is_name = is_thing(text) and not is_text
    bare = "and" if text == "&" else text.lower() if is_name else bare_word(text).replace("’", "'")
    return Token(text, bare, mark, f"{trail}{gap}", at, is_quoted and not is_name, is_name)


def _mark_of(trail: str) -> str:
    return "." if {".", "!", "?"} & set(trail) else next((mark for mark in ",:" if mark in trail), "")


def _parted(token: Token) -> Token:
    return token if token.mark == ":" else replace(token, mark="\n")
