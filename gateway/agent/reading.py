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
    readers = [tool for tool in tools if tool["category"] == "read" and READING in parts_of(tool["name"])]
    if len(files) != 1 or len(readers) != 1 or not _is_file(files[0]) or not asks_about_content(wish):
        return None
    required = readers[0]["paramSchema"].get("required", [])
    if len(required) != 1 or slot_of(required[0]) is not Slot.PATH:
        return None
    return ProposedCall(readers[0]["name"], {required[0]: files[0]})


def _is_file(name: str) -> bool:
    return not name.endswith("/") and "@" not in name and "://" not in name
