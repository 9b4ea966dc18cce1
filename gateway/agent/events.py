"""What happens in a conversation, as the loop tells it. Everything on a screen and in a transcript follows from these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from gateway.agent.messages import Call, Result, Tool


class TurnOutcome(StrEnum):
    """How a turn came to its end."""

    ANSWERED = "answered"
    STOPPED = "stopped"
    """The person stopped it."""

    CAPPED = "capped"
    """The loop had as many steps as it may."""

    FAILED = "failed"
    """Something outside the loop failed; a notice says what."""


class NoticeTone(StrEnum):
    """How a notice is meant."""

    INFO = "info"
    DANGER = "danger"


@dataclass(frozen=True, slots=True)
class TurnBegunEvent:
    """The gateway has opened a turn."""

    turn_id: str
    text: str
    tools: Sequence[Tool]


@dataclass(frozen=True, slots=True)
class TurnSteeredEvent:
    """The person has said more, and the loop goes on from it with its next step."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnEndedEvent:
    """It is over. `label` names the tools that were used, in order: `tool:write_file+list_directory`, or `words`."""

    ending: TurnOutcome
    label: str


@dataclass(frozen=True, slots=True)
class ActionsSplitEvent:
    """The message asks for several actions, which are taken one after the other."""

    actions: Sequence[str]


@dataclass(frozen=True, slots=True)
class ActionBegunEvent:
    """The one with that index is under way."""

    index: int


@dataclass(frozen=True, slots=True)
class ModelAskedEvent:
    """The model is about to be asked for the next step."""


@dataclass(frozen=True, slots=True)
class ModelWaitedForEvent:
    """No model can answer yet and the loop waits for it; `state` is the gateway's word."""

    state: str | None


@dataclass(frozen=True, slots=True)
class TextStreamedEvent:
    """A piece of an answer."""

    delta: str


@dataclass(frozen=True, slots=True)
class TextDiscardedEvent:
    """What streamed so far turned out to be no answer."""


@dataclass(frozen=True, slots=True)
class AssistantSaidEvent:
    """What the person reads. `stopped`: only a beginning."""

    content: str
    stopped: bool


@dataclass(frozen=True, slots=True)
class CallProposedEvent:
    """The model wants a call. `tool` is absent for one that is not on offer."""

    call: Call
    tool: Tool | None


@dataclass(frozen=True, slots=True)
class CallSentEvent:
    """It went to the gateway."""

    call_id: str


@dataclass(frozen=True, slots=True)
class CallClosedEvent:
    """The gateway answered."""

    call_id: str
    result: Result


@dataclass(frozen=True, slots=True)
class TokensCountedEvent:
    """How full the model's context is; `exact` when the server counted."""

    used: int
    limit: int
    exact: bool


@dataclass(frozen=True, slots=True)
class ContextCondensedEvent:
    """The model sees a summary in the place of older messages from now on."""


@dataclass(frozen=True, slots=True)
class ContextFilledEvent:
    """What has to stay takes more than the model can hold, both in tokens: something will be missing."""

    used: int
    limit: int


@dataclass(frozen=True, slots=True)
class ContextTrimmedEvent:
    """Earlier turns were left out to make the rest fit, or results were cut (0)."""

    dropped_turns: int


@dataclass(frozen=True, slots=True)
class NoticeRaisedEvent:
    """Something the person should know, in our words."""

    tone: NoticeTone
    text: str


AgentEvent: TypeAlias = (
    TurnBegunEvent
    | TurnSteeredEvent
    | TurnEndedEvent
    | ActionsSplitEvent
    | ActionBegunEvent
    | ModelAskedEvent
    | ModelWaitedForEvent
    | TextStreamedEvent
    | TextDiscardedEvent
    | AssistantSaidEvent
    | CallProposedEvent
    | CallSentEvent
    | CallClosedEvent
    | TokensCountedEvent
    | ContextCondensedEvent
    | ContextFilledEvent
    | ContextTrimmedEvent
    | NoticeRaisedEvent
)
