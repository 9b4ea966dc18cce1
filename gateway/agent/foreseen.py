"""Calls of wishes that are still to come, chosen before the one before them has run, so that a person is asked about all at once.

Only what is asked about and changes something is foreseen: what a look comes to may be what the next wish stands on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from gateway.agent.intents import CONDITIONS
from gateway.agent.lane import CallsStep, Lane, LaneInput, LaneListener, ProposedCall
from gateway.agent.limits import LIMITS
from gateway.agent.messages import AssistantMessage, Message, Tool, ToolMessage
from gateway.agent.plans import is_asked_about
from gateway.agent.ports import CutReason
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import QUOTED, words_of

_ASKING: Final = (*VOCABULARY.question_words, *VOCABULARY.asking_words, *VOCABULARY.content_verbs)
_LOOKING: Final = frozenset((*_ASKING, *WISH_WORDS.reading_verbs, *WISH_WORDS.telling))
_LEANING: Final = frozenset((*WISH_WORDS.pronouns, *WISH_WORDS.backwards, *WISH_WORDS.results)).union(CONDITIONS)
"""Words by which a wish goes back to another one, or to what that comes to."""


async def with_foreseen(lane: LaneInput, first: ProposedCall, wishes: Sequence[str], choose: Lane) -> CallsStep:
    """A call with those of the wishes that come after its own, as far as a person is asked about each. `choose` chooses the next
    step, from a conversation in which the calls before it went well."""
    proposals = [first]
    ahead = replace(lane, listener=_Unheard(lane.listener), may_summarise=False)
    for wish in wishes[: LIMITS.plan_steps - 1]:
        if not _goes_with_others(proposals[-1], lane.tools) or not _stands_alone(wish):
            break
        ahead = replace(ahead, messages=[*ahead.messages, *_as_done(proposals[-1], lane)])
        following = await choose(ahead)
        if not isinstance(following, CallsStep) or not _goes_with_others(following.proposals[0], lane.tools):
            break
        proposals.append(following.proposals[0])
    return CallsStep(proposals)


def _goes_with_others(proposal: ProposedCall, tools: Sequence[Tool]) -> bool:
    """Whether a call can be a part of one question."""
    tool = next((each for each in tools if each["name"] == proposal.name), None)
    return tool is not None and is_asked_about(tool) and tool["category"] != "read"


def _as_done(proposal: ProposedCall, lane: LaneInput) -> list[Message]:
    """What is in the conversation once this call went well, without what it came to; and where wishes are told of one by one,
    the words with which it ends."""
    call = {"id": "", "name": proposal.name, "arguments": proposal.arguments}
    result = {"outcome": "ok", "content": "", "trust": "trusted", "truncated": False}
    words = [] if lane.actions is None else [AssistantMessage(lane.turn_id, "")]
    return [AssistantMessage(lane.turn_id, "", [call]), ToolMessage(lane.turn_id, call, result), *words]


def _stands_alone(wish: str) -> bool:
    """Whether a wish is an order that nothing before it has to answer."""
    words = [word.bare for word in words_of(QUOTED.sub(" ", wish))]
    return bool(words) and "?" not in wish and words[0] not in _LOOKING and _LEANING.isdisjoint(words)


@dataclass(frozen=True, slots=True)
class _Unheard:
    """Of what is chosen ahead only the tokens are told: words that come of it are asked for again when it is their turn."""

    own: LaneListener

    def streamed(self, delta: str) -> None:
        """Nobody reads it."""

    def discarded(self) -> None:
        """Nothing was shown."""

    def counted(self, prompt_tokens: int, completion_tokens: int, *, exact: bool) -> None:
        self.own.counted(prompt_tokens, completion_tokens, exact=exact)

    def filled(self, used: int, limit: int) -> None:
        self.own.filled(used, limit)

    def trimmed(self, dropped_turns: int) -> None:
        self.own.trimmed(dropped_turns)

    def cut(self, why: CutReason) -> None:
        self.own.cut(why)
