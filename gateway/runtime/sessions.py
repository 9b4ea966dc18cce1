"""Sessions: who is signed in on the console, and which browsers they lent an agent session.

A session lives in the ledger; its cookie's secret is known there by its hash alone. What is looked up on every request is
kept in memory and forgotten the moment a session ends. Every change is recorded first and acted on after, so that a crash
can leave a session ended and its sockets open for an instant, never the other way round.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from gateway.core.errors import Refused
from gateway.core.ledger import (
    AgentSessionEnded,
    AgentSessionStarted,
    ConsoleSessionEnded,
    ConsoleSessionRenewed,
    ConsoleSessionStarted,
    Entry,
)
from gateway.core.model import Principal, Session
from gateway.core.vocabulary import Label, Profile
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.ports import Clock, ConsoleSession, Entropy, Ledger, PolicyEngine, SessionRecords

CODE_SECONDS = 60.0
"""docs/PROTOCOL.md section 1."""

CODES_PER_CONSOLE = 8
"""Open codes of one console session; a person opens few shells within a minute."""

FRESH_SECONDS = 300.0
"""How long a passkey answer covers changes of the account itself; Teleport's limit for admin actions is the same."""

IN_MEMORY = 10_000
"""Sessions of each kind kept in memory; others are read again when they come back."""

_AnySession = TypeVar("_AnySession", ConsoleSession, Session)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A console session just started or renewed, with the only copy of its cookie's secret, good for that many seconds."""

    session: ConsoleSession
    secret: str
    seconds: int


@dataclass(frozen=True, slots=True)
class LentSession:
    """An agent session just made, with the only copy of its cookie's secret, good for that many seconds."""

    session: Session
    secret: str
    seconds: int


@dataclass(frozen=True, slots=True)
class _Code:
    console: ConsoleSession
    state_hash: str
    deadline: float
    label: Label


class _Kept(Generic[_AnySession]):
    """Live sessions by the hash of their secret. A deadline on the monotonic clock stands beside each expiry, so that
    setting the wall clock back makes no session longer."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_hash: OrderedDict[str, tuple[_AnySession, float]] = OrderedDict()
        self._hashes: dict[str, str] = {}
        self._endings = 0
        self._began = (clock.now(), clock.monotonic())

    async def find(self, secret: str, read: Callable[[str], Awaitable[_AnySession | None]]) -> _AnySession | None:
        """The session of that secret, expired or not, from memory or else by `read`."""
        secret_hash = hash_secret(secret)
        while (kept := self._by_hash.get(secret_hash)) is None:
            endings = self._endings
            session = await read(secret_hash)
            # One that begins later than now is of before the clock was set back, and would live longer by that much.
            if session is None or session.created_at > self._clock.now():
                return None
            # A session that ended while it was being read must not be kept as live: read again.
            if endings == self._endings:
                self.keep(secret_hash, session)
        self._by_hash.move_to_end(secret_hash)
        return kept[0]

    def keep(self, secret_hash: str, session: _AnySession) -> None:
        """Remember a session that is live."""
        # One that is read back after the wall clock was set back has what is left of it, and not more.
        wall, monotonic = self._began
        now = max(self._clock.now(), wall + int((self._clock.monotonic() - monotonic) * 1000))
        deadline = self._clock.monotonic() + (session.expires_at - now) / 1000
        self._by_hash[secret_hash] = (session, deadline)
        self._hashes[session.id] = secret_hash
        while len(self._by_hash) > IN_MEMORY:
            _, (oldest, _) = self._by_hash.popitem(last=False)
            self._hashes.pop(oldest.id, None)

    def drop(self, session_id: str) -> None:
        """Forget a session that ended, or whose secret changed."""
        self._endings += 1
        secret_hash = self._hashes.pop(session_id, None)
        if secret_hash is not None:
            self._by_hash.pop(secret_hash, None)

    def has_expired(self, session: _AnySession) -> bool:
        """By either clock."""
        kept = self._by_hash.get(self._hashes.get(session.id, ""))
        deadline = float("inf") if kept is None else kept[1]
        return self._clock.now() >= session.expires_at or self._clock.monotonic() >= deadline

    def expired(self) -> list[_AnySession]:
        """Every remembered session whose time is over."""
        return [session for session, _ in self._by_hash.values() if self.has_expired(session)]


class Sessions:
    """Starts, finds, lends and ends sessions."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        records: SessionRecords,
        connections: ConnectionRegistry,
        policy: PolicyEngine,
        clock: Clock,
        entropy: Entropy,
    ) -> None:
        self._ledger = ledger
        self._records = records
        self._connections = connections
        self._policy = policy
        self._clock = clock
        self._entropy = entropy
        self._consoles: _Kept[ConsoleSession] = _Kept(clock)
        self._agents: _Kept[Session] = _Kept(clock)
        self._fresh: dict[str, float] = {}
        self._codes: dict[str, _Code] = {}
        # Lending from a session and ending it must not overlap, or a session could be lent by one that is gone.
        self._lending = asyncio.Lock()

    # ── finding ──

    async def console(self, secret: str) -> ConsoleSession | None:
        """The live console session of that cookie secret."""
        session = await self._consoles.find(secret, self._records.console_session)
        if session is not None and self._consoles.has_expired(session):
            await self.end_console(session, "expired")
            return None
        return None if session is not None and self._connections.is_barred(session.principal.id) else session

    async def agent(self, secret: str) -> Session | None:
        """The live agent session of that cookie secret."""
        session = await self._agents.find(secret, self._records.agent_session)
        if session is not None and self._agents.has_expired(session):
            await self.end_agent(session, "expired")
            return None
        return None if session is not None and self._connections.is_barred(session.principal.id) else session

    async def resume(self, session_id: str) -> Session | None:
        """A live session that something else than its cookie stands for, so that its time runs here as well."""
        session = await self._records.session(session_id)
        if session is None or self._clock.now() < session.created_at:
            return None
        # No secret has such a hash.
        self._agents.keep(f"resumed {session.id}", session)
        if self._agents.has_expired(session):
            await self.end_agent(session, "expired")
            return None
        return session

    # ── signing in ──

    async def start_console(self, principal: Principal, *because: Entry, ending: ConsoleSession | None = None) -> SignedIn:
        """A new console session, recorded together with the entries that justify it. `ending` is over in the same step:
        the session that somebody else, or an older sign-in, left in this browser."""
        secret = self._entropy.secret()
        now = self._clock.now()
        session = ConsoleSession(self._entropy.identifier("ses_"), principal, now, self._console_expiry(principal, now))
        secret_hash = hash_secret(secret)
        started = ConsoleSessionStarted(now, session.id, secret_hash, principal.id, session.expires_at)
        if ending is None:
            await self._ledger.append(*because, started)
        else:
            await self._end_console(ending, "replaced", *because, started)
        self._consoles.keep(secret_hash, session)
        self._fresh[session.id] = self._clock.monotonic()
        await self._require_unchanged(session)
        return SignedIn(session, secret, (session.expires_at - now) // 1000)

    async def _require_unchanged(self, session: ConsoleSession) -> None:
        """Ends a new session of somebody whose profile was changed since they were looked up, when this session was not there
        yet to be ended with their others. Raises Refused."""
        kept = [each for each in await self._records.console_sessions_of(session.principal.id) if each.id == session.id]
        if any(each.principal.profile is not session.principal.profile for each in kept):
            await self.end_console(session, "changed")
            raise Refused("changed", "your profile was changed at the same moment; sign in again", 409)

    async def start_terminal(self, principal: Principal, *because: Entry) -> ConsoleSession:
        """A console session for whoever owns the state folder and works at its terminal, on record as such. Its secret is
        thrown away, so nobody can come back with it, and no passkey answered, so it is never fresh."""
        now = self._clock.now()
        session = ConsoleSession(self._entropy.identifier("ses_"), principal, now, self._console_expiry(principal, now))
        secret_hash = hash_secret(self._entropy.secret())
        started = ConsoleSessionStarted(now, session.id, secret_hash, principal.id, session.expires_at, terminal=True)
        await self._ledger.append(*because, started)
        self._consoles.keep(secret_hash, session)
        return session

    async def renew_console(self, session: ConsoleSession, *because: Entry) -> SignedIn:
        """The same person answered again: a new secret, a new expiry, and what the session lent goes on. Sockets that were
        opened with the old secret close."""
        secret = self._entropy.secret()
        now = self._clock.now()
        renewed = replace(session, expires_at=self._console_expiry(session.principal, now))
        secret_hash = hash_secret(secret)
        await self._ledger.append(
            *because, ConsoleSessionRenewed(now, session.id, secret_hash, session.principal.id, renewed.expires_at)
        )
        self._consoles.drop(session.id)
        self._consoles.keep(secret_hash, renewed)
        self._fresh[session.id] = self._clock.monotonic()
        # After the old secret is forgotten, so that no handshake that still carries it is left with a socket.
        await self._connections.end_console(session.id, "renewed")
        return SignedIn(renewed, secret, (renewed.expires_at - now) // 1000)

    def require_fresh(self, session: ConsoleSession) -> None:
        """Raises Refused `stepUpRequired` unless this session's person answered with a passkey in the last 5 minutes.
        Kept in memory only: after a restart everybody is asked again."""
        answered = self._fresh.get(session.id)
        if answered is None or self._clock.monotonic() - answered > FRESH_SECONDS:
            raise Refused("stepUpRequired", "confirm with one of your passkeys first")

    # ── lending ──

    def authorize(self, console: ConsoleSession, state: str, label: Label = Label.PUBLIC) -> str:
        """A one-time code for the browser that holds `state` in its login cookie. Raises Refused `tooManyCodes`.

        `label` is what the session starts at: a person who is going to work with confidential material need not wait until
        the first result says so.
        """
        now = self._clock.monotonic()
        self._codes = {key: code for key, code in self._codes.items() if now < code.deadline}
        if sum(code.console.id == console.id for code in self._codes.values()) >= CODES_PER_CONSOLE:
            raise Refused("tooManyCodes", "too many sign-ins of the shell at once; wait a minute", 429)
        code = self._entropy.secret()
        self._codes[hash_secret(code)] = _Code(console, hash_secret(state), now + CODE_SECONDS, label)
        return code

    async def redeem(self, code: str, state: str) -> LentSession:
        """An agent session for a code. The code is gone whatever comes of it. Raises Refused `code`."""
        async with self._lending:
            # Ending a session drops its codes under the same lock, so a code that is still here is backed by a live one.
            offered = self._codes.pop(hash_secret(code), None)
            if offered is None or self._clock.monotonic() >= offered.deadline:
                raise Refused("code", "this sign-in was used already or has run out; start again")
            if not hmac.compare_digest(offered.state_hash, hash_secret(state)):
                raise Refused("code", "this sign-in was started in another browser; start again")
            return await self._lend(offered.console, offered.label)

    async def burn(self, codes: Sequence[str]) -> None:
        """Void codes that a callback showed which came to nothing: whoever has seen one must not be able to use it."""
        async with self._lending:
            for code in codes:
                self._codes.pop(hash_secret(code), None)

    async def _lend(self, console: ConsoleSession, label: Label) -> LentSession:
        now = self._clock.now()
        principal = console.principal
        if principal.profile is Profile.AUDITOR:
            raise Refused("auditorReadsOnly", "an auditor reads the audit log and can do nothing else")
        # Whoever asks may have been judged before it ended: their request or their code came a while ago.
        if all(each.id != console.id for each in await self._records.console_sessions_of(principal.id)):
            raise Refused("code", "the session that allowed this has ended; sign in again")
        session = Session(
            id=self._entropy.identifier("ses_"),
            principal=principal,
            console_session_id=console.id,
            labels=(label.mark,),
            label=label,
            created_at=now,
            expires_at=min(console.expires_at, now + self._session_milliseconds(principal)),
        )
        secret = self._entropy.secret()
        secret_hash = hash_secret(secret)
        await self._ledger.append(AgentSessionStarted(now, session, secret_hash))
        self._agents.keep(secret_hash, session)
        return LentSession(session, secret, (session.expires_at - now) // 1000)

    # ── ending ──

    async def end_console(self, session: ConsoleSession, reason: str) -> None:
        """End a console session and every agent session it lent: sockets close, calls and inference stop."""
        await self._end_console(session, reason)

    async def _end_console(self, session: ConsoleSession, reason: str, *because: Entry) -> None:
        async with self._lending:
            await self._end((session,), reason, *because)

    async def end_all(self, principal_id: str, reason: str, because: Entry) -> None:
        """End every session of a person, and what each one lent, all of it recorded together with the entry that justifies it:
        nobody whose authority was taken goes on because the end of their sessions could not be recorded."""
        async with self._lending:
            await self._end(await self._records.console_sessions_of(principal_id), reason, because)
        # Those that began while that was on its way to the disk.
        for session in await self._records.console_sessions_of(principal_id):
            await self.end_console(session, reason)

    async def _end(self, consoles: Sequence[ConsoleSession], reason: str, *because: Entry) -> None:
        now = self._clock.now()
        lent = {console.id: await self._records.live_sessions(console.id) for console in consoles}
        endings: list[Entry] = []
        for console in consoles:
            endings.append(ConsoleSessionEnded(now, console.id, console.principal.id, reason))
            endings += [AgentSessionEnded(now, each.id, each.principal.id, reason) for each in lent[console.id]]
        await self._ledger.append(*because, *endings)
        for console in consoles:
            self._codes = {key: code for key, code in self._codes.items() if code.console.id != console.id}
            self._consoles.drop(console.id)
            self._fresh.pop(console.id, None)
            for each in lent[console.id]:
                self._agents.drop(each.id)
                await self._connections.end_session(each.id, reason)
            await self._connections.end_console(console.id, reason)

    async def end_agent(self, session: Session, reason: str, *because: Entry) -> None:
        """End one agent session, recorded together with the entries that justify it; the console session that lent it goes on."""
        await self._ledger.append(*because, AgentSessionEnded(self._clock.now(), session.id, session.principal.id, reason))
        self._agents.drop(session.id)
        await self._connections.end_session(session.id, reason)

    async def end_expired(self) -> None:
        """End what has run out while its sockets were open. To be called every few seconds."""
        for console in self._consoles.expired():
            await self.end_console(console, "expired")
        for session in self._agents.expired():
            await self.end_agent(session, "expired")

    def _console_expiry(self, principal: Principal, now: int) -> int:
        return now + self._session_milliseconds(principal)

    def _session_milliseconds(self, principal: Principal) -> int:
        return int(self._policy.limits(principal.profile).session_seconds * 1000)


def hash_secret(secret: str) -> str:
    """Hex SHA-256. The secrets are 256 random bits, so that a slow hash would protect nothing more."""
    return hashlib.sha256(secret.encode()).hexdigest()
