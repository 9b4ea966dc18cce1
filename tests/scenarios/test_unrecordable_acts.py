"""An act and its record are one (docs/SECURITY.md case 327): what cannot be recorded is not done, is said so, and is done later.

Each act of the table goes to a running gateway while records of one kind cannot be written.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from gateway.adapters.push.vapid import make_key_file
from gateway.core.ledger import AUDITED
from tests.harness.damage import CONTRADICTED, unwritable
from tests.harness.oauth_site import OAuthSite, serve_oauth
from tests.harness.person import Person
from tests.harness.push_service import PushService
from tests.harness.record_texts import read_texts
from tests.harness.remote_model import RemoteModel
from tests.scenarios.conftest import make_gateway
from tests.scenarios.staging import POLICY, finish
from tests.scenarios.unrecorded import call_acts, people_acts, policy_acts, source_acts
from tests.scenarios.unrecorded.acts import ACTS, Act, Office, refusal

pytestmark = pytest.mark.asyncio(loop_scope="module")

TABLES = (call_acts, people_acts, policy_acts, source_acts)
"""Importing them has filled `ACTS`."""

TOGETHER = """
@id("test.together")
@why("Two people inscribe")
@approvers("2")
@break_glass("allowed")
permit (
  principal in Countersign::Profile::"operator",
  action in [Countersign::Action::"invoke_with_consent", Countersign::Action::"invoke_with_step_up"],
  resource == Countersign::Tool::"inscribe"
);
"""
ROGUE = Path(__file__).parents[1] / "adapters/tools/mcp/rogue.py"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    home = tmp_path_factory.mktemp("office")
    shutil.copytree(POLICY, home / "policy")
    with (home / "policy" / "default.cedar").open("a") as rules:
        rules.write(TOGETHER)
    make_key_file(home / "push.key")
    (home / "countersign.toml").write_text(
        f'[sources.git]\nkind = "mcp"\ncommand = {json.dumps([sys.executable, "-S", str(ROGUE)])}\n'
        'tools = { asks_form = "read" }\nelicitation = "ask"\n'
    )
    async with PushService().there() as devices, serve_oauth(OAuthSite()) as site, RemoteModel.serving() as model:
        gateway = make_gateway(
            home,
            COUNTERSIGN_TOOLS_MODULES='["tests.harness.effect_tools", "tests.harness.labelled_tools"]',
            COUNTERSIGN_POLICY=str(home / "policy"),
            COUNTERSIGN_POLICY_SOURCE="database",
            COUNTERSIGN_PUSH_KEY=str(home / "push.key"),
            COUNTERSIGN_PUSH_CONTACT="mailto:ada@example.org",
            COUNTERSIGN_PUSH_ALLOW_HOSTS=f'["{devices.host}"]',
            COUNTERSIGN_MODEL_URL=model.url,
            COUNTERSIGN_MODEL_TIER="native",
        )
        await gateway.start()
        ada = await Person.at(gateway).arrive()
        office = Office(gateway, ada, await ada.agent(), await ada.console(), site, devices, model)
        # Somebody else who can approve and sign.
        ben = await office.another("Ben", "operator")
        yield office
        await ada.leave()
        await ben.leave()
        assert await gateway.stop() == 0
        assert "Traceback" not in gateway.output, gateway.output
        code, output = await gateway.run("audit", "verify")
        assert code == 0, output


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def go_on(office: Office) -> None:
    """What the act before has left is over: a freeze, a policy in shadow, versions that wait for signatures."""
    if (await office.console.call("policy/get")).get("freeze") is not None:
        await policy_acts.thaw(office)
    if await policy_acts.shadow(office):
        await office.console.call("policy/stop-shadow")
    for each in (await office.console.call("policy/proposals"))["proposals"]:
        await office.console.call("policy/withdraw", {"proposalId": each["proposalId"]})


BY_ITSELF = {
    "inference:finished": "test_case_327_an_answer_whose_end_cannot_be_recorded_is_given_and_said_to_be_missing",
    "call:result-discarded": "test_case_327_a_late_result_that_cannot_be_recorded_is_said_to_be_missing",
    "source-tokens:renewed": "test_case_327_renewed_tokens_are_on_record_before_they_are_used",
}
"""What the gateway records by itself, when nobody waits for an answer, and the test of it."""

START = (
    "gateway:started",
    "policy:loaded",
    "clock:set-back",
    "call:found-unknown",
    "records:lost",
    "audit-key:rotated",
    "local-operator:added",
)
"""What is recorded while no gateway runs, or before it serves anybody: `test_unrecordable_starts`."""


def records(state: Path, event: str) -> int:
    """How many records of a kind there are."""
    with closing(sqlite3.connect(state / "ledger.db")) as database:
        texts = read_texts(database)
    return sum(json.loads(text)["event"] == event for text in texts)


async def test_case_327_every_kind_of_record_is_in_the_table() -> None:
    named = {each.event for each in ACTS}
    assert AUDITED - named - BY_ITSELF.keys() - set(START) == set()
    assert named | BY_ITSELF.keys() | set(START) <= AUDITED


@pytest.mark.parametrize("act", ACTS, ids=[f"{each.event} by {each.way}" for each in ACTS])
async def test_case_327_an_act_that_cannot_be_recorded_is_not_done_and_can_be_done_later(office: Office, act: Act) -> None:
    state = office.gateway.state
    attempt = await act.prepare(office)
    seen, before = await attempt.look(), records(state, act.event)
    with unwritable(state, act.event):
        refused = await refusal(attempt.go())
        if attempt.undoable is None:
            assert await attempt.look() == seen, "something of it took effect"
    assert refused.code in ("ledger_unavailable", "ledgerUnavailable", "command", attempt.undoable), refused
    assert refused.message
    assert "internal" not in refused.message
    if attempt.undoable is not None:
        return
    assert records(state, act.event) == before
    await attempt.go()
    assert records(state, act.event) > before
    assert (await attempt.look() == seen) is attempt.stays


CONTESTED = (
    "policy:published",
    "policy:thawed",
    "setting:changed",
    "source:switched",
    "principal:enrolled",
    "client-token:minted",
)


@pytest.mark.parametrize(
    "act", [each for each in ACTS if each.event in CONTESTED], ids=lambda each: f"{each.event} by {each.way}"
)
async def test_case_327_an_act_that_came_second_is_refused_as_such(office: Office, act: Act) -> None:
    """What the record contradicts was answered as an internal error, with a traceback in the log."""
    attempt = await act.prepare(office)
    seen = await attempt.look()
    with unwritable(office.gateway.state, act.event, CONTRADICTED):
        refused = await refusal(attempt.go())
        assert await attempt.look() == seen
    assert refused.code in ("refused", "changed", "invalid_grant", "command"), refused
    assert "internal" not in refused.message


async def in_output(office: Office, said: str, beginning: int) -> None:
    """Wait until the gateway's own log says this."""
    await office.gateway.wait_for(re.compile(f"(?s).{{{beginning}}}.*{said}"))


async def test_case_327_an_answer_whose_end_cannot_be_recorded_is_given_and_said_to_be_missing(office: Office) -> None:
    turn = await office.begin()
    wanted = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"], "modelId": office.model.id}
    beginning = len(office.gateway.output)
    with unwritable(office.gateway.state, "inference:finished"):
        token = (await office.shell.call("inference/token", wanted))["token"]
        async with office.model.streaming(office, token):
            pass
        await in_output(office, "the end of an inference request could not be recorded: it cannot be recorded now", beginning)


async def test_case_327_a_late_result_that_cannot_be_recorded_is_said_to_be_missing(office: Office) -> None:
    turn, file = await office.begin(), office.gateway.home / "late"
    call = await turn.start("dawdle", {"file": str(file)}, "late")
    await office.shell.notification("tools/progress", callId="late")
    await office.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "late"})
    await call
    beginning = len(office.gateway.output)
    with unwritable(office.gateway.state, "call:result-discarded"):
        file.touch()
        await in_output(office, "a late result of call late was discarded and could not be recorded", beginning)


async def test_case_327_renewed_tokens_are_on_record_before_they_are_used(office: Office) -> None:
    """The server has voided those before: without a record of the new ones nobody would be signed in after a restart."""
    name, state = await source_acts.sign_in(office), office.gateway.state
    await source_acts.decide(office, name, "look", "network")
    (tool,) = (await office.console.call("sources/list-tools", {"name": name}))["tools"]
    office.site.access.clear()
    before, calls = records(state, "source-tokens:renewed"), len(office.site.calls)

    async def look() -> Any:
        turn = await office.begin()
        call = await turn.start(tool["name"], {}, "looked")
        asked = asyncio.ensure_future(office.asked("looked"))
        await asyncio.wait({call, asked}, return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            await office.ada.answer(office.console, asked.result())
        asked.cancel()
        return await finish(call)

    with unwritable(state, "source-tokens:renewed"):
        for _ in range(2):
            refused = await look()
            assert (refused["outcome"], len(office.site.calls)) == ("executionError", calls), refused
            assert "cannot be recorded" in refused["error"]
    assert records(state, "source-tokens:renewed") == before
    # Whoever uses it next has them recorded: here the gateway itself, which connects anew.
    await source_acts.test(office, name)
    assert records(state, "source-tokens:renewed") == before + 1
    assert (await look())["outcome"] == "ok"
