"""The beginning that every conversation of a small model shares: tools, and examples of those that are there.

It depends on nothing but the words and the tools, so that the model server can keep it evaluated: what `web/src/agent`
sends and what is warmed here at start must be the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from gateway.core.canonical import Json
from gateway.core.model import ToolSpec

_FIRST_SENTENCE = re.compile(r"^[^\n]*?\.(?=\s|$)")


def action_prefix(tools: Sequence[ToolSpec], words: Mapping[str, Any]) -> list[dict[str, str]]:
    """The messages before the conversation, in the prompt that picks an action. `words` is prompts.json."""
    action = words["action"]
    described: Mapping[str, str] = action["descriptions"]
    names = {tool.name for tool in tools}
    lines = [action["opening"], *(_signature_of(tool, described) for tool in tools), action["closing"]]
    messages = [{"role": "system", "content": "\n".join(lines)}]
    for shot in action["shots"]:
        reply: Mapping[str, Json] = shot["reply"]
        if "tool" not in reply or reply["tool"] in names:
            messages.append({"role": "user", "content": shot["user"]})
            messages.append({"role": "assistant", "content": orjson.dumps(reply).decode()})
    return messages


def _signature_of(tool: ToolSpec, described: Mapping[str, str]) -> str:
    required: Sequence[str] = tool.param_schema.get("required", [])
    return f"{tool.name}({', '.join(required)}) - {described.get(tool.name) or _first_sentence(tool.description)}"


def _first_sentence(text: str) -> str:
    found = _FIRST_SENTENCE.search(text)
    return found[0] if found else text.split("\n", 1)[0]
