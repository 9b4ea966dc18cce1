"""What a call on record can have done, and what it was about: what the words of a turn are held against."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.acts import ACTS, does
from gateway.agent.browser import as_json
from gateway.agent.claim_words import FORMS
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.names import parts_of

_TERM: Final = re.compile("[^\\W_]+")


def words_about(message: ToolMessage) -> list[str]:
    """The words that a call and its result hold, and those for what it does."""
    parts = parts_of(message.call["name"])
    acts = [each for each in ACTS.values() if not set(parts).isdisjoint(each["calls"])]
    told = f"{as_json(message.call['arguments'])} {message.result['content']}".replace("\\n", " ")
    return [*parts, *_TERM.findall(told.lower()), *(word for each in acts for word in (*each["verbs"], *each["claims"]))]


def changes(message: ToolMessage, tools: Sequence[Tool]) -> bool:
    """Whether a call is one of a tool that changes something."""
    return any(tool["name"] == message.call["name"] and tool["category"] != "read" for tool in tools)


def can_do(act: str, message: ToolMessage, tools: Sequence[Tool]) -> bool:
    """Whether a call can have done an act: by the verbs in its tool's name, or by its category."""
    # Of a tool that only looks, "file" in its name is what it looks at.
    looks = any(tool["name"] == message.call["name"] and tool["category"] == "read" for tool in tools)
    parts = parts_of(message.call["name"])[: 1 if looks else None]
    # "File" is a verb before "away", and in `delete_file` a noun.
    forms = [each for part in parts for each in FORMS.get(part, ())]
    verbs = {each.act for each in forms if not each.particles or not set(each.particles).isdisjoint(parts)}
    return act in verbs or (does(act, message.call, tools) if act in ACTS else changes(message, tools))


def is_done(message: ToolMessage) -> bool:
    """Whether a call ran."""
    return message.result["outcome"] == "ok"
