"""A backup from before an erasure is restored after it: a person, a conversation and a call stay erased."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.adapters.storage.checking import verify_stored_log
from gateway.adapters.storage.sqlite import DATABASE
from gateway.adapters.storage.store import open_store
from gateway.cli import countersign
from gateway.core import ledger as steps
from gateway.core.ledger import CallSubject, ConversationSubject, Entry, ErasureReason, ErasureSubject, PersonSubject
from gateway.runtime.ports import AuditQuery
from tests.fakes.history import OPERATOR, History

ORIGIN = "gateway.example/audit"
NOW = 1_795_000_000_000
OF_PERSON = "Übermut"
OF_CONVERSATION = "What is in notes?"
OF_CALL = "two files"


def countersigned(*arguments: str | Path) -> str:
    result = CliRunner().invoke(countersign, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
async def state(tmp_path: Path) -> Path:
    directory = tmp_path / "state"
    async with open_store(directory, origin=ORIGIN) as store:
        for submission in History().whole():
            await store.ledger.append(*submission)
    return directory


async def erase(state: Path, subject: ErasureSubject) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        if isinstance(subject, PersonSubject):
            await store.ledger.append(steps.PrincipalRemoved(NOW, subject.person_id))
        await store.ledger.append(*await store.records.plan_erasure(subject, ErasureReason.REQUESTED, NOW))


def held(state: Path, word: str) -> bool:
    return word.encode() in (state / DATABASE).read_bytes()


@pytest.mark.requirement("002-74", "an older backup brings back neither an erased person, nor a conversation, nor a call")
@pytest.mark.parametrize(
    ("subject", "word"),
    [
        (PersonSubject(OPERATOR.id), OF_PERSON),
        (ConversationSubject("cnv_1"), OF_CONVERSATION),
        (CallSubject("cnv_1", "call-read"), OF_CALL),
    ],
)
async def test_an_older_backup_brings_back_nothing_that_was_erased_since(
    state: Path, tmp_path: Path, subject: ErasureSubject, word: str
) -> None:
    file = tmp_path / "older.backup"
    countersigned("backup", file, "--state", state)
    assert held(state, word)
    await erase(state, subject)
    assert not held(state, word)
    countersigned("restore", file, "--state", state, "--yes")
    assert not held(state, word)
    report = verify_stored_log(state)
    assert (report.fault, report.erased > 0) == (None, True)


async def test_an_erased_person_cannot_sign_in_again_after_an_older_backup(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "older.backup"
    countersigned("backup", file, "--state", state)
    await erase(state, PersonSubject(OPERATOR.id))
    countersigned("restore", file, "--state", state, "--yes")
    async with open_store(state, origin=ORIGIN) as store:
        assert not await store.records.passkeys(OPERATOR.id)
        (removed,) = await store.records.audit(AuditQuery(event="principal:removed", limit=10))
        assert removed.body["principalId"] == OPERATOR.id


async def test_what_was_to_be_kept_for_a_time_only_is_due_again_in_an_older_backup(tmp_path: Path) -> None:
    state, file = tmp_path / "state", tmp_path / "older.backup"
    async with open_store(state, origin=ORIGIN) as store:
        for submission in History().whole():
            await store.ledger.append(*map(keep_until_now, submission))
    countersigned("backup", file, "--state", state)
    async with open_store(state, origin=ORIGIN) as store:
        (due,) = await store.records.due_calls(NOW, 10)
        await store.ledger.append(*await store.records.plan_erasure(due, ErasureReason.RETENTION, NOW))
        assert not await store.records.due_calls(NOW, 10)
    countersigned("restore", file, "--state", state, "--yes")
    async with open_store(state, origin=ORIGIN) as store:
        assert await store.records.due_calls(NOW, 10) == (due,)


def keep_until_now(entry: Entry) -> Entry:
    is_read = isinstance(entry, steps.CallClosed) and entry.request.call_id == "call-read"
    return replace(entry, erase_at=NOW) if is_read else entry
