"""The method tables against the contract: no row too few, none too many, each handler typed as its row says.

Requirement ids: 002-05, 002-49, 002-50.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, cast, get_type_hints

import pytest

from gateway.protocol import closing, frames
from gateway.protocol.frames import AGENT, CONSOLE, Dialect
from gateway.runtime.connections import OUTBOX_BYTES, Connection
from gateway.runtime.gateway import Gateway
from gateway.runtime.passkeys import PasskeyDesk
from gateway.server.methods.agent import REQUESTS_IN_FLIGHT, AgentMethods
from gateway.server.methods.console import ConsoleCaller, ConsoleMethods
from gateway.server.methods.table import Method, Pace, tabulate
from gateway.server.methods.verification import AuditVerifier

AGENT_TABLE = AgentMethods(cast("Gateway", None), agent_origin="http://a.test", console_origin="http://c.test").table()
CONSOLE_TABLE = ConsoleMethods(
    cast("Gateway", None), cast("PasskeyDesk", None), cast("AuditVerifier", None), agent_origin="http://a.test"
).table()

SECTION_5 = {
    "session/describe",
    "conversations/open",
    "conversations/list",
    "conversations/rename",
    "conversations/delete",
    "conversations/export",
    "conversations/fork",
    "messages/append",
    "tools/describe",
    "turns/begin",
    "turns/refresh",
    "turns/end",
    "turns/cancel",
    "tools/invoke",
    "tools/cancel",
    "tools/list-calls",
    "inference/token",
    "grants/list",
    "grants/revoke",
}
"""protocol.md section 5, word for word."""

SECTION_6 = {"approvals/list", "approvals/get", "approvals/decide", "grants/list", "grants/revoke"}
"""protocol.md section 6, those that it names."""

NOTIFICATIONS = {
    "snapshot/revoked",
    "approvals/requested",
    "approvals/resolved",
    "tools/progress",
    "session/ended",
    "policy/changed",
}

ROWS: list[tuple[str, type, Dialect, Method[Any]]] = [
    *((name, Connection, AGENT, method) for name, method in AGENT_TABLE.items()),
    *((name, ConsoleCaller, CONSOLE, method) for name, method in CONSOLE_TABLE.items()),
]


def test_the_agents_table_is_section_5() -> None:
    assert set(AGENT_TABLE) == SECTION_5
    assert set(AGENT.notifications) == NOTIFICATIONS


def test_the_consoles_table_holds_section_6() -> None:
    assert set(CONSOLE_TABLE) >= SECTION_6
    assert set(CONSOLE.notifications) <= NOTIFICATIONS


def test_nothing_on_the_agent_origin_can_approve_anything() -> None:
    """protocol.md section 1."""
    assert not [name for name in AGENT_TABLE if name.startswith(("approvals/", "passkeys/", "policy/", "audit/"))]


@pytest.mark.parametrize(("name", "caller", "dialect", "method"), ROWS, ids=[f"{row[1].__name__}-{row[0]}" for row in ROWS])
def test_each_handler_takes_and_gives_what_its_row_says(name: str, caller: type, dialect: Dialect, method: Method[Any]) -> None:
    hints = get_type_hints(method.answer)
    given = list(inspect.signature(method.answer).parameters)
    assert [hints[parameter] for parameter in given] == [caller, dialect.methods[name].params]
    assert hints["return"] is dialect.methods[name].result
    assert method.params is dialect.methods[name].params


def test_only_a_tool_call_is_abandoned_with_its_connection() -> None:
    """Everything else changes state that must not be left half-changed."""
    assert [name for name, method in AGENT_TABLE.items() if method.pace is Pace.WAITING] == ["tools/invoke"]
    assert not [name for name, method in CONSOLE_TABLE.items() if method.pace is Pace.WAITING]


@pytest.mark.parametrize("name", ["tools/cancel", "turns/cancel"])
def test_a_cancel_waits_behind_nothing(name: str) -> None:
    assert AGENT_TABLE[name].pace is Pace.AT_ONCE


def test_a_table_with_a_missing_handler_is_not_made() -> None:
    handlers: Mapping[str, Any] = {}
    with pytest.raises(AssertionError, match="tools/invoke"):
        tabulate(AGENT, handlers)


def test_the_limits_are_those_of_the_contract() -> None:
    assert frames.MAX_MESSAGE_BYTES == 262_144
    assert REQUESTS_IN_FLIGHT == 32
    assert closing.MALFORMED_FRAMES_ALLOWED == 5
    assert OUTBOX_BYTES >= frames.MAX_MESSAGE_BYTES
