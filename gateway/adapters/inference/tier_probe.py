"""Which loop a model can carry, found out by trying: at most `MAX_REQUESTS` requests at temperature 0."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from gateway.agent.ports import Chat, ChatDelta, ChatFailure, ChatFailureKind, ChatRequest
from gateway.agent.trial import TRIALS, play
from gateway.core.vocabulary import Tier

MAX_REQUESTS: Final = 24
"""All loops together. A model that needs no second attempt takes 8 for each."""

PER_TIER: Final = MAX_REQUESTS // 3

NEEDED: Final = 3
"""Of four tasks. One may fail: a small model misreads one sentence and carries the loop all the same."""

ReportProgress: TypeAlias = "Callable[[Tier, int, int], None]"
"""Called before each request with the tier that is tried, how many requests were made, and how many may be made at most."""


@dataclass(frozen=True, slots=True)
class TierProbe:
    """What came of it. `native`, `chained` and `single` are tasks done, None where that loop was not tried."""

    tier: Tier
    requests: int
    native: int | None
    chained: int | None
    single: int | None


_OF_THE_SERVER: Final = frozenset(
    {
        ChatFailureKind.UNAUTHORISED,
        ChatFailureKind.MODEL_UNAVAILABLE,
        ChatFailureKind.UNREACHABLE,
        ChatFailureKind.BROKE_OFF,
    }
)
"""Failures that say nothing about the model. A request that it refuses, or whose template breaks, does, unless nothing else was
ever answered, with declared tools or without."""


class _OverBudget(Exception):
    """This loop has had its requests."""


async def probe_tier(chat: Chat, *, takes_tools: bool, context_tokens: int, report: ReportProgress) -> TierProbe:
    """Play the same tasks in each loop, and take the one in which most are done.

    The most able comes first, and one that does them all is taken at once. Of two that do as many it is the simpler one: these
    are few tasks, and a loop that asks more of a model fails it more often elsewhere. Without `takes_tools` declared tools are
    not tried: the model would not see them. Raises ChatFailure when the server cannot be asked, and then nothing has been found
    out.
    """
    done: dict[Tier, int] = {}
    requests = answered = 0
    best = Tier.SINGLE
    for tier in (Tier.NATIVE, Tier.CHAINED, Tier.SINGLE) if takes_tools else (Tier.CHAINED, Tier.SINGLE):
        if tier is Tier.SINGLE and max(done.values()) < NEEDED:
            break
        asking = _Counted(chat, tier, requests, report, needs_answer=tier is not Tier.NATIVE and not answered)
        done[tier] = await _try(asking, tier, context_tokens)
        requests += asking.made
        answered += asking.answered
        if tier is Tier.SINGLE or done[tier] >= NEEDED:
            best = tier if done[tier] >= done.get(best, 0) else best
        if done[tier] == len(TRIALS):
            break
    return TierProbe(best, requests, done.get(Tier.NATIVE), done.get(Tier.CHAINED), done.get(Tier.SINGLE))


async def _try(chat: _Counted, tier: Tier, context_tokens: int) -> int:
    done = 0
    for place, trial in enumerate(TRIALS):
        if done + len(TRIALS) - place < NEEDED:
            break
        done += await play(trial, chat, tier, context_tokens)
        if chat.failure is not None:
            raise chat.failure
    return done


class _Counted:
    """The Chat port with a limit on requests. With `needs_answer`, any failure before the first answer is the server's."""

    def __init__(self, chat: Chat, tier: Tier, before: int, report: ReportProgress, *, needs_answer: bool) -> None:
        self._chat = chat
        self._tier = tier
        self._before = before
        self._report = report
        self._needs_answer = needs_answer
        self.made = 0
        self.answered = 0
        self.failure: ChatFailure | None = None

    async def __call__(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        if self.made == PER_TIER or self.failure is not None:
            raise _OverBudget
        self._report(self._tier, self._before + self.made, MAX_REQUESTS)
        self.made += 1
        try:
            async for delta in self._chat(request):
                yield delta
        except ChatFailure as failure:
            if failure.fault in _OF_THE_SERVER or (self._needs_answer and not self.answered):
                self.failure = failure
            raise
        self.answered += 1
