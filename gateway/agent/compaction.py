"""Make room in a long conversation: what is told again in a summary, and what never is.

The model words the summary, so nothing that decides anything may depend on it. The present task, the last observation and
every refusal stay as they are; grants are the gateway's and stand in no message. The summary goes in as the model's own words:
what it says is never taken for something that the person wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.agent.browser import trim
from gateway.agent.budget import cut, split_turns, tokens_of
from gateway.agent.limits import LIMITS
from gateway.agent.messages import AssistantMessage, Message, ToolMessage, UserMessage
from gateway.agent.provenance import neutralise
from gateway.agent.render import as_entry, told

SUMMARY_TURN: Final = "summary"
"""Stands for a turn's id where a summary stands for turns."""

MAX_SUMMARY: Final = LIMITS.summary_characters
"""Characters of a summary."""

_GAIN: Final = LIMITS.compaction_gain_tokens
"""Tokens that have to be taken out: what the longest summary puts in, with what stands around it."""

_NEAR: Final = LIMITS.compaction_start
_GOAL: Final = LIMITS.compaction_goal
"""Shares of the limit: from where on room is made, and how much is to be left used."""

_CHARACTERS_PER_TOKEN: Final = LIMITS.characters_per_dense_token
"""Fewer than the usual four, so that a transcript of figures and code fits too."""

_SHORTEST: Final = LIMITS.transcript_line_characters
"""Characters that each message of a transcript keeps at least."""

_UNSEEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""What a person cannot see or a terminal obeys."""

_REFUSALS: Final = frozenset({"deniedByUser", "refusedByPolicy", "stepUpFailed"})


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a summary takes the place of: the numbers of the messages, ascending, and the number of the one it goes before."""

    replaced: tuple[int, ...]
    before: int


@dataclass(frozen=True, slots=True)
class ContextFull:
    """A warning: what must stay is more than fits, in tokens. The person is told before anything is left out."""

    used: int
    limit: int


def plan_compaction(messages: Sequence[Message], limit: int) -> Compaction | ContextFull | None:
    """What to do about a conversation that has `limit` tokens of room: nothing, summarise, or warn.

    The oldest turns go first and whole. Where that is not enough, steps of the present turn go, but its task and its last
    observation stay. To be asked again after a summary went in; it ends, because every summary is shorter than what it replaces.
    """
    used = tokens_of(messages)
    if used <= max(0, limit) * _NEAR:
        return None
    replaced: list[int] = []
    freed = 0
    for chunk in _chunks(messages):
        if used - freed <= limit * _GOAL:
            break
        replaced += chunk
        freed += tokens_of(messages[at] for at in chunk)
    if freed > _GAIN:
        return Compaction(tuple(replaced), min(replaced[0], _begin_of_present(messages)))
    return ContextFull(used, limit) if used > limit else None


def summary_prompt(
    messages: Sequence[Message], compaction: Compaction, max_tokens: int, words: Mapping[str, Any]
) -> list[dict[str, str]]:
    """The prompt that asks for a summary, with a transcript of at most about `max_tokens`. `words` is prompts.json."""
    share = max(_SHORTEST, max_tokens * _CHARACTERS_PER_TOKEN // len(compaction.replaced))
    lines = (as_entry(cut(told(messages[at], words), share)) for at in compaction.replaced)
    return [{"role": "system", "content": words["compaction"]["system"]}, {"role": "user", "content": "\n".join(lines)}]


def accept(summary: str, compaction: Compaction, words: Mapping[str, Any]) -> str | None:
    """A summary as it may go in: bounded, without markers of roles, saying what it stands for; None where there is none."""
    body = cut(trim(neutralise(_UNSEEN.sub(" ", summary))), MAX_SUMMARY)
    mark: str = words["compaction"]["mark"]
    return None if not body else f"{mark.replace('{count}', str(len(compaction.replaced)))}\n{body}"


def widen(compaction: Compaction, view: Sequence[Message], whole: Sequence[Message]) -> Compaction:
    """A compaction that was planned on a view of a conversation, for all of it.

    What the view leaves out of a turn goes when something of that turn goes; but the results of calls that stay, stay, for model
    servers take no call without its result.
    """
    gone = {id(view[at]) for at in compaction.replaced}
    seen = set(map(id, view))
    turns = {view[at].turn_id for at in compaction.replaced}
    kept = [each for each in view if isinstance(each, AssistantMessage) and id(each) not in gone]
    calls = {call["id"] for each in kept for call in each.tool_calls}

    def goes(message: Message) -> bool:
        if id(message) in seen:
            return id(message) in gone
        return message.turn_id in turns and not (isinstance(message, ToolMessage) and message.call["id"] in calls)

    replaced = tuple(at for at, message in enumerate(whole) if goes(message))
    return Compaction(replaced, min(replaced[0], _begin_of_present(whole)))


def compacted(messages: Sequence[Message], compaction: Compaction, accepted: str, words: Mapping[str, Any]) -> list[Message]:
    """The conversation with an accepted summary in the place of what it stands for."""
    replaced = set(compaction.replaced)
    summary = [UserMessage(SUMMARY_TURN, words["compaction"]["request"]), AssistantMessage(SUMMARY_TURN, accepted)]
    head = [message for at, message in enumerate(messages[: compaction.before]) if at not in replaced]
    tail = [message for at, message in enumerate(messages) if at >= compaction.before and at not in replaced]
    return [*head, *summary, *tail]


def _begin_of_present(messages: Sequence[Message]) -> int:
    return len(messages) - len(split_turns(messages)[-1])


def _chunks(messages: Sequence[Message]) -> Iterator[list[int]]:
    """What may go, in the order in which it goes: each turn that is over, then each step of the present one."""
    at = 0
    *past, present = split_turns(messages)
    for turn in past:
        steps = _steps(turn, at)
        at += len(turn)
        # A refusal without what it refused would be a riddle.
        has_refusal = any(is_refusal(messages[each]) for step in steps for each in step)
        going = [step for step in steps if not any(is_refusal(messages[each]) for each in step)]
        yield [each for step in going if not (has_refusal and isinstance(messages[step[0]], UserMessage)) for each in step]
    for step in _before_last_observation(_steps(present, at), messages):
        is_task = isinstance(messages[step[0]], UserMessage)
        if not is_task and not any(is_refusal(messages[each]) for each in step):
            yield step


def _before_last_observation(steps: Sequence[list[int]], messages: Sequence[Message]) -> Sequence[list[int]]:
    observed = [number for number, step in enumerate(steps) if isinstance(messages[step[-1]], ToolMessage)]
    return steps[: observed[-1]] if observed else ()


def _steps(turn: Sequence[Message], begin: int) -> list[list[int]]:
    """The numbers of a turn's messages, calls together with their results: the one means nothing without the other."""
    steps: list[list[int]] = []
    for at, message in enumerate(turn, begin):
        if steps and isinstance(message, ToolMessage):
            steps[-1].append(at)
        else:
            steps.append([at])
    return steps


def is_refusal(message: Message) -> bool:
    """Whether a message says that a call was refused, by the person or for them."""
    return isinstance(message, ToolMessage) and message.result["outcome"] in _REFUSALS
