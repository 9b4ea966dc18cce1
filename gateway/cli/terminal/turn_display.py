"""What the person reads of a turn while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

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
    TurnEndedEvent,
)
from gateway.agent.messages import Call, Result
from gateway.agent.ports import ChatMessage
from gateway.agent.trajectory import TokenIds
from gateway.cli.terminal.records import run_of
from gateway.cli.terminal.screen import Screen
from gateway.core.effects import show

NAME: Final = "agent> "

_ROWS_SHOWN: Final = 12
"""Of a result. The model has more of it, the transcript all that left the gateway."""


class TurnDisplay:
    """Shows a turn on the screen. An answer is shown when it is complete: what a model streams may turn out to be none."""

    def __init__(self, screen: Screen, copy: Copy, *, is_conversation: bool) -> None:
        self._screen = screen
        self._copy = copy
        self._name = NAME if is_conversation else ""
        self._calls: dict[str, Call] = {}

    def hear(self, event: AgentEvent) -> None:
        """An event of the loop."""
        match event:
            case ModelAskedEvent():
                self._screen.progress("thinking; Ctrl-C stops")
            case ModelWaitedForEvent(state):
                self._screen.progress(f"waiting for the model ({state or 'not ready'}); Ctrl-C stops")
            case AssistantSaidEvent(content, stopped):
                self._screen.answer(f"{content} …" if stopped else content, name=self._name)
            case CallProposedEvent(call):
                self._calls[call["id"]] = call
                given = ", ".join(f"{name}: {show(value)}" for name, value in call["arguments"].items())
                self._screen.say(f"· {call['name']}({given})")
            case CallClosedEvent(call_id, result):
                self._show_result(self._calls.pop(call_id, None), result)
            case ContextCondensedEvent():
                self._screen.say(f"! {self._copy.say('summarised')}")
            case ContextFilledEvent():
                self._screen.say(f"! {self._copy.say('full')}")
            case ContextTrimmedEvent(dropped_turns):
                self._screen.say(f"! {self._copy.say('olderLeftOut' if dropped_turns else 'resultCut')}")
            case NoticeRaisedEvent(text=text):
                self._screen.say(f"! {text}")
            case TurnEndedEvent():
                self._screen.settle()
            case _:
                pass

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: TokenIds | None) -> None:
        """Nothing that a person should read."""

    def faulted(self, reason: str) -> None:
        """Nor this."""

    def _show_result(self, call: Call | None, result: Result) -> None:
        name = "the call" if call is None else call["name"]
        if result["outcome"] != "ok":
            why = result.get("error") or result.get("reason") or ""
            self._screen.say(f"· {name}: {result['outcome']}{': ' if why else ''}{why}")
            return
        run = run_of(result)
        streams = (run["stdout"], run.get("stderr", "")) if run else (result["content"],)
        text = "\n".join(stream.rstrip("\n") for stream in streams if stream)
        more = self._screen.block(text.expandtabs(4), _ROWS_SHOWN) if text else 0
        if more:
            self._screen.say(f"  … {more} more {'line' if more == 1 else 'lines'}")
        if run and run["exit_code"] != 0:
            self._screen.say(f"· {name} ended with exit code {run['exit_code']}")
