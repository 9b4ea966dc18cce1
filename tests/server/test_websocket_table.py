"""The method tables against the contract: no row is missing, none is extra, and each handler has the types of its row."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast, get_type_hints

import pytest

from gateway.core.errors import Refused
from gateway.core.ledger import AUDITED
from gateway.core.model import Principal
from gateway.core.vocabulary import Profile
from gateway.protocol import closing, frames
from gateway.protocol.frames import AGENT, CONSOLE, Dialect
from gateway.runtime.clients import Clients
from gateway.runtime.connections import OUTBOX_BYTES, Connection
from gateway.runtime.erasures import Erasures
from gateway.runtime.gateway import Gateway
from gateway.runtime.operator_settings import OperatorSettings
from gateway.runtime.passkeys import PasskeyCeremonies
from gateway.runtime.people import People
from gateway.runtime.policies import PolicyFreezing, PolicyPublishing, PolicyShadow
from gateway.runtime.policies.rehearsals import Rehearsals
from gateway.runtime.ports import AuditRecords, CallHistory, PolicyEngine
from gateway.runtime.sources import Sources
from gateway.runtime.timing import Timing
from gateway.server.access import Origins
from gateway.server.methods.agent import REQUESTS_IN_FLIGHT, AgentMethods
from gateway.server.methods.audit import AuditMethods
from gateway.server.methods.backups import BackupMethods
from gateway.server.methods.call_filters import CallFilters
from gateway.server.methods.clients import ClientMethods
from gateway.server.methods.console import ConsoleCaller, ConsoleMethods
from gateway.server.methods.erasures import ErasureMethods
from gateway.server.methods.people import PeopleMethods
from gateway.server.methods.policies import PolicyMethods
from gateway.server.methods.push import PushMethods
from gateway.server.methods.settings import SettingMethods
from gateway.server.methods.sources import SourceMethods
from gateway.server.methods.table import Concurrency, Method, MethodPermission, tabulate
from gateway.server.methods.verification import AuditVerifier

AGENT_TABLE = AgentMethods(cast("Gateway", None), agent_origin="http://a.test", console_origin="http://c.test").table()
CONSOLE_TABLE = ConsoleMethods(
    cast("Gateway", None),
    cast("PasskeyCeremonies", None),
    AuditMethods(cast("Gateway", None), cast("CallHistory", None), cast("CallFilters", None), cast("AuditVerifier", None)),
    SourceMethods(cast("Sources", None), cast("PolicyEngine", None)),
    ClientMethods(cast("Clients", None)),
    PolicyMethods(
        cast("PolicyPublishing", None),
        cast("PolicyFreezing", None),
        cast("PolicyShadow", None),
        cast("Rehearsals", None),
        cast("AuditRecords", None),
    ),
    PeopleMethods(cast("People", None), cast("PasskeyCeremonies", None), cast("Origins", None), Timing()),
    BackupMethods(cast("Any", None), make=cast("Any", None), find=cast("Any", None), require_fresh=cast("Any", None)),
    ErasureMethods(cast("Erasures", None)),
    SettingMethods(cast("OperatorSettings", None)),
    PushMethods(None, None),
    agent_origin="http://a.test",
).table()

ROWS: list[tuple[str, type, Dialect, Method[Any]]] = [
    *((name, Connection, AGENT, method) for name, method in AGENT_TABLE.items()),
    *((name, ConsoleCaller, CONSOLE, method) for name, method in CONSOLE_TABLE.items()),
]


def test_every_method_of_the_contract_has_a_handler_and_no_other_has() -> None:
    """That these are the methods of docs/PROTOCOL.md sections 5 and 6 is tested where the document is."""
    assert set(AGENT_TABLE) == set(AGENT.methods)
    assert set(CONSOLE_TABLE) == set(CONSOLE.methods)


@pytest.mark.requirement("002-49", "describe, invoke and cancel are methods of the gateway")
@pytest.mark.requirement("002-50", "no method runs a plan, or a tool on a model")
@pytest.mark.requirement("002-05", "no method of the agent origin loads or removes a model")
def test_the_agent_origin_has_only_these_subjects() -> None:
    assert set(AGENT_TABLE) >= {"tools/describe", "tools/invoke", "turns/cancel"}
    subjects = {name.partition("/")[0] for name in AGENT_TABLE}
    assert subjects == {"session", "conversations", "messages", "tools", "turns", "inference", "grants"}
    assert [name for name in AGENT_TABLE if name.startswith("inference/")] == ["inference/token"]


def test_nothing_on_the_agent_origin_can_approve_anything() -> None:
    """docs/PROTOCOL.md section 1."""
    assert not [name for name in AGENT_TABLE if name.startswith(("approvals/", "passkeys/", "policy/", "audit/"))]


@pytest.mark.parametrize(("name", "caller", "dialect", "method"), ROWS, ids=[f"{row[1].__name__}-{row[0]}" for row in ROWS])
def test_each_handler_has_the_types_of_its_row(name: str, caller: type, dialect: Dialect, method: Method[Any]) -> None:
    hints = get_type_hints(method.row.answer)
    given = list(inspect.signature(method.row.answer).parameters)
    assert [hints[parameter] for parameter in given] == [caller, dialect.methods[name].params]
    assert hints["return"] is dialect.methods[name].result
    assert method.params is dialect.methods[name].params


def test_only_a_tool_call_is_abandoned_with_its_connection() -> None:
    """Everything else changes state that must not be left half-changed."""
    assert [name for name, method in AGENT_TABLE.items() if method.row.concurrency is Concurrency.WAITING] == ["tools/invoke"]
    assert not [name for name, method in CONSOLE_TABLE.items() if method.row.concurrency is Concurrency.WAITING]


@pytest.mark.parametrize("name", ["tools/cancel", "turns/cancel"])
def test_a_cancel_waits_for_no_other_request(name: str) -> None:
    assert AGENT_TABLE[name].row.concurrency is Concurrency.AT_ONCE


def test_every_audit_tag_is_an_event_of_the_log() -> None:
    for name, *_, method in ROWS:
        assert set(method.row.audit) <= AUDITED, name


def test_what_concerns_everybody_is_for_operators() -> None:
    reserved = {name for name, method in CONSOLE_TABLE.items() if method.row.permission is MethodPermission.OPERATOR}
    others = {
        name for name in reserved if not name.startswith(("sources/", "secrets/", "policy/", "people/", "backups/", "settings/"))
    }
    assert others == {"sessions/list", "sessions/end", "sessions/restrict", "audit/erase"}
    assert CONSOLE_TABLE["audit/verify"].row.permission is MethodPermission.READS_ALL
    # The overview shows whoever is no operator their own row alone; tests/server/test_console_methods.py holds that.
    assert [name for name in CONSOLE_TABLE if name.startswith("policy/") and name not in reserved] == ["policy/overview"]
    assert {
        name for name in CONSOLE_TABLE if name.startswith(("sources/", "secrets/", "people/", "backups/", "settings/"))
    } <= reserved
    assert {method.row.permission for method in AGENT_TABLE.values()} == {MethodPermission.ANY_SESSION}


@pytest.mark.parametrize("profile", [Profile.GUEST, Profile.ANONYMOUS])
def test_only_an_operator_has_an_operators_permission(profile: Profile) -> None:
    MethodPermission.OPERATOR.require(Principal("usr_1", "Ada", Profile.OPERATOR))
    with pytest.raises(Refused, match="for operators"):
        MethodPermission.OPERATOR.require(Principal("usr_2", "Eve", profile))


def test_an_auditor_reads_the_audit_log_and_has_no_other_method() -> None:
    auditor = Principal("usr_3", "Ida", Profile.AUDITOR)

    def is_refused(method: Method[Any]) -> bool:
        with suppress(Refused):
            method.row.permission.require(auditor)
            return False
        return True

    assert {name for name, method in CONSOLE_TABLE.items() if not is_refused(method)} == {
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
    assert all(map(is_refused, AGENT_TABLE.values()))


def test_a_table_with_a_missing_handler_is_not_made() -> None:
    handlers: Mapping[str, Any] = {}
    with pytest.raises(AssertionError, match="tools/invoke"):
        tabulate(AGENT, handlers)


def test_the_limits_are_those_of_the_contract() -> None:
    assert frames.MAX_MESSAGE_BYTES == 262_144
    assert REQUESTS_IN_FLIGHT == 32
    assert closing.MALFORMED_FRAMES_ALLOWED == 5
    assert OUTBOX_BYTES >= frames.MAX_MESSAGE_BYTES
