"""Names of files and folders in the capitals in which a listing showed them, or the person wrote them.

A small model writes `Photos` for `photos`. Only the capitals change, so that a listing can bring up no other name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.agent.copied import copyable_strings
from gateway.agent.found import listed_paths
from gateway.agent.messages import Message, Tool
from gateway.agent.names import Slot, slot_of


def spelled_as_known(arguments: Mapping[str, Any], messages: Sequence[Message], tools: Sequence[Tool]) -> dict[str, Any]:
    """The arguments of a call with their paths spelled as the conversation knows them.

    What a listing showed goes before what the person wrote. A name that stands there as it is stays, and so does one that
    stands there in two spellings.
    """
    known = (listed_paths(messages, tools), copyable_strings(messages).names)
    return {name: _spelled(value, known) if slot_of(name) is Slot.PATH else value for name, value in arguments.items()}


def _spelled(value: Any, known: Sequence[Sequence[str]]) -> Any:
    if not isinstance(value, str):
        return value
    bare = value.rstrip("/")
    for names in known:
        same = {name.rstrip("/") for name in names if name.rstrip("/").lower() == bare.lower()}
        if bare in same:
            return value
        if len(same) == 1:
            return same.pop() + value[len(bare) :]
    return value
