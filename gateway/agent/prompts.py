"""The prompts of small models.

Their words stand in loop/prompts.json, which `words` is everywhere here, and decide how often a call is right, so they
change only together with a measurement. What comes before the conversation depends on nothing but the words and the tools, so
that the model server can keep it evaluated: what the loops send and what is warmed at start must be the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from gateway.agent.browser import SPACE, as_json, trim
from gateway.agent.budget import beginning
from gateway.agent.examples import with_examples
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.mistakes import MISTAKES
from gateway.agent.ports import ChatMessage
from gateway.agent.provenance import describe_observation, neutralise
from gateway.agent.questions import asks_about_content
from gateway.agent.render import fill, first_sentence, signature_of

Words: TypeAlias = Mapping[str, Any]
"""prompts.json."""

_BROKEN_LINE = re.compile(f"[`{SPACE}]+")


def action_prefix(tools: Sequence[Tool], words: Words) -> list[ChatMessage]:
    """Everything before the conversation in the prompt that picks an action: tools, and examples of those that are here."""
    action = words["action"]
    return [
        {"role": "system", "content": system_text(action["opening"], action["closing"], tools, words)},
        *shots_of(tools, words),
    ]


def system_text(opening: str, closing: str, tools: Sequence[Tool], words: Words) -> str:
    """The tools, a line each, between these words."""
    return "\n".join([opening, *(_line_of(tool, words["action"]["descriptions"]) for tool in tools), closing])


def abilities_of(tools: Sequence[Tool], words: Words) -> str:
    """What these tools do, for a person to read: the beginning of each one's description, as one sentence's end."""
    known: Mapping[str, str] = words["action"]["descriptions"]
    told = [first_sentence(known.get(tool["name"], tool["description"])) for tool in tools[: LIMITS.abilities_told]]
    shortened = [beginning(each.removesuffix("."), LIMITS.ability_characters) for each in told]
    spoken = [f"{each[:1].lower()}{each[1:]}" for each in shortened if each]
    return f"{', '.join(spoken[:-1])} and {spoken[-1]}" if len(spoken) > 1 else "".join(spoken)


def shots_of(tools: Sequence[Tool], words: Words) -> list[ChatMessage]:
    """The examples of one action each, as messages."""
    messages: list[ChatMessage] = []
    for shot in with_examples(_fitting(words["action"]["shots"], {tool["name"] for tool in tools}), tools):
        messages.append({"role": "user", "content": shot["user"]})
        messages.append({"role": "assistant", "content": as_json(shot["reply"])})
    return messages


def _fitting(shots: Sequence[Mapping[str, Any]], names: Collection[str]) -> list[Mapping[str, Any]]:
    """The shots that show no tool, or one that is here."""
    return [shot for shot in shots if "tool" not in shot["reply"] or shot["reply"]["tool"] in names]


def report_prompt(question: str, message: ToolMessage, body: str, words: Words) -> list[ChatMessage]:
    """The prompt that words a result. No tool can be called from here, whatever the result says."""
    report = words["report"]
    messages: list[ChatMessage] = [{"role": "system", "content": report["system"]}]
    for shot in report["shots"]:
        framed = fill(report["frame"], shot.get)
        messages += {"role": "user", "content": framed}, {"role": "assistant", "content": shot["reply"]}
    outcome = message.result["outcome"]
    asked = {"question": neutralise(question), "tool": message.call["name"], "outcome": outcome, "result": neutralise(body)}
    return [*messages, {"role": "user", "content": fill(report["frame"], asked.get)}]


def fixed_report(message: ToolMessage, wish: str, words: Words) -> str | None:
    """A sentence that is always true of a finished call, for tools whose results a small model words wrongly: the result itself
    is shown beside it. None where the model's words are better, and where the wish asks for something out of the result."""
    name = message.call["name"]
    sentence: str | None = words["report"]["fixed"].get(name)
    if sentence is None or message.result["outcome"] != "ok":
        return None
    if name in words["report"]["answering"] and asks_about_content(wish):
        return None
    return fill(sentence, lambda name: _inline(message.call["arguments"].get(name)))


def describe_mistake(message: ToolMessage) -> str:
    """What a model is told about a call that it got wrong."""
    return fill(MISTAKES.not_accepted, {"tool": message.call["name"], "why": describe_observation(message.result)}.get)


def _line_of(tool: Tool, described: Mapping[str, str]) -> str:
    return signature_of(tool["name"], described.get(tool["name"]) or tool["description"], tool["paramSchema"])


def _inline(value: Any) -> str:
    """An argument as it stands in a sentence between backticks."""
    text = value if isinstance(value, str) else as_json("" if value is None else value)
    return trim(_BROKEN_LINE.sub(" ", text))
