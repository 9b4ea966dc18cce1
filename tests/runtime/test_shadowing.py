"""A candidate policy beside the one in force: what is counted, what a restart and a publication make of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import text

from gateway import policy_records
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.workshop import CedarWorkshop
from gateway.adapters.storage.sqlite import DATABASE, open_for_writing
from gateway.adapters.storage.store import Store, open_store
from gateway.core.errors import PolicyUnusable, Refused
from gateway.core.judgement import Judgement, Question
from gateway.core.ledger import PolicyLoaded
from gateway.core.model import CallFacts
from gateway.policy_records import StoredShadowReading
from gateway.runtime.policies import PolicyShadow
from gateway.runtime.ports import AuditQuery, AuditRow, PolicySubject
from gateway.runtime.rehearsal import ModeChange
from tests.fakes.clock import FakeClock
from tests.fakes.entropy import FakeEntropy
from tests.fakes.history import OPERATOR, READ, History

SHIPPED = Path(__file__).parents[2] / "policy"
NO_READING = """
@id("test.no-reading")
@why("Nobody reads while this is tested")
forbid (principal, action, resource in Countersign::Category::"read");
"""


class Scene:
    """A record of calls that the shipped policy allowed, and a candidate that would have refused them."""

    def __init__(self, state: Path, store: Store) -> None:
        self.state = state
        self.store = store
        self.history = History()
        policy = CedarPolicy(SHIPPED)
        self.workshop = CedarWorkshop(policy, SHIPPED)
        question = Question(OPERATOR, READ, CallFacts(path="notes/a.txt"), taint=0, label=0)
        verdict = policy.judge(PolicySubject(OPERATOR, 0), READ, question.facts, taint=0, label=0)
        self.judged = Judgement(question, verdict.mode, tuple(rule.id for rule in verdict.because))
        self.candidate = {**policy.documents, "default.cedar": policy.documents["default.cedar"] + NO_READING}
        self.told = 0

    def shadow(self) -> PolicyShadow:
        """As a process that begins has it."""

        def tell() -> None:
            self.told += 1

        return PolicyShadow(
            self.workshop,
            partial(StoredShadowReading, self.state),
            ledger=self.store.ledger,
            records=self.store.records,
            clock=FakeClock(),
            entropy=FakeEntropy(),
            on_changed=tell,
        )

    async def call(self, call_id: str) -> None:
        request = self.history.request(call_id)
        intent = replace(self.history.intend(request), judgement=self.judged)
        await self.store.ledger.append(intent)
        await self.store.ledger.append(self.history.close(request))

    async def ended(self) -> list[AuditRow]:
        return list(await self.store.records.audit(AuditQuery(event="policy-shadow:ended")))


@pytest_asyncio.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_store(tmp_path, origin="console.example/audit") as store:
        scene = Scene(tmp_path, store)
        await store.ledger.append(*scene.history.beginning())
        loaded = PolicyLoaded(1, scene.history.snapshot.policy_version, scene.workshop.active.documents)
        await store.ledger.append(loaded)
        yield scene


async def count(shadow: PolicyShadow) -> tuple[int, int] | None:
    """How many calls it was put to, and how many of them it would refuse."""
    state = await shadow.look()
    if state is None:
        return None
    assert (state.behind, state.result.unlike_count, +state.result.unjudged) == (False, 0, {})
    assert state.differing == state.result.differences[ModeChange.NEWLY_REFUSED]
    return state.result.judged, state.differing


async def test_calls_count_from_the_start_on_and_again_after_a_restart(scene: Scene) -> None:
    await scene.call("before")
    shadow = scene.shadow()
    assert await count(shadow) is None
    await shadow.start(scene.candidate, "to see", None)
    assert await count(shadow) == (0, 0)
    await scene.call("one")
    assert await count(shadow) == (1, 1)
    again = scene.shadow()
    await again.restore()
    await scene.call("two")
    assert await count(again) == (2, 2)
    state = await again.stop(OPERATOR.id)
    assert (state.differing, await count(again)) == (2, None)
    (ended,) = await scene.ended()
    assert (ended.body["ending"], ended.body["judged"], ended.body["differing"]) == ("stopped", 2, 2)
    last = scene.shadow()
    await last.restore()
    assert await count(last) is None
    assert scene.told == 2


async def test_a_long_log_is_read_in_stretches_and_counted_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_records, "STRETCH", 2)
    shadow = scene.shadow()
    await shadow.start(scene.candidate, "to see", None)
    for number in range(4):
        await scene.call(f"c{number}")
    first = await shadow.look(stretches=1)
    assert first is not None
    assert (first.behind, first.differing) == (True, 1)
    assert await shadow.follow_once()
    assert await count(shadow) == (4, 4)


def fail(*_given: object) -> None:
    raise ZeroDivisionError


async def test_a_read_that_fails_is_counted_anew_and_not_twice(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    shadow = scene.shadow()
    await shadow.start(scene.candidate, "to see", None)
    await scene.call("one")
    assert await count(shadow) == (1, 1)
    await scene.call("two")
    with monkeypatch.context() as broken:
        broken.setattr(policy_records, "rehearse", fail)
        with pytest.raises(ZeroDivisionError):
            await shadow.look()
    assert await count(shadow) == (2, 2)


async def test_a_candidate_that_comes_into_force_ends_by_itself(scene: Scene) -> None:
    shadow = scene.shadow()
    started = await shadow.start(scene.candidate, "to see", None)
    await scene.call("one")
    scene.workshop.enact(scene.workshop.load(scene.candidate), scene.workshop.cases())
    assert not await shadow.follow_once()
    (ended,) = await scene.ended()
    assert (ended.body["ending"], ended.body["policyVersion"], ended.body["differing"]) == ("published", started.version, 1)
    assert await count(shadow) is None


async def test_a_candidate_whose_texts_are_lost_or_changed_ends_and_is_never_asked(scene: Scene) -> None:
    shadow = scene.shadow()
    started = await shadow.start(scene.candidate, "to see", None)
    await scene.call("one")
    engine = open_for_writing(scene.state / DATABASE)
    with engine.begin() as connection:
        changed = text("UPDATE leaves SET payload = :payload WHERE position = :at")
        connection.execute(changed, {"payload": b'{"documents":{}}', "at": started.index})
    engine.dispose()
    assert not await shadow.follow_once()
    (ended,) = await scene.ended()
    assert (ended.body["ending"], ended.body["judged"]) == ("unusable", 0)


async def test_what_cannot_run_in_shadow_is_refused_and_leaves_no_record(scene: Scene) -> None:
    shadow = scene.shadow()
    with pytest.raises(PolicyUnusable, match="default"):
        await shadow.start({**scene.candidate, "default.cedar": "permit ("}, "to see", None)
    with pytest.raises(Refused, match="in force already"):
        await shadow.start(scene.workshop.active.documents, "to see", None)
    with pytest.raises(Refused, match="say why"):
        await shadow.start(scene.candidate, " ", None)
    with pytest.raises(Refused, match="no policy runs in shadow"):
        await shadow.stop(None)
    assert list(await scene.store.records.audit(AuditQuery(event="policy-shadow:started"))) == []
    await shadow.start(scene.candidate, "to see", None)
    with pytest.raises(Refused, match="stop it first"):
        await shadow.start(scene.candidate, "to see", None)
