"""The types of one call: who asks, for what, under which snapshot.

A `ToolCall` is untrusted: a proposal as it came in. `bind` ties it to the session's principal, the turn and the snapshot
and gives a frozen `ToolRequest`; everything after that works on these bytes and no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import orjson

from gateway.core.canonical import Json, canonical_bytes, canonical_text, digest, digest_of_bytes
from gateway.core.plans import PlanPlace
from gateway.core.times import rfc3339
from gateway.core.value_types import quick
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile, Reason, Recovery, Runner, Trust

DEFAULT_RESULT_CAP = 8 * 1024
"""Bytes of a tool result that leave the gateway; the figure of requirement 000-27."""

DEFAULT_TOOL_TIMEOUT = 30.0
"""Seconds; requirement 000-26."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A person the gateway knows. `id` is opaque and stable, `name` is what screens show. Whoever is suspended keeps profile and
    passkeys and can use neither."""

    id: str
    name: str
    profile: Profile
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """An agent session: authority that one console session issued to one browser. Times are epoch milliseconds. `denials` counts
    the questions that its person turned down since they last allowed one, as they were on record when this was read."""

    id: str
    principal: Principal
    console_session_id: str
    labels: tuple[str, ...]
    label: Label
    created_at: int
    expires_at: int
    denials: int = 0


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One published tool, as the gateway holds it. `descriptor` is the part that browsers and models see.

    `summary` and each of `effects` are templates over argument names, `Delete {path}`; they are filled by the gateway
    from the validated arguments, never by a browser.
    """

    name: str
    description: str
    interface_id: str
    method_name: str
    param_schema: Mapping[str, Json]
    category: Category
    source: str
    title: str | None = None
    summary: str = ""
    effects: tuple[str, ...] = ()
    trust: Trust = Trust.UNTRUSTED
    own: bool = False
    """Whether its results are of the person's own workspace or record: shown without a warning, believed no more."""
    labels: tuple[str, ...] = ()
    recovery: Recovery = Recovery.UNSAFE
    result_cap: int = DEFAULT_RESULT_CAP
    timeout: float = DEFAULT_TOOL_TIMEOUT
    network: bool = False
    """Whether it may reach the network although its category is another one; policies look at either."""
    local: bool = False
    unavailable: str | None = None
    unavailable_because: Reason = Reason.SOURCE_UNAVAILABLE
    digest: str = field(init=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest(self.described()))

    def described(self) -> dict[str, Json]:
        """The descriptor's members that its digest covers: all but `digest` and `permission` (docs/PROTOCOL.md section 4)."""
        members: dict[str, Json] = {
            "name": self.name,
            "description": self.description,
            "interfaceId": self.interface_id,
            "methodName": self.method_name,
            "paramSchema": self.param_schema,
            "category": self.category.value,
            "source": self.source,
        }
        if self.title is not None:
            members["title"] = self.title
        if self.local:
            members["local"] = True
        return members


@dataclass(frozen=True, slots=True)
class PublishedTool:
    """A tool as this snapshot offers it: the spec and the mode the policy gave it for this session."""

    spec: ToolSpec
    permission: PermissionMode

    def descriptor(self) -> dict[str, Json]:
        """The `ToolDescriptor` of docs/PROTOCOL.md section 4."""
        return {**self.spec.described(), "permission": self.permission.value, "digest": self.spec.digest}

    def canonical(self) -> bytes:
        """The descriptor's canonical bytes. Of each definition they are made once; with another mode one member is another."""
        key = self.spec.digest
        known = _WRITTEN.get(key)
        if known is None:
            if len(_WRITTEN) >= _MOST_WRITTEN:
                _WRITTEN.clear()
            known = _WRITTEN[key] = _write_around(self.descriptor())
        before, after = known
        return b'%b"permission":"%b"%b' % (before, self.permission.value.encode(), after)


def _write_around(descriptor: Mapping[str, Json]) -> tuple[bytes, bytes]:
    """The canonical bytes before and after `permission`, in the order of the names."""
    before = canonical_bytes({name: value for name, value in descriptor.items() if name < "permission"})
    after = canonical_bytes({name: value for name, value in descriptor.items() if name > "permission"})
    return before[:-1] + b",", b"," + after[1:]


_WRITTEN: dict[str, tuple[bytes, bytes]] = {}

_MOST_WRITTEN = 8192
"""Descriptors kept as bytes, of 1 KB or so each; a snapshot of 2,000 tools took 40 ms to write anew for each turn."""


class PublishedTools(tuple[PublishedTool, ...]):  # noqa: SLOT001 # what is made once is kept in its dictionary
    """What one publication offers. Turn after turn offers the same, so whatever follows from the tools alone is made once."""

    @cached_property
    def by_name(self) -> Mapping[str, PublishedTool]:
        """Each tool under its name."""
        return {tool.spec.name: tool for tool in self}

    @cached_property
    def written(self) -> bytes:
        """The canonical bytes of all descriptors, as a list."""
        return b"[%b]" % b",".join(tool.canonical() for tool in self)

    @cached_property
    def named(self) -> bytes:
        """The canonical bytes of the list that only names them: `[descriptor digest, permission]` each."""
        return canonical_bytes([[tool.spec.digest, tool.permission.value] for tool in self])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The tools of one turn on one connection, until `expires_at` (epoch milliseconds)."""

    id: str
    session_id: str
    connection_id: str
    conversation_id: str
    turn_id: str
    turn_index: int
    issued_at: int
    expires_at: int
    policy_version: str
    tools: tuple[PublishedTool, ...]
    published: PublishedTools = field(init=False, repr=False, compare=False, default=PublishedTools())
    """The same as `tools`."""
    digest: str = field(init=False, default="")

    def __post_init__(self) -> None:
        shared = self.tools if isinstance(self.tools, PublishedTools) else PublishedTools(self.tools)
        object.__setattr__(self, "published", shared)
        object.__setattr__(self, "digest", digest_of_bytes(*self._split(shared.written)))

    @property
    def by_name(self) -> Mapping[str, PublishedTool]:
        """Each tool under its name."""
        return self.published.by_name

    def write_compact(self) -> bytes:
        """The canonical bytes of `described`, but with tools that are only named."""
        return b"".join(self._split(self.published.named))

    def write_wire(self) -> tuple[bytes, ...]:
        """The canonical bytes of `wire` in parts, but for the place of `digest`, which is first."""
        before, tools, after = self._split(self.published.written)
        return b'{"digest":"%b",' % self.digest.encode(), before[1:], tools, after

    def _split(self, tools: bytes) -> tuple[bytes, bytes, bytes]:
        """The canonical bytes of `described`: what is before the tools, these, and what is after them, in the order of the names.

        Thousands of tools take megabytes, so they are copied as seldom as can be.
        """
        rest = self._described_without_tools()
        after = {name: rest.pop(name) for name in ("turnId", "turnIndex")}
        return canonical_bytes(rest)[:-1] + b',"tools":', tools, b"," + canonical_bytes(after)[1:]

    def described(self) -> dict[str, Json]:
        """Every wire member but the digest."""
        return {**self._described_without_tools(), "tools": [tool.descriptor() for tool in self.tools]}

    def _described_without_tools(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "sessionId": self.session_id,
            "connectionId": self.connection_id,
            "conversationId": self.conversation_id,
            "turnId": self.turn_id,
            "turnIndex": self.turn_index,
            "issuedAt": rfc3339(self.issued_at),
            "expiresAt": rfc3339(self.expires_at),
            "policyVersion": self.policy_version,
        }

    def wire(self) -> dict[str, Json]:
        """The `TurnSnapshot` of docs/PROTOCOL.md section 4."""
        return {**self.described(), "digest": self.digest}


@quick
@dataclass(frozen=True, slots=True)
class ToolCall:
    """A proposal, as the client made it. Untrusted."""

    id: str
    name: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ModelRef:
    """Which model proposed the call, as the gateway's own token record or, failing that, the browser says."""

    id: str
    backend: str = ""
    nonce: str = ""
    claimed: bool = True


@quick
@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call bound to who asks and what was on offer. Frozen.

    `arguments` are the canonical bytes that are shown, signed and run; `parsed_arguments` is what those bytes say, read once.
    `plan` is where it stands among the calls that it is asked about with, None where it follows none.
    """

    principal: Principal
    session_id: str
    connection_id: str
    conversation_id: str
    turn_id: str
    snapshot_id: str
    snapshot_digest: str
    call_id: str
    tool: str
    arguments: bytes
    digest: str
    model: ModelRef | None
    received_at: int
    runner: Runner = Runner.BROWSER
    plan: PlanPlace | None = None
    parsed_arguments: Mapping[str, Json] = field(init=False, repr=False, compare=False, default_factory=dict[str, Json])

    def __post_init__(self) -> None:
        object.__setattr__(self, "parsed_arguments", orjson.loads(self.arguments))


def bind(
    call: ToolCall,
    *,
    session: Session,
    connection_id: str,
    conversation_id: str,
    turn_id: str,
    snapshot_id: str,
    snapshot_digest: str,
    model: ModelRef | None,
    received_at: int,
    runner: Runner = Runner.BROWSER,
) -> ToolRequest:
    """Freeze a proposal into a request.

    The request digest covers conversation, call id, name and arguments, and nothing that a reconnect changes, so that the
    same call sent again is recognised as the same (docs/PROTOCOL.md section 7, rows 3 and 4).
    """
    arguments = canonical_bytes(call.arguments)
    # Assembled around the argument bytes, in canonical member order, so that they are serialised once.
    envelope = b'{"arguments":%b,"call":%b,"conversation":%b,"name":%b}' % (
        arguments,
        canonical_text(call.id),
        canonical_text(conversation_id),
        canonical_text(call.name),
    )
    return ToolRequest(
        principal=session.principal,
        session_id=session.id,
        connection_id=connection_id,
        conversation_id=conversation_id,
        turn_id=turn_id,
        snapshot_id=snapshot_id,
        snapshot_digest=snapshot_digest,
        call_id=call.id,
        tool=call.name,
        arguments=arguments,
        digest=digest_of_bytes(envelope),
        model=model,
        received_at=received_at,
        runner=runner,
    )


def apply_defaults(request: ToolRequest, schema: Mapping[str, Json]) -> ToolRequest:
    """The request with the schema's top-level defaults filled in, before anybody sees, signs or runs it.

    The same request comes back where nothing is missing. The request digest stays that of what the client sent: it says
    whether two messages are the same, not what runs.
    """
    given = request.parsed_arguments
    properties: Mapping[str, Mapping[str, Json]] = schema.get("properties", {})
    missing = {name: prop["default"] for name, prop in properties.items() if "default" in prop and name not in given}
    if not missing:
        return request
    return replace(request, arguments=canonical_bytes({**given, **missing}))


@quick
@dataclass(frozen=True, slots=True)
class CallFacts:
    """What a tool's own extractor says about one call, for the policy: never raw model text.

    `path` is normalised and relative to the workspace, `host` is parsed by the parser the executor uses, `bytes` is the
    size of what is written or sent. Where a call has a `second_path`, such as the new name of a file, the policy judges it with
    either one as its path, and the stricter answer holds: a rule about paths need not know which tools have two.
    """

    path: str | None = None
    host: str | None = None
    bytes: int | None = None
    recursive: bool | None = None
    second_path: str | None = None


@quick
@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gave back, before redaction and caps. `structured` is JSON or None. `trust` may say that this output is
    trusted less than its tool is, and `own` that it is not the person's own though its tool's mostly
    are; neither raises anything. `attached` are bytes beside the text, such as an image."""

    text: str
    structured: Any = None
    labels: tuple[str, ...] = ()
    trust: Trust = Trust.TRUSTED
    attached: tuple[bytes, ...] = ()
    own: bool = True
