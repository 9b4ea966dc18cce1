"""Policies and decisions, read back from a log by somebody outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.adapters.storage.inspection import open_stored_log
from gateway.adapters.storage.sqlite import DATABASE, open_for_writing
from gateway.adapters.storage.store import open_store
from gateway.core import ledger as steps
from gateway.core.errors import LedgerDamaged
from gateway.core.judgement import Judgement, Question
from gateway.core.ledger import Entry
from gateway.core.model import CallFacts
from gateway.core.vocabulary import Decision, PermissionMode, Reason
from gateway.runtime.ports import RecordedDecision
from tests.adapters.storage.conftest import ORIGIN
from tests.fakes.history import OPERATOR, READ, History

JUDGED = Judgement(
    Question(OPERATOR, READ, CallFacts(path="notes/\u00c4.txt"), taint=1, label=1), PermissionMode.AUTO, ("a.rule",)
)


async def record(state: Path, history: History, *entries: Entry) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(*history.beginning())
        for entry in entries:
            await store.ledger.append(entry)


def decisions(state: Path, since: int = 0) -> Sequence[RecordedDecision]:
    with open_stored_log(state) as stored:
        return list(stored.decisions(since))


def change(state: Path, statement: str) -> None:
    engine = open_for_writing(state / DATABASE)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


async def test_a_call_that_ran_is_told_by_its_intent_alone(tmp_path: Path) -> None:
    history = History()
    request = history.request("c1")
    intent = replace(history.intend(request), judgement=JUDGED)
    await record(tmp_path, history, intent, history.close(request, ran=False))
    (only,) = decisions(tmp_path)
    assert only.judgement is not None
    assert only.judgement.described() == JUDGED.described()
    assert only.judgement.question.principal.id == OPERATOR.id
    assert (only.tool, only.version, only.asked, only.ran) == (READ.name, history.snapshot.policy_version, False, True)


async def test_what_was_refused_before_anybody_asked_the_policy_is_no_decision(tmp_path: Path) -> None:
    history = History()
    await record(tmp_path, history, history.refuse(history.request("c1")))
    assert decisions(tmp_path) == []


async def test_a_refusal_by_policy_and_a_denial_are_decisions(tmp_path: Path) -> None:
    history = History()
    refused = history.close(history.request("c1"), decision=Decision.FORBIDDEN, ran=False)
    refused = replace(refused, result=replace(refused.result, reason=Reason.FORBIDDEN), judgement=JUDGED)
    denied = history.close(history.request("c2"), decision=Decision.DENIED, ran=False)
    await record(tmp_path, history, refused, denied)
    first, second = decisions(tmp_path)
    assert (first.ran, first.judgement is not None) == (False, True)
    assert (second.ran, second.judgement) == (False, None)


async def test_only_what_is_recent_enough_is_read(tmp_path: Path) -> None:
    history = History()
    first, second = history.intend(history.request("c1")), history.intend(history.request("c2"))
    await record(tmp_path, history, first, second)
    assert [each.call_id for each in decisions(tmp_path, since=second.at)] == ["c2"]


async def test_an_erased_payload_leaves_a_decision_without_inputs_and_a_changed_one_is_damage(tmp_path: Path) -> None:
    history = History()
    await record(tmp_path, history, replace(history.intend(history.request("c1")), judgement=JUDGED))
    leaf = "position = (SELECT max(position) FROM leaves)"
    change(tmp_path, f"UPDATE leaves SET payload = replace(payload, 'a.rule', 'b.rule') WHERE {leaf}")
    with pytest.raises(LedgerDamaged):
        decisions(tmp_path)
    change(tmp_path, f"UPDATE leaves SET payload = NULL, salt = NULL WHERE {leaf}")
    (only,) = decisions(tmp_path)
    assert only.judgement is None


async def test_policies_are_listed_newest_first_with_their_texts(tmp_path: Path) -> None:
    history = History()
    loaded = [steps.PolicyLoaded(history.tick(), version, {"a.cedar": version}) for version in ("a", "b")]
    await record(tmp_path, history, *loaded)
    change(tmp_path, "UPDATE leaves SET payload = NULL, salt = NULL WHERE position = (SELECT min(leaf) FROM policies)")
    with open_stored_log(tmp_path) as stored:
        listed = stored.policies()
    assert [(each.version, each.documents) for each in listed] == [("b", {"a.cedar": "b"}), ("a", None)]
