"""A wish whose object or content is what another one comes to: "find out what Raj owes and save it in lists/raj.txt", "delete
the newest report in reports/".

What is to be found out and where it goes are read off the words, since a small model that is given both writes down the
request itself, or makes something up. Whatever is in doubt is no such wish.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.agent.acts import READING, asked_acts, bare_thing, is_thing
from gateway.agent.browser import trim
from gateway.agent.budget import length_of
from gateway.agent.copied import folders_said
from gateway.agent.limits import LIMITS
from gateway.agent.papers import placed_paper
from gateway.agent.ranking import stem
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import QUOTED, words_of


class Carry(StrEnum):
    """What is done with what was found."""

    KEEP = "keep"
    ADD = "add"
    REMOVE = "remove"
    MOVE = "move"


@dataclass(frozen=True, slots=True)
class OutcomeWish:
    """`source` says what to find out, `kept` which part of it goes on ("its total", "it"), `target` where that goes: a file for
    what is kept, a file or a folder for what is moved, empty for what is removed. Of what is moved or removed, `kept` is how the
    one file of a folder is called ("the flyer"), where `source` only lists that folder."""

    carry: Carry
    source: str
    kept: str
    target: str


_FLAGS: Final = re.IGNORECASE | re.ASCII
_LEAD: Final = rf"(?:(?:{any_of({*VOCABULARY.fillers, *VOCABULARY.cues, *WISH_WORDS.fillers})})[, ]+)*"
_TAIL: Final = rf"[.!?]*(?:,? (?:{any_of((*WISH_WORDS.tails, *WISH_WORDS.remarks))}))*[.!?]*$"
_FILE: Final = r"[\"'`]?([^\s\"'`,;:?!()]*[^\s\"'`,;:?!()./]\.[A-Za-z][A-Za-z0-9]*)[\"'`]?"
_PLACE: Final = r"(?:(?:the|my|our) )?[\"'`]?([^\s\"'`,;:?!]*[^\s\"'`,;:?!.])[\"'`]?(?: (?:folder|directory))?"
_POINTED: Final = any_of(VOCABULARY.pointed_files)
_DESCRIBED: Final = rf"(?:{any_of(VOCABULARY.described_leads)}) .+?"
_LINKS: Final = any_of(VOCABULARY.moving_links)
_KEPT_IN: Final = rf"(?: (?:{any_of(VOCABULARY.kept_leads)})(?: new)?(?: (?:file|note|list))?(?: (?:called|named))?)?"

_REMOVES: Final = re.compile(rf"^{_LEAD}(?:{any_of(VOCABULARY.discarding_verbs)}) ({_POINTED})(?: away| out)?{_TAIL}", _FLAGS)
_REMOVES_DESCRIBED: Final = re.compile(
    rf"^{_LEAD}(?:{any_of(VOCABULARY.discarding_verbs)}) ({_DESCRIBED})(?: away| out)?{_TAIL}", _FLAGS
)
_MOVES: Final = re.compile(
    rf"^{_LEAD}(?:{any_of(VOCABULARY.moving_verbs)}) ({_POINTED})(?: over)? (?:{_LINKS}) {_PLACE}{_TAIL}",
    _FLAGS,
)
_MOVES_DESCRIBED: Final = re.compile(
    rf"^{_LEAD}(?:{any_of(VOCABULARY.moving_verbs)}) ({_DESCRIBED})(?: over)? (?:{_LINKS}) {_PLACE}{_TAIL}", _FLAGS
)
_PUTS: Final = re.compile(rf"^{_LEAD}(?:{any_of(VOCABULARY.putting_verbs)}) ({_POINTED}) (?:{_LINKS}) {_PLACE}{_TAIL}", _FLAGS)
_KEEPS: Final = re.compile(
    rf"^{_LEAD}({any_of(VOCABULARY.keeping_verbs)})(?: down)? (.+?)(?: down)? (?:{any_of(VOCABULARY.keeping_links)}){_KEPT_IN} "
    rf"{_FILE}{_TAIL}",
    _FLAGS,
)
_FILLS: Final = re.compile(
    rf"^{_LEAD}(?:{any_of(VOCABULARY.filling_verbs)})(?: (?:{any_of(VOCABULARY.kept_leads)}))?(?: new)?(?: file)?"
    rf"(?: (?:called|named))? {_FILE} (?:with|containing|listing) (.+? (?:in|from|of|out of) {_FILE}){_TAIL}",
    _FLAGS,
)
"""A new file with what is in another one: "write dates.txt with all dates in notes.txt"."""

_OF_SOMETHING: Final = re.compile(
    rf"(?:the|my|our) (?:[a-z-]+ ){{0,2}}?(?:{any_of(VOCABULARY.told_attributes)}) (?:of|for) [^0-9:\"]+", _FLAGS
)
"""What is kept, told by what it is of: "the date of the next meeting". What it is only a look tells."""

_STARTS: Final = re.compile(r"[,;:.?!]+ +|\n+| (?=(?:and|then|also) )", _FLAGS)
"""Where a clause may begin."""

_ENDING: Final = re.compile(
    rf"(?:[\s,;:.!?]+|[\s,;:.!?](?:{any_of((*VOCABULARY.cues, *VOCABULARY.empty_asks))})|^(?:{any_of(VOCABULARY.empty_asks)}))$",
    _FLAGS,
)
"""What the words before a clause end with, and what says nothing more of what is to be found out."""

_LISTED: Final = re.compile(rf"\b(?:{any_of(VOCABULARY.listing_phrases)})\b", _FLAGS)
_LOOKING: Final = frozenset(VOCABULARY.looking_verbs)
_ADDING: Final = frozenset(VOCABULARY.adding_verbs)
_LEANING: Final = frozenset(VOCABULARY.leaning_words)
_NOUNS: Final = frozenset((*WISH_WORDS.results, *VOCABULARY.kept_nouns))
_DETERMINERS: Final = frozenset(WISH_WORDS.determiners)
_CONDITIONS: Final = frozenset((*VOCABULARY.conditions, "not", "don't", "dont", "never", "without"))
_MOST_WORDS: Final = 5
"""Words of what is kept among which the noun for it stands: "the phone number of Bob"."""

_FEW: Final = 3


def outcome_in(message: str) -> OutcomeWish | None:
    """The wish of a message that stands on what another one of it comes to; None where the words do not show both."""
    text = trim(message)
    said = {word.bare for word in words_of(QUOTED.sub(" ", text))}
    if length_of(text) > LIMITS.actions * LIMITS.action_characters or not _CONDITIONS.isdisjoint(said):
        return None
    starts = [0, *(found.end() for found in _STARTS.finditer(text))]
    return next((wish for start in reversed(starts) if (wish := _wish_at(text, start)) is not None), None)


def files_in(text: str) -> list[str]:
    """The files that words name."""
    names = [bare_thing(text[word.start : word.end]) for word in words_of(text)]
    return list(dict.fromkeys(name for name in names if is_thing(name) and not name.endswith("/") and "@" not in name))


def _wish_at(text: str, start: int) -> OutcomeWish | None:
    """The wish whose second half begins here."""
    before, clause = _source_of(text[:start]), text[start:]
    if any(each.act != READING for each in asked_acts(before)):
        # A further change, which would be lost.
        return None
    return _removed(before, clause) or _moved(before, clause) or _kept(before, clause)


def _source_of(text: str) -> str:
    """The words before a clause, without those that only lead over to it."""
    while (ending := _ENDING.search(text)) is not None:
        text = text[: ending.start()]
    return trim(text)


def _removed(before: str, clause: str) -> OutcomeWish | None:
    found = (_REMOVES if before else _REMOVES_DESCRIBED).search(clause)
    if found is None and _lists(before):
        named = _REMOVES_DESCRIBED.search(clause)
        return OutcomeWish(Carry.REMOVE, before, named[1], "") if named and _is_unplaced(named[1]) else None
    source = before or (found[1] if found else "")
    if found is None or files_in(source):
        return None
    placed = None if before else placed_paper(source)
    return (
        OutcomeWish(Carry.REMOVE, source, "", "")
        if placed is None
        else OutcomeWish(Carry.REMOVE, _listing_of(placed), placed[0], "")
    )


def _moved(before: str, clause: str) -> OutcomeWish | None:
    found = (_MOVES.search(clause) or _PUTS.search(clause)) if before else _MOVES_DESCRIBED.search(clause)
    if found is None and _lists(before):
        named = _MOVES_DESCRIBED.search(clause)
        return OutcomeWish(Carry.MOVE, before, named[1], named[2]) if named and _is_unplaced(named[1]) else None
    source = before or (found[1] if found else "")
    if found is None or files_in(source) or (_PUTS.search(clause) and files_in(found[2])):
        return None
    placed = None if before else placed_paper(source)
    if placed is None:
        return OutcomeWish(Carry.MOVE, source, "", found[2])
    return OutcomeWish(Carry.MOVE, _listing_of(placed), placed[0], found[2])


def _listing_of(placed: tuple[str, str]) -> str:
    """The words for a look into the folder of a paper."""
    return f"list {placed[1]}/"


def _is_unplaced(thing: str) -> bool:
    """Whether words say neither which file is meant nor in which folder it is."""
    return not files_in(thing) and placed_paper(thing) is None


def _lists(before: str) -> bool:
    """Whether words only ask to see what is in a folder: "see which files are in old", "list old/"."""
    said = {word.bare for word in words_of(before)}
    is_look = not _LOOKING.isdisjoint(said) or _LISTED.search(before) is not None
    return is_look and len(folders_said(before)) == 1 and not files_in(before)


def _kept(before: str, clause: str) -> OutcomeWish | None:
    if not before and (filled := _FILLS.search(clause)) is not None and filled[1] != filled[3] and not QUOTED.search(clause):
        return OutcomeWish(Carry.KEEP, filled[2], filled[2], filled[1])
    found = _KEEPS.search(clause)
    if found is None or QUOTED.search(found[2]):
        return None
    verb, kept, target = found[1].lower(), found[2], found[3]
    carry = Carry.ADD if verb in _ADDING else Carry.KEEP
    named = files_in(kept)
    if before:
        leans = _leans(kept) or _names_again(kept, before)
        return OutcomeWish(carry, before, kept, target) if leans and not named and len(files_in(before)) < 2 else None
    if not named and _OF_SOMETHING.fullmatch(kept):
        return OutcomeWish(carry, f"what is {kept}?", kept, target)
    is_told = len(named) == 1 and (verb == "copy" or bare_thing(kept) != named[0]) and (_leans(kept) or verb == "copy")
    return OutcomeWish(carry, kept, kept, target) if is_told and named[0] != target else None


def _names_again(kept: str, before: str) -> bool:
    """Whether what is kept is what the words before it look for: "check a.log for warnings and save the warning in b.txt"."""
    words = [word.bare for word in words_of(kept)]
    looked = {stem(word.bare.removesuffix("s")) for word in words_of(before)}
    return words[:1] == ["the"] and 1 < len(words) <= _FEW and stem(words[-1].removesuffix("s")) in looked


def _leans(kept: str) -> bool:
    """Whether what is kept is what something comes to: "it", "the date", "how many there are"."""
    words = [word.bare for word in words_of(kept)]
    if words[:1] == ["up"]:
        return False
    is_named = bool(words) and words[0] in _DETERMINERS and not _NOUNS.isdisjoint(words[1:_MOST_WORDS])
    return bool(words) and (words[0] in _LEANING or is_named)
