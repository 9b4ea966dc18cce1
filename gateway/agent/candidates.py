"""Which tools a model is shown this turn, where there are too many for all of them.

Up to `MANY` tools the choice is all of them: measured, showing fewer does not help a model that has examples, and a prompt that
changes from turn to turn costs the server's cache. Beyond that the words of the message decide (BM25 over names, descriptions
and examples). What is chosen are the snapshot's own objects in the snapshot's order, so that nothing about them can differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.agent.limits import LIMITS
from gateway.agent.messages import Tool
from gateway.agent.names import parts_of
from gateway.agent.ranking import score, stem, terms_in

MANY: Final = LIMITS.shown_tools

_NAME_WEIGHT: Final = LIMITS.name_weight


def select(message: str, tools: Sequence[Tool], examples: Mapping[str, Sequence[str]], most: int = MANY) -> list[Tool]:
    """The tools to show: all, or the `most` likely ones. Pseudo-tools of the agent's own stay and do not count.

    `examples` are messages by the name of the tool that answers them.
    """
    own = [bool(tool.get("local")) for tool in tools]
    if own.count(False) <= most:
        return list(tools)
    scores = score(terms_in(message), [_document(tool, examples.get(tool["name"], ())) for tool in tools])
    ranked = sorted((at for at in range(len(tools)) if not own[at]), key=lambda at: -scores[at])
    chosen = set(ranked[:most])
    return [tool for at, tool in enumerate(tools) if own[at] or at in chosen]


def examples_in(words: Mapping[str, Any]) -> dict[str, list[str]]:
    """The examples of prompts.json, by tool."""
    examples: dict[str, list[str]] = {}
    for shot in words["action"]["shots"]:
        if "tool" in shot["reply"]:
            examples.setdefault(shot["reply"]["tool"], []).append(shot["user"])
    return examples


def _document(tool: Tool, examples: Sequence[str]) -> Counter[str]:
    terms = [*map(stem, parts_of(tool["name"])), *map(stem, parts_of(tool.get("title", "")))] * _NAME_WEIGHT
    return Counter([*terms, *terms_in(tool["description"]), *(term for each in examples for term in terms_in(each))])
