"""The prompts of small models.

Their words stand in web/src/agent/prompts.json, which `words` is everywhere here, and decide how often a call is right, so they
change only together with a measurement. What comes before the conversation depends on nothing but the words and the tools, so
that the model server can keep it evaluated: what the loops send and what is warmed at start must be the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from gateway.agent.browser import SPACE, as_json, trim
from gateway.agent.examples import first_sentence, required_of, with_examples
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.ports import ChatMessage
from gateway.agent.provenance import describe_observation, neutralise

Words: TypeAlias = Mapping[str, Any]
"""prompts.json."""

_BLANK = re.compile(r"\{(\w+)\}")
_BROKEN_LINE = re.compile(f"[`{SPACE}]+")


def action_prefix(tools: Sequence[Tool], words: Words, more: bool = False) -> list[ChatMessage]:
    """Everything before the conversation in the prompt that picks an action: tools, and examples of those that are here.

    With `more` the model is shown how to say that further actions follow.
    """
    action = words["action"]
    names = {tool["name"] for tool in tools}
    lines = [action["opening"], *(_signature_of(tool, action["descriptions"]) for tool in tools), action["closing"]]
    if more:
        lines.append(action["more"]["closing"])
    messages: list[ChatMessage] = [{"role": "system", "content": "\n".join(lines)}]
    for shot in (
        *with_examples(_fitting(action["shots"], names), tools),
        *(_fitting(action["more"]["shots"], names) if more else ()),
    ):
        reply: Mapping[str, Any] = shot["reply"]
        said = {**reply, "more": reply.get("more", False)} if more and "tool" in reply else reply
        messages.append({"role": "user", "content": shot["user"]})
        messages.append({"role": "assistant", "content": as_json(said)})
    return messages


def _fitting(shots: Sequence[Mapping[str, Any]], names: Collection[str]) -> list[Mapping[str, Any]]:
    """The shots that show no tool, or one that is here."""
    return [shot for shot in shots if "tool" not in shot["reply"] or shot["reply"]["tool"] in names]


def report_prompt(question: str, message: ToolMessage, body: str, words: Words) -> list[ChatMessage]:
    """The prompt that words a result. No tool can be called from here, whatever the result says."""
    report = words["report"]
    messages: list[ChatMessage] = [{"role": "system", "content": report["system"]}]
    for shot in report["shots"]:
        framed = _frame(shot["question"], shot["tool"], shot["outcome"], shot["result"])
        messages += {"role": "user", "content": framed}, {"role": "assistant", "content": shot["reply"]}
    asked = _frame(neutralise(question), message.call["name"], message.result["outcome"], neutralise(body))
    return [*messages, {"role": "user", "content": asked}]


def fixed_report(message: ToolMessage, words: Words) -> str | None:
    """A sentence that is always true of a finished call, for tools whose results a small model words wrongly: the result itself
    is shown beside it. None where the model's words are better."""
    sentence: str | None = words["report"]["fixed"].get(message.call["name"])
    if sentence is None or message.result["outcome"] != "ok":
        return None
    return _BLANK.sub(lambda blank: _inline(message.call["arguments"].get(blank[1])), sentence)


def describe_mistake(message: ToolMessage) -> str:
    """What a model is told about a call that it got wrong."""
    return f"{message.call['name']} was not accepted, {describe_observation(message.result)}"


def _signature_of(tool: Tool, described: Mapping[str, str]) -> str:
    """`write_file(path, content) - Write text to a file.`: needed arguments only, and a short description."""
    description = described.get(tool["name"]) or first_sentence(tool["description"])
    return f"{tool['name']}({', '.join(required_of(tool['paramSchema']))}) - {description}"


def _frame(question: str, tool: str, outcome: str, result: str) -> str:
    return f"QUESTION: {question}\nTOOL: {tool}\nOUTCOME: {outcome}\nRESULT:\n{result}"


def _inline(value: Any) -> str:
    """An argument as it stands in a sentence between backticks."""
    text = value if isinstance(value, str) else as_json("" if value is None else value)
    return trim(_BROKEN_LINE.sub(" ", text))
