"""A wish for what another one of the same message has just brought about: "list mail then open the oldest", "add tea to a.txt and
show me the list". It names no file, so a small model says that nothing was asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.assigned import LEAD
from gateway.agent.browser import trim
from gateway.agent.further import lister_among
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.names import Slot, slot_of
from gateway.agent.picking import PICK_OF, picked_of
from gateway.agent.reading import reader_among
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS

_FLAGS: Final = re.IGNORECASE | re.ASCII
_SHOWS: Final = (
    rf"{LEAD}(?:{any_of((*VOCABULARY.opening_verbs, *VOCABULARY.viewing_verbs))})(?: (?:{any_of(WISH_WORDS.sharing)}))? "
    rf"(?:(?:{any_of(VOCABULARY.plural_articles)}) )?"
)
_END: Final = rf"(?: (?:{any_of((*WISH_WORDS.tails, *WISH_WORDS.adverbs))}))*[.!?]*$"
_PICKED: Final = re.compile(
    rf"{_SHOWS}({any_of(PICK_OF)})(?: (?:{any_of(VOCABULARY.shown_picks)}))?{_END}", re.IGNORECASE | re.ASCII
)
_CHANGED: Final = re.compile(
    rf"{_SHOWS}(?:(?:{any_of(VOCABULARY.passing_words)}) )?"
    rf"(?:{any_of((*VOCABULARY.list_nouns, *VOCABULARY.shown_lists))})(?: to me)?{_END}",
    _FLAGS,
)


def reading_of_done(wish: str, closed: Sequence[ToolMessage], tools: Sequence[Tool]) -> ProposedCall | None:
    """The call that reads the file which is meant of those that were just listed, or that was just changed; None for others."""
    reader, lister = reader_among(tools), lister_among(tools)
    done = [each for each in closed if each.result["outcome"] == "ok"]
    if reader is None or not done:
        return None
    last, picked = done[-1], _PICKED.search(trim(wish))
    is_listed = lister is not None and last.call["name"] == lister[0]
    if picked is not None:
        file = picked_of(PICK_OF[picked[1].lower()], wish, last) if is_listed else None
        return None if file is None else ProposedCall(reader[0], {reader[1]: file})
    changes = {tool["name"] for tool in tools if tool["category"] == "write"}
    paths = [value for name, value in last.call["arguments"].items() if slot_of(name) is Slot.PATH]
    is_meant = last.call["name"] in changes and len(paths) == 1 and _CHANGED.search(trim(wish)) is not None
    return ProposedCall(reader[0], {reader[1]: paths[0]}) if is_meant else None
