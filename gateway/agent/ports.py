"""What the loop needs from the world: a gateway to ask, a model to talk to, and a way to be stopped."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from gateway.agent.messages import Tool
from gateway.agent.trajectory import TokenIds

ChatMessage: TypeAlias = Mapping[str, Any]
"""One message of an OpenAI-compatible request; `image`, if there, is the id of an image that is shown with it."""

JsonSchema: TypeAlias = Mapping[str, Any]


class StopReason(StrEnum):
    """What stopped a turn from within this process."""

    STOPPED = "stopped"
    """The person."""

    OVER = "over"
    """The gateway ended it."""


class TurnStopped(Exception):
    """Raised out of whatever a stopped turn waits for."""

    def __init__(self, why: StopReason) -> None:
        super().__init__(why.value)
        self.why = why


class StopSignal:
    """Whether a turn was stopped. Ports that wait listen, and raise the halt in place of their answer."""

    def __init__(self) -> None:
        self._halt: TurnStopped | None = None
        self._listeners: list[Callable[[], object]] = []

    @property
    def halt(self) -> TurnStopped | None:
        """Why, once it is."""
        return self._halt

    def set(self, why: StopReason) -> None:
        """Stop, for good; the first reason stays."""
        if self._halt is None:
            self._halt = TurnStopped(why)
            for listener in tuple(self._listeners):
                listener()

    def check(self) -> None:
        """Raises the halt if there is one."""
        if self._halt is not None:
            raise self._halt

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Have `listener` called once when it is stopped. Gives a function that takes the listener away again."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


class GatewayLink(Protocol):
    """The methods of docs/PROTOCOL.md section 5, with its own JSON for parameters and results."""

    def call(self, method: str, params: Mapping[str, Any], stop: StopSignal | None = None) -> Awaitable[Mapping[str, Any]]:
        """Raises the errors of `gateway.core.errors`, or the halt of `stop`."""
        ...


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a model is asked. `schema` constrains the whole reply where the server can; else it is ignored."""

    messages: Sequence[ChatMessage]
    max_tokens: int
    stop: StopSignal
    tools: Sequence[Tool] = ()
    schema: JsonSchema | None = None
    temperature: float = 0


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A fragment of a tool call; `index` says of which."""

    index: int
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """The server's own counts."""

    prompt_tokens: int
    completion_tokens: int


class CutReason(StrEnum):
    """Why a reply is not all that the model would have written."""

    LENGTH = "length"
    """It came to the most tokens of one step."""

    FILTERED = "filtered"
    """Whoever runs the model held the rest back."""

    CALLS = "calls"
    """It has more calls than are taken from one reply."""


@dataclass(frozen=True, slots=True)
class CutDelta:
    """The reply ends here, and is not whole."""

    why: CutReason


ChatDelta: TypeAlias = TextDelta | CallDelta | CutDelta | Usage | TokenIds
"""A piece of a reply. `TokenIds` comes once, from servers that tell the ids."""


class Chat(Protocol):
    """Asks a model and streams what it says. Closing the stream stops the model."""

    def __call__(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """Raises ChatFailure, or the halt of the request's `stop`."""
        ...


class ChatFailureKind(StrEnum):
    """How asking a model can fail."""

    UNAUTHORISED = "unauthorised"
    """The token is void: expired, or its turn is over."""

    MODEL_UNAVAILABLE = "modelUnavailable"
    """No model can answer now."""

    UNREACHABLE = "unreachable"
    """Nothing came back, or nothing that can be read."""

    BROKE_OFF = "brokeOff"
    """A reply began, and ended in the middle."""

    FAILED = "failed"
    """The model server reported an error of its own."""

    REFUSED = "refused"
    """The request itself was refused; asking again changes nothing."""


class ChatFailure(Exception):
    """`state` is the gateway's word for why no model can answer."""

    def __init__(self, fault: ChatFailureKind, message: str, state: str | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message
        self.state = state


class ReplyObserver(Protocol):
    """Told what models really wrote, for transcripts and trajectories."""

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: TokenIds | None) -> None:
        """A reply as it came, whatever it is worth."""
        ...

    def faulted(self, reason: str) -> None:
        """The reply before cannot be used, and the model is asked again."""
        ...
