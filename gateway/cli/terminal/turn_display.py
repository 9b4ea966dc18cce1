"""What the person reads of a turn while it runs."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gateway.agent.attached import without_bytes
from gateway.agent.copy import Copy
from gateway.agent.events import (
    AgentEvent,
    AssistantSaidEvent,
    CallClosedEvent,
    CallProposedEvent,
    ContextCondensedEvent,
    ContextFilledEvent,
    ContextTrimmedEvent,
    ModelAskedEvent,
    ModelWaitedForEvent,
    NoticeRaisedEvent,
    TextDiscardedEvent,
    TextStreamedEvent,
    TurnEndedEvent,
    TurnSteeredEvent,
)
from gateway.agent.messages import Call, Result
from gateway.agent.ports import ChatMessage
from gateway.agent.trajectory import TokenIds
from gateway.cli.terminal.records import run_of
from gateway.cli.terminal.results import RecentResults
from gateway.cli.terminal.screen import Screen
from gateway.cli.terminal.styling import Tone
from gateway.core.effects import show

NAME: Final = "agent> "
PERSON: Final = "you> "
UNDECIDED: Final = "its question was still open"
CORRECTED: Final = "Not all of that is so. This is the answer:"

_SAID_SHOWN: Final = 8
"""Lines of progress of a call that ended without a result."""

_HEAD_SHOWN: Final = 4
_TAIL_SHOWN: Final = 8
"""Rows of a result: what a program says last is mostly what it found. The model has more, the transcript all that left the
gateway."""


class TurnDisplay:
    """Shows a turn on the screen. Where a person looks on, an answer is shown as it is written, and what turns out to be none is
    called so."""

    def __init__(
        self,
        screen: Screen,
        copy: Copy,
        results: RecentResults,
        *,
        is_conversation: bool,
        is_undecided: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`is_undecided` tells of a call's id whether a question about it is open."""
        self._screen = screen
        self._copy = copy
        self._results = results
        self._is_conversation = is_conversation
        self._is_undecided = is_undecided
        self._name = NAME if is_conversation else ""
        self._shown = ""
        self._calls: dict[str, Call] = {}
        self._said: dict[str, deque[str]] = {}
        """The last lines that each running call has said."""
        self._are_parallel = False

    def hear(self, event: AgentEvent) -> None:
        """An event of the loop."""
        match event:
            case ModelAskedEvent():
                self._screen.progress("thinking; Ctrl-C stops")
            case ModelWaitedForEvent(state):
                self._screen.progress(f"waiting for the model ({state or 'not ready'}); Ctrl-C stops")
            case TextStreamedEvent(delta) if self._screen.shows_pieces:
                self._show_piece(delta)
            case TextDiscardedEvent() if self._shown:
                self._shown = ""
                self._screen.say("! That was no answer yet; it is being asked for again.", tone=Tone.CAREFUL)
            case AssistantSaidEvent(content, stopped):
                self._show_answer(f"{content} …" if stopped else content)
            case CallProposedEvent(call):
                self._propose(call)
            case CallClosedEvent(call_id, result):
                self._show_result(self._calls.pop(call_id, None), result, self._said.pop(call_id, ()))
            case ContextCondensedEvent():
                self._screen.say(f"! {self._copy.say('summarised')}", tone=Tone.CAREFUL)
            case ContextFilledEvent():
                self._screen.say(f"! {self._copy.say('full')}", tone=Tone.CAREFUL)
            case ContextTrimmedEvent(dropped_turns):
                self._screen.say(f"! {self._copy.say('olderLeftOut' if dropped_turns else 'resultCut')}", tone=Tone.CAREFUL)
            case NoticeRaisedEvent(text=text):
                self._screen.say(f"! {text}", tone=Tone.CAREFUL)
            case TurnSteeredEvent(text):
                self._screen.say(f"{PERSON}{text}")
            case TurnEndedEvent():
                self._shown = ""
                self._screen.settle()
            case _:
                pass

    def progressed(self, call_id: str, message: str, fraction: float | None) -> None:
        """A running call says how far it is. What it said last is shown again if it ends without a result."""
        call = self._calls.get(call_id)
        if call is None:
            return
        said = self._said.setdefault(call_id, deque(maxlen=_SAID_SHOWN))
        if message.strip() and message not in list(said)[-1:]:
            said.append(message)
        share = "" if fraction is None else f" {math.floor(fraction * 100)} %"
        last = f" {said[-1]}" if said else ""
        self._screen.progress(f"{call['name']}{share or ' runs'}; Ctrl-C stops.{last}")

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: TokenIds | None) -> None:
        """Nothing that a person should read."""

    def faulted(self, reason: str) -> None:
        """Nor this."""

    def _show_piece(self, delta: str) -> None:
        if not self._shown and not delta.strip():
            # Nothing to see yet: the name would stand alone.
            return
        delta = delta if self._shown else delta.lstrip()
        self._screen.answer_piece(delta, name=self._name)
        self._shown += delta

    def _show_answer(self, text: str) -> None:
        shown, self._shown = self._shown, ""
        if shown and text.lstrip().startswith(shown):
            self._screen.answer_end(text.lstrip().removeprefix(shown))
        else:
            if shown:
                # What a model claims and no call did is left out of the answer, and stands on the screen already.
                self._screen.say(f"! {CORRECTED}", tone=Tone.CAREFUL)
            self._screen.answer(text, name=self._name)

    def _propose(self, call: Call) -> None:
        self._are_parallel = bool(self._calls)
        self._calls[call["id"]] = call
        self._screen.say(f"· {_signature(call)}", tone=Tone.CODE)

    def _show_result(self, call: Call | None, result: Result, said: Iterable[str]) -> None:
        name = "the call" if call is None else call["name"]
        if self._are_parallel and call is not None:
            # Of several that were asked for together, each result says whose it is.
            self._screen.say(f"· {_signature(call)}:", tone=Tone.CODE)
        is_unheard = result.get("error") == self._copy.say("unheard")
        if is_unheard and call is not None and self._is_undecided(call["id"]):
            # The loop does not wait for the gateway's word on what it stopped; here it is known that nobody had said yes.
            result = {**result, "error": UNDECIDED}
        if result["outcome"] != "ok":
            self._screen.say(f"· {self._copy.explain_outcome(name, result)}", tone=Tone.CAREFUL)
            for line in said:
                self._screen.row(line)
            return
        run = run_of(result)
        streams = (run["stdout"], run.get("stderr", "")) if run else (result["content"],)
        text = "\n".join(stream.rstrip("\n") for stream in streams if stream)
        if text:
            number = self._results.add(text)
            whole = f"; /result {number} shows all" if self._is_conversation else "; --transcript FILE keeps all"
            self._screen.excerpt(text.expandtabs(4), _HEAD_SHOWN, _TAIL_SHOWN, whole)
        if run and run["exit_code"] != 0:
            self._screen.say(f"· {name} ended with exit code {run['exit_code']}", tone=Tone.CAREFUL)


def _signature(call: Call) -> str:
    given = ", ".join(f"{name}: {show(value)}" for name, value in without_bytes(call)["arguments"].items())
    return f"{call['name']}({given})"
