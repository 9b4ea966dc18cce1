"""Wishes in so plain a form that the call they ask for stands in them: "move a.txt to old/", "how many files has old/?".

A small model mixes up two paths, cannot count lines, and searches for the name of a folder that it should list. Only whole wishes
of these forms are read so, and only for tools with exactly these arguments; every other wish is the model's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from gateway.agent.browser import trim
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Tool
from gateway.agent.render import fill
from gateway.agent.words import words_of

_THING: Final = r"(\"[^\"\n]+\"|'[^'\n]+'|`[^`\n]+`|“[^”\n]+”|[^ \n\"'`“]+)"
_LINE: Final = r"([1-9][0-9]{0,6})"
_ENDED: Final = re.compile(r"[^/]\.[A-Za-z0-9]+")
_QUOTES: Final = ('""', "''", "``", "“”")


def plain_call(wish: str, tools: Sequence[Tool], words: Mapping[str, Any]) -> ProposedCall | None:
    """The call that a plain wish asks for, where one of these tools takes it; None for any other. `words` is prompts.json."""
    forms = words["action"]["plainForms"]
    names = ("edit", "editIn", "editFrom", "rewriting", "lines", "count", "list", "inside", "acts")
    edit, edit_in, edit_from, whole, lines, count, listing, inside, acts = (
        _pattern(forms[name], forms["polite"], forms["end"]) for name in names
    )
    said = trim(wish)
    able = {tool["name"]: set[str](tool["paramSchema"].get("properties", {})) for tool in tools}
    if {"path", "to"} <= able.get("move_file", set()) and (moved := _moved(said, forms)) is not None:
        return moved
    if "path" in able.get("make_directory", set()) and (made := _made(said, forms)):
        return ProposedCall("make_directory", {"path": made})
    if {"path", "old", "new"} <= able.get("edit_file", set()) and (found := edit.fullmatch(said)):
        return ProposedCall("edit_file", {"path": _bare(found[3]), "old": _bare(found[1]), "new": _bare(found[2])})
    if {"path", "old", "new"} <= able.get("edit_file", set()) and (found := edit_in.fullmatch(said)):
        return ProposedCall("edit_file", {"path": _bare(found[1]), "old": _bare(found[2]), "new": _bare(found[3])})
    if {"path", "old", "new"} <= able.get("edit_file", set()) and (found := edit_from.fullmatch(said)):
        return ProposedCall("edit_file", {"path": _bare(found[1]), "old": _bare(found[2]), "new": _bare(found[3])})
    if {"path", "content"} <= able.get("write_file", set()) and (found := whole.fullmatch(said)):
        return ProposedCall("write_file", {"path": _bare(found[1]), "content": _bare(found[2])})
    if {"path", "first_line", "last_line"} <= able.get("read_file", set()) and (found := lines.fullmatch(said)):
        first, last = int(found[1]), int(found[2] or found[1])
        return ProposedCall("read_file", {"path": _bare(found[3]), "first_line": min(first, last), "last_line": max(first, last)})
    if "path" in able.get("delete_file", set()) and (dropped := _dropped(said, forms)):
        return ProposedCall("delete_file", {"path": dropped})
    if (viewed := _viewed(said, forms)) is not None and "path" in able.get(viewed.name, set()):
        return viewed
    if "limit" in able.get("read_audit", set()) and acts.fullmatch(said):
        return ProposedCall("read_audit", {})
    if "path" not in able.get("list_directory", set()):
        return None
    counted, listed = (_bare(found[1]) if (found := form.fullmatch(said)) else "" for form in (count, listing))
    held = _bare(found[1]) if (found := inside.fullmatch(said)) else ""
    # Any other folder a model tells by itself.
    spaced = held if " " in held and held.endswith("/") else ""
    folder = counted if counted.endswith("/") else listed or spaced
    return ProposedCall("list_directory", {"path": folder}) if folder and not folder.startswith("-") else None


def _moved(said: str, forms: Mapping[str, str]) -> ProposedCall | None:
    """The move that a wish asks for: up to the folder that holds all others, to a place, or into a folder."""
    top, move, place = (_pattern(forms[name], forms["polite"], forms["end"]) for name in ("top", "move", "place"))
    if (found := top.fullmatch(said)) and _ENDED.search(_bare(found[1])):
        return ProposedCall("move_file", {"path": _bare(found[1]), "to": "."})
    if found := move.fullmatch(said):
        path = _bare(found[2])
        return ProposedCall("move_file", {"path": path, "to": _target(path, found)})
    if (found := place.fullmatch(said)) and _ENDED.search(_bare(found[1])) and not _ENDED.search(_bare(found[2])):
        return ProposedCall("move_file", {"path": _bare(found[1]), "to": f"{_bare(found[2]).rstrip('/')}/"})
    return None


def _viewed(said: str, forms: Mapping[str, str]) -> ProposedCall | None:
    """The look that a wish asks for, at a file by its ending or at a folder by its slash."""
    found = _pattern(forms["view"], forms["polite"], forms["end"]).fullmatch(said)
    thing = _bare(found[1]) if found else ""
    if thing.endswith("/"):
        return ProposedCall("list_directory", {"path": thing})
    return ProposedCall("read_file", {"path": thing}) if _ENDED.search(thing) and "://" not in thing else None


def _made(said: str, forms: Mapping[str, str]) -> str:
    """The folder that a wish is to have made: called a folder, or told by the slash at its end; empty for any other wish."""
    make, place = (_pattern(forms[name], forms["polite"], forms["end"]) for name in ("make", "makePlace"))
    if found := make.fullmatch(said):
        return _bare(found[1])
    thing = _bare(found[1]) if (found := place.fullmatch(said)) else ""
    return thing if thing.endswith("/") else ""


def _dropped(said: str, forms: Mapping[str, str]) -> str:
    """The file that a wish is to have deleted, by its verb or by saying that it can go; empty for any other wish."""
    patterns = (_pattern(forms[name], forms["polite"], forms["end"]) for name in ("drop", "discard", "needless"))
    things = [_bare(found[1]) for pattern in patterns if (found := pattern.fullmatch(said))]
    return things[0] if things and _ENDED.search(things[0]) else ""


@cache
def _pattern(form: str, polite: str, end: str) -> re.Pattern[str]:
    """A form's pattern. Case and letters are taken as the browser's expressions take them."""
    source = fill(form, {"polite": polite, "end": end, "thing": _THING, "line": _LINE}.get)
    return re.compile(source, re.IGNORECASE | re.ASCII)


def said_tools(wish: str, tools: Sequence[Tool], words: Mapping[str, Any]) -> list[Tool]:
    """The tools as a small model is shown them: without those, and without those arguments, that are of use only where the wish
    has a word for them. `words` is prompts.json: by tool, groups of words, of each of which one has to be said; by argument one.

    So the prompt of every other wish stays the one that was measured.
    """
    said = {word.bare for word in words_of(wish)}
    groups: Mapping[str, Sequence[Sequence[str]]] = words["action"]["onlySaid"]
    arguments: Mapping[str, Mapping[str, Sequence[str]]] = words["action"]["argumentsOnlySaid"]
    return [
        _without({name for name, group in arguments.get(tool["name"], {}).items() if said.isdisjoint(group)}, tool)
        for tool in tools
        if all(not said.isdisjoint(group) for group in groups.get(tool["name"], ()))
    ]


def _without(names: set[str], tool: Tool) -> Tool:
    schema: Mapping[str, Any] = tool["paramSchema"]
    properties: Mapping[str, Any] = schema.get("properties", {})
    if names.isdisjoint(properties):
        return tool
    shown = {name: each for name, each in properties.items() if name not in names}
    return {**tool, "paramSchema": {**schema, "properties": shown}}


def _target(path: str, found: re.Match[str]) -> str:
    """Where a file goes. A folder is told by its word, by "into", or by a name without an ending; a file that is renamed stays in
    its folder."""
    verb, joint, to = found[1].lower(), found[3].lower(), _bare(found[5])
    if verb == "rename":
        return to if "/" in to else path[: path.rfind("/") + 1] + to
    is_folder = bool(found[4] or found[6]) or joint in ("into", "in") or _ENDED.search(to) is None
    return f"{to}/" if is_folder and not to.endswith("/") and to != "." else to


def _bare(thing: str) -> str:
    """A thing without the quotes around it, or the stop after it."""
    if len(thing) > 2 and thing[0] + thing[-1] in _QUOTES:
        return thing[1:-1]
    bare = thing.rstrip(",;:!?")
    return bare if bare == "." else bare.removesuffix(".")
