"""Which file a question is about, and the call that reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.acts import READING, asked_acts, bare_thing, is_thing
from gateway.agent.exclusions import exclusion_in
from gateway.agent.found import listed_paths
from gateway.agent.intents import has_cue
from gateway.agent.lane import ProposedCall
from gateway.agent.log_levels import lines_of_level
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.questions import asks_about_content, asks_for_whole
from gateway.agent.timed import when_in
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import is_spaced_name, words_of

_OPENING: Final = frozenset({"open", "read"})
_PLACES: Final = frozenset(VOCABULARY.place_questions)

_TOLD: Final = frozenset(VOCABULARY.content_verbs)

_NUMBERED: Final = re.compile(r"(?:^|/)[0-9][0-9.]*\.[A-Za-z]\w*\Z", re.ASCII)
"""A name of digits with an ending: "invoices/1042.txt"."""

_BARE: Final = frozenset(VOCABULARY.bare_files)
"""Files without an ending, known by their spelling."""


def reading_for(wish: str, tools: Sequence[Tool]) -> ProposedCall | None:
    """The call that a question about one file by its name needs, where one tool can make it; None for any other wish.

    Asked to choose, a small model mostly searches for the file's name, or answers out of its head.
    """
    words = words_of(wish)
    files = list(
        dict.fromkeys(bare_thing(wish[word.start : word.end]) for word in words if is_thing(wish[word.start : word.end]))
    ) or [each for each in dict.fromkeys(bare_thing(wish[word.start : word.end]) for word in words) if each in _BARE]
    if len(files) != 1 or not is_file(files[0]):
        return None
    named = [each.act for each in asked_acts(wish) if files[0] in each.things]
    # To a name with spaces, or of digits, which no example has, a small model says that there is no such file.
    is_shown = READING in named and (is_spaced_name(files[0]) or _NUMBERED.search(files[0]) is not None)
    is_for_rows = exclusion_in(wish) is not None or when_in(wish) is not None or lines_of_level(wish) is not None
    if not (is_shown or is_for_rows or asks_about_content(wish) or asks_for_whole(wish)):
        return None
    if any(act != READING for act in named) or (is_for_rows and any(each.act != READING for each in asked_acts(wish))):
        # It is where something goes, or what is taken away.
        return None
    return _read(files[0], tools)


def ordered_reading(wish: str, tools: Sequence[Tool]) -> ProposedCall | None:
    """The call that reads the one file that a wish names behind a verb for reading, and nothing else; None for any other wish. A
    small model that was asked for one file says of the next that it does not know it."""
    asked = asked_acts(wish)
    things = list(asked[0].things) if len(asked) == 1 and asked[0].act == READING else []
    named = [word for word in words_of(wish) if is_thing(wish[word.start : word.end])]
    return _read(things[0], tools) if len(things) == len(named) == 1 and is_file(things[0]) else None


def reading_of_found(wish: str, closed: Sequence[ToolMessage], tools: Sequence[Tool]) -> ProposedCall | None:
    """The call that reads the one file that the last call found, where the wish asks for something out of it, and for the file to
    be opened where that call only listed a folder; else None.

    Shown the line that a search found, a small model takes it for the whole file. A wish for the place alone is answered by it.
    """
    found = [each for each in listed_paths(closed[-1:], tools) if not each.endswith("/")]
    is_search = bool(closed) and any(slot_of(name) is Slot.QUERY for name in closed[-1].call["arguments"])
    opens = any(each.verb in _OPENING for each in asked_acts(wish))
    if not (is_search or opens) or len(found) != 1 or not asks_about_content(wish) or _asks_for_place(wish):
        return None
    reading = _read(found[0], tools)
    is_read = reading is not None and any(each.call["arguments"] == reading.arguments for each in closed)
    return None if is_read else reading


def files_read(wish: str, last: ToolMessage, reader: tuple[str, str]) -> list[str]:
    """The file that the last call read, where a wish asks for a part of what it says: "what does it say about insurance?". What a
    small model remembers of it is no answer."""
    is_told = not _TOLD.isdisjoint(word.bare for word in words_of(wish)) and asks_about_content(wish)
    is_read = last.call["name"] == reader[0] and last.result["outcome"] == "ok"
    return [last.call["arguments"][reader[1]]] if is_told and is_read else []


def _asks_for_place(wish: str) -> bool:
    """Whether it is answered by naming a file: "where is Ana mentioned?", "which note is about the boat?"."""
    words = words_of(wish)
    return bool(words) and words[0].bare in _PLACES and not has_cue(wish)


def _read(file: str, tools: Sequence[Tool]) -> ProposedCall | None:
    """The call that reads a file, where one tool can make it."""
    reader = reader_among(tools)
    return None if reader is None else ProposedCall(reader[0], {reader[1]: file})


def reader_among(tools: Sequence[Tool]) -> tuple[str, str] | None:
    """The one tool that reads a file, and the argument that is its path. Of two it is not clear which is meant."""
    readers = [(tool["name"], path) for tool in tools if (path := _path_of(tool)) is not None]
    return readers[0] if len(readers) == 1 else None


def _path_of(tool: Tool) -> str | None:
    """The one argument that a reading tool needs, where that is a path."""
    required = tool["paramSchema"].get("required", [])
    is_reading = tool["category"] == "read" and READING in parts_of(tool["name"])
    return required[0] if is_reading and len(required) == 1 and slot_of(required[0]) is Slot.PATH else None


def is_file(name: str) -> bool:
    """Whether the name of a thing can be that of a file."""
    return not name.endswith("/") and "@" not in name and "://" not in name


def is_path(line: str) -> bool:
    """Whether a line of a search is a file's name and nothing else."""
    return is_spaced_name(line) or (is_thing(line) and " " not in line)
