"""Names of files that a listing or a search of this conversation showed.

A tool that only reads may be given one of them. What writes or deletes may not: there a name is the person's own, for a folder
that others write to could hold any.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, cast

from gateway.agent.acts import READING
from gateway.agent.copied import CopyableStrings
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.words import is_spaced_name

_MOST: Final = LIMITS.found_names
"""More are a dump of a disk, and a grammar of them would take longer than the answer."""

_NAME: Final = re.compile(r"[^\t\r :\"'`<>|]+")
"""What a line of a listing or of a search begins with."""

_SPACED: Final = (
    re.compile(r"- ([^\t\r:\"'`<>|]+?)(?:(?<=/)| \([0-9]+ bytes\)| \(a link\))"),
    re.compile(r"([^\t\r:\"'`<>|]*[^\t\r :\"'`<>|]):[0-9]+(?:-[0-9]+)?: .*"),
)
"""Lines whose form tells where a name with spaces ends: an entry of a folder, and a line that was found."""


def found_names(messages: Sequence[Message], tools: Sequence[Tool]) -> list[str]:
    """The names at the beginnings of lines, the newest result first: as they stand, and inside the folder that was listed.

    Not those in what a reading tool gave: a file could name any other.
    """
    names: dict[str, None] = {}
    for folder, name in _lines_of(messages, tools):
        if _can_be_file(name):
            names[name] = None
            if folder and "/" not in name:
                names[f"{folder}/{name}"] = None
    return list(names)[:_MOST]


def listed_paths(messages: Sequence[Message], tools: Sequence[Tool]) -> list[str]:
    """The paths that such results showed, those of folders too, each from the top of the workspace."""
    shown = [(folder, name) for folder, name in _lines_of(messages, tools) if name.endswith("/") or _can_be_file(name)]
    paths = [f"{folder}/{name}" if folder and "/" not in name.rstrip("/") else name for folder, name in shown]
    return list(dict.fromkeys(paths))[:_MOST]


def with_found(source: CopyableStrings, found: Sequence[str]) -> CopyableStrings:
    """What a reading tool's argument may be: the person's own strings, and the names that were found."""
    return replace(source, names=list(dict.fromkeys((*source.names, *found))), files=list(dict.fromkeys((*source.files, *found))))


def _lines_of(messages: Sequence[Message], tools: Sequence[Tool]) -> list[tuple[str, str]]:
    """What each line of a listing or a search begins with, and the folder that was listed, the newest result first."""
    listing = {tool["name"] for tool in tools if tool["category"] == "read" and READING not in parts_of(tool["name"])}
    return [
        (_folder_of(message), name)
        for message in reversed(messages)
        if isinstance(message, ToolMessage) and message.result["outcome"] == "ok" and message.call["name"] in listing
        for line in cast("str", message.result["content"]).split("\n")
        if (name := _name_in(line))
    ]


def _name_in(line: str) -> str:
    """The name that a line begins with; empty where it begins with none."""
    spaced = next((found[1] for form in _SPACED if (found := form.fullmatch(line))), "")
    bare = line.removeprefix("- ")
    plain = _NAME.match(bare)
    return spaced or (bare if is_spaced_name(bare) else plain[0] if plain else "")


def _folder_of(message: ToolMessage) -> str:
    given = message.call["arguments"]
    paths = [value for name, value in given.items() if slot_of(name) is Slot.PATH and isinstance(value, str)]
    folder = paths[0].rstrip("/") if len(paths) == 1 else ""
    return "" if folder == "." else folder


def _can_be_file(name: str) -> bool:
    return "." in name.strip(".") and not name.endswith("/") and "://" not in name
