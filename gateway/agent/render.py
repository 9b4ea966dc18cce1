"""How a model is shown what others wrote: tools, calls, messages and results.

Every prompt of the loop is made of these: the lanes' and the planner's differ in their words, which stand in prompts.json, and
in their order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, assert_never, cast

from gateway.agent.browser import SPACE, as_json, ordered
from gateway.agent.messages import AssistantMessage, Message, ToolMessage, UserMessage
from gateway.agent.provenance import describe_observation, neutralise

_BLANK = re.compile(r"\{(\w+)\}")
_FIRST_SENTENCE = re.compile(rf"^[^\n]*?\.(?=[{SPACE}]|\Z)")


def fill(sentence: str, value_for: Callable[[str], str | None]) -> str:
    """A sentence with its `{blanks}` filled; one without a value stays.

    In one pass: what is filled in may look like a blank too.
    """

    def filled(blank: re.Match[str]) -> str:
        value = value_for(blank[1])
        return blank[0] if value is None else value

    return _BLANK.sub(filled, sentence)


def signature_of(name: str, description: str, schema: Mapping[str, Any]) -> str:
    """`run_test(name: string, timeout?: integer) - Run a test.`: arguments with their types, the needed ones first, and a short
    description."""
    properties = schema.get("properties")
    known = cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else dict[str, Any]()
    needed = required_of(schema)
    given = [*((each, "") for each in needed), *((each, "?") for each in ordered(known) if each not in needed)]
    listed = ", ".join(f"{each}{mark}{_type_of(known.get(each))}" for each, mark in given)
    return f"{name}({neutralise(listed)}) - {first_sentence(description)}"


def brief_signature_of(name: str, description: str, schema: Mapping[str, Any]) -> str:
    """The same where the whole schema stands beside it: the needed arguments alone."""
    return f"{name}({', '.join(required_of(schema))}) - {first_sentence(description)}"


def _type_of(schema: Any) -> str:
    """An argument's type in a signature; nothing where its schema does not say."""
    kind = cast("Mapping[str, Any]", schema).get("type") if isinstance(schema, Mapping) else None
    if isinstance(kind, list):
        return ": " + "|".join(each for each in cast("list[Any]", kind) if isinstance(each, str))
    return f": {kind}" if isinstance(kind, str) else ""


def required_of(schema: Mapping[str, Any]) -> list[str]:
    """The arguments that a schema asks for, in its order."""
    required = schema.get("required")
    return [name for name in cast("list[Any]", required) if isinstance(name, str)] if isinstance(required, list) else []


def first_sentence(text: str) -> str:
    """Of a description; its first line, where none ends."""
    found = _FIRST_SENTENCE.search(text)
    return neutralise(found[0] if found else text.split("\n", 1)[0])


def told_call(name: str, arguments: Any) -> str:
    """`read_file{"path":"a"}`."""
    return name + as_json(arguments)


def text_of(message: Message) -> str:
    """What a message adds to a prompt."""
    match message:
        case ToolMessage(result=result):
            return result["content"]
        case UserMessage(content=content):
            return content
        case AssistantMessage(content=content, tool_calls=calls):
            return content + "".join(told_call(call["name"], call["arguments"]) for call in calls)
        case _:
            assert_never(message)


def told(message: Message, words: Mapping[str, Any]) -> str:
    """A message as an entry of a transcript, with who said it. `words` is prompts.json."""
    speakers: Mapping[str, str] = words["transcript"]
    match message:
        case UserMessage(content=content):
            return fill(speakers["person"], {"text": content}.get)
        case AssistantMessage():
            return fill(speakers["assistant"], {"text": text_of(message)}.get)
        case ToolMessage(call=call, result=result):
            values = {"tool": call["name"], "outcome": result["outcome"], "text": describe_observation(result)}
            return fill(speakers["result"], values.get)
        case _:
            assert_never(message)


def as_entry(text: str) -> str:
    """An entry of a transcript without markers of speakers. Its further lines are indented, so that none of them passes for an
    entry of its own."""
    return neutralise(text).replace("\n", "\n  ")
