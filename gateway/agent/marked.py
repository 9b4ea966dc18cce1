"""One entry of a list that is to be ticked or taken out, "mark the ferry as done", "remove coffee from it", and its line.

Of such a wish a small model deletes the whole list, or says that it is done. Which line is meant only the file can tell; where
none or several can be meant, nothing is changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import is_thing
from gateway.agent.assigned import FILE, LEAD, TAIL, LineChange, once
from gateway.agent.browser import trim
from gateway.agent.passages import lines_of
from gateway.agent.ranking import terms_in
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import QUOTED, words_of


@dataclass(frozen=True, slots=True)
class ListMark:
    """The words of an entry, whether it is ticked, whether it is taken out, both of which "cross off" can mean, and the list: the
    words that its name has, or the file itself; both empty for the one that was read last."""

    entry: str
    ticks: bool
    strikes: bool
    listed: str
    file: str


_FLAGS: Final = re.IGNORECASE | re.ASCII
_SHOWN: Final = rf"(?:{any_of(VOCABULARY.shown_lists)}|(?:the|this|that) (?:{any_of(VOCABULARY.entry_lists)}))"
_LIST: Final = rf"(?:the|my|our) ((?:[a-z][a-z-]* )??(?:{any_of(VOCABULARY.entry_lists)}))"
_PLACE: Final = rf"(?:{_SHOWN}|{_LIST}|{FILE})"
_OFF: Final = rf"(?:{any_of(VOCABULARY.entry_places)})"
_STATES: Final = rf"(?:as )?(?:{any_of(VOCABULARY.ticked_states)})"
_ENTRY: Final = r"(?:(?:the|my|our) )?(.+?)"
_TICKS: Final = any_of(VOCABULARY.ticking_verbs)
_FORMS: Final = (
    (rf"{LEAD}(?:{_TICKS})(?: off)? {_ENTRY}(?: {_OFF} {_PLACE})? {_STATES}{TAIL}", True, False),
    (rf"{LEAD}(?:{_TICKS}) {_ENTRY} {_STATES} {_OFF} {_PLACE}{TAIL}", True, False),
    (rf"{LEAD}(?:tick|check|cross) off {_ENTRY}(?: {_OFF} {_PLACE})?{TAIL}", True, True),
    (rf"{LEAD}(?:tick|check|cross) {_ENTRY} off(?: {_PLACE})?{TAIL}", True, True),
    (rf"{LEAD}(?:{any_of(VOCABULARY.striking_verbs)}) {_ENTRY} (?:from|off|out of) {_PLACE}{TAIL}", False, True),
)
_PATTERNS: Final = tuple((re.compile(form, _FLAGS), ticks, strikes) for form, ticks, strikes in _FORMS)
"""How it is said, whether that ticks and whether it takes out."""

_NO_ENTRY: Final = frozenset(
    (
        *VOCABULARY.leaning_words,
        *VOCABULARY.whole_nouns,
        *VOCABULARY.unpicked_nouns,
        *VOCABULARY.number_words,
        *VOCABULARY.line_places,
        *(word for words in VOCABULARY.picks.values() for word in words),
        *VOCABULARY.untold_entries,
    )
)
"""Words by which an entry is told otherwise than by what it says, and such as part several."""

_QUOTED: Final = re.compile(
    rf"(?:(?:{any_of(VOCABULARY.entry_nouns)}) )?(?:[\"“„]([^\"“”„]+)[\"”“]|'((?:[^'\"“”„]|(?<=[A-Za-z])'(?=[A-Za-z]))+)')"
)
"""One text in quotes, in which a single one stands only inside a word."""

_BOX: Final = re.compile(r"[ \t]*(?:[-*+] )?\[([ xX])\]")
_BULLET: Final = re.compile(r"[ \t]*(?:[-*+] |\[[ xX]\])")
_MOST_WORDS: Final = 8
"""Words of an entry without a bullet. More are a sentence of a text."""


def mark_in(wish: str) -> ListMark | None:
    """What a wish ticks or takes out of a list; None for any other wish."""
    text = trim(wish)
    for form, ticks, strikes in _PATTERNS:
        if (found := form.search(text)) is not None and (entry := _entry_in(found[1])):
            return ListMark(entry, ticks, strikes, (found[2] or "").lower(), found[3] or "")
    return None


def marked_lines(mark: ListMark, text: str) -> Sequence[str]:
    """The entries of a text that the words can mean; of those to be ticked the open ones, if there are any."""
    wanted = set(terms_in(mark.entry))
    lines = [line for line in lines_of(text) if _is_entry(line) and wanted <= set(terms_in(line))]
    alike = [line for line in lines if set(terms_in(line)) == wanted] or lines
    opened = [line for line in alike if (box := _BOX.match(line)) and box[1] == " "]
    return opened if mark.ticks and opened else alike


def mark_change(mark: ListMark, line: str, text: str) -> LineChange | None:
    """The change of one of its lines: its box ticked, or the line gone; None where it has no box, or is a part of another."""
    if mark.ticks and _BOX.match(line):
        return once(line, line.replace("[ ]", "[x]", 1), text)
    if not mark.strikes:
        return None
    rows = text.split("\n")
    at = rows.index(line) if line in rows else 0
    if at < len(rows) - 1:
        return once(f"{line}\n", "", text)
    # The last line has no end of its own, so that of the one before it goes.
    old = "\n".join(rows[at - 1 :])
    return LineChange(old, rows[at - 1]) if at and text.count(old) == 1 else None


def _entry_in(said: str) -> str:
    """What an entry says by these words: what stands in quotes as it is, else the words; empty where they tell it otherwise."""
    quoted = _QUOTED.fullmatch(said)
    if quoted is not None:
        text = quoted[1] or quoted[2]
        return text if terms_in(text) else ""
    return said if _tells(said) else ""


def _tells(entry: str) -> bool:
    """Whether the words say what the entry says."""
    words = words_of(entry)
    names_thing = any(is_thing(entry[word.start : word.end]) for word in words)
    is_told = bool(terms_in(entry)) and "," not in entry and not QUOTED.search(entry)
    return is_told and not names_thing and _NO_ENTRY.isdisjoint(word.bare for word in words)


def _is_entry(line: str) -> bool:
    return bool(_BULLET.match(line)) or (len(words_of(line)) <= _MOST_WORDS and not line.startswith("#"))
