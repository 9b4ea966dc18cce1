"""One way of getting the next step out of a model. It depends on the messages alone."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Protocol, TypeAlias

from gateway.agent.browser import as_json
from gateway.agent.budget import estimate_tokens
from gateway.agent.copy import Copy
from gateway.agent.enrich import enrich
from gateway.agent.focus import NOTHING, update_focus
from gateway.agent.given_text import with_given_text
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.ports import Chat, ChatRequest, CutReason, ReplyObserver, StopSignal
from gateway.agent.prompts import Words
from gateway.agent.reply import ReplyEnd, ReplyReader, read_deltas
from gateway.agent.spelling import spelled_as_known
from gateway.agent.turn_progress import StuckReason


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """A call as the model proposed it; it gets its id from the loop."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SplitStep:
    """The message asks for these actions, in this order."""

    actions: Sequence[str]


@dataclass(frozen=True, slots=True)
class CallsStep:
    """What the model wants done, and what it says with it."""

    proposals: Sequence[ProposedCall]
    text: str = ""


@dataclass(frozen=True, slots=True)
class CondensedStep:
    """What the model is shown from now on, a summary in the place of older messages; None where it gave none."""

    shown: Sequence[Message] | None


@dataclass(frozen=True, slots=True)
class ReportStep:
    """How the action under way ended; another one follows."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerStep:
    """What the model wants to say, and with that the turn is over."""

    text: str


@dataclass(frozen=True, slots=True)
class StuckStep:
    """None of them. What the model wrote is not shown."""

    why: StuckReason


LaneStep: TypeAlias = SplitStep | CallsStep | CondensedStep | ReportStep | AnswerStep | StuckStep


class Lane(Protocol):
    """One way of getting the next step out of a model."""

    def __call__(self, lane: LaneInput, /) -> Awaitable[LaneStep]:
        """Raises ChatFailure, or the halt."""
        ...


class LaneListener(Protocol):
    """Told what goes on while a step is made."""

    def streamed(self, delta: str) -> None:
        """A piece of the answer, for the person to read as it comes."""
        ...

    def discarded(self) -> None:
        """What streamed so far turned out to be no answer."""
        ...

    def counted(self, prompt_tokens: int, completion_tokens: int, *, exact: bool) -> None:
        """What the prompt and the reply took."""
        ...

    def filled(self, used: int, limit: int) -> None:
        """What has to stay takes more than there is room for, both in tokens."""
        ...

    def trimmed(self, dropped_turns: int) -> None:
        """Earlier turns were left out to make the rest fit, or results were cut."""
        ...

    def cut(self, why: CutReason) -> None:
        """What the model wrote is taken as it is, and is not all."""
        ...


@dataclass(frozen=True, slots=True)
class LaneInput:
    """What a lane works from. `words` is prompts.json, `model` a `ModelInfo`.

    `messages` is all that was said and done, `shown` the same as far as the model is shown it: a summary may stand for its
    beginning. `may_summarise` is over in a turn in which none came. `step_tokens` is how much the model may write at once, None
    for what suits the lane.

    `actions` is what the message was split into, None as long as nobody has asked; `may_call` says that the turn may still have
    calls; `today` is the day where the person is. `quotes`: what a file says is
    quoted, since the model speaks no language well but English.
    """

    messages: Sequence[Message]
    shown: Sequence[Message]
    turn_id: str
    tools: Sequence[Tool]
    model: Mapping[str, Any]
    chat: Chat
    stop: StopSignal
    listener: LaneListener
    observer: ReplyObserver
    words: Words
    copy: Copy
    today: date
    actions: Sequence[str] | None = None
    may_call: bool = True
    may_summarise: bool = True
    step_tokens: int | None = None
    quotes: bool = False


def complete(proposal: ProposedCall, message: str, lane: LaneInput) -> ProposedCall:
    """A proposal with the arguments filled that the model left empty and the person's words answer, and its paths spelled as the
    conversation knows them, before anybody sees it."""
    tool = next((tool for tool in lane.tools if tool["name"] == proposal.name), None)
    if tool is None:
        return proposal
    focus = NOTHING
    for each in lane.messages:
        if isinstance(each, ToolMessage):
            focus = update_focus(each.call, each.result, focus)
    filled = enrich(proposal.arguments, tool["paramSchema"], message, focus, lane.today)
    whole = with_given_text(filled, tool["paramSchema"], message) if tool["category"] == "write" else filled
    return replace(proposal, arguments=spelled_as_known(whole, lane.messages, lane.tools))


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A whole reply, put together from its pieces: its text, and calls as (name, arguments as they were written). `cut`: why it
    is not all that the model would have written."""

    text: str
    calls: Sequence[tuple[str, str]] = ()
    cut: CutReason | None = None


async def collect(
    lane: LaneInput,
    request: ChatRequest,
    end: ReplyEnd = ReplyEnd.STREAM,
    hear: Callable[[str], bool | None] = lambda _text: None,
) -> ModelReply:
    """Read a reply as far as `end` says, without the thinking at its beginning.

    `hear` gets the text so far after each piece, and may say that this is enough. However it ends, what was counted is counted.
    """
    reader = ReplyReader(end)
    try:
        async with contextlib.aclosing(read_deltas(lane.chat(request), reader)) as pieces:
            async for _piece in pieces:
                if hear(reader.said):
                    break
    finally:
        if reader.usage is not None:
            lane.listener.counted(reader.usage.prompt_tokens, reader.usage.completion_tokens, exact=True)
        if reader.written or reader.calls:
            lane.observer.wrote(request.messages, _raw(reader), reader.tokens)
    if reader.usage is None:
        lane.listener.counted(_estimate(request), estimate_tokens(reader.written), exact=False)
    return ModelReply(reader.said, [(call.name, call.arguments) for _, call in sorted(reader.calls.items())], reader.cut)


def _raw(reader: ReplyReader) -> str:
    """What the model wrote, calls included, as one text."""
    calls = [as_json({"name": call.name, "arguments": call.arguments}) for _, call in sorted(reader.calls.items())]
    return "\n".join([*([reader.written] if reader.written else []), *calls])


def _estimate(request: ChatRequest) -> int:
    tools = estimate_tokens(as_json(request.tools)) if request.tools else 0
    return tools + sum(estimate_tokens(message["content"]) + 4 for message in request.messages)
