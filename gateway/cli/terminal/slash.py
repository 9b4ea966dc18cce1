"""What a line at the prompt asks for: words for the model, or a command for the terminal, which no model gets to see."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import orjson

QUIT: Final = ":quit"

LEAVING: Final = frozenset({QUIT, "exit", "quit", ":q", ":exit"})
"""Words that nobody says to a model and everybody types to leave."""

USAGES: Final = (
    ("/tools [WORDS]", "the tools of this conversation by source, and what each needs; with words, those that have them"),
    ("/more", "the next tools of the list"),
    ("/inspect NAME", "one tool with its arguments"),
    ("/call NAME {…}", "call a tool yourself, through the same gate and without the model"),
    ("/result [NUMBER]", "the whole of a result; without a number, of the latest"),
    ("/model [NAME]", "the models there are and which one answers; with a name, that one does from now on"),
    ("/image FILE", "attach an image of yours, for a model that sees"),
    ("/grants", "the permissions that hold for several calls"),
    ("/conversations", "your latest conversations; `--resume ID` goes on with one"),
    ("/help", "this list"),
    ("/exit", "leave; so do :quit, exit and Ctrl-D"),
)

_QUOTES: Final = "\"'`"
_NUMBER: Final = re.compile(r"[0-9]{0,9}")
_COMMAND: Final = re.compile(r"/([a-z]+)(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TypedMessage:
    """Words for the model."""

    text: str


@dataclass(frozen=True, slots=True)
class PlainCommand:
    """A command that takes nothing after it."""

    word: str


@dataclass(frozen=True, slots=True)
class ToolsCommand:
    """Show the tools that have these words; all of them without any."""

    words: str


@dataclass(frozen=True, slots=True)
class InspectCommand:
    """Show one tool."""

    name: str


@dataclass(frozen=True, slots=True)
class CallCommand:
    """Call a tool."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelCommand:
    """Have another model answer; None to see which there are."""

    name: str | None


@dataclass(frozen=True, slots=True)
class ResultCommand:
    """Show all of a result; None for the latest."""

    number: int | None


@dataclass(frozen=True, slots=True)
class ImageCommand:
    """Attach an image."""

    path: str


@dataclass(frozen=True, slots=True)
class CommandMistake:
    """No command. `why` is a sentence for the person."""

    why: str


Command: TypeAlias = (
    PlainCommand | ToolsCommand | InspectCommand | CallCommand | ModelCommand | ResultCommand | ImageCommand | CommandMistake
)
Typed: TypeAlias = TypedMessage | Command


def read_typed(line: str) -> Typed:
    """Only a known word right after the slash makes a command: `/etc/hosts` is part of a sentence."""
    text = line.strip()
    if text in LEAVING:
        return PlainCommand("exit")
    found = _COMMAND.fullmatch(text)
    if found is None:
        return TypedMessage(text)
    word, rest = found[1], (found[2] or "").strip()
    match word:
        case "tools":
            return ToolsCommand(rest)
        case "more" | "grants" | "conversations" | "help" | "exit":
            return PlainCommand(word) if not rest else CommandMistake(f"`/{word}` takes nothing after it.")
        case "inspect":
            return InspectCommand(rest) if len(rest.split()) == 1 else CommandMistake("Which tool? `/inspect NAME`")
        case "call":
            return _read_call(rest)
        case "image":
            path = rest[1:-1] if len(rest) > 2 and rest[0] == rest[-1] and rest[0] in _QUOTES else rest
            return ImageCommand(path) if path else CommandMistake("Which image? `/image FILE`")
        case "model":
            return ModelCommand(rest or None)
        case "result" if _NUMBER.fullmatch(rest):
            return ResultCommand(int(rest) if rest else None)
        case "result":
            return CommandMistake("Which result? `/result NUMBER`")
        case _:
            return CommandMistake(f"There is no command `/{word}`. `/help` shows what there is.")


def _read_call(rest: str) -> Typed:
    name, _, json = rest.partition(" ")
    if not name:
        return CommandMistake("Which tool? `/call NAME {…}`")
    try:
        given: Any = orjson.loads(json.strip() or "{}")
    except orjson.JSONDecodeError:
        given = None
    if not isinstance(given, dict):
        return CommandMistake('The arguments must be one JSON object, like `{"path": "notes"}`.')
    return CallCommand(name, cast("dict[str, Any]", given))
