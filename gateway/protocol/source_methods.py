"""Parameters and results of the console's methods about sources of tools and their secrets. For operators."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.core.sources import SourceKind, Standing
from gateway.core.vocabulary import Category
from gateway.protocol.console_methods import ToolModes
from gateway.protocol.wire import Count, Digest, Flag, FreeText, JsonObject, PageSize, Timestamp, Wire

SourceName = Annotated[str, Field(min_length=1, max_length=32)]
"""Of a source; the gateway says which names may be taken."""

SecretName = Annotated[str, Field(min_length=1, max_length=64)]
"""Of a secret; the same."""

OwnToolName = Annotated[str, Field(min_length=1, max_length=1024)]
"""The name that a tool has at its source."""


class ToolCounts(Wire):
    """How many tools of a source are how far: nobody decided, in use, kept out, changed since they were decided about."""

    proposed: Count
    in_use: Count
    kept_out: Count
    quarantined: Count


class RefusedTool(Wire):
    """An offered tool that cannot be published, and why."""

    tool: str
    why: str


class CurrentSignIn(Wire):
    """A sign-in to a source: where its tokens are from and since when, both absent while nobody is signed in."""

    server: str | None = None
    at: Timestamp | None = None


class WireSource(Wire):
    """A source and how it is now. `state` is `off`, `connecting`, `ready`, `away` or `needsSignIn`; `why` says in words why it
    is away. `signIn` is there for a source that people sign in to.

    `refused` has the first of `refusedCount`. `settings` have long texts and lists cut, and name their secrets as
    `${secret:NAME}`; `shortened` names the members of which not all is there, and `settingsDigest` is that of all of them, uncut.
    `declared`: it stands in the settings file and is changed there.
    """

    name: str
    kind: SourceKind
    settings: JsonObject
    shortened: tuple[str, ...]
    settings_digest: Digest
    enabled: Flag
    declared: Flag
    added_at: Timestamp | None = None
    state: str
    why: str | None = None
    version: str
    refused: tuple[RefusedTool, ...]
    refused_count: Count
    counts: ToolCounts
    sign_in: CurrentSignIn | None = None


class SourceList(Wire):
    """Every source, by name."""

    sources: tuple[WireSource, ...]


class SourceRef(Wire):
    """Which source."""

    name: SourceName


class SignInLocation(Wire):
    """Where the browser goes to sign in: an address of the authorization server `server`."""

    location: str
    server: str


class SignInReturn(Wire):
    """What the browser brought back from there to the source's own page: the parameters of its address."""

    name: SourceName
    state: Annotated[str, Field(min_length=1, max_length=200)]
    code: Annotated[str, Field(max_length=4_096)] | None = None
    error: Annotated[str, Field(max_length=200)] | None = None
    issuer: Annotated[str, Field(max_length=2_048)] | None = None


class SignOutAnswer(Wire):
    """The source without its sign-in; `why` says why its authorization server did not void the tokens, where it did not."""

    source: WireSource
    why: str | None = None


class NewSource(Wire):
    """A source to add. docs/TOOLS.md lists the settings of each kind."""

    name: SourceName
    kind: SourceKind
    settings: JsonObject


class ConfigurationText(Wire):
    """The configuration of another MCP client as it stands in its file, and whether its programs may reach the network."""

    text: FreeText
    network: Flag = False


class WireImportedServer(Wire):
    """A server of it as a source. `secrets` are the names under which values would be kept that were taken out of `settings`,
    `replaced` those of them that are stored now; `missing` has to be stored before it can connect. `fetches`: a program that
    cannot get its package, since it may not reach the network."""

    name: str
    settings: JsonObject
    secrets: tuple[str, ...]
    replaced: tuple[str, ...]
    missing: tuple[str, ...]
    notes: tuple[str, ...]
    fetches: str | None = None


class RefusedServer(Wire):
    """A server of it that cannot be added, and why."""

    name: str
    why: str


class ConfigurationPreview(Wire):
    """What would be added; nothing of it was. `digest` is that of all of it."""

    servers: tuple[WireImportedServer, ...]
    refused: tuple[RefusedServer, ...]
    digest: Digest


class ConfigurationImport(Wire):
    """Which servers of a configuration to add, all of them or none. `digest` is that of the preview that was looked at."""

    text: FreeText
    network: Flag = False
    digest: Digest
    servers: Annotated[tuple[SourceName, ...], Field(min_length=1, max_length=64)]


class SourceChange(Wire):
    """Other settings for a source that has the settings of that digest: these members anew, those `without` taken away, and
    all others as they are."""

    name: SourceName
    settings_digest: Digest
    settings: JsonObject
    without: Annotated[tuple[Annotated[str, Field(max_length=64)], ...], Field(max_length=64)] = ()


class SourceSwitch(Wire):
    """Whether a source is used."""

    name: SourceName
    enabled: Flag


class SourceToolPage(Wire):
    """Which tools of a source: those whose names or descriptions hold `search`, and have that `standing`; in the order of their
    names, after the tool `after`."""

    name: SourceName
    search: Annotated[str, Field(max_length=200)] | None = None
    standing: Standing | None = None
    after: OwnToolName | None = None
    limit: PageSize | None = None


class WireSourceTool(Wire):
    """A tool of a source. `definition` is what it is now and `pin` its digest; `decided` is the definition that was decided
    about, where that is another one. `modes` are what the policy makes of it in its category, or in the proposed one.
    """

    tool: str
    name: str
    standing: Standing
    category: Category | None = None
    proposed: Category
    because: str
    pin: Digest
    definition: JsonObject
    decided: JsonObject | None = None
    offered: Flag
    modes: ToolModes


class SourceToolList(Wire):
    """One page; `next` is the tool after which the next page begins, absent on the last one."""

    tools: tuple[WireSourceTool, ...]
    total: Count
    next: str | None = None


class WireSourceDecision(Wire):
    """What somebody decides about a tool whose definition has that `pin`: its category, absent when nobody calls it."""

    tool: OwnToolName
    pin: Digest
    category: Category | None = None


class SourceDecisions(Wire):
    """Decisions about tools of one source, all recorded or none."""

    name: SourceName
    decisions: Annotated[tuple[WireSourceDecision, ...], Field(min_length=1, max_length=200)]


class SecretView(Wire):
    """A stored secret and the sources that use it. Its value is never told."""

    name: str
    sources: tuple[str, ...]


class SecretList(Wire):
    """Every secret."""

    secrets: tuple[SecretView, ...]


class NewSecret(Wire):
    """A secret to store, or another value for one."""

    name: SecretName
    value: FreeText


class SecretRef(Wire):
    """Which secret."""

    name: SecretName
