"""Make room, before a model is asked, in what it is shown of the conversation: by a summary where one helps, and with a word to
the person where none does. Whatever does not fit after that is left out by the lane, which says so too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.agent.compaction import Compaction, ContextFull, accept, compacted, plan_compaction, summary_prompt, widen
from gateway.agent.lane import CondensedStep, LaneInput, collect
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Message
from gateway.agent.ports import ChatRequest
from gateway.agent.shares import share_room

MAX_SUMMARY_TOKENS: Final = LIMITS.summary_tokens
"""As many as the longest summary takes."""

PROMPT_MARGIN: Final = LIMITS.summary_margin


async def condense(lane: LaneInput, view: Sequence[Message], limit: int) -> CondensedStep | None:
    """What to show from now on; None when the lane can go on. `view` is what the lane makes its prompt from."""
    plan = plan_compaction(share_room(view, limit, lane.tools).messages, limit)
    if isinstance(plan, ContextFull):
        lane.listener.filled(plan.used, plan.limit)
    if not isinstance(plan, Compaction) or not lane.may_summarise:
        return None
    room = lane.model["contextTokens"] - MAX_SUMMARY_TOKENS - PROMPT_MARGIN
    prompt = summary_prompt(view, plan, room, lane.words)
    heard = await collect(lane, ChatRequest(prompt, MAX_SUMMARY_TOKENS, lane.stop))
    summary = accept(heard.text, plan, lane.words)
    if summary is None:
        return CondensedStep(None)
    return CondensedStep(compacted(lane.shown, widen(plan, view, lane.shown), summary, lane.words))
