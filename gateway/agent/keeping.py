"""What goes into a file that may be there already: it is added at its end, and nothing is written over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.carrying import Carrying, able_for, carried
from gateway.agent.further import found_files, searcher_among
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.outcomes import Carry
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import QUOTED, words_of

_ENDED: Final = re.compile(rf"\b(?:{any_of(VOCABULARY.end_places)})\b", re.IGNORECASE | re.ASCII)
_WHOLE: Final = re.compile(rf"\b(?:{any_of(VOCABULARY.whole_verbs)})\b|\bput\b(?!.* (?:on|onto) )", re.IGNORECASE | re.ASCII)
"""Words of a wish for which a file may be written anew. Whatever else is said of a text that goes into a file, the file keeps
what it has."""

_LEADS: Final = rf"(?:{any_of(VOCABULARY.entry_links)}|under|at)(?: [^ ]+){{0,3}}? [\"'`]?"
_WRITERS: Final = frozenset({"write", "save"})
_REPLACING: Final = frozenset({"overwrite", "overwriting", "replace", "replacing"})


def as_addition(call: ProposedCall, wish: str, tools: Sequence[Tool]) -> ProposedCall:
    """A call that would write all of a file as one that adds to it, where the words of a wish ask for no more, such as "put milk
    on a.txt". A file that is not there is made by it, too."""
    adder = able_for(Carry.ADD, tools)
    paths = [value for name, value in call.arguments.items() if slot_of(name) is Slot.PATH]
    others = [value for name, value in call.arguments.items() if slot_of(name) is not Slot.PATH]
    is_whole = not _WRITERS.isdisjoint(parts_of(call.name)) and len(paths) == len(others) == 1
    said = QUOTED.sub(" ", wish)
    words = {word.bare for word in words_of(said)}
    if adder is None or not is_whole or not words.isdisjoint((*_REPLACING, "from", "instead")):
        return call
    is_placed = re.search(rf"\b{_LEADS}{re.escape(str(paths[0]))}(?!\w)", wish, re.IGNORECASE | re.ASCII) is not None
    if not _ENDED.search(said) and (_WHOLE.search(said) is not None or not is_placed):
        return call
    return ProposedCall(adder[0], {adder[1]: paths[0], adder[2]: others[0]})


def kept_call(carrying: Carrying, value: str, wish: str, calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> ProposedCall:
    """The second half of a wish with what was found as its data; before it would write a file, the search that tells whether it
    is there, where that runs without a question. `calls` are those of the wish so far."""
    call, look, adder = carried(carrying, value), _look_for(carrying, tools), carrying.adder
    is_replaced = not _REPLACING.isdisjoint(word.bare for word in words_of(wish))
    if carrying.wish.carry is not Carry.KEEP or adder is None or look is None or is_replaced:
        return call
    looked = next((each for each in calls if _is_same(each, look)), None)
    if looked is None:
        return look
    target = carrying.wish.target.removeprefix("./")
    if target not in found_files(looked, tools):
        return call
    return ProposedCall(adder[0], {adder[1]: carrying.wish.target, adder[2]: call.arguments[carrying.rest]})


def without_look(carrying: Carrying, calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> list[ToolMessage]:
    """The calls without the search for the file in which something is kept."""
    look = _look_for(carrying, tools)
    return [each for each in calls if look is None or not _is_same(each, look)]


def _look_for(carrying: Carrying, tools: Sequence[Tool]) -> ProposedCall | None:
    """The search for the name of that file."""
    by_names = [tool for tool in tools if "*" in tool["description"] and tool.get("permission") == "auto"]
    searcher = searcher_among(by_names)
    name = carrying.wish.target.rpartition("/")[2]
    return None if searcher is None or not name else ProposedCall(searcher[0], {searcher[1]: f"*{name}*"})


def _is_same(message: ToolMessage, call: ProposedCall) -> bool:
    return message.call["name"] == call.name and message.call["arguments"] == call.arguments
