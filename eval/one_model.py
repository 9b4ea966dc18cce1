"""The cases for one model that somebody else serves: what `countersign models check` runs. Needs no package of development."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from eval import loop
from eval.cases import Case, Split, load_cases, pick_sample
from eval.chat import RequestRefused
from eval.contenders import ALL_GUARDS, WHOLE
from eval.records import Record, Records
from eval.scoring import Attempt, judge
from eval.tables import words_of
from eval.workspaces import CaseWorkspace
from gateway.adapters.inference.profiles import CaseOutcome
from gateway.core.errors import ModelUnavailable
from gateway.core.vocabulary import Tier
from gateway.runtime.ports import InferenceBackend, InferenceStream, ModelInfo, ModelState

CASE_SECONDS: Final = 300.0
"""Then the case is given up and counts as one with nothing done."""

ReportCase: TypeAlias = Callable[[int, int, CaseOutcome, bool], None]
"""Called after each case with its place, how many there are, what came of it, and whether it was played now."""


async def play_cases(
    backend: InferenceBackend,
    *,
    model: str,
    tier: Tier,
    context_tokens: int,
    is_local: bool,
    sample: int,
    outcomes: Path,
    report: ReportCase,
) -> list[CaseOutcome]:
    """Let the loop do all cases with a model, or with a `sample` so many of every kind; those of an earlier run count.

    `model` is what its outcomes are kept under in the file `outcomes`. Raises ModelUnavailable, and then the case that was under
    way does not count.
    """
    cases = pick_sample(load_cases(), sample) if sample else load_cases()
    records, contender = Records(outcomes), replace(WHOLE, tier=tier)
    watched = _Watched(backend)
    key = f"{model} {tier} {context_tokens}"
    found: list[CaseOutcome] = []
    for place, case in enumerate(cases, 1):
        record = records.find(key, contender, case)
        is_new = record is None
        if record is None:
            attempt = await _play(case, watched, tier, context_tokens, is_local=is_local)
            if watched.failure is not None:
                raise watched.failure
            record = Record(key, contender.name, case.id, records.digests.of(contender, case), "", 0, attempt)
            records.add(record)
        outcome = CaseOutcome(words_of(case.kind), case.split is Split.HOLD_OUT, bool(judge(case, record.attempt).complete))
        found.append(outcome)
        report(place, len(cases), outcome, is_new)
    return found


class _Watched:
    """The InferenceBackend port over another one. To the loop a server that is gone is one more failure to tell a person of; here
    it says nothing about the model."""

    def __init__(self, backend: InferenceBackend) -> None:
        self._backend = backend
        self.failure: ModelUnavailable | None = None

    async def models(self) -> Sequence[ModelInfo]:
        return await self._backend.models()

    def state(self) -> ModelState:
        return self._backend.state()

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        try:
            async with self._backend.ask(path, body) as answer:
                yield answer
        except RequestRefused:
            raise
        except ModelUnavailable as error:
            self.failure = error
            raise


async def _play(case: Case, backend: _Watched, tier: Tier, context_tokens: int, *, is_local: bool) -> Attempt:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="countersign-case-") as folder:
        world = CaseWorkspace(case.tools, Path(folder))
        try:
            async with asyncio.timeout(CASE_SECONDS):
                attempt = await loop.play(
                    case, world, backend, ALL_GUARDS, tier, context_tokens=context_tokens, is_local=is_local
                )
        except TimeoutError:
            attempt = Attempt((), malformed=1, said="given up")
    return replace(attempt, seconds=time.monotonic() - began)
