"""`/v1` under a turn's token: the tools that may be declared, the relay of answers, and what ends an answer."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import aiohttp
import orjson
import pytest
import pytest_asyncio

from gateway.core.errors import LedgerUnavailable
from gateway.core.ledger import CallClosed, CallIntended
from gateway.core.local_tools import RESPOND
from gateway.core.model import ModelRef, ToolCall
from gateway.runtime.binding import Proposal
from gateway.runtime.ports import ModelPhase
from gateway.server.answers import STREAMS_PER_SESSION
from gateway.server.relay import ANSWER_BYTES
from tests.fakes.inference import TINY
from tests.fakes.policy import TablePolicy
from tests.server.conftest import PATIENCE, Running, Turn
from tests.server.streamed import ASKED, EVENTS, finished, recorded, script, streaming


@pytest_asyncio.fixture
async def turn(running: Running) -> Turn:
    await running.arrive()
    return await running.begin_turn()


def declared(turn: Turn, name: str, **changes: Any) -> dict[str, Any]:
    """A tool of the snapshot in the provider's format."""
    spec = turn.snapshot.by_name[name].spec
    function = {"name": name, "description": spec.description, "parameters": spec.param_schema, **changes}
    return {"type": "function", "function": function}


# ── passing on ──


@pytest.mark.requirement("002-18", "an answer is passed on as it streams")
async def test_a_streamed_answer_arrives_byte_for_byte_and_its_counts_are_recorded(turn: Turn) -> None:
    script(turn, *EVENTS, None)
    reply = await turn.ask(ASKED)
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "text/event-stream"
    assert reply.body == b"".join(EVENTS)
    entry = await recorded(turn)
    assert (entry.outcome, entry.prompt_tokens, entry.completion_tokens) == ("completed", 12, 7)
    assert (entry.turn_id, entry.model_id) == (turn.snapshot.turn_id, TINY.id)


async def propose(turn: Turn, call_id: str, model: ModelRef | None) -> ModelRef | None:
    """The model that is on record for a call of this turn."""
    snapshot = turn.snapshot
    call = ToolCall(call_id, "look", {"path": "a.txt"})
    proposal = Proposal(snapshot.conversation_id, snapshot.turn_id, snapshot.id, snapshot.digest, call, model)
    await turn.running.gateway.dispatcher.invoke(turn.connection, proposal)
    entries = [entry for entry in turn.running.ledger.entries if isinstance(entry, CallIntended | CallClosed)]
    requests = [entry.request for entry in entries if entry.request.call_id == call_id]
    assert requests
    return requests[0].model


@pytest.mark.requirement("002-72", "a call's record names the model, its backend and the request it came of")
async def test_a_call_after_inference_is_recorded_with_the_model_its_backend_and_the_requests_nonce(turn: Turn) -> None:
    script(turn, *EVENTS, None)
    first = (await turn.ask(ASKED)).headers["x-countersign-nonce"]
    script(turn, *EVENTS, None)
    second = (await turn.ask(ASKED)).headers["x-countersign-nonce"]
    assert first != second
    async with asyncio.timeout(PATIENCE):
        while len(finished(turn)) < 2:
            await asyncio.sleep(0)
    assert [entry.nonce for entry in finished(turn)] == [first, second]
    backend = TINY.backend
    assert backend
    assert await propose(turn, "c1", None) == ModelRef(TINY.id, backend, second, claimed=False)
    assert await propose(turn, "c2", ModelRef("forged", "forged", first)) == ModelRef(TINY.id, backend, first, claimed=False)


async def test_a_nonce_of_no_request_of_this_turn_is_not_vouched_for(turn: Turn) -> None:
    script(turn, *EVENTS, None)
    await turn.ask(ASKED)
    assert await propose(turn, "c1", ModelRef("forged", "forged", "inf_other")) == ModelRef(TINY.id, TINY.backend, claimed=False)


async def test_the_leaf_of_a_finished_request_names_its_nonce_and_an_embedding_has_none(turn: Turn) -> None:
    script(turn, *EVENTS, None)
    nonce = (await turn.ask(ASKED)).headers["x-countersign-nonce"]
    leaf = (await recorded(turn)).leaf()
    assert leaf.body["nonce"] == nonce
    assert "nonce" not in replace(await recorded(turn), nonce="").leaf().body


async def test_a_whole_answer_arrives_as_json(turn: Turn) -> None:
    body = b'{"choices":[],"timings":{"prompt_n":3,"predicted_n":4}}'
    script(turn, body, None, content_type="application/json; charset=utf-8")
    reply = await turn.ask({**ASKED, "stream": False})
    assert (reply.headers["Content-Type"], reply.body) == ("application/json", body)
    entry = await recorded(turn)
    assert (entry.prompt_tokens, entry.completion_tokens) == (3, 4)


@pytest.mark.requirement("002-44", "the request reaches the model with the token's model and a limit of tokens")
async def test_the_model_gets_the_checked_request_with_the_tokens_model_and_a_limit(turn: Turn) -> None:
    script(turn, None)
    await turn.ask(ASKED)
    ((path, body),) = turn.running.backend.asked
    assert path == "/v1/chat/completions"
    assert orjson.loads(body) == {**ASKED, "model": TINY.id, "max_tokens": TINY.output_tokens}


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
async def test_a_larger_limit_than_the_models_is_lowered(turn: Turn, name: str) -> None:
    script(turn, None)
    await turn.ask({**ASKED, name: 1_000_000})
    assert orjson.loads(turn.running.backend.asked[0][1])[name] == TINY.output_tokens


@pytest.mark.requirement("002-46", "a request for embeddings reaches a backend that has them")
async def test_embeddings_are_passed_on(turn: Turn) -> None:
    script(turn, b'{"data":[]}', None, content_type="application/json")
    reply = await turn.ask({"input": ["a"]}, "/v1/embeddings")
    assert reply.json == {"data": []}
    assert turn.running.backend.asked[0][0] == "/v1/embeddings"


async def test_the_one_model_of_the_token_is_listed(turn: Turn) -> None:
    reply = await turn.running.browser.get(f"{turn.running.agent}/v1/models", headers=turn.bearer)
    assert [model["id"] for model in reply.json["data"]] == [TINY.id]


async def test_a_program_without_an_origin_is_allowed_and_a_foreign_page_is_not(turn: Turn) -> None:
    script(turn, None)
    assert (await turn.ask(ASKED, origin=None)).status == 200
    for origin in (turn.running.console, "https://evil.test", "null"):
        assert (await turn.ask(ASKED, origin=origin)).status == 403


# ── what may be declared ──


async def test_tools_of_the_snapshot_may_be_declared_in_any_member_order(turn: Turn) -> None:
    script(turn, None)
    turned = dict(reversed(list(turn.snapshot.by_name["look"].spec.param_schema.items())))
    tools = [declared(turn, "look", parameters=turned), declared(turn, "write"), declared(turn, "destroy", description="mine")]
    assert (await turn.ask({**ASKED, "tools": tools})).status == 200


async def test_the_loops_own_respond_may_be_declared(turn: Turn) -> None:
    script(turn, None)
    assert (await turn.ask({**ASKED, "tools": [declared(turn, "respond")]})).status == 200


async def test_respond_may_be_declared_where_it_is_not_published_but_only_unchanged(running: Running) -> None:
    policy = cast("TablePolicy", running.gateway.ports.policy)
    policy.allowance = replace(policy.allowance, suppressed_tools=("respond",))
    await running.arrive()
    turn = await running.begin_turn()
    assert "respond" not in turn.snapshot.by_name
    for schema, status in ((RESPOND.param_schema, 200), ({"type": "object"}, 400)):
        script(turn, None)
        respond = {"type": "function", "function": {"name": "respond", "parameters": schema}}
        assert (await turn.ask({**ASKED, "tools": [respond]})).status == status


@pytest.mark.requirement("002-64", "declared tools must be the snapshot's, schema and all")
@pytest.mark.parametrize(
    "case", ["unknown", "wider schema", "no schema", "null schema", "own respond", "forbidden", "second of two"]
)
async def test_a_tool_that_is_not_the_snapshots_is_refused_before_the_model_is_asked(turn: Turn, case: str) -> None:
    """docs/PROTOCOL.md section 8."""
    schema = turn.snapshot.by_name["look"].spec.param_schema
    cases: dict[str, list[dict[str, Any]]] = {
        "unknown": [{"type": "function", "function": {"name": "rm", "parameters": {}}}],
        "wider schema": [declared(turn, "look", parameters={**schema, "additionalProperties": True})],
        "no schema": [{"type": "function", "function": {"name": "look"}}],
        "null schema": [declared(turn, "look", parameters=None)],
        "own respond": [declared(turn, "respond", parameters={"type": "object"})],
        "forbidden": [declared(turn, "administer")],
        "second of two": [declared(turn, "look"), declared(turn, "look", parameters={})],
    }
    reply = await turn.ask({**ASKED, "tools": cases[case]})
    assert (reply.status, reply.json["error"]["code"]) == (400, "tool_not_in_snapshot")
    assert reply.json["error"]["type"] == "invalid_request_error"
    assert turn.running.backend.asked == []


@pytest.mark.requirement("002-64", "a token serves its own model only")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"tools": {}}, "invalid_params"),
        ({"tools": ["look"]}, "invalid_params"),
        ({"tools": [{"type": "web_search"}]}, "invalid_params"),
        ({"tools": [{"type": "function", "function": {"name": 5}}]}, "invalid_params"),
        ({"functions": [{"name": "rm"}]}, "unknown_parameter"),
        ({"web_search_options": {}}, "unknown_parameter"),
        ({"id_slot": 0}, "unknown_parameter"),
        ({"lora": []}, "unknown_parameter"),
        ({"verbose": True}, "unknown_parameter"),
        ({"return_tokens": True}, "unknown_parameter"),
        ({"model": "another"}, "model_not_in_token"),
        ({"model": None}, "model_not_in_token"),
        ({"messages": []}, "invalid_params"),
        *(({name: "yes"}, "invalid_params") for name in ("stream", "n")),
        ({"max_tokens": -1}, "invalid_params"),
        ({"max_tokens": True}, "invalid_params"),
        ({"max_tokens": "9"}, "invalid_params"),
    ],
)
async def test_a_request_that_asks_for_more_is_refused(turn: Turn, change: dict[str, Any], code: str) -> None:
    reply = await turn.ask({**ASKED, **change})
    assert (reply.status, reply.json["error"]["code"]) == (400, code)
    assert turn.running.backend.asked == []


# ── tokens ──


@pytest.mark.parametrize("header", ["Bearer ", "Bearer x", "Basic x", "", "Bearer  ", "bearer\u00e9 x"])
async def test_a_request_without_a_valid_token_is_refused(turn: Turn, header: str) -> None:
    reply = await turn.running.browser.post(f"{turn.running.agent}/v1/chat/completions", ASKED, headers={"Authorization": header})
    assert (reply.status, reply.json["error"]["code"]) == (401, "invalid_token")


@pytest.mark.requirement("002-27", "a token expires after five minutes")
async def test_a_token_expires(turn: Turn) -> None:
    turn.running.clock.advance(301)
    assert (await turn.ask(ASKED)).status == 401


@pytest.mark.requirement("002-64", "a token is worth nothing after its turn")
async def test_a_token_ends_with_its_turn(turn: Turn) -> None:
    await turn.running.gateway.turns.end(turn.session, turn.snapshot.conversation_id, turn.snapshot.turn_id, None)
    assert (await turn.ask(ASKED)).status == 401


@pytest.mark.requirement("002-10", "a token is worth nothing after its session")
@pytest.mark.requirement("002-32", "signing out revokes the tokens of the session")
async def test_a_token_ends_with_its_session(turn: Turn) -> None:
    await turn.running.browser.post(f"{turn.running.agent}/logout")
    assert (await turn.ask(ASKED)).status == 401


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
async def test_case_46_a_token_that_is_voided_while_the_body_is_sent_asks_no_model(turn: Turn, path: str) -> None:
    """docs/SECURITY.md case 46: it stood when the headers came."""
    running, where = turn.running, (turn.session, turn.snapshot.conversation_id, turn.snapshot.turn_id)
    body = orjson.dumps(ASKED if path.endswith("completions") else {"input": "a"})
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {running.agent.removeprefix('http://')}\r\nAuthorization: Bearer {turn.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    )
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
        writer.write(head.encode() + body[:5])
        # The gateway asks for the body once the token has been looked at.
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        await running.gateway.turns.end(*where, None)
        writer.write(body[5:])
        answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 403")
    assert b'"code":"token_revoked"' in answer
    assert running.backend.asked == []


# ── stopping ──


async def test_a_disconnect_of_the_peer_stops_the_model(turn: Turn) -> None:
    async with streaming(turn) as response:
        response.close()
        await turn.running.backend.closed.wait()
    assert (await recorded(turn)).outcome == "aborted"


@pytest.mark.requirement("002-19", "logout, cancel, end and a next turn abort the stream")
@pytest.mark.parametrize("how", ["logout", "signout", "cancel", "end", "next turn"])
async def test_every_end_of_a_turn_stops_the_model_and_sends_the_reason(turn: Turn, how: str) -> None:
    """docs/SECURITY.md case 46; docs/PROTOCOL.md sections 1, 5 and 8."""
    running, where = turn.running, (turn.session, turn.snapshot.conversation_id, turn.snapshot.turn_id)
    async with streaming(turn) as response:
        match how:
            case "logout":
                assert (await running.browser.post(f"{running.agent}/logout")).status == 204
            case "signout":
                assert (await running.browser.post(f"{running.console}/signout")).status == 204
            case "cancel":
                await running.gateway.turns.cancel(*where)
            case "end":
                await running.gateway.turns.end(*where, None)
            case _:
                await running.gateway.turns.begin(turn.connection, turn.snapshot.conversation_id)
        await running.backend.closed.wait()
        rest = await response.content.read()
    event = orjson.loads(rest.strip().removeprefix(b"data: "))
    assert event["error"]["code"] == "token_revoked"
    assert (await recorded(turn)).outcome == "aborted"


async def test_a_session_has_a_limit_of_concurrent_answers(turn: Turn) -> None:
    async with asyncio.timeout(PATIENCE):
        asking = [asyncio.ensure_future(turn.ask(ASKED)) for _ in range(STREAMS_PER_SESSION)]
        while len(turn.running.backend.asked) < STREAMS_PER_SESSION:
            await asyncio.sleep(0)
        refused = await turn.ask(ASKED)
        assert (refused.status, refused.json["error"]["code"]) == (429, "too_many_requests")
        for _ in asking:
            turn.running.backend.stream.queue.put_nowait(None)
        assert [reply.status for reply in await asyncio.gather(*asking)] == [200] * STREAMS_PER_SESSION
        turn.running.backend.stream.queue.put_nowait(None)
        assert (await turn.ask(ASKED)).status == 200


# ── failures of the model ──


async def test_an_unavailable_model_answers_with_its_state(turn: Turn) -> None:
    turn.running.backend.phase = ModelPhase.STARTING
    reply = await turn.ask(ASKED)
    assert reply.status == 503
    assert (reply.json["error"]["code"], reply.json["error"]["reason"]) == ("model_unavailable", "starting")
    assert (await recorded(turn)).outcome == "failed"


@pytest.mark.parametrize("status", [401, 403])
async def test_what_an_upstream_says_of_the_key_is_not_passed_on(turn: Turn, status: int) -> None:
    script(turn, b'{"error":"api key /etc/secret is wrong"}', None, status=status)
    reply = await turn.ask(ASKED)
    assert (reply.status, reply.json["error"]["code"]) == (502, "model_error")
    assert str(status) in reply.json["error"]["message"]
    assert b"secret" not in reply.body


async def test_a_web_page_is_no_answer_and_not_passed_on(turn: Turn) -> None:
    script(turn, b"<html>secret</html>", None, content_type="text/html; charset=utf-8")
    reply = await turn.ask(ASKED)
    assert (reply.status, b"is a web page" in reply.body, b"secret" in reply.body) == (502, True, False)


async def test_an_upstreams_refusal_of_the_request_is_passed_on(turn: Turn) -> None:
    script(turn, b'{"error":{"message":"context too long"}}', None, status=400, content_type="application/json")
    reply = await turn.ask(ASKED)
    assert (reply.status, reply.json["error"]["message"]) == (400, "context too long")


async def test_a_broken_stream_ends_with_an_error_event(turn: Turn, caplog: pytest.LogCaptureFixture) -> None:
    script(turn, EVENTS[0], ConnectionResetError("sidecar died"))
    reply = await turn.ask(ASKED)
    first, event = reply.body.split(b"\n\n\n\n")
    assert first == EVENTS[0].strip()
    assert orjson.loads(event.strip().removeprefix(b"data: "))["error"]["code"] == "model_error"
    assert b"sidecar died" not in reply.body
    assert (await recorded(turn)).outcome == "failed"


async def test_an_endless_answer_is_cut_at_the_limit(turn: Turn) -> None:
    megabyte = b": " + b"x" * ((1 << 20) - 4) + b"\n\n"
    script(turn, *[megabyte] * ((ANSWER_BYTES >> 20) + 8))
    reply = await turn.ask(ASKED)
    assert len(reply.body) < ANSWER_BYTES + 1024
    assert orjson.loads(reply.body[ANSWER_BYTES:].strip().removeprefix(b"data: "))["error"]["code"] == "model_error"
    assert (await recorded(turn)).outcome == "failed"


async def test_a_broken_json_answer_stays_incomplete(turn: Turn) -> None:
    script(turn, b'{"choices":[', ConnectionResetError("sidecar died"), content_type="application/json")
    with pytest.raises(aiohttp.ClientPayloadError):
        await turn.ask({**ASKED, "stream": False})


async def test_an_answer_is_complete_although_its_end_cannot_be_recorded(turn: Turn) -> None:
    script(turn, *EVENTS, None)
    turn.running.ledger.failure = LedgerUnavailable("disk full")
    assert (await turn.ask(ASKED)).body == b"".join(EVENTS)
