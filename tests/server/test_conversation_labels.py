"""Labels that have risen and are not on record yet, over a real socket: a search, and a branch of a conversation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import pytest

from gateway.core.ledger import Entry
from gateway.core.vocabulary import Label, Trust
from gateway.runtime.conversation import Conversation
from tests.server.checked_socket import open_checked
from tests.server.sockets import Stage, Turn, serve_sockets


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with serve_sockets() as served:
        yield served


async def let_in_unrecorded(stage: Stage, conversation: Conversation, session_id: str) -> tuple[Entry, ...]:
    """A labelled result reaches a session. Gives the entries that are to record it; until then memory alone knows."""
    return await stage.gateway.exposures.let_in(conversation, session_id, Trust.TRUSTED, (Label.HIGH.mark,), "call-1")


async def test_case_75_a_search_leaves_out_a_conversation_whose_label_is_not_on_record_yet(stage: Stage) -> None:
    """docs/SECURITY.md case 75."""
    agent = await open_checked(stage, "agent")
    turn = await Turn.begin(agent)
    place = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
    await agent.call("messages/append", {**place, "message": {"role": "user", "content": "the code is 4711"}})
    assert len((await agent.call("conversations/search", {"text": "4711"}))["found"]) == 1
    (conversation,) = stage.gateway.conversations.in_use()
    entries = await let_in_unrecorded(stage, conversation, "another session of hers")
    assert (await agent.call("conversations/search", {"text": "4711"})) == {"found": []}
    await stage.ledger.append(*entries)
    assert (await agent.call("conversations/search", {"text": "4711"})) == {"found": []}


async def test_case_75_a_branch_has_the_label_of_the_session_that_makes_it(stage: Stage) -> None:
    """docs/SECURITY.md case 75."""
    agent = await open_checked(stage, "agent")
    plain = (await agent.call("conversations/open"))["conversation"]
    await Turn.begin(agent)
    (other,) = [each for each in stage.gateway.conversations.in_use() if each.id != plain["id"]]
    await stage.ledger.append(*await let_in_unrecorded(stage, other, "ses_ada_agent"))
    branch = (await agent.call("conversations/fork", {"conversationId": plain["id"], "fromTurn": 0}))["conversation"]
    assert branch["label"] == "high"


async def test_case_75_a_branch_has_the_label_that_its_source_took_while_it_was_copied(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/SECURITY.md case 75."""
    agent = await open_checked(stage, "agent")
    source = (await agent.call("conversations/open"))["conversation"]
    (conversation,) = stage.gateway.conversations.in_use()
    real = stage.ledger.turn_indices

    async def rise_meanwhile(conversation_id: str) -> Mapping[str, int]:
        await let_in_unrecorded(stage, conversation, "another session of hers")
        return await real(conversation_id)

    monkeypatch.setattr(stage.ledger, "turn_indices", rise_meanwhile)
    branch = (await agent.call("conversations/fork", {"conversationId": source["id"], "fromTurn": 0}))["conversation"]
    assert branch["label"] == "high"
