"""Sources of tools while the gateway runs: added, tried, switched, removed, and what people decide about their tools.

Nothing that a source offers can be called before somebody gave it a category. Authority goes at once: what was withdrawn,
changed or switched off voids every open snapshot, and questions that wait for it are judged again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import GatewayError, Misconfigured, NotFound, Refused
from gateway.core.ledger import (
    Entry,
    SecretRemoved,
    SecretStored,
    SourceAdded,
    SourceChanged,
    SourceRemoved,
    SourceSwitched,
    SourceToolDecided,
    SourceToolsSeen,
)
from gateway.core.sources import (
    MOST_ON_RECORD,
    AddedSource,
    ClientConfiguration,
    ImportedServer,
    SeenTool,
    SourceKind,
    SourceTool,
    compare,
    secrets_named,
)
from gateway.core.vocabulary import Category
from gateway.runtime.asking import ChangeLock
from gateway.runtime.ports import (
    Clock,
    Ledger,
    PreparedSignIn,
    SecretSealer,
    SecretShelf,
    SignInReply,
    SourceHost,
    SourceRecords,
    SourceState,
)
from gateway.runtime.sign_ins import SignIns
from gateway.runtime.source_rules import (
    require_few,
    require_room,
    require_secret,
    require_seen,
    require_stored,
    require_unknown_secrets,
    say_taken,
)
from gateway.runtime.source_views import SettingsDigests, SourceView, ToolDecision


class Sources:
    """Every source that was added on this gateway or is declared in its settings."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        records: SourceRecords,
        host: SourceHost,
        sealer: SecretSealer,
        shelf: SecretShelf,
        sign_ins: SignIns,
        declared: Sequence[AddedSource],
        clock: Clock,
        on_withdrawn: Callable[[], None],
        on_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._ledger = ledger
        self._records = records
        self._host = host
        self._sealer = sealer
        self._shelf = shelf
        self._sign_ins = sign_ins
        self._declared = {source.name: source for source in declared}
        self._clock = clock
        self._on_withdrawn = on_withdrawn
        self._on_changed = on_changed
        self._changing = ChangeLock()
        self._leaving: set[str] = set()
        self._digests = SettingsDigests()

    async def start(self, *, connect: bool) -> Sequence[str]:
        """Publish what is known and, with `connect`, begin to connect every source that is on. Gives what is wrong, in words."""
        complaints = await self._load_secrets()
        complaints += await self._sign_ins.start(await self._all())
        self._host.begin(self._take_offer, self._on_withdrawn, self._on_changed, connect=connect)
        for source in (await self._all()).values():
            await self._host.attach(source, await self._records.source_tools(source.name))
            if source.enabled and (why := self._host.state(source.name).why) is not None:
                complaints.append(f"source `{source.name}`: {why}")
        return complaints

    # ── looking ──

    async def list(self) -> Sequence[SourceView]:
        """Every source, by name."""
        sources = await self._all()
        return [await self._view(sources[name]) for name in sorted(sources)]

    async def find(self, name: str) -> SourceView:
        """One source. Raises NotFound."""
        return await self._view(await self._find(name))

    def state(self, name: str) -> SourceState:
        """How a source is at this moment; that of one that is not there is off."""
        return self._host.state(name)

    # ── changing ──

    async def add(
        self, name: str, kind: SourceKind, settings: Mapping[str, Json], by: str | None, *, in_place: bool = False
    ) -> SourceView:
        """Add a source and begin to connect it; `in_place` of one of its name, which is removed in the same step.

        Raises Misconfigured, and Refused for a name that is taken.
        """
        async with self._changing:
            sources = await self._all()
            before = self._take_place(name, sources) if in_place else None
            require_room(name, sources)
            checked = self._host.check(kind, settings)
            require_stored(checked, await self._records.sealed_secrets())
            source = AddedSource(name, kind, checked, added_at=self._clock.now())
            tokens = await self._write(before, by, SourceAdded(source.added_at, by, source))
            await self._host.attach(source, ())
        self._on_changed()
        await self._revoke(before, tokens)
        return await self._view(source)

    async def read_configuration(self, text: str, *, network: bool) -> ClientConfiguration:
        """What a configuration of another MCP client would add; a server whose name is taken is among the refused.

        Raises Misconfigured for a text that holds no servers, or more than are looked at.
        """
        # Beside the loop: as much text as a message holds takes a reader a while.
        read = await asyncio.to_thread(self._host.read_configuration, text, network=network)
        require_few(read)
        there = await self._all()
        taken = {each.name: say_taken(each.name) for each in read.servers if each.name in there}
        return ClientConfiguration(tuple(each for each in read.servers if each.name not in there), {**read.refused, **taken})

    async def add_servers(
        self, servers: Sequence[ImportedServer], by: str | None, *, in_place: bool = False
    ) -> Sequence[SourceView]:
        """Add what was read, sources and secrets, all of it or nothing. A secret that it only refers to is stored later, or was
        given to the source that it stands `in_place` of: one alone then. Raises Misconfigured, and Refused for a name that is
        taken.
        """
        async with self._changing:
            known = frozenset(await self._records.sealed_secrets())
            there, now = await self._all(), self._clock.now()
            before = self._take_place(servers[0].name, there) if in_place else None
            entries: list[Entry] = []
            for server in servers:
                require_room(server.name, there)
                if not in_place:
                    require_unknown_secrets(server, known)
                there[server.name] = AddedSource(
                    server.name, SourceKind.MCP, self._host.check(SourceKind.MCP, server.settings), added_at=now
                )
                for secret, value in server.secrets.items():
                    require_secret(secret, value)
                    entries.append(SecretStored(now, by, secret, self._sealer.seal(secret, value)))
                entries.append(SourceAdded(now, by, there[server.name]))
            tokens = await self._write(before, by, *entries)
            await self._load_secrets()
            added = {server.name for server in servers}
            stored = frozenset(secret for server in servers for secret in server.secrets)
            for source in there.values():
                if source.name in added or secrets_named(source.settings) & stored:
                    await self._host.attach(source, await self._records.source_tools(source.name))
        self._on_changed()
        await self._revoke(before, tokens)
        return [await self._view(there[server.name]) for server in servers]

    async def change(self, name: str, seen: str, settings: Mapping[str, Json], without: Sequence[str], by: str) -> SourceView:
        """Give settings of a source that have the digest `seen` other members, take some `without` replacement, and connect it
        anew. What was decided stays bound to what was looked at: a tool that is another one there waits for a new decision.

        Raises NotFound, Misconfigured, and Refused for settings that are not those any more.
        """
        async with self._changing:
            before = self._require_own(await self._find(name))
            require_seen(before, seen)
            kept = {member: value for member, value in before.settings.items() if member not in without}
            source = replace(before, settings=self._host.check(before.kind, {**kept, **settings}))
            tokens = None
            if source != before:
                require_stored(source.settings, await self._records.sealed_secrets())
                tokens = await self._sign_ins.change(before, source, by, SourceChanged(self._clock.now(), by, source))
                await self._host.attach(source, await self._records.source_tools(name))
        self._on_changed()
        await self._revoke(before, tokens)
        return await self._view(source)

    async def switch(self, name: str, *, enabled: bool, by: str | None) -> SourceView:
        """Switch a source off, or on again. Raises NotFound, and Refused for one that is declared in the settings file."""
        async with self._changing:
            source = self._require_own(await self._find(name))
            if source.enabled != enabled:
                await self._ledger.append(SourceSwitched(self._clock.now(), by, name, enabled))
                source = await self._find(name)
                await self._host.attach(source, await self._records.source_tools(name))
        self._on_changed()
        return await self._view(source)

    async def remove(self, name: str, by: str | None) -> None:
        """Remove a source with every decision about its tools. Raises NotFound and Refused."""
        async with self._changing:
            source = self._require_own(await self._find(name))
            tokens = await self._write(source, by)
        self._on_changed()
        await self._revoke(source, tokens)

    async def probe(self, name: str) -> SourceView:
        """Connect now and ask what is offered. Raises NotFound."""
        source = await self._find(name)
        await self._host.probe(name)
        return await self._view(source)

    async def decide(self, name: str, decisions: Sequence[ToolDecision], by: str | None) -> SourceView:
        """Record what somebody decided about tools as they saw them, all of it or nothing.

        Raises NotFound, and Refused when a tool is not what they saw any more.
        """
        async with self._changing:
            source = await self._find(name)
            known = {each.seen.tool: each for each in await self._records.source_tools(name)}
            now = self._clock.now()
            entries: list[SourceToolDecided] = []
            for decision in decisions:
                tool = known.get(decision.tool)
                if tool is None:
                    raise NotFound(f"`{name}` has no tool `{escape(decision.tool)[:100]}`")
                seen = tool.pending or tool.seen
                if seen.pin != decision.pin:
                    raise Refused("changed", f"`{seen.name}` is not what you looked at any more; look at it again", 409)
                entries.append(SourceToolDecided(now, by, name, seen, decision.category))
            await self._ledger.append(*entries)
            self._host.update(name, await self._records.source_tools(name))
        self._on_changed()
        return await self._view(source)

    # ── signing in ──

    async def sign_in_callback(self, name: str) -> str:
        """The redirect URI for a client that an operator registers. Raises NotFound and Refused."""
        return self._sign_ins.callback(await self._find(name))

    async def begin_sign_in(self, name: str, session_id: str, by: str) -> PreparedSignIn:
        """Where a person's browser goes to sign in to a source. Raises NotFound and Refused."""
        return await self._sign_ins.begin(await self._find(name), session_id, by)

    async def finish_sign_in(self, name: str, session_id: str, by: str, state: str, answer: SignInReply) -> SourceView:
        """Take what the browser brought back; the source connects anew. Raises NotFound and Refused."""
        source = await self._find(name)
        redeemed = await self._sign_ins.redeem(source, session_id, by, state, answer)
        async with self._sign_ins.discarding(source, redeemed), self._changing:
            # The authorization server may have taken a while.
            if await self._find(name) != source:
                raise Refused("changed", f"`{name}` was changed meanwhile; sign in again", 409)
            await self._sign_ins.keep(source, by, redeemed)
            await self._host.attach(source, await self._records.source_tools(name))
        self._on_changed()
        return await self._view(source)

    async def sign_out(self, name: str, by: str | None) -> tuple[SourceView, str | None]:
        """Forget a source's tokens; with it, in words, why its authorization server did not void them. Raises NotFound."""
        async with self._changing:
            source = await self._find(name)
            tokens = await self._sign_ins.end(source, by)
            await self._host.attach(source, await self._records.source_tools(name))
        self._on_changed()
        return await self._view(source), await self._sign_ins.revoke(source, tokens)

    # ── secrets ──

    async def secrets(self) -> Mapping[str, Sequence[str]]:
        """The names of all stored secrets, and which sources use each. Their values are never shown."""
        sources = await self._all()
        used = {name: secrets_named(source.settings) for name, source in sources.items()}
        return {
            secret: [name for name in sorted(used) if secret in used[name]]
            for secret in sorted(await self._records.sealed_secrets())
        }

    async def store_secret(self, name: str, value: str, by: str | None) -> None:
        """Store or replace a secret; the sources that use it connect anew. Raises Misconfigured."""
        require_secret(name, value)
        async with self._changing:
            await self._ledger.append(SecretStored(self._clock.now(), by, name, self._sealer.seal(name, value)))
            await self._load_secrets()
            await self._connect_anew(name)
        self._on_changed()

    async def remove_secret(self, name: str, by: str | None) -> None:
        """Remove a secret; sources that use it cannot connect any more. Raises NotFound."""
        async with self._changing:
            if name not in await self._records.sealed_secrets():
                raise NotFound(f"there is no secret `{escape(name)[:80]}`")
            await self._ledger.append(SecretRemoved(self._clock.now(), by, name))
            await self._load_secrets()
            await self._connect_anew(name)
        self._on_changed()

    # ── inside ──

    async def _take_offer(self, name: str, seen: Sequence[SeenTool]) -> Sequence[SourceTool]:
        """What is on record about an offer, once what is new about it is on record as well."""
        known = await self._records.source_tools(name)
        findings = compare(known, seen)
        if not findings.new and not findings.changed:
            return known
        if len(known) + len(findings.new) > MOST_ON_RECORD:
            raise Misconfigured(
                f"it has offered more than {MOST_ON_RECORD:,} different tools since it was added; remove it, and add it again"
            )
        now = self._clock.now()
        declared: Mapping[str, Category | None] = self._declared[name].categories if name in self._declared else {}
        decided = [
            SourceToolDecided(now, None, name, each, declared[each.tool]) for each in findings.new if each.tool in declared
        ]
        # The next source of its name would have it.
        if name in self._leaving:
            raise Misconfigured("it is being removed")
        await self._ledger.append(SourceToolsSeen(now, name, findings.new, findings.changed), *decided)
        return await self._records.source_tools(name)

    def _take_place(self, name: str, sources: dict[str, AddedSource]) -> AddedSource | None:
        """The source that another one of its name takes the place of, if it is there. Raises Refused."""
        return self._require_own(sources.pop(name)) if name in sources else None

    async def _write(self, leaving: AddedSource | None, by: str | None, *added: Entry) -> str | None:
        """Record what was added, and first the end of the source that leaves, all of it at once, and only then take that away:
        what is half removed can be neither used nor removed. Gives its tokens."""
        if leaving is None:
            await self._ledger.append(*added)
            return None
        self._leaving.add(leaving.name)
        try:
            tokens = await self._sign_ins.end(leaving, by, SourceRemoved(self._clock.now(), by, leaving.name), *added)
            await self._host.detach(leaving.name)
        finally:
            self._leaving.discard(leaving.name)
            self._digests.forget(leaving.name)
        return tokens

    async def _revoke(self, left: AddedSource | None, tokens: str | None) -> None:
        if left is not None:
            await self._sign_ins.revoke(left, tokens)

    async def _all(self) -> dict[str, AddedSource]:
        """By name. What is declared in the settings file stands before what was added under the same name."""
        return {**{source.name: source for source in await self._records.sources()}, **self._declared}

    async def _find(self, name: str) -> AddedSource:
        source = (await self._all()).get(name)
        if source is None:
            raise NotFound(f"there is no source `{escape(name)[:80]}`; `countersign sources list` shows them")
        return source

    def _require_own(self, source: AddedSource) -> AddedSource:
        if source.declared:
            raise Refused("declared", f"`{source.name}` is declared in countersign.toml; change it there and restart", 409)
        return source

    async def _view(self, source: AddedSource) -> SourceView:
        tools = await self._records.source_tools(source.name)
        sign_in, takes = self._sign_ins.find(source), self._sign_ins.takes(source)
        return SourceView(source, self._digests.of(source), self._host.state(source.name), tools, sign_in, takes)

    async def _load_secrets(self) -> list[str]:
        """Put every stored secret where drivers find it. Gives those that cannot be read, in words."""
        values: dict[str, str] = {}
        complaints: list[str] = []
        for name, sealed in (await self._records.sealed_secrets()).items():
            try:
                values[name] = self._sealer.unseal(name, sealed)
            except GatewayError as error:
                complaints.append(error.message)
        self._shelf.replace(values)
        return complaints

    async def _connect_anew(self, secret: str) -> None:
        for source in (await self._all()).values():
            if secret in secrets_named(source.settings):
                await self._host.attach(source, await self._records.source_tools(source.name))
