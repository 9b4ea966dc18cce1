"""The prompt of models that read what they find: each result stands where it came, and after it what is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.agent.examples import make_example
from gateway.agent.intents import progress, summarise
from gateway.agent.messages import AssistantMessage, Call, Message, Tool, ToolMessage, UserMessage
from gateway.agent.ports import ChatMessage
from gateway.agent.prompts import Words, shots_of, system_text
from gateway.agent.provenance import frame_result
from gateway.agent.routing import as_chat

_MADE: Final = 3
"""Enough to show that one call may be all."""


def chained_prefix(tools: Sequence[Tool], words: Words) -> list[ChatMessage]:
    """Everything before the conversation: tools, examples of one action each, and some that go on until an answer."""
    chained, names = words["chained"], {tool["name"] for tool in tools}
    system = {"role": "system", "content": system_text(chained["opening"], chained["closing"], tools, words)}
    messages: list[ChatMessage] = [system, *shots_of(tools, words)]
    fitting = [each for each in chained["dialogues"] if names.issuperset(step["tool"] for step in each["steps"])]
    # Without one that ends, a small model calls one tool of a person's own after the other.
    for dialogue in fitting or [_made(tool, chained["made"]) for tool in tools[:_MADE]]:
        messages += as_dialogue(_played(dialogue), words)
    return messages


def as_dialogue(messages: Sequence[Message], words: Words) -> list[ChatMessage]:
    """Messages as the model is shown them. A result is no message of the person's: it is framed, with where it comes from, and
    followed by what is done and what is asked for now. Calls that were proposed together stand one by one."""
    prompt: list[ChatMessage] = []
    done: list[ToolMessage] = []
    together: list[str] = []
    for each in messages:
        if isinstance(each, AssistantMessage) and len(each.tool_calls) > 1:
            together = [call["id"] for call in each.tool_calls]
        elif isinstance(each, ToolMessage):
            if each.call["id"] in together:
                prompt.append(as_chat(AssistantMessage(each.turn_id, "", [each.call])))
            done.append(each)
            block = progress([summarise(one.call, one.result) for one in done], words)
            lines = [frame_result(each.call["name"], each.result), block, words["chained"]["next"]]
            prompt.append({"role": "user", "content": "\n".join(lines)})
        else:
            prompt.append(as_chat(each))
    return prompt


def _made(tool: Tool, words: Mapping[str, str]) -> Mapping[str, Any]:
    """An example of a tool that none shows: one call, and it is over."""
    example = make_example(tool)
    return {"user": example["user"], "steps": [{**example["reply"], "result": words["result"]}], "answer": words["answer"]}


def _played(dialogue: Mapping[str, Any]) -> list[Message]:
    """An example as the conversation that it is."""
    messages: list[Message] = [UserMessage("", dialogue["user"])]
    for step in dialogue["steps"]:
        call: Call = {"id": "", "name": step["tool"], "arguments": step["arguments"]}
        result = {"outcome": "ok", "content": step["result"], "trust": "untrusted", "truncated": False}
        messages += AssistantMessage("", "", [call]), ToolMessage("", call, result)
    return [*messages, AssistantMessage("", dialogue["answer"])]
