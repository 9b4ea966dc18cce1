"""The planner's prompt: its words and their order, around entries as every prompt of the loop shows them.

Two messages, as short as they can be. The first says who the model is, which actions there are and which tools; it is the same
from step to step. The second holds what was remembered, said and done, and its end is all that changes from step to step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.agent.actions import ActionKind, PlannerTool, shape_of
from gateway.agent.browser import as_json, without_halves
from gateway.agent.budget import cut, fewest_left_out, length_of, tokens_of_prompt
from gateway.agent.limits import LIMITS
from gateway.agent.messages import AssistantMessage, UserMessage
from gateway.agent.provenance import neutralise
from gateway.agent.render import as_entry, brief_signature_of, fill, told, told_call
from gateway.agent.repair import ChatMessage
from gateway.shipped import read_loop_file

_PROMPTS: Final = read_loop_file("prompts")
_WORDS: Final[Mapping[str, str]] = _PROMPTS["planner"]
"""The planner takes no words from its host."""

_MAX_PAST: Final = LIMITS.planner_past_characters
"""Characters of each action, and of each observation but the most recent."""

_MIN_OBSERVATION: Final = LIMITS.planner_observation_characters
"""The most recent observation is never cut to fewer characters than these."""

_STAMPS: Final = ("id", "type", "createdAt")
_LINE_END: Final = re.compile(r"\r\n?")


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """Who the model is to be; the host's own words."""

    role: str
    goal: str = ""
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """An earlier message. `role` is user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ContextStep:
    """An action of this task as JSON (`Action.to_json`), and what came of it."""

    action: Mapping[str, Any]
    observation: str


@dataclass(frozen=True, slots=True)
class AgentContext:
    """What a planner plans from. Everything in sequence comes oldest first."""

    agent: AgentProfile
    task: str
    tools: Sequence[PlannerTool] = ()
    messages: Sequence[ContextMessage] = ()
    steps: Sequence[ContextStep] = ()
    memory: Sequence[str] = ()
    compacted_summary: str | None = None


@dataclass(frozen=True, slots=True)
class PlannerPrompt:
    """The prompt, how many entries were left out, and how many characters of the most recent observation."""

    messages: Sequence[ChatMessage]
    dropped: int
    left_out: int


@dataclass(frozen=True, slots=True)
class PromptTooLong:
    """Even what is always kept does not fit."""

    needed: int
    allowed: int


def planner_prompt(
    context: AgentContext,
    kinds: Sequence[ActionKind],
    closing: Sequence[ChatMessage],
    max_tokens: int,
    count_tokens: Callable[[str], int],
) -> PlannerPrompt | PromptTooLong:
    """The prompt for the next action, with repair turns at its end, in at most so many tokens.

    Over budget, the oldest goes first: memory, then earlier messages, then the summary of those before them, then steps. The
    task, the actions and tools, and the most recent observation always stay; that observation is cut when it is too long by
    itself. Whatever is missing is said to be.
    """
    system: ChatMessage = {"role": "system", "content": _system_of(context, kinds)}

    def made(dropped: int, length: int) -> tuple[list[ChatMessage], int]:
        messages = [system, {"role": "user", "content": _transcript_of(context, dropped, length)}, *closing]
        return messages, tokens_of_prompt(messages, count_tokens)

    most = len(context.memory) + len(context.messages) + bool(context.compacted_summary) + max(0, len(context.steps) - 1)
    whole = length_of(context.steps[-1].observation) if context.steps else 0
    cuttable = max(0, whole - _MIN_OBSERVATION)
    dropped = fewest_left_out(most, lambda count: made(count, whole)[1] <= max_tokens)
    missing = fewest_left_out(cuttable, lambda count: made(dropped, whole - count)[1] <= max_tokens)
    messages, needed = made(dropped, whole - missing)
    return PlannerPrompt(messages, dropped, missing) if needed <= max_tokens else PromptTooLong(needed, max_tokens)


def _system_of(context: AgentContext, kinds: Sequence[ActionKind]) -> str:
    agent = context.agent
    lines = [fill(_WORDS["role"], {"role": agent.role}.get)]
    if agent.goal:
        lines.append(fill(_WORDS["goal"], {"goal": agent.goal}.get))
    if agent.instructions:
        lines.append(agent.instructions)
    lines += [_WORDS["actions"], *map(shape_of, kinds)]
    if ActionKind.TOOL_CALL in kinds:
        lines += [_WORDS["tools"], *map(_line_of, context.tools)]
    return "\n".join(lines)


def _line_of(tool: PlannerTool) -> str:
    signature = brief_signature_of(tool.name, tool.description, tool.input_schema)
    return _outside(f"{signature} {as_json(tool.input_schema)}")


def _transcript_of(context: AgentContext, dropped: int, length: int) -> str:
    """Everything but the first `dropped` entries, and so much of the most recent observation."""
    left = dropped
    memory = context.memory[left:]
    left = max(0, left - len(context.memory))
    messages = context.messages[left:]
    left = max(0, left - len(context.messages))
    summary = context.compacted_summary if left == 0 else None
    steps_out = max(0, left - bool(context.compacted_summary))
    lines: list[str] = []
    if memory:
        lines += [_WORDS["memory"], *(f"- {_outside(each)}" for each in memory)]
    if summary:
        lines.append(fill(_WORDS["summary"], {"summary": _outside(summary)}.get))
    if messages:
        lines += [_WORDS["messages"], *map(_said, messages)]
    if dropped > steps_out:
        lines.append(fill(_WORDS["leftOut"], {"count": str(dropped - steps_out)}.get))
    lines.append(fill(_WORDS["task"], {"task": neutralise(without_halves(context.task))}.get))
    if context.steps:
        lines.append(_WORDS["steps"])
        if steps_out:
            lines.append(fill(_WORDS["stepsLeftOut"], {"count": str(steps_out)}.get))
        last = len(context.steps) - 1
        for number, step in enumerate(context.steps[steps_out:], start=steps_out):
            observation = _outside(cut(step.observation, length if number == last else _MAX_PAST))
            lines.append(f"{number + 1}. {_outside(cut(_done(step.action), _MAX_PAST))} -> {observation}")
    lines.append(_WORDS["next"])
    return "\n".join(lines)


def _said(message: ContextMessage) -> str:
    speaker = AssistantMessage if message.role == "assistant" else UserMessage
    return _outside(told(speaker("", message.content), _PROMPTS))


def _done(action: Mapping[str, Any]) -> str:
    """What was done, as a call: an action that is none by its kind and members."""
    name, fields = action.get("type"), {key: value for key, value in action.items() if key not in _STAMPS}
    if name == ActionKind.TOOL_CALL:
        name, fields = action.get("toolName"), action.get("arguments")
    return told_call(name if isinstance(name, str) else as_json(name), fields)


def _outside(text: str) -> str:
    """An entry from a host that may hand over anything, where the lanes' messages came over the wire."""
    return as_entry(_LINE_END.sub("\n", without_halves(text)))
