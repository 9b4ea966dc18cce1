"""The calls of the audit log as the console finds and counts them, and an auditor, who reads them and can do nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from gateway.core.times import rfc3339
from gateway.protocol.frames import CONSOLE
from tests.harness.person import Person, Turn
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import Scene, text_of
from tests.scenarios.staging import finish

# It brings no types.
arrow: Any = import_module("pyarrow")
parquet: Any = import_module("pyarrow.parquet")

pytestmark = pytest.mark.asyncio(loop_scope="module")

READ = {
    "session/describe",
    "audit/list",
    "audit/verify",
    "audit/calls",
    "audit/count",
    "audit/choices",
    "audit/call",
    "audit/conversations",
    "audit/compare",
    "audit/load",
    "audit/models",
    "audit/sinks",
}

ATTEMPTS: Mapping[str, Mapping[str, Any]] = {
    "approvals/list": {},
    "grants/list": {},
    "passkeys/list": {},
    "people/list": {},
    "sessions/list": {},
    "sources/list": {},
    "secrets/list": {},
    "clients/list": {},
    "elicitations/list": {},
    "policy/describe": {},
    "policy/overview": {},
    "policy/get": {},
    "policy/proposals": {},
    "people/invite": {"name": "Mallory", "profile": "operator"},
    "policy/freeze": {"why": "because"},
    "secrets/store": {"name": "mine", "value": "x"},
    "passkeys/rename": {"passkeyId": "AAAA", "name": "x"},
}


async def calls_of(console: Socket, **wanted: Any) -> list[dict[str, Any]]:
    listed = await console.call("audit/calls", {"filter": wanted})
    assert listed["unread"] == 0
    return listed["calls"]


async def sum_of_calls(console: Socket) -> tuple[int, int]:
    """How many calls were proposed by models, and how many of them ran."""
    models = (await console.call("audit/models"))["models"]
    return sum(model["calls"] for model in models), sum(model["callsRan"] for model in models)


async def reason_of(console: Socket, method: str, params: Mapping[str, Any]) -> str:
    with pytest.raises(RpcError) as refused:
        await console.call(method, dict(params))
    return refused.value.error["data"]["code"]


async def arrive_as_auditor(scene: Scene, name: str) -> Person:
    person = Person.at(scene.gateway)
    assert (await person.enrol(await scene.offer(name, "auditor"))).status == 204
    return person


@pytest.mark.requirement(
    "002-74", "what was called, by which model, under which rule, who approved and which tools it could see, on the console"
)
async def test_a_call_is_found_by_each_thing_that_is_known_of_it_and_shown_as_it_was(scene: Scene) -> None:
    turn = await scene.begin()
    assert (await turn.invoke("peek", {"what": "milk"}, "read-it"))["outcome"] == "ok"
    deleting = await turn.start("erase", {"what": "everything"}, "erase-it")
    await scene.ada.answer(scene.console, await scene.asked("erase-it"))
    assert (await finish(deleting))["outcome"] == "ok"
    of_turn = {"conversationId": turn.conversation_id}
    erased, read = await calls_of(scene.console, **of_turn)
    assert (erased["callId"], erased["outcome"], erased["decision"]) == ("erase-it", "ok", "step-up-succeeded")
    assert (erased["principalName"], erased["approverName"], erased["answer"]) == ("Operator", "Operator", "approved")
    assert (read["callId"], read["decision"], read["source"], read["label"]) == ("read-it", "auto", erased["source"], "public")
    for name, value in {
        "tool": "erase",
        "outcome": "ok",
        "decision": "step-up-succeeded",
        "source": erased["source"],
        "principalId": erased["principalId"],
        "rule": erased["rules"][0],
        "policyVersion": erased["policyVersion"],
        "label": "public",
        "text": "erase-i",
        "since": erased["at"],
    }.items():
        assert erased["position"] in [call["position"] for call in await calls_of(scene.console, **of_turn, **{name: value})]
    for name, value in {"tool": "peek", "outcome": "open", "decision": "denied", "text": "read-i"}.items():
        assert erased["position"] not in [call["position"] for call in await calls_of(scene.console, **of_turn, **{name: value})]
    counted = await scene.console.call("audit/count", {"filter": of_turn})
    assert (counted["total"], counted["outcomes"]) == (2, [{"outcome": "ok", "calls": 2}])
    assert sum(each["calls"] for bucket in counted["buckets"] for each in bucket["outcomes"]) == 2

    shown = await scene.console.call("audit/call", {"position": erased["position"]})
    assert [entry["body"]["event"] for entry in shown["entries"]] == [
        "approval:requested",
        "approval:resolved",
        "call:intended",
        "call:closed",
    ]
    assert shown["entries"][0]["payload"]["statement"]["arguments"] == {"what": "everything"}
    assert shown["definition"]["name"] == "erase"
    assert shown["definition"]["digest"] == shown["entries"][0]["body"]["descriptorDigest"]
    assert {"peek", "erase"} <= {tool["name"] for tool in shown["offered"]}
    assert shown["rules"][0]["why"]
    assert shown["call"]["passkeyName"]


@pytest.mark.requirement("002-74", "no id that the agent chose keeps other calls from being found")
async def test_case_191_a_call_whose_id_is_like_a_name_hides_no_other_call(scene: Scene) -> None:
    turn = await scene.begin()
    for call_id in ("first", "second"):
        await turn.invoke("peek", {"what": "milk"}, call_id)
    await turn.invoke("peek", {"what": "milk"}, f"{turn.conversation_id}:another")
    decoy = await scene.begin()
    await decoy.invoke("note", {"what": 1}, "peek-a")
    own = {"conversationId": turn.conversation_id}
    assert [call["callId"] for call in await calls_of(scene.console, **own, text="peek")][1:] == ["second", "first"]
    assert (await scene.console.call("audit/count", {"filter": {**own, "text": "peek"}}))["total"] == 3
    assert next(call["callId"] for call in await calls_of(scene.console, text="peek")) == "peek-a"
    # Nor the calls of a conversation that is looked for by its own id.
    found = await calls_of(scene.console, text=turn.conversation_id)
    assert [call["callId"] for call in found] == [f"{turn.conversation_id}:another", "second", "first"]


async def test_pages_follow_each_other_without_a_gap_and_a_wrong_cursor_is_said_to_be_wrong(scene: Scene) -> None:
    turn = await scene.begin()
    for number in range(5):
        await turn.invoke("peek", {"what": "milk"}, f"page-{number}")
    of_turn = {"filter": {"conversationId": turn.conversation_id}, "limit": 2}
    found: list[str] = []
    page = await scene.console.call("audit/calls", of_turn)
    while True:
        found += [call["callId"] for call in page["calls"]]
        if "nextCursor" not in page:
            break
        page = await scene.console.call("audit/calls", {**of_turn, "cursor": page["nextCursor"]})
    assert found == [f"page-{number}" for number in (4, 3, 2, 1, 0)]
    for wrong in (
        {"cursor": "nonsense"},
        {"cursor": "1.2.3"},
        {"filter": {"since": "2026-01-02T00:00:00.000Z", "until": "2026-01-01T00:00:00.000Z"}},
        {"filter": {"since": "2020-01-01T00:00:00.000Z"}},
        {"filter": {"since": "2026-99-99T00:00:00.000Z"}},
        {"filter": {"event": "call:closed"}},
        {"filter": {"decision": "Auto"}},
        {"filter": {"outcome": "Ok"}},
    ):
        with pytest.raises(RpcError) as refused:
            await scene.console.call("audit/calls", wrong)
        assert refused.value.code == -32602
    assert refused.value.error["message"].startswith("`outcome` is one of ok, refusedByPolicy, ")


async def test_records_are_not_looked_for_by_words_that_none_has(scene: Scene) -> None:
    for wrong, told in (({"event": "call:close"}, "`event` is none"), ({"outcome": "Ok"}, "`outcome` is one of ok, ")):
        with pytest.raises(RpcError, match=told):
            await scene.console.call("audit/list", {"filter": wrong})
    for wanted in ({"event": "records:lost"}, {"outcome": "completed"}):
        assert (await scene.console.call("audit/list", {"filter": wanted}))["entries"] == []


async def test_what_people_were_asked_and_what_models_were_used_is_summed_up(scene: Scene) -> None:
    load = await scene.console.call("audit/load")
    (erasing,) = [each for each in load["tools"] if each["tool"] == "erase"]
    assert (erasing["asked"], erasing["approved"], erasing["denied"]) == (1, 1, 0)
    assert erasing["medianWaitMs"] <= erasing["longestWaitMs"]
    (person,) = load["people"]
    assert (person["principalName"], person["asked"]) == ("Operator", 1)
    assert person["questionsPerTurn"] == person["asked"] / person["turns"]
    models = (await scene.console.call("audit/models"))["models"]
    assert sum(model["turns"] for model in models) == person["turns"]
    assert sum(model["calls"] for model in models) >= 2
    # What people typed belongs to no model, whichever a turn began with.
    assert [model.get("callsPerTurn") for model in models if "modelId" not in model] == [None]


async def test_a_call_that_failed_or_ran_too_long_ran_and_one_that_was_refused_did_not(scene: Scene) -> None:
    before = await sum_of_calls(scene.console)
    turn = await scene.begin()
    for tool, arguments, outcome in (
        ("peek", {"what": "milk"}, "ok"),
        ("stumble", {}, "executionError"),
        ("overrun", {}, "timedOut"),
        ("peek", {"what": 3}, "invalidArguments"),
        ("nothing", {}, "unknownTool"),
    ):
        assert (await turn.invoke(tool, arguments))["outcome"] == outcome
    assert await sum_of_calls(scene.console) == (before[0] + 5, before[1] + 3)
    # Arguments that do not fit are those of a tool that there is: the call is found by it.
    unfit = await calls_of(scene.console, conversationId=turn.conversation_id, tool="peek", outcome="invalidArguments")
    assert [(call["tool"], bool(call["source"]), call["policyVersion"] is not None) for call in unfit] == [("peek", True, True)]
    (unknown,) = await calls_of(scene.console, conversationId=turn.conversation_id, outcome="unknownTool")
    assert "tool" not in unknown


@pytest.mark.requirement("002-71", "everybody sees the decisions about their own calls, and of nobody else's")
async def test_case_126_a_guest_finds_counts_and_opens_their_own_calls_only(scene: Scene) -> None:
    turn = await scene.begin()
    assert (await turn.invoke("peek", {"what": "milk"}, "adas"))["outcome"] == "ok"
    (adas,) = await calls_of(scene.console, conversationId=turn.conversation_id)
    gil = await scene.another("Gil", "guest")
    shell, console = await gil.agent(), await gil.console()
    own = await type(turn).begin(shell)
    await own.invoke("peek", {"what": "milk"}, "gils")
    assert [call["callId"] for call in await calls_of(console)] == ["gils"]
    for wanted in ({"principalId": adas["principalId"]}, {"conversationId": turn.conversation_id}, {"text": "adas"}):
        found = await calls_of(console, **wanted)
        assert [call["callId"] for call in found] in ([], ["gils"])
        assert (await console.call("audit/count", {"filter": wanted}))["total"] == len(found)
    assert await reason_of(console, "audit/call", {"position": adas["position"]}) == "not_found"
    assert adas["principalId"] not in text_of(await console.call("audit/choices"))
    assert adas["principalId"] not in text_of(await console.call("audit/load"))
    assert await reason_of(console, "audit/verify", {}) == "operatorOnly"
    assert "gils" in [call["callId"] for call in await calls_of(scene.console)]
    await gil.leave()


@pytest.mark.requirement("002-33", "an auditor reads everybody's records and reaches nothing that acts or decides")
async def test_case_127_an_auditor_reads_the_log_and_can_do_nothing_else(scene: Scene) -> None:
    turn = await scene.begin()
    assert (await turn.invoke("peek", {"what": "milk"}, "seen"))["outcome"] == "ok"
    waiting = await turn.start("erase", {"what": "rest"}, "asked")
    approval_id = await scene.asked("asked")
    ida = await arrive_as_auditor(scene, "Ida")
    console = await ida.console()
    seen = [call for call in await calls_of(console) if call["conversationId"] == turn.conversation_id]
    assert [(call["callId"], call["outcome"]) for call in seen] == [("asked", "open"), ("seen", "ok")]
    assert (await console.call("audit/call", {"position": seen[1]["position"]}))["definition"]["name"] == "peek"
    assert (await console.call("audit/verify"))["verified"] is True
    assert (await console.call("audit/list"))["size"] > 0
    # Whatever else the console speaks is refused, before its parameters can matter.
    question = await scene.console.call("approvals/get", {"approvalId": approval_id})
    aimed = {
        **ATTEMPTS,
        "approvals/get": {"approvalId": approval_id},
        "approvals/decide": {"approvalId": approval_id, "challenge": question["challenge"], "decision": "deny"},
    }
    for method, params in aimed.items():
        assert await reason_of(console, method, params) == "auditorReadsOnly", method
    for method in CONSOLE.methods.keys() - READ - aimed.keys():
        with pytest.raises(RpcError) as refused:
            await console.call(method, {})
        assert refused.value.error["data"]["code"] in ("auditorReadsOnly", "invalid_params"), method
    origin = scene.gateway.console_origin
    attempts: dict[str, dict[str, Any]] = {
        "/authorize": {"state": "s" * 43},
        "/passkeys/options": {},
        "/passkeys/verify": {"credential": {}},
        "/connect/describe": {"request": "r"},
        "/connect/decide": {"request": "r", "allow": True},
    }
    for path, body in attempts.items():
        answered = await ida.browser.post(f"{origin}{path}", body)
        assert (answered.status, answered.json["error"]["reason"]) == (403, "auditorReadsOnly"), (path, answered.body)
    receipt = f"{origin}/receipt?conversation={turn.conversation_id}&call=seen"
    assert (await ida.browser.get(receipt)).status == 200
    # The question still waits, and its asker is still the one who is asked.
    assert (await scene.console.call("approvals/get", {"approvalId": approval_id}))["approval"]["status"] == "pending"
    await scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "asked"})
    await finish(waiting)
    await ida.leave()


async def test_case_128_somebody_who_becomes_an_auditor_loses_their_shell_and_what_it_could_do(scene: Scene) -> None:
    eve = await scene.another("Eve", "guest")
    shell = await eve.agent()
    code, output = await scene.gateway.run("people", "profile", "Eve", "auditor")
    assert code == 0, output
    assert (await shell.wait_closed(patience=10))[0] == 4403
    assert (await eve.sign_in()).status == 204
    refused = await eve.browser.post(f"{scene.gateway.console_origin}/authorize", {"state": "s" * 43})
    assert (refused.status, refused.json["error"]["reason"]) == (403, "auditorReadsOnly")
    console = await eve.console()
    assert len(await calls_of(console)) > 0
    await eve.leave()


async def test_a_question_comes_with_the_request_before_it_and_with_what_came_of_it(scene: Scene) -> None:
    opened = await scene.shell.call("conversations/open", {"title": "Shopping"})
    conversation_id = opened["conversation"]["id"]
    message = {"role": "user", "content": "put milk on my list"}
    begun = await scene.shell.call("turns/begin", {"conversationId": conversation_id, "message": message})
    turn = Turn(scene.shell, conversation_id, begun["snapshot"])
    call = await turn.start("erase", {"what": "milk"}, "with-background")
    asked = {"approvalId": await scene.asked("with-background")}
    waiting = (await scene.console.call("approvals/get", asked))["background"]
    assert (waiting["title"], waiting["request"], waiting["call"]["outcome"]) == ("Shopping", "put milk on my list", "open")
    await scene.ada.answer(scene.console, asked["approvalId"])
    assert (await finish(call))["outcome"] == "ok"
    decided = (await scene.console.call("approvals/get", asked))["background"]["call"]
    assert (decided["approverName"], decided["outcome"]) == ("Operator", "ok")
    assert {"decidedAt", "passkeyName", "closedAt"} <= set(decided)
    shown = await scene.console.call("audit/call", {"position": decided["position"]})
    assert shown["call"]["approvalId"] == asked["approvalId"]


@pytest.mark.requirement("002-74", "what is filtered is had as a file, one line for each call, of nobody else's calls")
async def test_what_the_filter_finds_is_exported_and_of_others_nothing(scene: Scene, tmp_path: Path) -> None:
    turn = await scene.begin()
    for number in range(3):
        await turn.invoke("peek", {"what": "milk"}, f"exported-{number}")
    wanted, origin = {"conversationId": turn.conversation_id}, scene.gateway.console_origin
    listed = await calls_of(scene.console, **wanted)
    for form in ("jsonl", "csv", "ocsf", "cef"):
        file = await scene.ada.browser.get(f"{origin}/export?{urlencode({'format': form, **wanted})}")
        assert (file.status, file.headers["countersign-calls"]) == (200, "3")
        assert file.headers["Content-Disposition"].startswith('attachment; filename="calls.')
        lines = file.body.decode().splitlines()[form == "csv" :]
        assert len(lines) == 3
        assert all(call["callId"] in line for call, line in zip(listed, lines, strict=True))
        assert "milk" not in file.body.decode()
        code, said = await scene.gateway.run(
            "audit", "export", str(tmp_path / form), "--format", form, "--conversation", turn.conversation_id
        )
        assert (code, said.splitlines()[0]) == (0, "3 calls exported")
        assert "`countersign audit verify` checks the log" in said
        assert (tmp_path / form).read_bytes() == file.body

    file = await scene.ada.browser.get(f"{origin}/export?{urlencode({'format': 'parquet', **wanted})}")
    assert file.headers["Content-Disposition"] == 'attachment; filename="calls.parquet"'
    code, said = await scene.gateway.run(
        "audit", "export", str(tmp_path / "calls"), "--format", "parquet", "--conversation", turn.conversation_id
    )
    assert (code, said.splitlines()[0]) == (0, "3 calls exported")
    assert "`countersign audit verify` checks the log" in said
    for raw in (file.body, (tmp_path / "calls").read_bytes()):
        rows = parquet.read_table(arrow.BufferReader(raw)).to_pylist()
        assert [(row["position"], row["callId"], row["rules"]) for row in rows] == [
            (call["position"], call["callId"], call["rules"]) for call in listed
        ]
        assert [rfc3339(round(row["at"].timestamp() * 1000)) for row in rows] == [call["at"] for call in listed]

    ben = await scene.another("Ben", "guest")
    for asked in (wanted, {"principalId": listed[0]["principalId"]}):
        file = await ben.browser.get(f"{origin}/export?{urlencode({'format': 'jsonl', **asked})}")
        assert (file.status, file.body) == (200, b"")
    assert (await Person.at(scene.gateway).browser.get(f"{origin}/export?format=csv")).status == 401
    for wrong in (
        "",
        "format=pdf",
        "format=csv&tool=",
        "format=csv&since=yesterday",
        "format=csv&nonsense=1",
        "format=csv&tool=a&tool=b",
    ):
        assert (await scene.ada.browser.get(f"{origin}/export?{wrong}")).status == 400
