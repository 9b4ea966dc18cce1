"""How a turn is shown where a person looks on while the model writes."""

from __future__ import annotations

import io

import pytest

from gateway.agent.copy import Copy
from gateway.agent.events import (
    AgentEvent,
    AssistantSaidEvent,
    CallClosedEvent,
    CallProposedEvent,
    ModelAskedEvent,
    NoticeRaisedEvent,
    NoticeTone,
    TextDiscardedEvent,
    TextStreamedEvent,
    TurnEndedEvent,
    TurnOutcome,
)
from gateway.cli.terminal.results import RecentResults
from gateway.cli.terminal.screen import Screen, within
from gateway.cli.terminal.turn_display import TurnDisplay
from gateway.shipped import read_loop_file

END = TurnEndedEvent(TurnOutcome.ANSWERED, "words")


class Paper(io.StringIO):
    """A terminal that can only write on."""

    def isatty(self) -> bool:
        return True


def shown(*events: AgentEvent, monkeypatch: pytest.MonkeyPatch) -> str:
    """What stands on the terminal in the end."""
    monkeypatch.setenv("TERM", "dumb")
    paper = Paper()
    display = TurnDisplay(Screen(paper, paper), Copy(read_loop_file("copy")), RecentResults(), is_conversation=True)
    for event in (ModelAskedEvent(), *events, END):
        display.hear(event)
    return paper.getvalue()


def streamed(*pieces: str) -> list[AgentEvent]:
    return [TextStreamedEvent(piece) for piece in pieces]


CASES: dict[str, tuple[list[AgentEvent], str]] = {
    "an answer as it is written": (
        [*streamed("\n", " Hel", "lo"), AssistantSaidEvent("\n Hello", stopped=False)],
        "agent> Hello\n",
    ),
    "with what follows": (
        [*streamed("Hel"), AssistantSaidEvent("Hello.\n\nNot done: `b`.", stopped=False)],
        "agent> Hello.\n\nNot done: `b`.\n",
    ),
    "stopped": ([*streamed("Hel"), AssistantSaidEvent("Hel", stopped=True)], "agent> Hel …\n"),
    "taken back": (
        [*streamed("Hel"), TextDiscardedEvent(), *streamed("Good day."), AssistantSaidEvent("Good day.", stopped=False)],
        "agent> Hel\n! That was no answer yet; it is being asked for again.\nagent> Good day.\n",
    ),
    "a claim that is left out": (
        [*streamed("I deleted it."), AssistantSaidEvent("Nothing was done.", stopped=False)],
        "agent> I deleted it.\n! Not all of that is so. This is the answer:\nagent> Nothing was done.\n",
    ),
    "a notice in between": (
        [*streamed("Once"), NoticeRaisedEvent(NoticeTone.INFO, "cut off"), AssistantSaidEvent("Once", stopped=False)],
        "agent> Once\n! cut off\n",
    ),
    "never ended": (streamed("Once"), "agent> Once\n"),
}


@pytest.mark.parametrize(("events", "written"), CASES.values(), ids=list(CASES))
def test_an_answer_stands_once_on_the_terminal(events: list[AgentEvent], written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(*events, monkeypatch=monkeypatch) == written


CALL = {"id": "call_1", "name": "long__job", "arguments": {"steps": 3}}


def display_on(paper: Paper) -> TurnDisplay:
    return TurnDisplay(Screen(paper, paper), Copy(read_loop_file("copy")), RecentResults(), is_conversation=True)


def test_a_running_call_says_how_far_it_is_in_one_row_that_is_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    paper = Paper()
    display = display_on(paper)
    display.hear(CallProposedEvent(CALL, None))
    for message, fraction in (("step one", 0.331), ("", 0.666), ("step\x1b[2J two", None)):
        display.progressed("call_1", message, fraction)
    display.progressed("call_2", "of a call that is over", 0.5)
    rows = paper.getvalue().split("\r\x1b[2K")[1:]
    assert rows == [
        "long__job 33 %; Ctrl-C stops. step one",
        "long__job 66 %; Ctrl-C stops. step one",
        "long__job runs; Ctrl-C stops. step\\u001b[2J two",
    ]


def test_what_a_call_had_said_is_shown_where_it_ends_without_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    for outcome, is_shown in (("cancelled", True), ("timedOut", True), ("ok", False)):
        paper = Paper()
        display = display_on(paper)
        display.hear(CallProposedEvent(CALL, None))
        for step in range(12):
            display.progressed("call_1", f"step {step}", None)
        result = {"outcome": outcome, "content": "", "trust": "untrusted", "truncated": False}
        display.hear(CallClosedEvent("call_1", result))
        assert ("│ step 4\n" in paper.getvalue()) is is_shown
        assert "step 3\n" not in paper.getvalue()


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("one two three", ["one two", "three"]),
        ("one twoo three", ["one twoo", "three"]),
        ("onetwothree four", ["onetwoth", "ree four"]),
        ("  onetwothree", ["  onetwo", "three"]),
        ("日本語 日本語", ["日本語", "日本語"]),
        ("", [""]),
    ],
)
def test_a_row_is_broken_between_words_where_it_can_be(text: str, pieces: list[str]) -> None:
    assert list(within(text, 8, by_words=True)) == pieces


def test_the_rows_of_a_long_result_are_broken_between_words() -> None:
    paper = Paper()
    Screen(paper, paper).excerpt(f"{'leaks ' * 15}chimney", 4, 8, "")
    first, second = " ".join(["leaks"] * 12), f"{'leaks ' * 3}chimney"
    assert paper.getvalue() == f"  │ {first}\n  │ {second}\n"
