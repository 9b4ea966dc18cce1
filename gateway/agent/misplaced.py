"""A file or a folder that is not where a call looked: its name is searched for, and the one place that has it is looked at.

People write `Reports` for `reports`, `todo.txt` for `notes/todo.txt`, and a small model takes a file for a folder. Looking is all
that follows: what writes or deletes is told that there is no such file, and goes nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.agent.copy import Copy
from gateway.agent.further import found_files, lister_among, searcher_among, spellings
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.reading import reader_among

_WILD: Final = frozenset("*?[")
"""Marks that stand for other letters in a search for names."""

_SEARCHED: Final = 2
"""Calls until the name has been searched for: the one that failed, and the search."""


def look_again(calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> ProposedCall | None:
    """What follows a look that failed: a search for the name, then a look at the one place that has it. None for other calls."""
    name = _missed_name(calls, tools)
    if not name or len(calls) > _SEARCHED:
        return None
    if len(calls) < _SEARCHED:
        searcher = searcher_among([tool for tool in tools if "*" in tool["description"]])
        return None if searcher is None else ProposedCall(searcher[0], {searcher[1]: f"*{_surest(name)}*"})
    missed, places = calls[0].call, _places(name, calls, tools)
    return places[0] if len(places) == 1 and places[0] != ProposedCall(missed["name"], missed["arguments"]) else None


def without_miss(calls: Sequence[ToolMessage]) -> Sequence[ToolMessage]:
    """The calls of an action that tell of what was asked: not the look that failed where another followed, nor the search."""
    is_missed = len(calls) >= _SEARCHED and calls[0].result["outcome"] == "executionError"
    return (calls[_SEARCHED:] or calls[:1]) if is_missed else calls


def name_places(calls: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy) -> str | None:
    """What the loop says where several places have the name; None elsewhere."""
    name = _missed_name(calls, tools)
    places = _places(name, calls, tools) if name and len(calls) == _SEARCHED else []
    names = ", ".join(f"`{path}`" for each in places for path in each.arguments.values())
    return copy.say("severalNamed", query=name, names=names) if len(places) > 1 else None


def _missed_name(calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> str:
    """The last part of the path at which the first of these calls looked in vain; empty where there is none to search for."""
    if not calls or calls[0].result["outcome"] != "executionError":
        return ""
    looks = dict(each for each in (reader_among(tools), lister_among(tools)) if each is not None)
    call = calls[0].call
    given: Mapping[str, Any] = call["arguments"]
    path = given.get(looks.get(call["name"], ""))
    name = path.rstrip("/").rpartition("/")[2] if isinstance(path, str) else ""
    return "" if name.strip(".") == "" or not _WILD.isdisjoint(name) else name


def _places(name: str, calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> list[ProposedCall]:
    """The looks at what has the name, of the kind that was looked for, or else of the other."""
    reader, lister = reader_among(tools), lister_among(tools)
    paths, wanted = found_files(calls[1], tools), name.lower()
    called = [[path for path in paths if each in spellings(path)] for each in (wanted, _surest(wanted))]
    files = called[0] or called[1]
    folders = list(dict.fromkeys(folder for path in paths for folder in _folders_named(wanted, path)))
    kinds = [(reader, files), (lister, folders)]
    if lister is not None and calls[0].call["name"] == lister[0]:
        kinds.reverse()
    found = [[ProposedCall(tool[0], {tool[1]: path}) for path in named] for tool, named in kinds if tool is not None]
    return next((each for each in found if each), list[ProposedCall]())


def _surest(name: str) -> str:
    """The part of a name that surely is one: of a file's with spaces the last word, for a word before it may have been none."""
    last = name.rpartition(" ")[2]
    return last if "." in last else name


def _folders_named(wanted: str, path: str) -> list[str]:
    """The folders of this name, in lower case, in which a path lies."""
    parts = path.split("/")
    return ["/".join(parts[: at + 1]) for at, part in enumerate(parts[:-1]) if part.lower() == wanted]
