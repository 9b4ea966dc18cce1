"""Conversations, their turns and messages come out as they went in, over the fake and the real records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.core import ledger as steps
from gateway.runtime.ports import UnfinishedTurn
from tests.adapters.storage.conftest import Kept
from tests.fakes.history import FAR, OPERATOR, History


async def test_a_conversation_with_its_open_turn(kept: Kept, history: History) -> None:
    conversation = await kept.records.conversation("cnv_1")
    assert conversation is not None
    assert (conversation.principal_id, conversation.title, conversation.parent_id) == (OPERATOR.id, "A title", None)
    assert (conversation.turn_count, conversation.message_count) == (1, 0)
    assert (conversation.open_turn_id, conversation.open_turn_index) == ("trn_1", 0)
    assert (conversation.open_turn_model_id, conversation.open_turn_session_id) == ("model-1", "ses_1")
    assert await kept.records.unfinished_turns() == (UnfinishedTurn("cnv_1", "trn_1", None),)
    await kept.ledger.append(steps.TurnEnded(history.tick(), OPERATOR.id, "cnv_1", "trn_1", "ended"))
    ended = await kept.records.conversation("cnv_1")
    assert ended is not None
    assert (ended.open_turn_id, ended.open_turn_index, ended.open_turn_model_id) == (None, None, None)
    assert await kept.records.unfinished_turns() == ()
    assert await kept.records.turn_indices("cnv_1") == {"trn_1": 0}


async def test_ending_an_older_turn_leaves_the_open_one_open(kept: Kept, history: History) -> None:
    history.turn_id = "trn_2"
    later = replace(history.snapshot, turn_index=1)
    await kept.ledger.append(steps.TurnBegun(history.tick(), OPERATOR.id, later, None))
    await kept.ledger.append(steps.TurnEnded(history.tick(), OPERATOR.id, "cnv_1", "trn_1", "superseded"))
    conversation = await kept.records.conversation("cnv_1")
    assert conversation is not None
    assert (conversation.open_turn_id, conversation.open_turn_index, conversation.turn_count) == ("trn_2", 1, 2)
    assert await kept.records.turn_indices("cnv_1") == {"trn_1": 0, "trn_2": 1}


async def test_a_further_snapshot_changes_nothing_of_the_turn(kept: Kept, history: History) -> None:
    before = await kept.records.conversation("cnv_1")
    again = replace(history.snapshot, id="snp_again", connection_id="con_2")
    await kept.ledger.append(steps.SnapshotIssued(history.tick(), OPERATOR.id, again, "rebind"))
    assert await kept.records.conversation("cnv_1") == before


@pytest.mark.requirement("002-56", "a conversation's messages are kept in order")
async def test_messages_come_back_in_order_and_exactly(kept: Kept, history: History) -> None:
    calls = ({"id": "c-1", "name": "read_file", "arguments": {"path": "ä", "n": 1.5, "deep": [None, True]}},)
    first = history.message(0, "What “is” in\x00notes? 🦊", tool_calls=calls)
    second = history.message(1, "", call_id="call-1")
    await kept.ledger.append(first)
    await kept.ledger.append(second)
    assert await kept.records.messages("cnv_1") == (first.message, second.message)
    conversation = await kept.records.conversation("cnv_1")
    assert conversation is not None
    assert (conversation.message_count, conversation.updated_at) == (2, second.at)


async def test_conversations_are_paged_most_recently_used_first(kept: Kept, history: History) -> None:
    for number in range(2, 8):
        at = 2_000_000_000_000 + number // 2
        await kept.ledger.append(steps.ConversationOpened(at, f"cnv_{number}", OPERATOR.id, str(number), "cnv_1", 0))
    seen: list[str] = []
    before = None
    while page := await kept.records.conversations(OPERATOR.id, before=before, limit=2):
        seen += [conversation.id for conversation in page]
        before = (page[-1].updated_at, page[-1].id)
    assert seen == ["cnv_7", "cnv_6", "cnv_5", "cnv_4", "cnv_3", "cnv_2", "cnv_1"]
    assert await kept.records.conversations("prn_other", before=None, limit=9) == ()
    forked = await kept.records.conversation("cnv_2")
    assert forked is not None
    assert forked.parent_id == "cnv_1"


async def test_what_was_said_is_found_by_its_words_in_ones_own_conversations_up_to_a_label(kept: Kept, history: History) -> None:
    for number, said in enumerate(("Buy 100% oat_milk", "MILK is in the fridge", "Ähre und Milk", "bread")):
        await kept.ledger.append(history.message(number, said))

    async def found(*words: str, person: str = OPERATOR.id, label: int = 0) -> list[str]:
        seen: list[str] = []
        before = None
        while page := await kept.records.find_messages(person, words, label=label, before=before, limit=2):
            seen += [each.message.content for each in page]
            before = (page[-1].message.at, page[-1].message.conversation_id, page[-1].message.index)
        return seen

    assert await found("milk") == ["Ähre und Milk", "MILK is in the fridge", "Buy 100% oat_milk"]
    assert await found("milk", "FRIDGE") == ["MILK is in the fridge"]
    assert await found("ähre") == ["Ähre und Milk"]
    # What a pattern would take for any text is looked for as it stands.
    assert await found("100%") == await found("oat_") == ["Buy 100% oat_milk"]
    assert await found("%") == ["Buy 100% oat_milk"]
    assert await found("milk", person="prn_other") == []
    await kept.ledger.append(steps.ConversationTainted(history.tick(), "cnv_1", OPERATOR.id, 0, 2, ""))
    assert await found("bread", label=1) == []
    assert await found("bread", label=2) == ["bread"]
    await kept.ledger.append(steps.ConversationDeleted(history.tick(), "cnv_1", OPERATOR.id))
    assert await found("bread", label=3) == []


async def test_what_was_said_is_found_newest_first_however_recently_its_conversation_was_used(
    kept: Kept, history: History
) -> None:
    """More conversations than one query looks through; those used last hold the oldest messages."""
    for number in range(80):
        history.conversation_id = f"cnv_{number + 10}"
        opened = steps.ConversationOpened(FAR - 1_000 * number, history.conversation_id, OPERATOR.id, "")
        await kept.ledger.append(opened)
        await kept.ledger.append(history.message(0, f"{number} everywhere"))
    history.conversation_id = "cnv_1"
    await kept.ledger.append(history.message(0, "everywhere and seldom"))
    newest_first = ["everywhere and seldom", *(f"{number} everywhere" for number in reversed(range(80)))]
    seen: list[str] = []
    before = None
    while page := await kept.records.find_messages(OPERATOR.id, ["everywhere"], label=0, before=before, limit=21):
        seen += [each.message.content for each in page]
        before = (page[-1].message.at, page[-1].message.conversation_id, page[-1].message.index)
    assert seen == newest_first
    (found,) = await kept.records.find_messages(OPERATOR.id, ["seldom"], label=0, before=None, limit=21)
    assert found.message.content == "everywhere and seldom"
