"""Programs of others that a person lets act for them: asked for by a browser, allowed on the console, then by tokens.

OAuth 2.1 without its wire: an authorization request becomes a code when a person who is signed in on the console allows it, a
code becomes an agent session of theirs with an access and a refresh token, and a refresh token becomes the next two. Secrets are
kept as hashes. Grants are in the ledger, so that a client goes on after a restart of the gateway; codes live for a minute, in
memory. A request is not kept at all: its id is the request, signed, so that nobody's requests can push out those of others.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Final, cast

import orjson

from gateway.core.errors import GatewayError, InvalidRequest, LedgerUnavailable, NotFound, Refused
from gateway.core.ledger import ClientGranted, ClientTokenMinted, ClientTokenRefused, ClientTokenRevoked
from gateway.core.model import Session
from gateway.core.vocabulary import ClientEnding, ClientRefusal
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.ports import ClientRecords, Clock, ConsoleSession, Entropy, Ledger, StoredClientGrant
from gateway.runtime.sessions import Sessions, hash_secret

REQUEST_SECONDS: Final = 600.0
"""For a person to sign in, read and decide."""

CODE_SECONDS: Final = 60.0
"""As for the code of a shell (docs/PROTOCOL.md section 1); RFC 6749 section 4.1.2 allows ten minutes at most."""

ACCESS_SECONDS: Final = 900.0

REQUEST_LENGTH: Final = 8_192
"""Characters of a request's id. A client's registration takes a thousand; the rest is its `state`."""

GRANTS: Final = 256
"""Clients that act for people at once."""

ROTATIONS: Final = 2_000
"""Refresh tokens of one grant: forty times what a client needs in a session of 12 hours. All that were used are kept."""


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """What a client asks for. All of it is the client's own claim, and the redirect address is one that it registered."""

    client_id: str
    client_name: str
    redirect_uri: str
    is_redirect_explicit: bool
    state: str | None
    code_challenge: str
    resource: str


@dataclass(frozen=True, slots=True)
class AllowedCode:
    """A code that a person's yes made of a request."""

    request: ClientRequest
    console: ConsoleSession
    expires_at: float


@dataclass(frozen=True, slots=True)
class TokenPair:
    """The only copies of two secrets; `seconds` is how long the access token holds."""

    access: str
    refresh: str
    seconds: int


@dataclass(eq=False, slots=True)
class ClientGrant:
    """A client acting for a person. Of its refresh tokens one is good; whoever shows an older one ends them all."""

    id: str
    client_id: str
    client_name: str
    resource: str
    session: Session
    granted_at: int
    access: dict[str, float] = field(default_factory=dict[str, float])
    refresh: str = ""
    spent: set[str] = field(default_factory=set[str])
    """Hashes of the code that it came from and of the refresh tokens that were used."""


class ClientGrants:
    """Open requests, codes and grants."""

    def __init__(
        self,
        *,
        sessions: Sessions,
        connections: ConnectionRegistry,
        ledger: Ledger,
        records: ClientRecords,
        clock: Clock,
        entropy: Entropy,
    ) -> None:
        self._sessions = sessions
        self._connections = connections
        self._ledger = ledger
        self._records = records
        self._clock = clock
        self._entropy = entropy
        self._key = entropy.octets(32)
        self._decided: dict[str, float] = {}
        """Requests that a person decided, by their signatures, until they would have run out."""
        self._codes: dict[str, AllowedCode] = {}
        self._grants: dict[str, ClientGrant] = {}

    async def restore(self) -> None:
        """Read back who acted for people when the gateway stopped. To be called once, before anybody is served."""
        spent: dict[str, set[str]] = {}
        for grant_id, secret_hash in await self._records.spent_client_secrets():
            spent.setdefault(grant_id, set()).add(secret_hash)
        for stored in await self._records.client_grants():
            await self._restore(stored, spent.get(stored.id, set()))

    # ── the person ──

    def ask(self, request: ClientRequest) -> str:
        """The id of a request, which the console is opened with. Raises InvalidRequest for one that is too long."""
        # The secret tells two requests apart that ask for the same.
        said = [asdict(request), self._clock.monotonic() + REQUEST_SECONDS, self._entropy.secret()]
        packed = base64.urlsafe_b64encode(orjson.dumps(said)).decode()
        request_id = f"{packed}.{self._sign(packed)}"
        if len(request_id) > REQUEST_LENGTH:
            raise InvalidRequest("the state is too long")
        return request_id

    def find(self, request_id: str) -> ClientRequest:
        """An open request. Raises NotFound."""
        return self._read(request_id)[0]

    def allow(self, request_id: str, console: ConsoleSession) -> tuple[ClientRequest, str]:
        """A person lets the client in: the request, and a code for it. Raises NotFound."""
        request = self._decide(request_id)
        now, code = self._clock.monotonic(), self._entropy.secret()
        self._codes = {key: kept for key, kept in self._codes.items() if now < kept.expires_at}
        self._codes[hash_secret(code)] = AllowedCode(request, console, now + CODE_SECONDS)
        return request, code

    async def deny(self, request_id: str, console: ConsoleSession) -> ClientRequest:
        """A person does not. Raises NotFound."""
        request = self._decide(request_id)
        try:
            await self._refuse(console.principal.id, None, ClientRefusal.PERSON)
        except LedgerUnavailable:
            self._decided.pop(request_id.rpartition(".")[2], None)
            raise
        return request

    # ── the client ──

    async def look_at(self, code: str, client_id: str) -> AllowedCode | None:
        """A code of that client; a second look at a used one ends what the first use gave (RFC 6749 section 4.1.2)."""
        hashed = hash_secret(code)
        grant = next((each for each in self._grants.values() if hashed in each.spent), None)
        if grant is not None:
            await self._refuse(grant.session.principal.id, grant.session.id, ClientRefusal.CODE)
            await self.revoke(grant, ClientEnding.MISUSE)
            return None
        kept = self._codes.get(hashed)
        if kept is None or kept.request.client_id != client_id or self._clock.monotonic() >= kept.expires_at:
            return None
        return kept

    async def burn(self, code: str) -> None:
        """A code whose use failed a check is worth nothing more."""
        kept = self._codes.pop(hash_secret(code), None)
        if kept is not None:
            await self._refuse(kept.console.principal.id, None, ClientRefusal.CODE)

    async def redeem(self, code: str) -> TokenPair:
        """A session and its first tokens. Raises Refused `code`, and LedgerUnavailable: then the code is good for another try."""
        hashed = hash_secret(code)
        kept = self._codes.pop(hashed, None)
        if kept is None or self._clock.monotonic() >= kept.expires_at:
            raise Refused("code", "this code was used already or has run out; start again")
        try:
            return await self._redeem(kept, hashed)
        except LedgerUnavailable:
            self._codes[hashed] = kept
            raise

    async def _redeem(self, kept: AllowedCode, hashed: str) -> TokenPair:
        self._forget_ended()
        if len(self._grants) >= GRANTS:
            raise Refused("tooManyClients", "too many clients act for people here already", 429)
        state = self._entropy.secret()
        session = (await self._sessions.redeem(self._sessions.authorize(kept.console, state), state)).session
        # Known from here on, so that its end voids the tokens before a connection was made.
        self._connections.live(session)
        request = kept.request
        now = self._clock.now()
        grant = ClientGrant(
            self._entropy.identifier("cgr_"),
            request.client_id,
            request.client_name,
            request.resource,
            session,
            now,
            spent={hashed},
        )
        self._grants[grant.id] = grant
        granted = ClientGranted(
            now, session.principal.id, session.id, grant.id, grant.client_id, grant.client_name, grant.resource, hashed
        )
        try:
            return await self._mint(grant, granted)
        except GatewayError:
            del self._grants[grant.id]
            with suppress(GatewayError):
                await self._sessions.end_agent(session, "revoked")
            raise

    async def find_refresh(self, token: str, client_id: str) -> ClientGrant | None:
        """The grant whose refresh token that is. An older one is a stolen one, or the good one is: the grant ends (RFC 9700
        section 4.14.2)."""
        hashed = hash_secret(token)
        for grant in tuple(self._grants.values()):
            if grant.client_id != client_id or not self._is_alive(grant):
                continue
            if hmac.compare_digest(grant.refresh, hashed):
                return grant
            if hashed in grant.spent:
                await self._refuse(grant.session.principal.id, grant.session.id, ClientRefusal.REPLAYED)
                await self.revoke(grant, ClientEnding.MISUSE)
        return None

    async def refresh(self, grant: ClientGrant, token: str) -> TokenPair:
        """The next two tokens; the ones before are void. Raises Refused `token` for one that is not the good one any more."""
        if grant.id not in self._grants or not hmac.compare_digest(grant.refresh, hash_secret(token)):
            raise Refused("token", "this token was used already")
        if len(grant.spent) >= ROTATIONS:
            raise Refused("token", "this client renewed its tokens too often; ask the person again", 429)
        return await self._mint(grant)

    async def find_access(self, token: str, resource: str) -> ClientGrant | None:
        """The grant that a token of this audience stands for, while its person's session lives."""
        hashed = hash_secret(token)
        grant = next((each for each in self._grants.values() if hashed in each.access), None)
        if grant is None:
            return None
        if not self._is_alive(grant) or self._clock.monotonic() >= grant.access[hashed]:
            return None
        if grant.resource != resource:
            await self._refuse(grant.session.principal.id, grant.session.id, ClientRefusal.AUDIENCE)
            return None
        return grant

    async def revoke(self, grant: ClientGrant, reason: ClientEnding, by: str | None = None) -> None:
        """End a grant with its session: every token is void, and what runs stops. `by` is who decided so on the console.

        Where that cannot be recorded nothing has ended: it would go on after a restart, and until then nobody could end it.
        """
        if self._grants.pop(grant.id, None) is None:
            return
        now, person = self._clock.now(), grant.session.principal.id
        revoked = ClientTokenRevoked(now, person, grant.session.id, grant.id, reason, by)
        try:
            if self._is_alive(grant):
                await self._sessions.end_agent(grant.session, "revoked", revoked)
            else:
                await self._ledger.append(revoked)
        except GatewayError:
            self._grants[grant.id] = grant
            raise

    # ── inside ──

    def _sign(self, packed: str) -> str:
        return hmac.new(self._key, packed.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _read(self, request_id: str) -> tuple[ClientRequest, str, float]:
        """An open request, its signature and when it runs out."""
        packed, _, signature = request_id.rpartition(".")
        unknown = NotFound("this request is unknown or too old; start again at the client")
        if not hmac.compare_digest(self._sign(packed).encode(), signature.encode("utf-8", "replace")):
            raise unknown
        said, until, _secret = cast("tuple[dict[str, Any], float, str]", orjson.loads(base64.urlsafe_b64decode(packed)))
        if signature in self._decided or self._clock.monotonic() >= until:
            raise unknown
        return ClientRequest(**said), signature, until

    def _decide(self, request_id: str) -> ClientRequest:
        request, signature, until = self._read(request_id)
        now = self._clock.monotonic()
        self._decided = {key: ends for key, ends in self._decided.items() if now < ends}
        self._decided[signature] = until
        return request

    async def _restore(self, stored: StoredClientGrant, spent: set[str]) -> None:
        session = await self._sessions.resume(stored.session_id)
        if session is None:
            return
        self._connections.live(session)
        left = min((stored.access_until - self._clock.now()) / 1000, ACCESS_SECONDS)
        access = {stored.access_hash: self._clock.monotonic() + left} if stored.access_hash else {}
        self._grants[stored.id] = ClientGrant(
            stored.id,
            stored.client_id,
            stored.client,
            stored.resource,
            session,
            stored.granted_at,
            access,
            stored.refresh_hash,
            spent,
        )

    async def _mint(self, grant: ClientGrant, *because: ClientGranted) -> TokenPair:
        access, refresh = self._entropy.secret(), self._entropy.secret()
        # Before the record is awaited, so that of two uses at once one finds an old token.
        before = grant.access
        spent = grant.refresh
        if spent:
            grant.spent.add(spent)
        grant.refresh = hash_secret(refresh)
        access_hash = hash_secret(access)
        grant.access = {access_hash: self._clock.monotonic() + ACCESS_SECONDS}
        now, session = self._clock.now(), grant.session
        until = now + int(ACCESS_SECONDS * 1000)
        minted = ClientTokenMinted(
            now, session.principal.id, session.id, grant.id, grant.client_name, until, access_hash, grant.refresh, spent
        )
        try:
            await self._ledger.append(*because, minted)
        except GatewayError:
            # Nobody got the new ones. Whoever asks again shows the old one, and is no thief.
            grant.refresh, grant.access = spent, before
            grant.spent.discard(spent)
            raise
        return TokenPair(access, refresh, int(ACCESS_SECONDS))

    def _is_alive(self, grant: ClientGrant) -> bool:
        return self._connections.is_live(grant.session.id, self._clock.now())

    def _forget_ended(self) -> None:
        self._grants = {key: grant for key, grant in self._grants.items() if self._is_alive(grant)}

    async def _refuse(self, principal_id: str, session_id: str | None, reason: ClientRefusal) -> None:
        await self._ledger.append(ClientTokenRefused(self._clock.now(), principal_id, session_id, reason))

    def clients(self) -> Sequence[ClientGrant]:
        """Who may act for people at the moment, oldest first."""
        return [grant for grant in self._grants.values() if self._is_alive(grant)]
