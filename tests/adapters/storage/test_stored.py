"""What version 0.1.0 stored as JSON is still read: approvals that wait, and grants."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.adapters.storage.sqlite import DATABASE, open_for_writing
from gateway.adapters.storage.store import open_store
from gateway.core import ledger as steps
from tests.adapters.storage.conftest import ORIGIN
from tests.fakes.history import WRITE, History

REQUEST = (
    '{"principal":["prn_1","Ada Übermut","operator"],"session_id":"ses_1","connection_id":"con_1","conversation_id":"cnv_1",'
    '"turn_id":"trn_1","snapshot_id":"snp_trn_1","snapshot_digest":"SNAPSHOT","call_id":"call-1","tool":"write_file",'
    '"arguments":"{\\"path\\":\\"notes/Ä.txt\\"}","digest":"DIGEST","model":MODEL,"received_at":RECEIVED'
)
"""As its `approvals.request` held it, up to the member that came last."""


@pytest.mark.parametrize(
    ("model", "runner"), [('["model-1","llama","nonce",false]', ',"runner":"browser-agent-ui"}'), ("null", "}")]
)
async def test_an_approval_that_an_older_version_left_waiting_comes_back_with_its_request(
    tmp_path: Path, model: str, runner: str
) -> None:
    history = History()
    asked = history.ask(history.request("call-1", WRITE), "apr_1")
    grant = history.grant(asked, "grt_1", freed=("note",))
    async with open_store(tmp_path, origin=ORIGIN) as store:
        other = history.ask(history.request("call-2", WRITE), "apr_2")
        await store.ledger.append(*history.beginning(), asked, other, history.answer(other))
        await store.ledger.append(steps.GrantIssued(history.tick(), grant))
    request = asked.request
    written = REQUEST.replace("SNAPSHOT", request.snapshot_digest).replace("DIGEST", request.digest).replace("MODEL", model)
    older = {
        "request": written.replace("RECEIVED", str(request.received_at)) + runner,
        "because": '[["policy.write","Writing asks — first."]]',
        "needs": "[true,1,true]",
        "effects": '["Changes a file"]',
        "offers": '["once","turn"]',
    }
    writing = open_for_writing(tmp_path / DATABASE)
    with writing.begin() as connection:
        columns = ", ".join(f"{name} = :{name}" for name in older)
        connection.execute(text(f"UPDATE approvals SET {columns} WHERE id = 'apr_1'"), older)
        pins = {"pins": '{"path":"\\"notes/Ä.txt\\""}', "freed": '["note"]'}
        connection.execute(text("UPDATE grants SET pins = :pins, freed = :freed"), pins)
    writing.dispose()
    async with open_store(tmp_path, origin=ORIGIN) as store:
        (waiting,) = await store.records.open_approvals()
        assert waiting.approval == asked.approval
        assert (waiting.request.principal, waiting.request.arguments) == (request.principal, request.arguments)
        assert waiting.request.model == (None if model == "null" else request.model)
        assert waiting.request.runner is request.runner
        assert await store.records.grants("ses_1") == (grant,)
