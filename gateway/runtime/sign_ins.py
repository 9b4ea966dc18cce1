"""People signing in to sources: begun on the console, finished by the same session, kept sealed, ended by either side.

An attempt is known by its `state`, which the gateway makes. It is good once, for a few minutes, and only in the console session
that began it: an address that somebody else made, or an answer to another person's attempt, finishes nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from gateway.core.errors import Misconfigured, Refused
from gateway.core.ledger import (
    Entry,
    SourceSignedIn,
    SourceSignedOut,
    SourceSignInFailed,
    SourceSignInStarted,
    SourceTokensRenewed,
)
from gateway.core.sources import AddedSource
from gateway.core.vocabulary import SignInEnd
from gateway.runtime.ports import (
    Clock,
    Entropy,
    Ledger,
    PreparedSignIn,
    SecretSealer,
    SignInHost,
    SignInReply,
    SourceRecords,
)

_log = logging.getLogger(__name__)

ATTEMPT_SECONDS: Final = 600.0
"""From the console to the authorization server and back: a password, a second factor, a question about scopes."""

MAX_ATTEMPTS: Final = 32
"""Under way at once; the oldest makes room."""


@dataclass(frozen=True, slots=True)
class SignInView:
    """Who gave tokens for a source, and since when."""

    server: str
    signed_in_at: int


@dataclass(frozen=True, slots=True)
class RedeemedSignIn:
    """Tokens that an authorization server gave just now, for the source at that address."""

    server: str
    address: str
    tokens: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Attempt:
    session_id: str
    source: AddedSource
    address: str
    prepared: PreparedSignIn = field(repr=False)
    deadline: float


class SignIns:
    """Every sign-in to a source, under way and done. `console` is the console's origin."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        records: SourceRecords,
        host: SignInHost,
        sealer: SecretSealer,
        clock: Clock,
        entropy: Entropy,
        console: str,
    ) -> None:
        self._ledger = ledger
        self._records = records
        self._host = host
        self._sealer = sealer
        self._clock = clock
        self._entropy = entropy
        self._console = console
        self._attempts: OrderedDict[str, _Attempt] = OrderedDict()
        self._done: dict[str, SignInView] = {}
        self._addresses: dict[str, str] = {}
        self._kept: dict[str, RedeemedSignIn] = {}
        self._discards: set[asyncio.Task[None]] = set()

    async def start(self, sources: Mapping[str, AddedSource]) -> Sequence[str]:
        """Use every sign-in that is kept. Gives those that cannot be used, in words."""
        self._host.begin(self._keep_renewed, self._end_refused)
        complaints: list[str] = []
        stored = await self._records.source_sign_ins()
        for name, source in sources.items():
            address = self._host.address_of(source)
            if address is None:
                continue
            self._addresses[name] = address
            if (kept := stored.get(name)) is None:
                continue
            try:
                self._host.use(source, self._sealer.unseal(_seal_name(name, address), kept.sealed))
            except Misconfigured:
                complaints.append(f"the sign-in to `{name}` was made with another key or for another address; sign in again")
                continue
            self._done[name] = SignInView(kept.server, kept.signed_in_at)
        return complaints

    def find(self, source: AddedSource) -> SignInView | None:
        """The sign-in to a source, if there is one."""
        return self._done.get(source.name)

    def takes(self, source: AddedSource) -> bool:
        """Whether anybody can sign in to a source."""
        return self._host.address_of(source) is not None

    def callback(self, source: AddedSource) -> str:
        """Where the browser comes back to. Each source has its own, so that no answer can be taken for another source's.

        Raises Refused for a source that nobody can sign in to.
        """
        if self._host.address_of(source) is None:
            raise Refused(
                "noSignIn",
                f"nobody signs in to `{source.name}`: it is no MCP server with a `url`, or has an `Authorization` header already",
                409,
            )
        return f"{self._console}/sources/{source.name}/callback"

    async def begin(self, source: AddedSource, session_id: str, by: str) -> PreparedSignIn:
        """Where the person's browser goes. Raises Refused."""
        callback = self.callback(source)
        address = self._host.address_of(source)
        assert address is not None, "it has a callback"
        await self._ledger.append(SourceSignInStarted(self._clock.now(), by, source.name))
        state = self._entropy.secret()
        prepared = await self._host.prepare(source, callback, state)
        self._drop_old()
        deadline = self._clock.monotonic() + ATTEMPT_SECONDS
        self._attempts[state] = _Attempt(session_id, source, address, prepared, deadline)
        return prepared

    async def redeem(self, source: AddedSource, session_id: str, by: str, state: str, answer: SignInReply) -> RedeemedSignIn:
        """The tokens of an attempt, which is over then. Raises Refused, and it is over then too."""
        self._drop_old()
        attempt = self._attempts.pop(state, None)
        if attempt is None or attempt.session_id != session_id or attempt.source != source:
            raise Refused(
                "unknownAttempt", "this sign-in was not begun here, was used before, or took too long; begin again", 409
            )
        try:
            tokens = await self._host.redeem(source, attempt.prepared, answer)
            return RedeemedSignIn(attempt.prepared.server, attempt.address, tokens)
        except Refused as refusal:
            await self._ledger.append(SourceSignInFailed(self._clock.now(), by, source.name, refusal.message))
            raise

    async def keep(self, source: AddedSource, by: str, redeemed: RedeemedSignIn) -> None:
        """Keep tokens that were just given for a source, and use them."""
        now = self._clock.now()
        sealed = self._sealer.seal(_seal_name(source.name, redeemed.address), redeemed.tokens)
        await self._ledger.append(SourceSignedIn(now, by, source.name, redeemed.server, sealed))
        self._addresses[source.name] = redeemed.address
        self._done[source.name] = SignInView(redeemed.server, now)
        self._kept[source.name] = redeemed
        self._host.use(source, redeemed.tokens)

    async def end(self, source: AddedSource, by: str | None, *because: Entry) -> str | None:
        """Forget the tokens of a source, recorded together with the entries that come of it. Gives them, to be revoked; None
        where there are none that can be read."""
        stored = (await self._records.source_sign_ins()).get(source.name)
        ended = () if stored is None else (SourceSignedOut(self._clock.now(), by, source.name, SignInEnd.PERSON),)
        if ended or because:
            await self._ledger.append(*ended, *because)
        # Not before: where it cannot be recorded nobody has signed out.
        self._host.use(source, None)
        self._done.pop(source.name, None)
        self._kept.pop(source.name, None)
        try:
            return stored and self._sealer.unseal(_seal_name(source.name, self._addresses.get(source.name, "")), stored.sealed)
        except Misconfigured:
            return None

    async def change(self, before: AddedSource, after: AddedSource, by: str, entry: Entry) -> str | None:
        """Record that a source has other settings. Its sign-in stays where the address and the way of signing in do; otherwise
        it ends, and its tokens are given, to be revoked."""
        now, then = ((self._host.address_of(each), each.settings.get("oauth")) for each in (after, before))
        if now != then:
            return await self.end(before, by, entry)
        await self._ledger.append(entry)
        return None

    async def revoke(self, source: AddedSource, tokens: str | None) -> str | None:
        """Have the authorization server void tokens that are forgotten here. Gives in words why it did not."""
        try:
            if tokens is not None:
                await self._host.revoke(source, tokens)
        except Refused as refusal:
            return refusal.message
        return None

    @asynccontextmanager
    async def discarding(self, source: AddedSource, redeemed: RedeemedSignIn) -> AsyncGenerator[None]:
        """Tokens that are not kept while the context lasts are voided at the server that gave them, which would take them from
        whoever has read them on the way until they expire."""
        try:
            yield
        finally:
            if self._kept.get(source.name) is not redeemed:
                # Aside: whoever signed in may be gone, and does not wait for it.
                task = asyncio.get_running_loop().create_task(self._discard(source, redeemed.tokens))
                self._discards.add(task)
                task.add_done_callback(self._discards.discard)

    # ── inside ──

    async def _discard(self, source: AddedSource, tokens: str) -> None:
        if (fault := await self.revoke(source, tokens)) is not None:
            _log.warning("tokens of `%s` that were not kept are good until they expire: %s", source.name, fault)

    def _drop_old(self) -> None:
        now = self._clock.monotonic()
        while self._attempts and (len(self._attempts) >= MAX_ATTEMPTS or next(iter(self._attempts.values())).deadline <= now):
            self._attempts.popitem(last=False)

    async def _keep_renewed(self, name: str, tokens: str) -> None:
        if name in self._done:
            sealed = self._sealer.seal(_seal_name(name, self._addresses[name]), tokens)
            await self._ledger.append(SourceTokensRenewed(self._clock.now(), name, sealed))

    async def _end_refused(self, name: str) -> None:
        if (done := self._done.get(name)) is not None:
            await self._ledger.append(SourceSignedOut(self._clock.now(), None, name, SignInEnd.REFUSED))
            if self._done.get(name) is done:
                del self._done[name]


def _seal_name(source: str, address: str) -> str:
    """What the sealed tokens are bound to, so that tokens of one source or address are never opened as another's."""
    return f"sign-in to {source} at {address}"
