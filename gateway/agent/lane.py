"""One way of getting the next step out of a model. It depends on the messages alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final, Protocol, TypeAlias

from gateway.agent.browser import as_json
from gateway.agent.budget import estimate_tokens, length_of
from gateway.agent.copy import Copy
from gateway.agent.enrich import enrich
from gateway.agent.focus import NOTHING, after
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.parse import MAX_REPLY, ThoughtFilter
from gateway.agent.ports import CallDelta, Chat, ChatMessage, ChatRequest, Stop, TextDelta, Usage, Witness
from gateway.agent.prompts import Words
from gateway.agent.standing import Stuck
from gateway.agent.trajectory import Tokens

MAX_CALLS: Final = 64
"""Calls of one reply that are read: as many as a message to the gateway can hold."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call as the model proposed it; it gets its id from the loop."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Split:
    """The message asks for these actions, in this order."""

    actions: Sequence[str]


@dataclass(frozen=True, slots=True)
class Calls:
    """What the model wants done, and what it says with it. `more`: it says that the message asks for further actions."""

    proposals: Sequence[Proposal]
    text: str = ""
    more: bool = False


@dataclass(frozen=True, slots=True)
class Condensed:
    """What the model is shown from now on, a summary in the place of older messages; None where it gave none."""

    shown: Sequence[Message] | None


@dataclass(frozen=True, slots=True)
class Report:
    """How the action under way ended; another one follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model wants to say, and with that the turn is over."""

    text: str


@dataclass(frozen=True, slots=True)
class StuckStep:
    """None of them. What the model wrote is not shown."""

    why: Stuck


Step: TypeAlias = Split | Calls | Condensed | Report | Reply | StuckStep


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


@dataclass(frozen=True, slots=True)
class LaneInput:
    """What a lane works from. `words` is prompts.json, `model` a `ModelInfo`.

    `messages` is all that was said and done, `shown` the same as far as the model is shown it: a summary may stand for its
    beginning. `may_summarise` is over in a turn in which none came. `step_tokens` is how much the model may write at once, None
    for what suits the lane.

    `actions` is what the message was split into, None as long as nobody has asked; `more` says that the model announced further
    actions with its last call, `may_call` that the turn may still have calls; `today` is the day where the person is.
    """

    messages: Sequence[Message]
    shown: Sequence[Message]
    turn_id: str
    tools: Sequence[Tool]
    model: Mapping[str, Any]
    chat: Chat
    stop: Stop
    listener: LaneListener
    witness: Witness
    words: Words
    copy: Copy
    today: date
    actions: Sequence[str] | None = None
    more: bool = False
    may_call: bool = True
    may_summarise: bool = True
    step_tokens: int | None = None


def complete(proposal: Proposal, message: str, lane: LaneInput) -> Proposal:
    """A proposal with the arguments filled that the model left empty and the person's words answer, before anybody sees it."""
    tool = next((tool for tool in lane.tools if tool["name"] == proposal.name), None)
    if tool is None:
        return proposal
    focus = NOTHING
    for each in lane.messages:
        if isinstance(each, ToolMessage):
            focus = after(each.call, each.result, focus)
    return replace(proposal, arguments=enrich(proposal.arguments, tool["paramSchema"], message, focus, lane.today))


@dataclass(frozen=True, slots=True)
class Heard:
    """A whole reply, put together from its pieces: its text, and calls as (name, arguments as they were written)."""

    text: str
    calls: Sequence[tuple[str, str]] = ()


@dataclass(slots=True)
class _Fragments:
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class _Collected:
    written: str = ""
    text: str = ""
    calls: dict[int, _Fragments] = field(default_factory=dict[int, _Fragments])
    exact: bool = False
    tokens: Tokens | None = None
    taken: int = 0

    def has_room(self, *pieces: str) -> bool:
        """Whether these still belong to a reply that anybody would read."""
        self.taken += sum(map(length_of, pieces))
        return self.taken <= MAX_REPLY


async def collect(lane: LaneInput, request: ChatRequest, hear: Callable[[str], bool]) -> Heard:
    """Read a reply to its end, without the thinking at its beginning.

    `hear` gets the text so far after each piece and may return True to stop: then the model is stopped, and what was read is the
    reply; so it is where the model comes to no end. However it ends, what was counted is counted.
    """
    so_far, thoughts = _Collected(), ThoughtFilter()
    try:
        async with contextlib.aclosing(lane.chat(request)) as deltas:
            async for delta in deltas:
                match delta:
                    case Usage(prompt_tokens, completion_tokens):
                        so_far.exact = True
                        lane.listener.counted(prompt_tokens, completion_tokens, exact=True)
                    case Tokens():
                        so_far.tokens = delta
                    case CallDelta(index, name, arguments):
                        if not 0 <= index < MAX_CALLS or not so_far.has_room(name, arguments):
                            break
                        call = so_far.calls.setdefault(index, _Fragments())
                        call.name += name
                        call.arguments += arguments
                    case TextDelta(text):
                        if not so_far.has_room(text):
                            break
                        so_far.written += text
                        so_far.text += thoughts.feed(text)[1]
                        if hear(so_far.text):
                            break
    finally:
        if so_far.written or so_far.calls:
            lane.witness.wrote(request.messages, _raw(so_far), so_far.tokens)
    so_far.text += thoughts.finish()[1]
    if not so_far.exact:
        lane.listener.counted(_estimate(request), estimate_tokens(so_far.written), exact=False)
    return Heard(so_far.text, [(call.name, call.arguments) for _, call in sorted(so_far.calls.items())])


def _raw(so_far: _Collected) -> str:
    """What the model wrote, calls included, as one text."""
    calls = [as_json({"name": call.name, "arguments": call.arguments}) for _, call in sorted(so_far.calls.items())]
    return "\n".join([*([so_far.written] if so_far.written else []), *calls])


def _estimate(request: ChatRequest) -> int:
    tools = estimate_tokens(as_json(request.tools)) if request.tools else 0
    return tools + sum(estimate_tokens(message["content"]) + 4 for message in request.messages)


def tokens_of(prompt: Sequence[ChatMessage]) -> int:
    """Tokens of a prompt, roughly, with what the chat template puts around each message."""
    return sum(estimate_tokens(message["content"]) + 8 for message in prompt)
