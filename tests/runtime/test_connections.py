"""The hub and its outboxes: what is queued, what is bounded, what ends."""

from __future__ import annotations

import asyncio

import orjson

from gateway.core.model import Principal, Session
from gateway.core.vocabulary import Label, Profile, Reason
from gateway.runtime.connections import Connection, Hub, Outbox, Urgency

SESSION = Session("ses_1", Principal("prn_ada", "Ada", Profile.OPERATOR), "cse_1", (), Label.PUBLIC, 0, 1_000)


def methods(connection: Connection) -> list[str]:
    taken: list[str] = []
    while (message := connection.outbox.take()) is not None:
        taken.append(orjson.loads(message)["method"])
    return taken


def test_urgent_messages_go_ahead_of_progress() -> None:
    outbox = Outbox()
    outbox.put(b"progress", Urgency.LATER)
    outbox.put(b"result")
    assert [outbox.take(), outbox.take(), outbox.take()] == [b"result", b"progress", None]


def test_a_full_outbox_drops_progress_and_closes_for_anything_else() -> None:
    outbox = Outbox(limit=10)
    outbox.put(b"0123456789")
    outbox.put(b"more", Urgency.LATER)
    assert outbox.closing is None
    outbox.put(b"more")
    assert outbox.closing == (1013, "peer does not read")


def test_what_is_urgent_still_goes_out_before_a_close() -> None:
    outbox = Outbox()
    outbox.put(b"progress", Urgency.LATER)
    outbox.put(b"farewell")
    outbox.close(4403, "signedOut")
    outbox.close(1013, "later reasons do not count")
    assert [outbox.take(), outbox.take()] == [b"farewell", None]
    assert outbox.closing == (4403, "signedOut")


async def test_waiting_ends_with_a_message_or_a_close() -> None:
    outbox = Outbox()
    waiting = asyncio.create_task(outbox.wait())
    outbox.put(b"a")
    async with asyncio.timeout(5):
        await waiting
    outbox.take()
    again = asyncio.create_task(outbox.wait())
    outbox.close(1000, "")
    async with asyncio.timeout(5):
        await again


def test_what_a_session_missed_is_told_to_its_next_connection() -> None:
    hub = Hub()
    first = hub.attach(SESSION, "con_1")
    first.notify("approvals/requested", {})
    hub.detach(first)
    hub.notify(SESSION.id, "approvals/resolved", {})
    hub.notify(SESSION.id, "tools/progress", {}, Urgency.LATER)
    assert methods(hub.attach(SESSION, "con_2")) == ["approvals/requested", "approvals/resolved"]


async def test_ending_a_session_closes_what_was_tied_to_it_and_its_sockets() -> None:
    hub = Hub()
    connection = hub.attach(SESSION, "con_1")
    ended: list[Reason] = []
    hub.tie(SESSION.id, "turn", ended.append)
    hub.tie(SESSION.id, "over", ended.append)
    hub.untie(SESSION.id, "over")
    await hub.end_session(SESSION.id, "signedOut")
    assert ended == [Reason.SESSION_ENDED]
    assert methods(connection) == ["session/ended"]
    assert connection.outbox.closing == (4403, "signedOut")
    assert not hub.is_live(SESSION.id, 0)


async def test_an_ended_session_stays_ended_for_whoever_still_holds_it() -> None:
    hub = Hub()
    hub.attach(SESSION, "con_1")
    await hub.end_session(SESSION.id, "expired")
    hub.live(SESSION)
    assert not hub.is_live(SESSION.id, 0)
    late: list[Reason] = []
    hub.tie(SESSION.id, "turn", late.append)
    assert late == [Reason.SESSION_ENDED]


def test_a_session_is_live_until_it_expires() -> None:
    hub = Hub()
    assert not hub.is_live(SESSION.id, 0)
    hub.live(SESSION)
    assert hub.is_live(SESSION.id, 999)
    assert not hub.is_live(SESSION.id, 1_000)
