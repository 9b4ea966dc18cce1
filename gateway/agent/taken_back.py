"""A wish that takes back what the turn before it added to a file: "delete it" after "add tea to list.txt" means the entry.

Of such a wish a small model deletes the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.browser import trim
from gateway.agent.carrying import able_for
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.outcomes import Carry
from gateway.agent.reading import is_file
from gateway.agent.taking import changes_among
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS

_FLAGS: Final = re.IGNORECASE | re.ASCII
_LEADS: Final = (
    rf"(?:(?:{any_of((*VOCABULARY.correcting_words, *VOCABULARY.fillers, *VOCABULARY.cues, *VOCABULARY.follow_leads))})[,.!:]? )*"
)
_END: Final = rf"(?:,? (?:{any_of((*WISH_WORDS.tails, *VOCABULARY.repeating_tails))}))*[?.!]*$"
_TAKEN: Final = rf"(?:it|that|this|(?:that|this|the) (?:one|{any_of(VOCABULARY.entry_nouns)}))"
_LOOSE: Final = frozenset(VOCABULARY.loose_verbs)
"""Verbs that take something out only where they say so: "take it off", and not "take it"."""

_TAKES: Final = any_of({*VOCABULARY.discarding_verbs, *VOCABULARY.striking_verbs} - _LOOSE)
_OFF: Final = rf" (?:{any_of(VOCABULARY.taken_ends)})"
_BACK: Final = re.compile(
    rf"^{_LEADS}(?:(?:{_TAKES}) {_TAKEN}(?:{_OFF})?|(?:{any_of(_LOOSE)}) {_TAKEN}{_OFF}|"
    rf"(?:{any_of(VOCABULARY.undoing_phrases)})){_END}",
    _FLAGS,
)
_BULLET: Final = re.compile(r"[ \t]*(?:[-*+] )?(?:\[[ xX]\] )?")
_ENTRY: Final = re.compile('[^"“”„`\n]+')
_PARTS: Final = frozenset(VOCABULARY.part_changers)
"""What the name of a tool says that changes a part of a file."""


def entry_taken_back(text: str, messages: Sequence[Message], tools: Sequence[Tool]) -> str:
    """The wish to take the one line out of its file that the last turn added there; empty for any other wish."""
    adder = able_for(Carry.ADD, tools)
    if adder is None or not messages or _BACK.search(text) is None:
        return ""
    turn_id = messages[-1].turn_id
    calls = [each for each in _went_well(messages) if each.turn_id == turn_id]
    done = changes_among(calls, tools)
    if len(done) != 1 or done[0].call["name"] != adder[0]:
        return ""
    file, added = (str(done[0].call["arguments"].get(name)) for name in adder[1:])
    if any(file not in each.call["arguments"].values() for each in calls[calls.index(done[0]) :]):
        # What was looked at after it may be meant as well.
        return ""
    entry = trim(_BULLET.sub("", trim(added), count=1))
    return f'remove "{entry}" from {file}' if is_file(file) and " " not in file and _ENTRY.fullmatch(entry) else ""


def changed_inside(path: str, messages: Sequence[Message], tools: Sequence[Tool]) -> bool:
    """Whether the newest change of the conversation was one of a part of this file: what "it" is then, is in doubt."""
    last = next(reversed(changes_among(_went_well(messages), tools)), None)
    if last is None or _PARTS.isdisjoint(parts_of(last.call["name"])):
        return False
    return path in [value for name, value in last.call["arguments"].items() if slot_of(name) is Slot.PATH]


def _went_well(messages: Sequence[Message]) -> list[ToolMessage]:
    return [each for each in messages if isinstance(each, ToolMessage) and each.result["outcome"] == "ok"]
