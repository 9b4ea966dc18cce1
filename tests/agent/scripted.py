"""A gateway, a model and a person made of scripts, around the loop."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, TypeAlias, cast

from gateway.agent.copy import Copy
from gateway.agent.dependencies import LoopDependencies
from gateway.agent.events import AgentEvent
from gateway.agent.messages import Message
from gateway.agent.ports import (
    CallDelta,
    ChatDelta,
    ChatFailure,
    ChatFailureKind,
    ChatMessage,
    ChatRequest,
    CutDelta,
    CutReason,
    StopSignal,
    TextDelta,
    Usage,
)
from gateway.agent.retries import TurnLimits
from gateway.agent.runner import TurnRunner
from gateway.agent.trajectory import TokenIds
from gateway.cli.terminal.gateway_link import side_by_side
from gateway.shipped import read_loop_file

WORDS = read_loop_file("prompts")
COPY = Copy(read_loop_file("copy"))
TODAY = date(2026, 11, 21)

Line: TypeAlias = Any
"""A reply: text; deltas; an exception to raise; or a function of the request that streams."""

Handler: TypeAlias = Callable[[Mapping[str, Any], StopSignal | None], Any]


def describe_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's descriptor, from what a scenario writes of it."""
    kinds: dict[str, str] = {**tool["needs"], **tool.get("takes", {})}
    properties = {argument: {"type": kind} for argument, kind in kinds.items()}
    schema = {"type": "object", "properties": properties, "required": list(tool["needs"]), "additionalProperties": False}
    return {"permission": "auto", **{key: tool[key] for key in tool if key not in ("needs", "takes")}, "paramSchema": schema}


def snapshot_of(tools: Sequence[Mapping[str, Any]], number: int = 1, turn_id: str = "trn_1") -> dict[str, Any]:
    return {
        "id": f"snp_{number}",
        "sessionId": "ses_1",
        "connectionId": "con_1",
        "conversationId": "cnv_1",
        "turnId": turn_id,
        "turnIndex": 0,
        "issuedAt": "2026-11-21T10:00:00.000Z",
        "expiresAt": "2026-11-21T10:15:00.000Z",
        "policyVersion": "1",
        "tools": list(tools),
        "digest": str(number) * 64,
    }


@dataclass
class ScriptedGateway:
    """Answers from a table of methods, `{}` where it has none, and remembers what it was asked."""

    tools: Sequence[Mapping[str, Any]] = ()
    results: Sequence[Mapping[str, Any]] = ()
    handlers: dict[str, Handler] = field(default_factory=dict[str, Handler])
    note: Callable[[str, Mapping[str, Any]], None] = lambda _method, _params: None
    seen: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list[tuple[str, Mapping[str, Any]]])
    invoked: int = 0

    async def call(self, method: str, params: Mapping[str, Any], stop: StopSignal | None = None) -> Mapping[str, Any]:
        if stop is not None:
            stop.check()
        self.seen.append((method, params))
        self.note(method, params)
        handler = self.handlers.get(method)
        if handler is not None:
            answer: Any = handler(params, stop)
            return await cast("Awaitable[Any]", answer) if isinstance(answer, Awaitable) else answer
        match method:
            case "turns/begin":
                # Every turn has an id of its own, as at the gateway: by it the words of one are told from those of another.
                return {"snapshot": snapshot_of(self.tools, turn_id=f"trn_{len(self.params_of('turns/begin'))}")}
            case "turns/refresh":
                return {"snapshot": snapshot_of(self.tools, 2, params["turnId"])}
            case "tools/invoke":
                self.invoked += 1
                assert self.invoked <= len(self.results), f"the script has no result {self.invoked}"
                return {"callId": params["call"]["id"], **self.results[self.invoked - 1]}
            case _:
                return {}

    def params_of(self, method: str) -> list[Mapping[str, Any]]:
        return [params for name, params in self.seen if name == method]


@dataclass
class ScriptedChat:
    """A model that says its lines, one per request, and remembers what it was asked."""

    lines: Sequence[Line]
    note: Callable[[ChatRequest], None] = lambda _request: None
    requests: list[ChatRequest] = field(default_factory=list[ChatRequest])
    closed: int = 0

    async def __call__(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        request.stop.check()
        self.requests.append(request)
        self.note(request)
        assert len(self.requests) <= len(self.lines), f"the script has no reply {len(self.requests)}"
        line = self.lines[len(self.requests) - 1]
        try:
            if callable(line):
                streams = cast("Callable[[ChatRequest], AsyncGenerator[ChatDelta]]", line)
                async for delta in streams(request):
                    yield delta
            for delta in deltas_of(line):
                yield delta
        finally:
            self.closed += 1


def deltas_of(line: Line) -> list[ChatDelta]:
    match line:
        case BaseException():
            raise line
        case str():
            return pieces_of(line)
        case dict():
            return deltas_of_reply(cast("dict[str, Any]", line))
        case list():
            return cast("list[ChatDelta]", line)
        case _:
            return []


def deltas_of_reply(reply: dict[str, Any]) -> list[ChatDelta]:
    if "fails" in reply:
        raise ChatFailure(ChatFailureKind(reply["fails"]), "scripted", reply.get("state"))
    calls = [CallDelta(index, **call) for index, call in enumerate(reply.get("calls", ()))]
    usage = [Usage(reply["usage"]["promptTokens"], reply["usage"]["completionTokens"])] if "usage" in reply else []
    cut = [CutDelta(CutReason(reply["cut"]))] if "cut" in reply else []
    return [*pieces_of(reply.get("text", "")), *calls, *cut, *usage]


def pieces_of(text: str) -> list[ChatDelta]:
    return [TextDelta(piece) for piece in re.findall(r".{1,7}", text, re.DOTALL)]


@dataclass
class Notes:
    """The Witness port: what was written."""

    written: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])
    tokens: list[TokenIds | None] = field(default_factory=list[TokenIds | None])

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: TokenIds | None) -> None:
        assert prompt
        self.written.append(text)
        self.tokens.append(tokens)

    def faulted(self, reason: str) -> None:
        self.faults.append(reason)


@dataclass
class Stage:
    """A runner with everything scripted, and what it told."""

    gateway: ScriptedGateway
    chat: ScriptedChat
    limits: TurnLimits | None = None
    messages: Sequence[Message] = ()
    hear: Callable[[AgentEvent], None] = lambda _event: None
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])
    notes: Notes = field(default_factory=Notes)
    waited: list[float] = field(default_factory=list[float])
    tokens_used: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    calls: int = 0
    take_steered: Callable[[], Sequence[str]] | None = None

    def runner(self) -> TurnRunner:
        dependencies = LoopDependencies(
            gateway=self.gateway,
            chat_with=self._chat_with,
            new_call_id=self._new_call_id,
            wait=self._wait,
            side_by_side=side_by_side,
            emit=self._emit,
            observer=self.notes,
            words=WORDS,
            copy=COPY,
            today=lambda: TODAY,
        )
        if self.take_steered is not None:
            dependencies = replace(dependencies, take_steered=self.take_steered)
        return TurnRunner(dependencies, "cnv_1", self.limits, self.messages)

    def _chat_with(self, token: Mapping[str, Any]) -> ScriptedChat:
        self.tokens_used.append(token)
        return self.chat

    def _new_call_id(self) -> str:
        self.calls += 1
        return f"call_{self.calls}"

    async def _wait(self, seconds: float, stop: StopSignal) -> None:
        stop.check()
        self.waited.append(seconds)

    def _emit(self, event: AgentEvent) -> None:
        self.events.append(event)
        self.hear(event)
