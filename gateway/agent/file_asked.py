"""A message that has one file read, and then asks for something out of it: "open a.log and tell me how many calls failed".

It is one piece of work. Asked to take it apart, a small model makes two wishes of it, of which the second names no file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gateway.agent.acts import READING, asked_acts, bare_thing, is_thing
from gateway.agent.browser import trim
from gateway.agent.lane import ProposedCall
from gateway.agent.line_places import lines_asked
from gateway.agent.messages import Tool
from gateway.agent.reading import is_file, reader_among
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import words_of


@dataclass(frozen=True, slots=True)
class FileAsked:
    """The file that is read, and what is asked of it."""

    file: str
    asked: str


_LEAD: Final = rf"(?:(?:{any_of({*VOCABULARY.fillers, *WISH_WORDS.fillers, *WISH_WORDS.openers})})[ ,]+)*"
_OPENS: Final = any_of((*VOCABULARY.opening_verbs, *VOCABULARY.viewing_verbs, *VOCABULARY.looking_phrases))
_JOINTS: Final = any_of((*WISH_WORDS.joiners, *WISH_WORDS.sequels))
_READ_FIRST: Final = re.compile(
    rf"{_LEAD}(?:{_OPENS}) (?:(?:{any_of(WISH_WORDS.sharing)}) )?(?:the )?(?:file )?([^ \n]+)"
    rf"(?: (?={_JOINTS})|(?<=[,;.])[ \n])(?:(?:{_JOINTS}),? )*{_LEAD}(.+)",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)
_ASKING: Final = frozenset((*WISH_WORDS.telling, *WISH_WORDS.asking, *VOCABULARY.explaining_verbs))
_VERBS: Final = frozenset(WISH_WORDS.imperatives)
_JOINED: Final = frozenset((*WISH_WORDS.joiners, "then"))
_KEEPING: Final = frozenset((*VOCABULARY.keeping_verbs, *VOCABULARY.placing_verbs))


def file_asked(message: str) -> FileAsked | None:
    """The file that a message has read, and what it asks of it; None where it asks for anything else."""
    found = _READ_FIRST.fullmatch(trim(message))
    file = bare_thing(found[1].rstrip(",;:")) if found else ""
    if found is None or not is_thing(file) or not is_file(file):
        return None
    asked = found[2]
    words = words_of(asked)
    bare = [word.bare for word in words]
    # A further file, or a further wish, would be lost.
    is_further = any(is_thing(asked[word.start : word.end]) for word in words) or any(
        one in _JOINED and two in _VERBS for one, two in pairwise(bare)
    )
    is_read = all(each.act == READING for each in asked_acts(message)) and _KEEPING.isdisjoint(bare)
    return FileAsked(file, asked) if bare[0] in _ASKING and is_read and not is_further else None


def call_for_file(wish: str, tools: Sequence[Tool]) -> ProposedCall | None:
    """The call that reads the file of which a wish asks something more, or some lines by their place; None for any other wish."""
    reader, asked = reader_among(tools), file_asked(wish) or lines_asked(wish)
    return None if reader is None or asked is None else ProposedCall(reader[0], {reader[1]: asked.file})
