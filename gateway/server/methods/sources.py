"""The console's methods about sources of tools and their secrets (docs/PROTOCOL.md section 6), for operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, cast

from gateway.core.canonical import Json
from gateway.core.errors import InvalidParams, Misconfigured, Refused
from gateway.core.model import Principal, ToolSpec
from gateway.core.sources import SourceTool, Standing
from gateway.core.times import rfc3339
from gateway.core.vocabulary import Category, PermissionMode, Profile
from gateway.protocol import source_methods as wire
from gateway.protocol.console_methods import ToolModes
from gateway.protocol.wire import Nothing
from gateway.runtime.ports import PolicyEngine, PolicySubject, SignInReply
from gateway.runtime.source_views import SourceView, ToolDecision
from gateway.runtime.sources import Sources
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow

TOOL_PAGE = 100
"""Tools of one page when the request names no limit."""

PAGE_BYTES = 64 * 1024
"""After which a page ends, so that it fits into a message of 256 KiB with its last tool, of which two definitions are shown."""

REFUSED_SHOWN = 50
LONGEST_SETTING = 2_000
"""Characters: a setting may be a whole API description."""
LONGEST_LIST = 200
"""Entries."""


class SourceMethods:
    """The handlers."""

    def __init__(self, sources: Sources, policy: PolicyEngine) -> None:
        self._sources = sources
        self._policy = policy

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        reads, changes = Concurrency.AT_ONCE, Concurrency.IN_ORDER

        def row(answer: Any, concurrency: Concurrency, *audit: str) -> MethodRow[ConsoleCaller]:
            return MethodRow(answer, concurrency, MethodPermission.OPERATOR, audit)

        return {
            "sources/list": row(self.list, reads),
            "sources/list-tools": row(self.list_tools, reads),
            "sources/add": row(self.add, changes, "source:added"),
            "sources/read-configuration": row(self.read_configuration, reads),
            "sources/import": row(self.import_servers, changes, "secret:stored", "source:added"),
            "sources/test": row(self.test, reads, "source-tools:seen"),
            "sources/change": row(self.change, changes, "source:changed"),
            "sources/switch": row(self.switch, changes, "source:switched"),
            "sources/remove": row(self.remove, changes, "source:removed"),
            "sources/decide": row(self.decide, changes, "source-tool:decided"),
            "sources/sign-in": row(self.begin_sign_in, reads, "source-sign-in:started"),
            "sources/finish-sign-in": row(self.finish_sign_in, reads, "source:signed-in", "source-sign-in:failed"),
            "sources/sign-out": row(self.sign_out, reads, "source:signed-out"),
            "secrets/list": row(self.list_secrets, reads),
            "secrets/store": row(self.store_secret, changes, "secret:stored"),
            "secrets/remove": row(self.remove_secret, changes, "secret:removed"),
        }

    async def list(self, _caller: ConsoleCaller, _params: Nothing) -> wire.SourceList:
        """Every source."""
        return wire.SourceList(sources=tuple(map(_view, await self._sources.list())))

    async def list_tools(self, _caller: ConsoleCaller, params: wire.SourceToolPage) -> wire.SourceToolList:
        """A page of a source's tools."""
        view = await self._sources.find(params.name)
        sought = (params.search or "").casefold()
        found = [
            tool
            for tool in view.tools
            if params.standing in (None, tool.standing) and (not sought or sought in _searchable(tool))
        ]
        rest = found if params.after is None else [tool for tool in found if tool.seen.tool > params.after]
        page: list[wire.WireSourceTool] = []
        size = 0
        for tool in rest[: params.limit or TOOL_PAGE]:
            page.append(self._view_tool(tool, view))
            size += len(page[-1].to_json())
            if size > PAGE_BYTES:
                break
        return wire.SourceToolList(
            tools=tuple(page), total=len(found), next=page[-1].tool if page and len(page) < len(rest) else None
        )

    async def add(self, caller: ConsoleCaller, params: wire.NewSource) -> wire.WireSource:
        """Add a source; nothing of it can be called yet."""
        with _blaming_the_request():
            return _view(await self._sources.add(params.name, params.kind, params.settings, caller.principal.id))

    async def read_configuration(self, _caller: ConsoleCaller, params: wire.ConfigurationText) -> wire.ConfigurationPreview:
        """What a configuration of another client would add."""
        with _blaming_the_request():
            read = await self._sources.read_configuration(params.text, network=params.network)
        stored = await self._sources.secrets()
        return wire.ConfigurationPreview(
            servers=tuple(
                wire.WireImportedServer(
                    name=each.name,
                    settings=_shorten(each.settings),
                    secrets=tuple(each.secrets),
                    replaced=tuple(name for name in each.secrets if name in stored),
                    missing=tuple(name for name in each.missing if name not in stored),
                    notes=each.notes,
                    fetches=each.fetches,
                )
                for each in read.servers
            ),
            refused=tuple(wire.RefusedServer(name=name, why=why) for name, why in read.refused.items()),
            digest=read.digest,
        )

    async def import_servers(self, caller: ConsoleCaller, params: wire.ConfigurationImport) -> wire.SourceList:
        """Add servers of a configuration as they were shown; nothing of them can be called yet."""
        with _blaming_the_request():
            read = await self._sources.read_configuration(params.text, network=params.network)
            chosen = [each for each in read.servers if each.name in params.servers]
            if read.digest != params.digest or len(chosen) != len(set(params.servers)):
                raise Refused("changed", "what it would add is not what you looked at any more; look at it again", 409)
            await self._sources.add_servers(chosen, caller.principal.id)
        return wire.SourceList(sources=tuple(map(_view, await self._sources.list())))

    async def test(self, _caller: ConsoleCaller, params: wire.SourceRef) -> wire.WireSource:
        """Connect now and ask what is offered."""
        return _view(await self._sources.probe(params.name))

    async def change(self, caller: ConsoleCaller, params: wire.SourceChange) -> wire.WireSource:
        """Give a source other settings; it is asked anew what it offers."""
        before = (await self._sources.find(params.name)).source
        # Whoever saw a part of it would take the rest away. A document is always given whole.
        if cut := params.settings.keys() & set(_shortened(before.settings)) - {"document"}:
            raise InvalidParams(
                f"`{min(cut)}` is longer than the console shows, so it cannot be changed here;"
                " `countersign sources add --replace` adds the source anew"
            )
        with _blaming_the_request():
            changed = await self._sources.change(
                params.name, params.settings_digest, params.settings, params.without, caller.principal.id
            )
        return _view(changed)

    async def switch(self, caller: ConsoleCaller, params: wire.SourceSwitch) -> wire.WireSource:
        """Switch a source off or on."""
        return _view(await self._sources.switch(params.name, enabled=params.enabled, by=caller.principal.id))

    async def remove(self, caller: ConsoleCaller, params: wire.SourceRef) -> Nothing:
        """Remove a source and what was decided about its tools."""
        await self._sources.remove(params.name, caller.principal.id)
        return Nothing()

    async def decide(self, caller: ConsoleCaller, params: wire.SourceDecisions) -> wire.WireSource:
        """Record decisions about tools."""
        decisions = [ToolDecision(each.tool, each.pin, each.category) for each in params.decisions]
        return _view(await self._sources.decide(params.name, decisions, caller.principal.id))

    async def begin_sign_in(self, caller: ConsoleCaller, params: wire.SourceRef) -> wire.SignInLocation:
        """Where this person's browser goes to sign in."""
        prepared = await self._sources.begin_sign_in(params.name, caller.session.id, caller.principal.id)
        return wire.SignInLocation(location=prepared.location, server=prepared.server)

    async def finish_sign_in(self, caller: ConsoleCaller, params: wire.SignInReturn) -> wire.WireSource:
        """Take what the browser brought back, in the session that it left from."""
        answer = SignInReply(params.code, params.error, params.issuer)
        by = caller.principal.id
        return _view(await self._sources.finish_sign_in(params.name, caller.session.id, by, params.state, answer))

    async def sign_out(self, caller: ConsoleCaller, params: wire.SourceRef) -> wire.SignOutAnswer:
        """Forget the tokens."""
        view, why = await self._sources.sign_out(params.name, caller.principal.id)
        return wire.SignOutAnswer(source=_view(view), why=why)

    async def list_secrets(self, _caller: ConsoleCaller, _params: Nothing) -> wire.SecretList:
        """The names of all secrets."""
        stored = await self._sources.secrets()
        return wire.SecretList(secrets=tuple(wire.SecretView(name=name, sources=tuple(used)) for name, used in stored.items()))

    async def store_secret(self, caller: ConsoleCaller, params: wire.NewSecret) -> Nothing:
        """Store or replace a secret."""
        with _blaming_the_request():
            await self._sources.store_secret(params.name, params.value, caller.principal.id)
        return Nothing()

    async def remove_secret(self, caller: ConsoleCaller, params: wire.SecretRef) -> Nothing:
        """Remove a secret."""
        await self._sources.remove_secret(params.name, caller.principal.id)
        return Nothing()

    # ── private ──

    def _view_tool(self, tool: SourceTool, view: SourceView) -> wire.WireSourceTool:
        now = tool.pending or tool.seen
        proposed = Category(now.definition["proposed"])
        return wire.WireSourceTool(
            tool=now.tool,
            name=now.name,
            standing=tool.standing,
            category=tool.category,
            proposed=proposed,
            because=now.definition["because"],
            pin=now.pin,
            definition=dict(now.definition),
            decided=None if tool.pending is None else dict(tool.seen.definition),
            offered=view.state.offered is None or now.tool in view.state.offered,
            modes=self._judge(tool, view, tool.category or proposed),
        )

    def _judge(self, tool: SourceTool, view: SourceView, category: Category) -> ToolModes:
        now = tool.pending or tool.seen
        spec = ToolSpec(
            name=now.name,
            description=now.definition["description"],
            interface_id=view.source.kind.value,
            method_name=now.name,
            param_schema=now.definition["paramSchema"],
            category=category,
            source=f"{view.source.kind.value}:{view.source.name}",
            network=now.definition["network"],
        )

        def mode(profile: Profile) -> PermissionMode:
            subject = PolicySubject(Principal("", "", profile), 0)
            return self._policy.judge(subject, spec, None, taint=0, label=0).mode

        return ToolModes(operator=mode(Profile.OPERATOR), guest=mode(Profile.GUEST), anonymous=mode(Profile.ANONYMOUS))


@contextmanager
def _blaming_the_request() -> Generator[None]:
    """What is wrong with a name, a setting or a value is wrong with the request, and is said to who made it."""
    try:
        yield
    except Misconfigured as error:
        raise InvalidParams(error.message) from None


def _searchable(tool: SourceTool) -> str:
    now = tool.pending or tool.seen
    return f"{now.tool}\n{now.name}\n{now.definition['description']}".casefold()


def _view(view: SourceView) -> wire.WireSource:
    source, state = view.source, view.state
    count = Counter(tool.standing for tool in view.tools)
    return wire.WireSource(
        name=source.name,
        kind=source.kind,
        settings=_shorten(source.settings),
        shortened=tuple(_shortened(source.settings)),
        settings_digest=view.settings_digest,
        enabled=source.enabled,
        declared=source.declared,
        added_at=None if source.declared else rfc3339(source.added_at),
        state=state.phase.value,
        why=state.why,
        version=state.version,
        refused=tuple(wire.RefusedTool(tool=tool, why=why) for tool, why in islice(state.refused.items(), REFUSED_SHOWN)),
        refused_count=len(state.refused),
        counts=wire.ToolCounts(
            proposed=count[Standing.PROPOSED],
            in_use=count[Standing.IN_USE],
            kept_out=count[Standing.KEPT_OUT],
            quarantined=count[Standing.QUARANTINED],
        ),
        sign_in=_view_sign_in(view),
    )


def _view_sign_in(view: SourceView) -> wire.CurrentSignIn | None:
    if not view.takes_sign_in:
        return None
    done = view.sign_in
    return wire.CurrentSignIn() if done is None else wire.CurrentSignIn(server=done.server, at=rfc3339(done.signed_in_at))


def _shortened(settings: Mapping[str, Json]) -> Iterator[str]:
    """The members of which not all is shown."""
    return (name for name, value in settings.items() if _is_long(value))


def _is_long(value: Json) -> bool:
    if isinstance(value, str):
        return len(value) > LONGEST_SETTING
    if isinstance(value, Mapping):
        return any(map(_is_long, cast("Mapping[str, Json]", value).values()))
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Json]", value)
        return len(items) > LONGEST_LIST or any(map(_is_long, items))
    return False


def _shorten(value: Json) -> Json:
    if isinstance(value, str):
        return value if len(value) <= LONGEST_SETTING else f"{value[:LONGEST_SETTING]}…"
    if isinstance(value, Mapping):
        return {name: _shorten(inner) for name, inner in cast("Mapping[str, Json]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_shorten(inner) for inner in islice(cast("Sequence[Json]", value), LONGEST_LIST)]
    return value
