"""Every method of the agent origin over a real socket; each result is validated against its wire type."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from gateway.core.canonical import digest
from gateway.core.errors import LedgerUnavailable
from gateway.core.times import rfc3339
from gateway.runtime.ports import ModelInfo
from tests.fakes.inference import TINY, SilentBackend
from tests.server.checked_socket import open_checked, refusal
from tests.server.sockets import Stage, Turn, serve_sockets


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with serve_sockets() as served:
        yield served


async def test_session_is_described_with_limits_and_models(stage: Stage) -> None:
    described = await (await open_checked(stage, "agent")).call("session/describe")
    assert described["session"]["principal"] == "usr_ada"
    assert described["session"]["profile"] == "operator"
    assert described["limits"]["requestsInFlight"] == 32
    assert described["consoleOrigin"] == stage.origin("console")
    assert described["at"] == rfc3339(stage.clock.now()), "a page counts down by the gateway's clock"
    assert [model["id"] for model in described["models"]] == ["w:tiny"], "what the policy lets this session use"


async def test_who_runs_the_gateway_is_told_which_configured_models_are_missing_and_nobody_else(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def missing(_backend: SilentBackend) -> Sequence[tuple[str, str]]:
        return (("models/gone.gguf", "there is no such file"),)

    monkeypatch.setattr(SilentBackend, "missing", missing, raising=False)
    operator = await (await open_checked(stage, "agent")).call("session/describe")
    assert operator["missingModels"] == [{"name": "models/gone.gguf", "why": "there is no such file"}]
    guest = await (await open_checked(stage, "agent", "ses_eve_agent")).call("session/describe")
    assert "missingModels" not in guest, "the name may be a path of this machine"


async def test_why_a_model_would_not_answer_is_told_whoever_runs_the_gateway_and_nobody_else_is_told_more_than_that(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "10.0.0.7:8000: wants a key; set OPENROUTER_API_KEY"

    async def models(_backend: SilentBackend) -> Sequence[ModelInfo]:
        return (replace(TINY, trouble=reason),)

    monkeypatch.setattr(SilentBackend, "models", models)
    operator = await (await open_checked(stage, "agent")).call("session/describe")
    assert [model["trouble"] for model in operator["models"]] == [reason]
    guest = await (await open_checked(stage, "agent", "ses_eve_agent")).call("session/describe")
    assert [model["trouble"] for model in guest["models"]] == ["its server does not answer"]


UNSEEN_TITLES = {
    "tabs": "a\tb",
    "line ends": "a\nb",
    "terminal control": "\x1b[31mred",
    "other line ends": "a\u2028b",
    "turned around": "a\u202etxt.exe",
    "invisible": "a\u200bb",
}


@pytest.mark.parametrize("what", UNSEEN_TITLES)
async def test_case_211_a_title_with_what_nobody_sees_is_refused_and_a_first_message_is_shown_without_it(
    stage: Stage, what: str
) -> None:
    """docs/SECURITY.md case 211."""
    agent = await open_checked(stage, "agent")
    first = (await agent.call("conversations/open", {"title": UNSEEN_TITLES[what]}))["conversation"]
    assert first["title"].isprintable()
    given = {"conversationId": first["id"], "title": UNSEEN_TITLES[what]}
    assert await refusal(agent, "conversations/rename", given) == (-32602, "invalid_params")
    listed = await agent.call("conversations/list")
    assert [each["title"] for each in listed["conversations"]] == [first["title"]]


async def test_a_title_keeps_joined_emoji_and_words_of_every_language(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    title = "Café\u00a0– 👩\u200d💻 plant می\u200cخواهم, שלום"
    first = (await agent.call("conversations/open", {"title": "First"}))["conversation"]
    renamed = await agent.call("conversations/rename", {"conversationId": first["id"], "title": title})
    assert renamed["conversation"]["title"] == title


@pytest.mark.requirement("002-22", "a conversation is kept, listed, forked, exported and deleted")
async def test_conversations_are_opened_listed_renamed_forked_exported_and_deleted(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    first = (await agent.call("conversations/open", {"title": "First"}))["conversation"]
    await agent.call("conversations/open")
    renamed = await agent.call("conversations/rename", {"conversationId": first["id"], "title": "Renamed"})
    assert renamed["conversation"]["title"] == "Renamed"
    listed = await agent.call("conversations/list")
    assert {each["title"] for each in listed["conversations"]} == {"Renamed", "New conversation"}
    forked = await agent.call("conversations/fork", {"conversationId": first["id"], "fromTurn": 0})
    assert forked["conversation"]["parentId"] == first["id"]
    exported = await agent.call("conversations/export", {"conversationId": first["id"]})
    assert exported["format"] == "countersign.conversation.v1"
    assert await agent.call("conversations/delete", {"conversationId": first["id"]}) == {}
    assert await refusal(agent, "conversations/export", {"conversationId": first["id"]}) == (-32003, "not_found")


async def test_a_branch_of_a_branch_is_cut_among_the_turns_that_it_inherited_too(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    ref = {"conversationId": (await agent.call("conversations/open"))["conversation"]["id"]}

    async def say(where: dict[str, str], *contents: str) -> None:
        for content in contents:
            stage.clock.advance(1)
            snapshot = (await agent.call("turns/begin", {**where, "message": {"role": "user", "content": content}}))["snapshot"]
            await agent.call("turns/end", {**where, "turnId": snapshot["turnId"]})

    async def fork(where: dict[str, str], from_turn: int) -> tuple[dict[str, str], list[str]]:
        forked = await agent.call("conversations/fork", {**where, "fromTurn": from_turn})
        assert forked["conversation"]["inheritedTurns"] == from_turn
        return {"conversationId": forked["conversation"]["id"]}, [each["content"] for each in forked["messages"]]

    await say(ref, "one", "two", "three")
    branch, said = await fork(ref, 2)
    assert said == ["one", "two"]
    await say(branch, "four", "five")
    assert (await fork(branch, 1))[1] == ["one"]
    assert (await fork(branch, 2))[1] == ["one", "two"]
    assert (await fork(branch, 3))[1] == ["one", "two", "four"]
    whole, said = await fork(branch, 4)
    assert said == ["one", "two", "four", "five"]
    assert (await fork(whole, 4))[1] == said, "a copy that nobody went on in is copied whole"
    assert (await fork(whole, 0))[1] == []
    assert await refusal(agent, "conversations/fork", {**whole, "fromTurn": 5}) == (-32602, "invalid_params")


async def test_a_long_list_of_conversations_comes_in_pages(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    for number in range(60):
        stage.clock.advance(1)
        await agent.call("conversations/open", {"title": f"{number}"})
    page = await agent.call("conversations/list")
    rest = await agent.call("conversations/list", {"cursor": page["nextCursor"]})
    assert [int(each["title"]) for each in [*page["conversations"], *rest["conversations"]]] == list(range(59, -1, -1))
    assert "nextCursor" not in rest
    for cursor in ("x", "1", "1.", "-1.a", "1" * 17 + ".a"):
        assert await refusal(agent, "conversations/list", {"cursor": cursor}) == (-32602, "invalid_params")


async def test_what_was_said_is_found_a_page_at_a_time_and_with_a_piece_of_it(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    turn = await Turn.begin(agent)
    for number in range(25):
        stage.clock.advance(1)
        content = f"{number} " + "before " * 40 + "the Needle " + "behind " * 40
        await agent.call("messages/append", {**turn.ref, "message": {"role": "user", "content": content}})
    page = await agent.call("conversations/search", {"text": "needle  the"})
    rest = await agent.call("conversations/search", {"text": "needle the", "cursor": page["nextCursor"]})
    assert [len(page["found"]), len(rest["found"])] == [20, 5]
    assert "nextCursor" not in rest
    first = page["found"][0]
    assert (first["conversationId"], first["turnId"], first["role"]) == (turn.conversation_id, turn.ref["turnId"], "user")
    assert first["excerpt"].startswith("…")
    assert "the Needle" in first["excerpt"]
    assert (await agent.call("conversations/search", {"text": "nowhere"})) == {"found": []}
    eve = await open_checked(stage, "agent", "ses_eve_agent")
    assert (await eve.call("conversations/search", {"text": "needle"})) == {"found": []}
    for wrong in ({"text": "x"}, {"text": "  "}, {"text": "a " * 9}, {"text": "needle", "cursor": "1.cnv"}):
        assert await refusal(agent, "conversations/search", wrong) == (-32602, "invalid_params")


async def test_another_persons_conversation_is_not_found(stage: Stage) -> None:
    """docs/SECURITY.md case 7."""
    turn = await Turn.begin(await stage.connect("agent"))
    eve = await open_checked(stage, "agent", "ses_eve_agent")
    ref = {"conversationId": turn.conversation_id}
    claimed = {**turn.ref, "message": {"role": "user", "content": "x"}}
    for method, params in {
        "conversations/open": ref,
        "conversations/rename": {**ref, "title": "x"},
        "conversations/delete": ref,
        "conversations/export": ref,
        "conversations/fork": {**ref, "fromTurn": 0},
        "messages/append": claimed,
        "tools/describe": ref,
        "turns/begin": ref,
        "turns/refresh": turn.ref,
        "turns/end": turn.ref,
        "turns/cancel": turn.ref,
        "tools/invoke": turn.request("look"),
        "tools/cancel": {**ref, "callId": "call-1"},
        "tools/list-calls": ref,
        "inference/token": {**turn.ref, "modelId": "m"},
    }.items():
        theirs = await refusal(eve, method, params)
        nobodys = await refusal(eve, method, {**params, "conversationId": "cnv_nobody"})
        assert theirs == nobodys == (-32003, "not_found"), method


@pytest.mark.requirement("002-39", "each descriptor's digest covers all of it but the permission")
@pytest.mark.requirement("002-56", "a turn's snapshot holds its descriptors under one digest")
async def test_snapshot_matches_its_digest(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    turn = await Turn.begin(agent)
    members = dict(turn.snapshot)
    assert members.pop("digest") == digest(members)
    for tool in members["tools"]:
        described = {name: value for name, value in tool.items() if name not in ("digest", "permission")}
        assert tool["digest"] == digest(described)
    refreshed = (await agent.call("turns/refresh", turn.ref))["snapshot"]
    assert (refreshed["turnId"], refreshed["id"] != turn.snapshot["id"]) == (turn.snapshot["turnId"], True)
    preview = await agent.call("tools/describe", {"conversationId": turn.conversation_id})
    assert preview["tools"] == members["tools"]


@pytest.mark.requirement("002-38", "a person's message is claimed, a tool's is the gateway's, with its call")
@pytest.mark.requirement("002-42", "a result has outcome, content and the mark of a replay")
async def test_a_call_runs_and_is_found_in_list_messages_and_export(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    turn = await Turn.begin(agent)
    await agent.call("messages/append", {**turn.ref, "message": {"role": "user", "content": "look!"}})
    stage.clock.advance(1)
    result = await turn.invoke("look")
    assert (result["outcome"], result["content"], result["replayed"]) == ("ok", "look did notes/a.txt", False)
    assert (await agent.notification("tools/progress"))["fraction"] == 0.5
    (listed,) = (await agent.call("tools/list-calls", {"conversationId": turn.conversation_id}))["calls"]
    assert list(listed["call"]["arguments"]) == ["path", "depth"], "as the tool's author wrote them"
    assert (listed["state"], listed["result"]) == ("closed", {**result, "replayed": True})
    opened = await agent.call("conversations/open", {"conversationId": turn.conversation_id})
    assert [(each["role"], each["provenance"]) for each in opened["messages"]] == [("user", "claimed"), ("tool", "gateway")]
    assert opened["messages"][1]["tool"] == "look"
    exported = await agent.call("conversations/export", {"conversationId": turn.conversation_id})
    assert [each["call"]["name"] for each in exported["calls"]] == ["look"]


async def test_a_turn_begins_with_a_message_and_ends_with_its_usage(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    conversation_id = (await agent.call("conversations/open"))["conversation"]["id"]
    message = {"role": "user", "content": "hello"}
    begun = await agent.call("turns/begin", {"conversationId": conversation_id, "message": message, "modelId": "m"})
    opened = await agent.call("conversations/open", {"conversationId": conversation_id})
    assert opened["openTurn"]["modelId"] == "m"
    assert opened["openTurn"]["snapshot"]["id"] == begun["snapshot"]["id"]
    assert [each["content"] for each in opened["messages"]] == ["hello"]
    ref = {"conversationId": conversation_id, "turnId": begun["snapshot"]["turnId"]}
    assert await agent.call("turns/end", {**ref, "usage": {"promptTokens": 12, "seconds": 1.5}}) == {}
    assert "openTurn" not in await agent.call("conversations/open", {"conversationId": conversation_id})


async def test_another_tab_sees_the_open_turn_without_its_snapshot_until_it_takes_over(stage: Stage) -> None:
    one, two = await open_checked(stage, "agent"), await open_checked(stage, "agent")
    turn = await Turn.begin(one)
    seen = await two.call("conversations/open", {"conversationId": turn.conversation_id})
    assert "snapshot" not in seen["openTurn"]
    taken = await two.call("conversations/open", {"conversationId": turn.conversation_id, "takeOver": True})
    assert taken["openTurn"]["turnId"] == turn.snapshot["turnId"]
    revoked = await one.notification("snapshot/revoked")
    assert revoked == {"snapshotId": turn.snapshot["id"], "reason": "rebound"}


async def test_an_unavailable_model_gets_no_token(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    turn = await Turn.begin(agent)
    assert await refusal(agent, "inference/token", {**turn.ref, "modelId": "unknown"}) == (-32003, "not_found")
    (model, *_) = await stage.gateway.ports.inference.models()
    token = await agent.call("inference/token", {**turn.ref, "modelId": model.id})
    assert token["endpoint"] == f"{stage.origin('agent')}/v1"
    assert stage.gateway.inference.check(token["token"]) is not None
    await agent.call("turns/cancel", turn.ref)
    assert stage.gateway.inference.check(token["token"]) is None


async def test_a_ledger_that_cannot_be_written_has_its_own_error(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    stage.ledger.failure = LedgerUnavailable("the record cannot be written now")
    assert await refusal(agent, "conversations/open") == (-32005, "ledger_unavailable")
    stage.ledger.failure = None
    assert await agent.call("conversations/open")
