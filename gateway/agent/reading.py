"""Which file a question is about, and the call that reads it."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.agent.acts import READING, bare_thing, is_thing
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Tool
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.questions import asks_about_content
from gateway.agent.words import words_of


def reading_for(wish: str, tools: Sequence[Tool]) -> ProposedCall | None:
    """The call that a question about one file by its name needs, where one tool can make it; None for any other wish.

    Asked to choose, a small model mostly searches for the file's name, or answers out of its head.
    """
    words = words_of(wish)
    files = list(
        dict.fromkeys(bare_thing(wish[word.start : word.end]) for word in words if is_thing(wish[word.start : word.end]))
    )
    readers = [(tool["name"], path) for tool in tools if (path := _path_of(tool)) is not None]
    if len(files) != 1 or len(readers) != 1 or not _is_file(files[0]) or not asks_about_content(wish):
        return None
    name, path = readers[0]
    return ProposedCall(name, {path: files[0]})


def _path_of(tool: Tool) -> str | None:
    """The one argument that a reading tool needs, where that is a path."""
    required = tool["paramSchema"].get("required", [])
    is_reading = tool["category"] == "read" and READING in parts_of(tool["name"])
    return required[0] if is_reading and len(required) == 1 and slot_of(required[0]) is Slot.PATH else None


def _is_file(name: str) -> bool:
    return not name.endswith("/") and "@" not in name and "://" not in name
