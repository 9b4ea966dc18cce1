"""What the site of MCP clients answers: the metadata, the authorization server's endpoints for programs, and `/mcp`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.middleware.client_auth import AuthenticationError, ClientAuthenticator
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import ClientRegistrationOptions
from starlette.datastructures import ImmutableMultiDict
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from gateway.core.canonical import parse
from gateway.core.errors import InvalidRequest, MalformedJson, NotSignedIn, TooManyRequests, UnsupportedValue
from gateway.core.vocabulary import ClientEnding
from gateway.protocol.codec import RejectedMessage, encode_error
from gateway.protocol.frames import MAX_MESSAGE_BYTES
from gateway.runtime.client_grants import ClientGrant
from gateway.server.access import read_octets
from gateway.server.mcp.authorization import GrantingProvider
from gateway.server.mcp.client_site import ClientSiteParts
from gateway.server.mcp.grant_server import GrantServer, session_of
from gateway.server.mcp.line_exchange import REQUESTS_IN_FLIGHT
from gateway.server.mcp.lines import PeerRequest, judge_line
from gateway.server.responses import NOT_FOUND, HttpError, refuse, wrong_method

FORM_BYTES: Final = 16 * 1024

MAX_FIELDS: Final = 100

_OF_THIS_MACHINE: Final = "http"
"""Scheme of the addresses that are registered for programs of this machine, and for nobody else."""

_FORM: Final = "application/x-www-form-urlencoded"
_JSON: Final = "application/json"
_MEDIA_TYPES: Final = (_FORM, _JSON)
_WRONG_TYPE: Final = HttpError(415, "unsupported_media_type", "send a form, or JSON to register")

_Answer = Callable[[Request], Awaitable[Response]]


class HttpEndpoints:
    """An ASGI app, reached with the right Host and without a foreign Origin."""

    def __init__(self, parts: ClientSiteParts) -> None:
        self._parts = parts
        self._provider = provider = GrantingProvider(parts)
        self._servers: dict[str, GrantServer] = {}
        self._authenticator = ClientAuthenticator(provider)
        self._tokens = TokenHandler(provider, self._authenticator)
        self._authorizations = AuthorizationHandler(provider)
        registration = RegistrationHandler(provider, ClientRegistrationOptions(enabled=True))
        self._challenge = f'Bearer resource_metadata="{parts.origin}/.well-known/oauth-protected-resource/mcp"'
        self._endpoints: Mapping[str, Mapping[str, _Answer]] = {
            "/.well-known/oauth-protected-resource": {"GET": self._describe_resource},
            "/.well-known/oauth-protected-resource/mcp": {"GET": self._describe_resource},
            "/.well-known/oauth-authorization-server": {"GET": self._describe_server},
            "/register": {"POST": registration.handle},
            "/authorize": {"GET": self._answer_authorization},
            "/token": {"POST": self._answer_token},
            "/revoke": {"POST": self._answer_revocation},
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["path"] == "/mcp":
            await self._serve_protocol(scope, receive, send)
        else:
            await self._serve_endpoint(scope, receive, send)

    async def drain(self) -> None:
        """End every stream as soon as the requests of its grant are answered."""
        await asyncio.gather(*(server.drain() for server in self._servers.values()))

    # ── the authorization server ──

    async def _serve_endpoint(self, scope: Scope, receive: Receive, send: Send) -> None:
        methods = self._endpoints.get(scope["path"])
        answer = None if methods is None else methods.get(scope["method"])
        if methods is None:
            response = refuse(NOT_FOUND)
        elif answer is None:
            response = refuse(wrong_method(", ".join(methods)))
        else:
            response = await self._answer_body(answer, Request(scope, receive))
        await response(scope, receive, send)

    async def _answer_body(self, answer: _Answer, request: Request) -> Response:
        """The whole body first: what the SDK reads has no deadline, and a form of another type makes its parser raise."""
        raw = await read_octets(request, FORM_BYTES)
        if isinstance(raw, HttpError):
            return refuse(raw)
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if raw and media_type not in _MEDIA_TYPES:
            return refuse(_WRONG_TYPE)
        if _names_twice(request.query_params):
            return _refuse_twice()
        # Many clients name this type in every request, also where they ask for a document.
        if raw and media_type == _JSON:
            try:
                parse(raw)
            except (MalformedJson, UnsupportedValue) as error:
                return JSONResponse({"error": "invalid_client_metadata", "error_description": error.message}, 400)
        whole = Request(request.scope, _replay(raw, request.receive))
        if media_type == _FORM:
            try:
                # Read once here and kept by the request: nobody further in catches what this raises.
                await whole.body()
                form = await whole.form(max_files=0, max_fields=MAX_FIELDS)
            except (MultiPartException, HTTPException):
                return JSONResponse({"error": "invalid_request"}, 400)
            if _names_twice(form):
                return _refuse_twice()
        return await answer(whole)

    async def _answer_authorization(self, request: Request) -> Response:
        """RFC 6749 section 4.1.1. An error that goes to the client says which server it is from, as a code does (RFC 9207)."""
        answer = await self._authorizations.handle(request)
        location = urlsplit(answer.headers.get("location", ""))
        said = parse_qs(location.query)
        if "error" not in said:
            return answer
        if location.scheme != _OF_THIS_MACHINE:
            # Anybody can register an address. A link to this gateway that a mistake in it leads on, with nobody asked, would
            # lend them its name (RFC 9700 section 4.11.2).
            refusal = {name: said[name][0] for name in ("error", "error_description") if name in said}
            return JSONResponse(refusal, 400, headers={"cache-control": "no-store"})
        answer.headers["location"] = f"{location.geturl()}&{urlencode({'iss': self._parts.origin})}"
        return answer

    async def _describe_resource(self, _request: Request) -> Response:
        """RFC 9728."""
        return JSONResponse(
            {
                "resource": self._parts.resource,
                "authorization_servers": [self._parts.origin],
                "bearer_methods_supported": ["header"],
                "resource_name": "Countersign",
            }
        )

    async def _describe_server(self, _request: Request) -> Response:
        """RFC 8414."""
        origin = self._parts.origin
        return JSONResponse(
            {
                "issuer": origin,
                "authorization_endpoint": f"{origin}/authorize",
                "token_endpoint": f"{origin}/token",
                "registration_endpoint": f"{origin}/register",
                "revocation_endpoint": f"{origin}/revoke",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "token_endpoint_auth_methods_supported": ["none"],
                "revocation_endpoint_auth_methods_supported": ["none"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def _answer_token(self, request: Request) -> Response:
        """RFC 6749 section 4.1.3, with the audience of RFC 8707. A code shown with a wrong proof is worth nothing more."""
        form = await request.form()
        code, resource = form.get("code"), form.get("resource")
        if isinstance(resource, str) and resource.rstrip("/") != self._parts.resource:
            response: Response = JSONResponse({"error": "invalid_target"}, 400)
        else:
            response = await self._tokens.handle(request)
        if response.status_code != 200 and isinstance(code, str):
            await self._parts.grants.burn(code)
        return response

    async def _answer_revocation(self, request: Request) -> Response:
        """RFC 7009. The SDK's own handler wants a secret, which public clients have none of."""
        try:
            client = await self._authenticator.authenticate_request(request)
        except AuthenticationError:
            return JSONResponse({"error": "invalid_client"}, 401)
        token = (await request.form()).get("token")
        if not isinstance(token, str):
            return JSONResponse({"error": "invalid_request"}, 400)
        grants = self._parts.grants
        grant = await grants.find_access(token, self._parts.resource) or await grants.find_refresh(token, client.client_id)
        if grant is not None and grant.client_id == client.client_id:
            await grants.revoke(grant, ClientEnding.CLIENT)
        # A token that is unknown is as void as it was asked to be.
        return Response(status_code=200)

    # ── the resource ──

    async def _serve_protocol(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        sent = request.headers.getlist("authorization")
        scheme, _, token = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
        if scheme.lower() != "bearer" or not token:
            await self._challenge_client("", send, scope, receive)
            return
        grant = await self._find_grant(token)
        if grant is not None and scope["method"] == "POST":
            raw = await read_octets(request, MAX_MESSAGE_BYTES)
            if isinstance(raw, HttpError):
                await refuse(raw)(scope, receive, send)
                return
            # While its message came, the grant may have ended.
            grant = await self._find_grant(token)
        else:
            raw = b""
        if grant is None:
            await self._challenge_client(', error="invalid_token"', send, scope, receive)
            return
        server = self._server_of(grant)
        user = AuthenticatedUser(AccessToken(token="", client_id=grant.client_id, scopes=[], subject=grant.id))
        # No stream here can be taken up again, and the SDK would give a request for that no answer.
        headers = [each for each in scope["headers"] if each[0] != b"last-event-id"]
        scope = {**scope, "user": user, "headers": headers}
        try:
            if scope["method"] == "POST":
                await self._post(server, raw, scope, receive, send)
            else:
                await server.handle(scope, receive, send)
        except NotSignedIn:
            await self._challenge_client(', error="invalid_token"', send, scope, receive)

    async def _find_grant(self, token: str) -> ClientGrant | None:
        return await self._parts.grants.find_access(token.strip(), self._parts.resource)

    async def _post(self, server: GrantServer, raw: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        """One message, judged as a line is before the SDK sees it."""
        judged = judge_line(raw)
        if isinstance(judged, RejectedMessage):
            await _refuse_message(400, encode_error(judged.id, judged.error))(scope, receive, send)
            return
        replayed = _replay(raw, receive)
        if not isinstance(judged, PeerRequest):
            await server.handle(scope, replayed, send)
            return
        key = (session_of(scope), str(judged.id))
        if not server.budget.spend() or len(server.in_flight) >= REQUESTS_IN_FLIGHT:
            error = TooManyRequests(f"{REQUESTS_IN_FLIGHT} requests are in flight already, or too many came at once")
            await _refuse_message(429, encode_error(judged.id, error))(scope, receive, send)
            return
        if key[0] and key in server.in_flight:
            error = InvalidRequest("a request with this id is in flight already")
            await _refuse_message(400, encode_error(judged.id, error))(scope, receive, send)
            return
        if not key[0]:
            key = ("", f"{judged.id} {id(replayed)}")
        server.in_flight.add(key)

        async def send_and_note(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                # Before the client can know that it has its answer, so that the id is free when it sends the next one.
                server.answered(key)
            await send(message)

        try:
            await server.handle(scope, replayed, send_and_note)
        finally:
            server.answered(key)

    def _server_of(self, grant: ClientGrant) -> GrantServer:
        self._servers = {key: each for key, each in self._servers.items() if not each.has_ended}
        server = self._servers.get(grant.id)
        if server is None:
            server = self._servers[grant.id] = GrantServer(self._parts, grant)
        return server

    async def _challenge_client(self, further: str, send: Send, scope: Scope, receive: Receive) -> None:
        body = {"error": {"code": "not_signed_in", "message": "show a token that this gateway's authorization server gave you"}}
        headers = {"www-authenticate": f"{self._challenge}{further}"}
        await JSONResponse(body, 401, headers=headers)(scope, receive, send)


def _names_twice(parameters: ImmutableMultiDict[str, object]) -> bool:
    """RFC 6749 section 3: no parameter comes more than once. Two readers would otherwise take different ones of them."""
    return len(parameters.multi_items()) != len(parameters)


def _refuse_twice() -> Response:
    body = {"error": "invalid_request", "error_description": "a parameter comes more than once"}
    return JSONResponse(body, 400, headers={"cache-control": "no-store"})


def _refuse_message(status: int, body: bytes) -> Response:
    return Response(body, status, media_type="application/json")


def _replay(raw: bytes, receive: Receive) -> Receive:
    """The body once more, and then whatever comes: that the client has gone."""
    pending = [raw]

    async def replay() -> Message:
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        return await receive()

    return replay
