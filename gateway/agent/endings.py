"""Which files have an ending, where a wish asks for just that: "how many pdf files are there?", "are there any jpgs in photos/?".

A small model takes the ending for a folder, and cannot count. The search for names tells all of them, and that there is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.browser import trim
from gateway.agent.copy import Copy
from gateway.agent.excerpts import excerpt_of
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.passages import lines_of
from gateway.agent.vocabulary import VOCABULARY, any_of

_FILES: Final = any_of((*VOCABULARY.counted_nouns["file"], *VOCABULARY.document_nouns, "photos", "pictures", "images"))
_ENDINGS: Final = any_of((*VOCABULARY.file_endings, "log"))
"""A log is told by its ending too, and "log" is as well a word that names have."""

_HAVING: Final = f"(?: (?:{any_of(VOCABULARY.ending_tails)}))*"
_ASKED: Final = re.compile(
    rf"^(?:(?:{any_of(VOCABULARY.fillers)}),? )*(?:{any_of(VOCABULARY.ending_asks)})"
    rf"(?: (?:{any_of(VOCABULARY.plural_articles)}))? "
    rf"(?:(?:{_FILES}) (?:{any_of(VOCABULARY.ending_links)}) )?(?:\*?\.)?({_ENDINGS})s?(?: (?:{_FILES}))?"
    rf"{_HAVING}(?: (?:{any_of(VOCABULARY.inside_words)}) (?:(?:{any_of(VOCABULARY.plural_articles)}) )?([^ ?!,;]+?)/?"
    rf"(?: (?:folder|directory))?)?{_HAVING}[.?!]*$",
    re.IGNORECASE | re.ASCII,
)
_EVERYWHERE: Final = frozenset(VOCABULARY.everywhere)
_STOPPED: Final = "…["
"""How the last line begins where a search did not see all."""


@dataclass(frozen=True, slots=True)
class SoughtEnding:
    """The ending of files that are asked for, and the folder, empty for all."""

    ending: str
    folder: str


def ending_in(wish: str) -> SoughtEnding | None:
    """The ending that a wish asks for; None for any other wish."""
    found = _ASKED.match(trim(wish))
    if found is None:
        return None
    folder = found[2] or ""
    return SoughtEnding(found[1].lower(), "" if folder.lower() in _EVERYWHERE else folder)


def ending_call(sought: SoughtEnding, search: ProposedCall) -> ProposedCall:
    """The search for the names: that for words, with a pattern in the place of them."""
    arguments = {name: f"*.{sought.ending}" if value == sought.ending else value for name, value in search.arguments.items()}
    return ProposedCall(search.name, arguments)


def finds_names(name: str, tools: Sequence[Tool]) -> bool:
    """Whether a tool that searches takes a pattern of names."""
    return any(tool["name"] == name and "*" in tool["description"] for tool in tools)


def answer_ending(wish: str, message: ToolMessage, copy: Copy) -> str | None:
    """How many files have the ending, and which; None where that is not asked, or not all were seen."""
    sought = ending_in(wish)
    if sought is None or f"*.{sought.ending}" not in message.call["arguments"].values():
        return None
    lines = lines_of(message.result["content"])
    named = [line for line in lines if line.lower().endswith(f".{sought.ending}")]
    if any(line.startswith(_STOPPED) for line in lines):
        return None
    if not named:
        return copy.say("endedNone", ending=sought.ending)
    count = str(len(named))
    said = copy.say("endedOne" if len(named) == 1 else "ended", count=count, ending=sought.ending)
    shown = excerpt_of("\n".join(named)).text
    return f"{said}\n\n{shown}"
