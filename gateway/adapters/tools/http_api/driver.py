"""An HTTP API as a source of tools. What it offers comes from its document and its declared calls; a call is one request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gateway.adapters.tools.builtin.fetching import FetchLimits
from gateway.adapters.tools.http_api.operations import ApiOperation
from gateway.adapters.tools.http_api.requests import ApiRequest, ArgumentRefused, RequestWriter
from gateway.adapters.tools.http_api.settings import HttpApiSettings
from gateway.adapters.tools.http_api.wording import tell
from gateway.adapters.tools.offer import DriverResources, OfferListener, SourceAway, SourceOffer, ToolOffer
from gateway.adapters.tools.threads import WorkerThreads
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured, ToolFailed
from gateway.core.model import CallFacts, ToolOutput
from gateway.core.preview import Preview
from gateway.core.vocabulary import Reason
from gateway.runtime.ports import ArgumentFault, ToolContext

if TYPE_CHECKING:
    from gateway.adapters.tools.builtin.egress import Egress
    from gateway.adapters.tools.http_api.catalogue import Catalogue
    from gateway.adapters.tools.http_api.sending import ApiClient, CredentialHeaders

OVERTIME: Final = 5.0
"""Seconds that the gateway waits longer than the request may take, so that it is the request that says what happened."""

_DOCUMENT_LIMITS: Final = {"sent": 16 * 1024 * 1024, "inflated": 16 * 1024 * 1024 + 1}
"""Bytes of a document that is fetched: what is more is refused by whoever reads it."""


class HttpApiDriver:
    """A SourceDriver over one API. Its client and its readers of documents are imported by the first use.

    `egress` is only for tests, which have no name server of their own.
    """

    def __init__(self, settings: HttpApiSettings, resources: DriverResources, egress: Egress | None = None) -> None:
        self._settings = settings
        self._resources = resources
        self._egress = egress
        self._writer = RequestWriter(settings.base, settings.headers, slashes_in_paths=settings.slashes_in_paths)
        self._threads = WorkerThreads("openapi", 2)
        self._catalogue: Catalogue | None = None
        self._offers: dict[str, ToolOffer] = {}
        self._clients: dict[bool, ApiClient] = {}
        """For calls, and for the document. A client reads the system's certificates once."""

    async def open(self, listener: OfferListener) -> SourceOffer:
        """Read the document, fetching it where it has an address. Nothing else is asked of the API."""
        from gateway.adapters.tools.http_api.catalogue import read_catalogue

        raw = await self._fetch_document() if self._settings.document_url is not None else None
        try:
            catalogue = await self._threads.submit(lambda: read_catalogue(self._settings, raw))
        except Misconfigured as error:
            # What a server sends today it may send better tomorrow; what the operator gave stays as it is.
            if raw is not None:
                raise SourceAway(error.message) from None
            raise
        base, settings = self._settings.base, self._settings
        offers = [
            each.offer(base, timeout=settings.timeout + OVERTIME, result_cap=settings.result_cap)
            for each in catalogue.operations.values()
        ]
        self._catalogue = catalogue
        self._offers = {offer.name: offer for offer in offers}
        identity = f"{base.url} {tell(catalogue.title, 200)}".strip()
        return SourceOffer(identity, tuple(offers), tell(catalogue.version, 100), dict(catalogue.refused))

    def find_faults(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """Values that cannot stand where they would be sent."""
        try:
            self._write(tool, arguments)
        except ArgumentRefused as refused:
            return (ArgumentFault(refused.path, refused.fault),)
        except ToolFailed:
            # The tool is not there any more, which no other argument mends.
            return ()
        return ()

    def facts(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> CallFacts:
        """The host, and the size of the body."""
        request = self._write(tool, arguments)
        return CallFacts(host=self._settings.base.host.removesuffix("."), bytes=len(request.body or b""))

    async def preview(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> Preview | None:
        """The request as it will be sent, with the names of secrets in their places."""
        return self._write(tool, arguments).preview()

    async def call(self, tool: ToolOffer, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        """Send the request of this call."""
        from gateway.adapters.tools.http_api.answers import read_answer

        operation = self._find(tool)
        request = self._write(tool, arguments)
        assert self._catalogue is not None, "an operation comes from a catalogue"
        checker = self._catalogue.checker(operation)
        try:
            # Before anything is sent: what comes back must not be lost because a secret was removed meanwhile.
            secrets = self._credentials().find()
        except Misconfigured as error:
            raise ToolFailed(error.message, Reason.SOURCE_UNAVAILABLE) from None
        answer = await self._open_client().send(request)
        return await self._threads.submit(lambda: read_answer(answer, secrets, checker, request.method))

    async def close(self) -> None:
        """Forget what was offered. No connection outlives its call."""
        self._catalogue, self._offers = None, {}
        self._threads.close()
        if self._egress is not None:
            self._egress.close()

    # ── inside ──

    def _write(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> ApiRequest:
        """The one place where a request is made: for the question, the policy and the wire."""
        return self._writer.write(self._find(tool), arguments)

    def _find(self, tool: ToolOffer) -> ApiOperation:
        known = self._offers.get(tool.name)
        # Under the same name the document may describe another request by now.
        if self._catalogue is None or known is None or (known is not tool and known.described() != tool.described()):
            raise ToolFailed(f"`{escape(tool.name)}` is no operation of this API now", Reason.SOURCE_UNAVAILABLE)
        return self._catalogue.operations[tool.name]

    async def _fetch_document(self) -> bytes:
        assert self._settings.document_url is not None, "only asked where there is one"
        request = self._writer.write_document_request(self._settings.document_url)
        where = f"the document at {escape(self._settings.document_url)[:300]}"
        try:
            answer = await self._open_client(document=True).send(request)
        except ToolFailed as failure:
            raise SourceAway(failure.message) from None
        if answer.status != 200:
            raise SourceAway(f"{where} was answered with status {answer.status}")
        if not answer.complete:
            raise SourceAway(f"{where} is cut off or has more than {_DOCUMENT_LIMITS['sent'] // 1024 // 1024} MiB")
        data = answer.data
        for secret, word in self._credentials().find():
            data = data.replace(secret.encode(), word.encode())
        return data

    def _credentials(self) -> CredentialHeaders:
        from gateway.adapters.tools.http_api.sending import CredentialHeaders

        return CredentialHeaders(self._settings.headers, self._resources.fill)

    def _open_client(self, *, document: bool = False) -> ApiClient:
        from gateway.adapters.tools.http_api.sending import ApiClient, guard

        client = self._clients.get(document)
        if client is None:
            settings = self._settings
            self._egress = self._egress or guard(settings.base, private=settings.allow_private)
            sizes = _DOCUMENT_LIMITS if document else {}
            limits = FetchLimits(total=settings.timeout, idle=min(settings.timeout, 60.0), **sizes)
            client = self._clients[document] = ApiClient(
                settings.base, self._egress, limits, self._credentials(), beneath=not document
            )
        return client
