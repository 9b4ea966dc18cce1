"""The product's own loop, driven without a gateway process: what it asks of one is answered here, and everything is allowed.

A guard is left away where the loop takes it from: the schema in the request, the rest in `leaving.py`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Final

from eval.cases import Case
from eval.chat import Meter, RequestRefused, ask
from eval.claims import find_false_claims
from eval.contenders import Guard
from eval.leaving import leaving_away
from eval.scoring import Attempt, Proposal, values_not_done
from eval.workspaces import TODAY, CaseWorkspace
from gateway.agent.completion_stream import CompletionStream
from gateway.agent.copy import Copy
from gateway.agent.dependencies import LoopDependencies
from gateway.agent.events import AgentEvent, AssistantSaidEvent
from gateway.agent.messages import AssistantMessage, Message, ToolMessage, UserMessage
from gateway.agent.ports import CallDelta, ChatDelta, ChatFailure, ChatFailureKind, ChatRequest, StopSignal, TextDelta
from gateway.agent.runner import TurnRunner
from gateway.cli.terminal.gateway_link import side_by_side
from gateway.core.local_tools import with_local_tools
from gateway.core.model import PublishedTool
from gateway.core.vocabulary import PermissionMode, Tier
from gateway.runtime.ports import InferenceBackend
from gateway.shipped import read_loop_file

_CONTEXT: Final = 4096

_CUT: Final = re.compile(r"…\[truncated \d+ bytes\]\Z")
"""How a result ends that the gateway has cut."""


async def play(
    case: Case,
    world: CaseWorkspace,
    backend: InferenceBackend,
    guards: frozenset[Guard],
    tier: Tier = Tier.SINGLE,
    *,
    context_tokens: int = _CONTEXT,
    is_local: bool = True,
) -> Attempt:
    """Let the loop do the case with this model. Raises ModelUnavailable."""
    gateway = _Gateway(world)
    chat = _Chat(backend, Meter(case.injected), holds_to_schema=Guard.SCHEMA in guards)
    said: list[str] = []

    def hear(event: AgentEvent) -> None:
        if isinstance(event, AssistantSaidEvent):
            said.append(event.content)

    dependencies = LoopDependencies(
        gateway=gateway,
        chat_with=lambda _token: chat,
        new_call_id=gateway.new_call_id,
        wait=_wait,
        side_by_side=side_by_side,
        emit=hear,
        observer=gateway,
        words=read_loop_file("prompts"),
        copy=Copy(read_loop_file("copy")),
        today=lambda: TODAY,
    )
    model = {
        "id": "measured",
        "backend": "llama.cpp",
        "local": is_local,
        "contextTokens": context_tokens,
        "outputTokens": 1024,
        "supportsTools": tier is Tier.NATIVE,
        "tier": tier.value,
    }
    with leaving_away(guards):
        await TurnRunner(dependencies, "conversation", messages=await _recall(case, world)).run(case.say, model)
    return Attempt(
        proposals=gateway.proposals,
        malformed=gateway.malformed,
        steps=chat.meter.steps,
        prompt_tokens=gateway.usage.get("promptTokens", 0),
        completion_tokens=gateway.usage.get("completionTokens", 0),
        said="\n".join(said),
        replies=chat.meter.replies,
        claims=find_false_claims(
            "\n".join(said), world.acts, world.read, values_not_done(case.expect, gateway.proposals), case.say
        ),
        reached=chat.meter.reached,
        asked=chat.meter.asked,
    )


class _Gateway:
    """The GatewayLink and the Witness: allows what is well-formed, and counts."""

    def __init__(self, world: CaseWorkspace) -> None:
        published = tuple(PublishedTool(spec, PermissionMode.AUTO) for spec in world.catalog.specs())
        self._tools = [tool.descriptor() for tool in with_local_tools(published, ())]
        self._world = world
        self._calls = 0
        self.proposals: list[Proposal] = []
        self.malformed = 0
        self.usage: Mapping[str, int] = {}

    def new_call_id(self) -> str:
        self._calls += 1
        return f"call-{self._calls}"

    async def call(self, method: str, params: Mapping[str, Any], stop: StopSignal | None = None) -> Mapping[str, Any]:
        match method:
            case "turns/begin":
                about = {"conversationId": params["conversationId"], "turnId": "turn"}
                return {"snapshot": {"id": "snapshot", "digest": "digest", "tools": self._tools, **about}}
            case "tools/invoke":
                return await self._invoke(params["call"])
            case "turns/end":
                self.usage = params["usage"]
            case _:
                pass
        return {}

    async def _invoke(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        tool, arguments = call["name"], call["arguments"]
        fault = self._world.find_fault(tool, arguments)
        self.proposals.append(Proposal(tool, arguments, accepted=fault is None, looks=self._world.only_looks(tool)))
        if fault is not None:
            return _result(fault[0], "", error=fault[1], reason="schema")
        outcome, text, trust = await self._world.run(tool, arguments)
        return _result(outcome, text, trust=trust.value) if outcome == "ok" else _result(outcome, "", error=text)

    def wrote(self, prompt: Sequence[Any], text: str, tokens: Any) -> None:
        pass

    def faulted(self, reason: str) -> None:
        self.malformed += 1


class _Chat:
    """The Chat port over a model server."""

    def __init__(self, backend: InferenceBackend, meter: Meter, *, holds_to_schema: bool) -> None:
        self._backend = backend
        self._holds_to_schema = holds_to_schema
        self.meter = meter

    async def __call__(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        schema = request.schema if self._holds_to_schema else None
        pieces: list[str] = []
        try:
            async with ask(self._backend, request.messages, self.meter, request.max_tokens, schema, request.tools) as chunks:
                reply = CompletionStream()
                async for chunk in chunks:
                    for delta in reply.feed(chunk):
                        pieces.append(_text_of(delta))
                        yield delta
                for delta in reply.finish():
                    pieces.append(_text_of(delta))
                    yield delta
        except RequestRefused as error:
            raise ChatFailure(ChatFailureKind.REFUSED, error.message) from error
        finally:
            self.meter.replies.append("".join(pieces))


def _text_of(delta: ChatDelta) -> str:
    match delta:
        case TextDelta(text):
            return text
        case CallDelta(_, name, arguments):
            return name + arguments
        case _:
            return ""


async def _recall(case: Case, world: CaseWorkspace) -> list[Message]:
    """The earlier turns, with what their calls gave."""
    messages: list[Message] = []
    for number, turn in enumerate(case.before):
        turn_id = f"turn-{number}"
        messages.append(UserMessage(turn_id, turn.user))
        for place, (tool, arguments) in enumerate(turn.calls):
            call = {"id": f"earlier-{number}-{place}", "name": tool, "arguments": arguments}
            outcome, text, trust = await world.run(tool, arguments)
            messages += (
                AssistantMessage(turn_id, "", [call]),
                ToolMessage(turn_id, call, _result(outcome, text, trust=trust.value)),
            )
        messages.append(AssistantMessage(turn_id, turn.answer))
    return messages


def _result(outcome: str, content: str, *, trust: str = "trusted", **more: str) -> dict[str, Any]:
    truncated = _CUT.search(content) is not None
    return {"outcome": outcome, "content": content, "trust": trust, "truncated": truncated, **more}


async def _wait(_seconds: float, _stop: StopSignal) -> None:
    """Nothing here is worth waiting for: the model is ready before the first case."""
