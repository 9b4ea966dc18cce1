"""The route table: every HTTP endpoint, one row each.

A row states who may call it, from which pages, with what body, and under which tag it is counted. A path without a row is
not found. `/ws` is in the table as well; its rows are the handshake, whose checks are in `gateway.protocol.handshake`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from gateway.protocol.agent_methods import ConversationImport
from gateway.protocol.wire import Nothing, Wire
from gateway.server.access import BodyRule, Permission, Site, Source
from gateway.server.endpoints import (
    attachments,
    connecting,
    console,
    devices,
    exports,
    health,
    imports,
    inference,
    pages,
    receipts,
    shell,
)
from gateway.server.middleware.headers import REPORT_PATH
from gateway.server.parts import Handler
from gateway.server.responses import JSON

JSON_LIMIT = 64 * 1024
INFERENCE_LIMIT = 1024 * 1024
"""Bytes; a conversation of 8,000 tokens is 32 KiB, its tool schemas as much again."""


IMPORT_LIMIT = 1024 * 1024
"""Bytes of one conversation that is imported."""


class Tag(StrEnum):
    """The kind of action of a row, as `subject:past-tense`, which counts its requests in `/metrics`. Actions that change state
    have ledger entries of their own."""

    PAGE_SHOWN = "page:shown"
    CEREMONY_OPENED = "ceremony:opened"
    PRINCIPAL_ENROLLED = "principal:enrolled"
    PASSKEY_ADDED = "passkey:added"
    DEVICE_OFFERED = "device:offered"
    SESSION_STARTED = "session:started"
    SESSION_ENDED = "session:ended"
    SESSION_LENT = "session:lent"
    CLIENT_CONNECTED = "client:connected"
    MODEL_ASKED = "model:asked"
    SOCKET_OPENED = "socket:opened"
    CONVERSATION_IMPORTED = "conversation:imported"
    ATTACHMENT_SHOWN = "attachment:shown"
    RECEIPT_GIVEN = "receipt:given"
    CALLS_EXPORTED = "calls:exported"
    VERIFIER_GIVEN = "verifier:given"
    HEALTH_READ = "health:read"
    REPORT_TAKEN = "report:taken"


@dataclass(frozen=True, slots=True)
class Row:
    """One endpoint. `handler` None: the WebSocket of that site."""

    method: str
    site: Site
    path: str
    permission: Permission
    tag: Tag
    handler: Handler | None
    source: Source = Source.ANYWHERE
    body: BodyRule | None = None


def _json(shape: type[Wire]) -> BodyRule:
    return BodyRule(JSON_LIMIT, (JSON,), shape)


def _post(site: Site, path: str, permission: Permission, tag: Tag, handler: Handler, shape: type[Wire] = Nothing) -> Row:
    return Row("POST", site, path, permission, tag, handler, Source.OWN_PAGES, _json(shape))


def _infer(method: str, path: str, handler: Handler) -> Row:
    body = BodyRule(INFERENCE_LIMIT, (JSON,)) if method == "POST" else None
    source = Source.OWN_PAGES_OR_PROGRAMS
    return Row(method, Site.AGENT, path, Permission.INFERENCE_LEASE, Tag.MODEL_ASKED, handler, source, body)


def _shared(site: Site) -> tuple[Row, ...]:
    """The rows of both origins. Files come last, because their paths are patterns."""
    report = BodyRule(health.REPORT_LIMIT, ("application/csp-report", "application/reports+json"))
    return (
        Row("GET", site, "/healthz", Permission.PUBLIC, Tag.HEALTH_READ, health.live),
        Row("GET", site, "/readyz", Permission.PUBLIC, Tag.HEALTH_READ, health.ready),
        Row("GET", site, "/metrics", Permission.PROBE, Tag.HEALTH_READ, health.measure),
        Row("POST", site, REPORT_PATH, Permission.PUBLIC, Tag.REPORT_TAKEN, health.take_report, body=report),
        Row("GET", site, "/assets/{name:path}", Permission.PUBLIC, Tag.PAGE_SHOWN, pages.fetch_asset),
        Row("GET", site, "/{name}", Permission.PUBLIC, Tag.PAGE_SHOWN, pages.fetch_beside),
    )


_ANYONE, _SIGNED_IN, _SHELL = Permission.PUBLIC, Permission.CONSOLE_SESSION, Permission.AGENT_SESSION
_READER = Permission.CONSOLE_READER

CONSOLE_ROWS: tuple[Row, ...] = (
    _post(Site.CONSOLE, "/enrol/options", _ANYONE, Tag.CEREMONY_OPENED, console.start_enrolment, console.EnrolmentStart),
    _post(Site.CONSOLE, "/enrol/verify", _ANYONE, Tag.PRINCIPAL_ENROLLED, console.enrol, console.EnrolmentAnswer),
    _post(Site.CONSOLE, "/signin/options", _ANYONE, Tag.CEREMONY_OPENED, console.start_sign_in),
    _post(Site.CONSOLE, "/signin/verify", _ANYONE, Tag.SESSION_STARTED, console.sign_in, console.SignInAnswer),
    _post(Site.CONSOLE, "/passkeys/options", _SIGNED_IN, Tag.CEREMONY_OPENED, console.start_passkey),
    _post(Site.CONSOLE, "/passkeys/verify", _SIGNED_IN, Tag.PASSKEY_ADDED, console.add_passkey, console.NewPasskeyAnswer),
    _post(Site.CONSOLE, "/devices/offer", _SIGNED_IN, Tag.DEVICE_OFFERED, devices.offer_device),
    _post(Site.CONSOLE, "/devices/look", _SIGNED_IN, Tag.DEVICE_OFFERED, devices.look_at_offer),
    _post(Site.CONSOLE, "/devices/options", _ANYONE, Tag.CEREMONY_OPENED, devices.start_device, devices.DeviceStart),
    _post(Site.CONSOLE, "/devices/verify", _ANYONE, Tag.PASSKEY_ADDED, devices.add_device, devices.DeviceAnswer),
    _post(Site.CONSOLE, "/signout", _READER, Tag.SESSION_ENDED, console.sign_out),
    _post(Site.CONSOLE, "/authorize", _SIGNED_IN, Tag.SESSION_LENT, console.authorize_shell, console.ShellState),
    _post(
        Site.CONSOLE,
        "/connect/describe",
        _SIGNED_IN,
        Tag.CLIENT_CONNECTED,
        connecting.describe_connection,
        connecting.ConnectionRequest,
    ),
    _post(
        Site.CONSOLE,
        "/connect/decide",
        _SIGNED_IN,
        Tag.CLIENT_CONNECTED,
        connecting.decide_connection,
        connecting.ConnectionDecision,
    ),
    Row("GET", Site.CONSOLE, "/receipt", _READER, Tag.RECEIPT_GIVEN, receipts.fetch_receipt),
    Row("GET", Site.CONSOLE, "/export", _READER, Tag.CALLS_EXPORTED, exports.export_calls),
    Row("GET", Site.CONSOLE, "/verifier", _ANYONE, Tag.VERIFIER_GIVEN, receipts.fetch_verifier),
    Row("GET", Site.CONSOLE, "/ws", _READER, Tag.SOCKET_OPENED, None),
    *_shared(Site.CONSOLE),
)

AGENT_ROWS: tuple[Row, ...] = (
    Row("GET", Site.AGENT, "/login", _ANYONE, Tag.CEREMONY_OPENED, shell.login),
    Row("GET", Site.AGENT, "/callback", _ANYONE, Tag.SESSION_LENT, shell.finish_login),
    _post(Site.AGENT, "/logout", _SHELL, Tag.SESSION_ENDED, shell.logout),
    Row(
        "POST",
        Site.AGENT,
        "/conversations/import",
        _SHELL,
        Tag.CONVERSATION_IMPORTED,
        imports.import_conversation,
        Source.OWN_PAGES,
        BodyRule(IMPORT_LIMIT, (JSON,), ConversationImport),
    ),
    Row("GET", Site.AGENT, "/attachments/{id}", _SHELL, Tag.ATTACHMENT_SHOWN, attachments.fetch_attachment),
    _infer("POST", "/v1/chat/completions", inference.complete_chat),
    _infer("POST", "/v1/embeddings", inference.embed),
    _infer("GET", "/v1/models", inference.list_models),
    Row("GET", Site.AGENT, "/ws", _SHELL, Tag.SOCKET_OPENED, None),
    *_shared(Site.AGENT),
)

ROWS: tuple[Row, ...] = (*CONSOLE_ROWS, *AGENT_ROWS)
"""All rows but those of the pages, whose paths each web app defines."""


def page_rows(site: Site, paths: Iterable[str]) -> tuple[Row, ...]:
    """The rows of an app's pages. Anyone may load a page: it contains no person's data."""
    return tuple(Row("GET", site, path, Permission.PUBLIC, Tag.PAGE_SHOWN, pages.show_page) for path in paths)
