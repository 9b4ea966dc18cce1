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

_MOST: Final = LIMITS.found_names
"""More are a dump of a disk, and a grammar of them would take longer than the answer."""

_NAME: Final = re.compile(r"[^\t\r :\"'`<>|]+")
"""What a line of a listing or of a search begins with."""


def found_names(messages: Sequence[Message], tools: Sequence[Tool]) -> list[str]:
    """The names at the beginnings of lines, the newest result first: as they stand, and inside the folder that was listed.

    Not those in what a reading tool gave: a file could name any other.
    """
    listing = {tool["name"] for tool in tools if tool["category"] == "read" and READING not in parts_of(tool["name"])}
    names: dict[str, None] = {}
    for message in reversed(messages):
        if not isinstance(message, ToolMessage) or message.result["outcome"] != "ok" or message.call["name"] not in listing:
            continue
        folder = _folder_of(message)
        for line in cast("str", message.result["content"]).split("\n"):
            found = _NAME.match(line.removeprefix("- "))
            if found is not None and _can_be_file(found[0]):
                names[found[0]] = None
                if folder and "/" not in found[0]:
                    names[f"{folder}/{found[0]}"] = None
    return list(names)[:_MOST]


def with_found(source: CopyableStrings, found: Sequence[str]) -> CopyableStrings:
    """What a reading tool's argument may be: the person's own strings, and the names that were found."""
    return replace(source, names=list(dict.fromkeys((*source.names, *found))), files=list(dict.fromkeys((*source.files, *found))))


def _folder_of(message: ToolMessage) -> str:
    given = message.call["arguments"]
    paths = [value for name, value in given.items() if slot_of(name) is Slot.PATH and isinstance(value, str)]
    folder = paths[0].rstrip("/") if len(paths) == 1 else ""
    return "" if folder == "." else folder


def _can_be_file(name: str) -> bool:
    return "." in name.strip(".") and not name.endswith("/") and "://" not in name
