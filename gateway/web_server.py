"""What the HTTP and WebSocket server of a wired gateway is made of."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from gateway import __version__
from gateway.adapters.identity.cookies import ItsdangerousSigner, read_key
from gateway.application import Application
from gateway.console_backups import backup_methods
from gateway.policy_records import rehearse_stored
from gateway.runtime.attachments import Attachments
from gateway.runtime.policies.rehearsals import Rehearsals
from gateway.server.access import Access, Site
from gateway.server.assets import WebApp
from gateway.server.call_files import CallFiles
from gateway.server.mcp.client_site import ClientSite, ClientSiteParts
from gateway.server.methods.agent import AgentMethods
from gateway.server.methods.audit import AuditMethods
from gateway.server.methods.audit_views import AnchorState, SinkState
from gateway.server.methods.call_filters import CallFilters
from gateway.server.methods.clients import ClientMethods
from gateway.server.methods.console import ConsoleMethods
from gateway.server.methods.erasures import ErasureMethods
from gateway.server.methods.people import PeopleMethods
from gateway.server.methods.policies import PolicyMethods
from gateway.server.methods.push import PushMethods
from gateway.server.methods.settings import SettingMethods
from gateway.server.methods.sources import SourceMethods
from gateway.server.methods.verification import AuditVerifier
from gateway.server.parts import ServerParts
from gateway.server.reading_turns import ReadingTurns
from gateway.server.receipts import Receipts
from gateway.server.websocket import agent_socket, console_socket
from gateway.settings import Settings

if TYPE_CHECKING:
    from gateway.adapters.storage.inspection import StoredLogReader
    from gateway.core.verification import LogReport

COOKIE_KEY: Final = "cookies.key"
"""In the state folder."""


def server_parts(application: Application, settings: Settings, held: AsyncExitStack) -> ServerParts:
    """What the HTTP and WebSocket server is made of; what it has open in the end is closed with `held`. Raises Misconfigured
    without the built web apps."""
    gateway, origins = application.gateway, application.origins
    signer = ItsdangerousSigner(read_key(settings.state / COOKIE_KEY))
    access = Access(
        origins=origins,
        sessions=application.sessions,
        inference=gateway.inference,
        signer=signer,
        metrics_token=settings.metrics_token.get_secret_value() or None,
    )
    web = settings.web_folder
    agent_methods = AgentMethods(gateway, agent_origin=origins.agent, console_origin=origins.console)
    check_records, read_receipt = _RecordCheck(settings.state), _ReceiptReader(settings)
    for reader in (check_records, read_receipt):
        held.callback(reader.close)
    verifier = AuditVerifier(partial(_verify, settings.state), check_records)
    sources = SourceMethods(application.sources, gateway.ports.policy)
    clients = ClientMethods(application.clients)
    policies = PolicyMethods(
        application.policies.publishing,
        application.policies.freezing,
        application.policies.shadow,
        Rehearsals(partial(rehearse_stored, settings.state)),
        application.store.records,
    )
    people = PeopleMethods(application.people, application.passkeys, origins, gateway.timing)
    filters = CallFilters(application.store.records, gateway.ports.clock, application.store.history)
    audit = AuditMethods(
        gateway, application.store.history, filters, verifier, partial(_read_sinks, settings), partial(_read_anchors, settings)
    )
    console_methods = ConsoleMethods(
        gateway,
        application.passkeys,
        audit,
        sources,
        clients,
        policies,
        people,
        backup_methods(settings, application.sessions),
        ErasureMethods(application.erasures),
        SettingMethods(application.settings),
        PushMethods(*((push.devices, push.tests) if (push := application.push) else (None, None))),
        agent_origin=origins.agent,
    )
    reads = ReadingTurns()
    return ServerParts(
        access=access,
        passkeys=application.passkeys,
        inference=gateway.inference,
        records=application.store.records,
        receipts=Receipts(read_receipt),
        call_files=CallFiles(
            application.store.history, filters, log=application.store.verification_key.name, version=__version__
        ),
        attachments=Attachments(records=application.store.records, exposures=gateway.exposures),
        conversations=gateway.conversations,
        imports=gateway.imports,
        toolbox=gateway.ports.toolbox,
        entropy=gateway.ports.entropy,
        metrics=application.metrics,
        shell=WebApp.load(web / "shell"),
        console=WebApp.load(web / "console"),
        verifier=WebApp.load(web / "verifier"),
        admission=gateway.admission,
        client_grants=application.clients.grants,
        client_site=_client_site(application, settings, signer),
        push=application.push is not None,
        agent_socket=agent_socket(
            gateway,
            agent_methods,
            host=origins.host(Site.AGENT),
            origin=origins.agent,
            recognise=access.agent,
            reads=reads,
        ),
        console_socket=console_socket(
            gateway,
            console_methods,
            host=origins.host(Site.CONSOLE),
            origin=origins.console,
            recognise=access.console,
            reads=reads,
        ),
    )


def _client_site(application: Application, settings: Settings, signer: ItsdangerousSigner) -> ClientSite | None:
    origins = application.origins
    origin = settings.origin_of_clients(urlsplit(origins.console).port or 443)
    if not origin:
        return None
    return ClientSite(ClientSiteParts(application.gateway, application.clients, signer, origin, origins.console))


def _verify(state: Path) -> LogReport:
    # Imported by the first check of the whole log that somebody asks for.
    from gateway.adapters.identity.recorded_answers import check_recorded_answer
    from gateway.adapters.storage.checking import verify_stored_log

    return verify_stored_log(state, check_recorded_answer)


def _read_sinks(settings: Settings) -> Sequence[SinkState]:
    if not settings.sinks:
        return ()
    from gateway.adapters.shipping.places import PlaceFile
    from gateway.adapters.shipping.settings import read_sinks

    states: list[SinkState] = []
    for sink in read_sinks(settings.sinks):
        place = PlaceFile(settings.state, sink.name).read()
        states.append(SinkState(sink.name, sink.settings.kind, place.next, place.sent_at, place.fault))
    return states


def _read_anchors(settings: Settings) -> Sequence[AnchorState]:
    if not settings.anchors:
        return ()
    from gateway.adapters.anchoring.places import AnchorFile
    from gateway.adapters.anchoring.settings import read_anchors

    states: list[AnchorState] = []
    for anchor in read_anchors(settings.anchors):
        place = AnchorFile(settings.state, anchor.name).read()
        states.append(AnchorState(anchor.name, anchor.settings.kind, place.size, place.at, place.fault))
    return states


class _ReceiptReader:
    """Reads receipts with what the first of them made ready."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._log: StoredLogReader | None = None

    def __call__(self, conversation_id: str, call_id: str, owner_id: str | None) -> bytes:
        # Imported by the first receipt that somebody asks for.
        from gateway.adapters.anchoring.evidence import read_evidence
        from gateway.adapters.storage.inspection import StoredLogReader
        from gateway.adapters.storage.receipts import read_receipt

        settings = self._settings
        if self._log is None:
            self._log = StoredLogReader(settings.state, stays_open=True)
        with self._log.open() as stored:
            # Read after the log was opened, which has all that is anchored by then.
            return read_receipt(stored, conversation_id, call_id, owner_id, read_evidence(settings.anchors, settings.state))

    def close(self) -> None:
        """Close what the last one left open."""
        if self._log is not None:
            self._log.close()


class _RecordCheck:
    """Checks records that somebody is about to be told, with what the first check made ready."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log: StoredLogReader | None = None

    def __call__(self, positions: Sequence[int]) -> None:
        from gateway.adapters.storage.inspection import StoredLogReader
        from gateway.adapters.storage.proven import require_proven

        if self._log is None:
            self._log = StoredLogReader(self._folder, stays_open=True)
        with self._log.open() as stored:
            require_proven(stored, positions)

    def close(self) -> None:
        """Close what the last one left open."""
        if self._log is not None:
            self._log.close()
