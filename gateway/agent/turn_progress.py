"""Where a turn stands: read from its messages alone, so that whoever comes in between can go on with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, cast

from gateway.agent.browser import as_json
from gateway.agent.loops import LoopDetector
from gateway.agent.messages import Message, Tool, ToolMessage, UserMessage


class StuckReason(StrEnum):
    """Why a turn cannot go on, for which the loop has words of its own."""

    UNREADABLE = "unreadable"
    """Neither a call nor an answer came, after every repair."""

    PLANNING = "planning"
    """The model only says what it would do."""

    REPEATED = "repeated"
    """It asks for what is done already."""

    LOOPING = "looping"
    """The same calls come to the same results."""

    CUT = "cut"
    """The call that it writes does not fit into one step."""

    FILTERED = "filtered"
    """Its reply was held back."""

    CAPPED = "capped"
    """The turn had as many calls as it may."""


@dataclass(frozen=True, slots=True)
class TurnProgress:
    """`message` is what the person said (the message that began the turn, and below it what they said while it went on),
    `finished` how many of the actions that were asked for are over (each ends with words), `results` what came of the calls that
    were proposed last, those left out that words have told of, `mistakes` how often the model got its call wrong in the action
    under way, and `closed` every call of the turn that has closed, in order."""

    message: str
    finished: int
    results: Sequence[ToolMessage]
    mistakes: int
    closed: Sequence[ToolMessage]

    @property
    def result(self) -> ToolMessage | None:
        """What the action under way came to, once its call has closed."""
        return next(iter(self.results), None)


_DECIDED: Final = frozenset({"ok", "deniedByUser"})


def progress_of(messages: Sequence[Message], turn_id: str) -> TurnProgress:
    """The standing of one turn."""
    message, finished, mistakes = "", 0, 0
    results: list[ToolMessage] = []
    closed: list[ToolMessage] = []
    for each in messages:
        if each.turn_id != turn_id:
            continue
        if isinstance(each, UserMessage):
            message = f"{message}\n\n{each.content}" if message else each.content
        elif isinstance(each, ToolMessage):
            closed.append(each)
            results.append(each)
            mistakes += len(results) == 1 and is_mistake(each)
        elif each.tool_calls:
            results = []
        else:
            # Of calls that were proposed together each is told of by itself.
            results = results[1:]
            finished += 1
            mistakes = sum(map(is_mistake, results[:1]))
    return TurnProgress(message, finished, results, mistakes, closed)


def is_mistake(message: ToolMessage) -> bool:
    """Whether a model got its own call wrong, so that it may try again."""
    return message.result["outcome"] in ("invalidArguments", "unknownTool")


def is_repeat(name: str, arguments: Mapping[str, Any], closed: Sequence[ToolMessage], tools: Sequence[Tool]) -> bool:
    """Whether a call was made and decided in this turn already: what changes something is never done twice nor asked for again
    after a no, and what only looks is not done twice in a row."""
    same = [
        place
        for place, each in enumerate(closed)
        if each.result["outcome"] in _DECIDED
        and each.call["name"] == name
        and _stable(each.call["arguments"]) == _stable(arguments)
    ]
    if not same:
        return False
    category = next((tool["category"] for tool in tools if tool["name"] == name), None)
    return category != "read" or same[-1] == len(closed) - 1


def is_looping(closed: Sequence[ToolMessage]) -> bool:
    """Whether these calls closed a circle."""
    detector = LoopDetector()
    noted = [detector.note(each.call["name"], _stable(each.call["arguments"]), _outcome_of(each)) for each in closed]
    return any(noted)


def label_of(closed: Sequence[ToolMessage], tools: Sequence[Tool]) -> str:
    """The tools that a turn used, in one word: `tool:write_file+list_directory`, or `words`."""
    known = {tool["name"] for tool in tools}
    names = [each.call["name"] if each.call["name"] in known else "unknown" for each in closed]
    return f"tool:{'+'.join(names)}" if names else "words"


def _outcome_of(message: ToolMessage) -> str:
    result = message.result
    return as_json([result["outcome"], result.get("reason", ""), result["content"]])


def _stable(value: Any) -> str:
    """The same text for the same value, in whatever order its members were written."""
    return as_json(_sorted(value))


def _sorted(value: Any) -> Any:
    match value:
        case Mapping():
            members = cast("Mapping[str, Any]", value)
            return {name: _sorted(members[name]) for name in sorted(members)}
        case list():
            return [_sorted(each) for each in cast("list[Any]", value)]
        case _:
            return value
