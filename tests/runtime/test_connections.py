"""Connections and their outboxes: what is queued, what is bounded, what ends."""

from __future__ import annotations

import asyncio

from gateway.core.model import Principal, Session
from gateway.core.vocabulary import ApprovalStatus, Label, Profile, Reason
from gateway.runtime.connections import Connection, ConnectionRegistry, Outbox, Outgoing
from gateway.runtime.notices import ApprovalResolvedNotice, PolicyChangedNotice, SessionEndedNotice, ToolProgressNotice

SESSION = Session("ses_1", Principal("prn_ada", "Ada", Profile.OPERATOR), "cse_1", (), Label.PUBLIC, 0, 1_000)


def progress(message: str = "working") -> ToolProgressNotice:
    return ToolProgressNotice("call-1", message, None)


def taken_from(connection: Connection) -> list[Outgoing]:
    taken: list[Outgoing] = []
    while (message := connection.outbox.take()) is not None:
        taken.append(message)
    return taken


def test_urgent_messages_go_ahead_of_progress() -> None:
    outbox = Outbox()
    outbox.put(progress())
    outbox.put(b"result")
    assert [outbox.take(), outbox.take(), outbox.take()] == [b"result", progress(), None]


def test_a_full_outbox_drops_progress_and_closes_for_anything_else() -> None:
    outbox = Outbox(limit=10)
    outbox.put(b"0123456789")
    outbox.put(progress("more"))
    assert outbox.closing is None
    outbox.put(b"more")
    assert outbox.closing == (1013, "peer does not read")


def test_what_is_urgent_still_goes_out_before_a_close() -> None:
    outbox = Outbox()
    outbox.put(progress())
    outbox.put(SessionEndedNotice("signedOut"))
    outbox.close(4403, "signedOut")
    outbox.close(1013, "later reasons do not count")
    assert [outbox.take(), outbox.take()] == [SessionEndedNotice("signedOut"), None]
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
    connections = ConnectionRegistry()
    first = connections.attach(SESSION, "con_1")
    unread, missed = PolicyChangedNotice("2"), ApprovalResolvedNotice("apr_1", "call-1", ApprovalStatus.CANCELLED)
    connections.notify(SESSION.id, unread)
    first.outbox.put(b"an answer, of no use to another connection")
    connections.detach(first)
    connections.notify(SESSION.id, missed)
    connections.notify(SESSION.id, progress())
    assert taken_from(connections.attach(SESSION, "con_2")) == [unread, missed]


async def test_ending_a_session_closes_what_lives_on_it_and_its_sockets() -> None:
    connections = ConnectionRegistry()
    connection = connections.attach(SESSION, "con_1")
    ended: list[Reason] = []
    connections.on_session_end(SESSION.id, "turn", ended.append)
    connections.on_session_end(SESSION.id, "over", ended.append)
    connections.remove_session_end(SESSION.id, "over")
    await connections.end_session(SESSION.id, "signedOut")
    assert ended == [Reason.SESSION_ENDED]
    assert taken_from(connection) == [SessionEndedNotice("signedOut")]
    assert connection.outbox.closing == (4403, "signedOut")
    assert not connections.is_live(SESSION.id, 0)


async def test_an_ended_session_stays_ended_for_whoever_still_holds_it() -> None:
    connections = ConnectionRegistry()
    connections.attach(SESSION, "con_1")
    await connections.end_session(SESSION.id, "expired")
    connections.live(SESSION)
    assert not connections.is_live(SESSION.id, 0)
    late: list[Reason] = []
    connections.on_session_end(SESSION.id, "turn", late.append)
    assert late == [Reason.SESSION_ENDED]


def test_a_session_is_live_until_it_expires() -> None:
    connections = ConnectionRegistry()
    assert not connections.is_live(SESSION.id, 0)
    connections.live(SESSION)
    assert connections.is_live(SESSION.id, 999)
    assert not connections.is_live(SESSION.id, 1_000)
