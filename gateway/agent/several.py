"""What the loop says where several files may be meant, or none."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.agent.copy import Copy


def several_found(query: str, files: Sequence[str], copy: Copy) -> str:
    """What the loop says of several files of which one is meant, or of none."""
    # The stars of a name that is looked for are for the tool.
    said = query.strip("*").replace("*", " ")
    if not files:
        return copy.say("notFound", query=said)
    return copy.say("severalFound", query=said, names=_named(files))


def none_picked(files: Sequence[str], copy: Copy) -> str:
    """What it says where a listing does not tell which of its files is meant."""
    return copy.say("notPicked", names=_named(files))


def _named(files: Sequence[str]) -> str:
    return ", ".join(f"`{file}`" for file in files)
