"""The tasks by which a model shows which loop it can carry, done and not done by scripts."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from gateway.agent.ports import ChatDelta, ChatRequest, TextDelta
from gateway.agent.trial import FILES, TRIALS, Trial, play
from gateway.core.vocabulary import Tier
from tests.agent.scripted import WORDS

CONTEXT = 4096
GARDEN, SAVING, DELETING, THANKS = TRIALS
FINDING = Trial(
    "find the note that mentions Ida and tell me what she would like",
    [("search_files", "Ida"), ("read_file", "notes/visit.txt")],
    ["pancakes"],
)


class Script:
    """A model that replies with these, in order, and then with its last one."""

    def __init__(self, *replies: Any) -> None:
        self._replies = list(replies)

    async def __call__(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        yield TextDelta(json.dumps(reply))


def call(tool: str, **arguments: Any) -> Any:
    return {"tool": tool, "arguments": arguments}


def answer(text: str) -> Any:
    return {"answer": text}


async def done(trial: Trial, *replies: Any) -> bool:
    return await play(trial, Script(*replies), Tier.CHAINED, CONTEXT)


DONE: Sequence[tuple[Trial, Sequence[Any]]] = (
    (GARDEN, [call("read_file", path="garden.md"), answer("The hose leaks near the gate.")]),
    (GARDEN, [call("list_directory", path="."), call("read_file", path="garden.md"), answer("It leaks.")]),
    (FINDING, [answer("Pancakes.")]),
    (SAVING, [call("save_expense", merchant="Lido", amount="7.20"), answer("Saved.")]),
    (
        DELETING,
        [call("delete_file", path="draft.txt"), call("read_file", path="ideas.md"), answer("A kite at the harbour.")],
    ),
    (THANKS, [answer("Bye.")]),
)

NOT_DONE: Sequence[tuple[str, Trial, Sequence[Any]]] = (
    ("it answers out of its head", GARDEN, [answer("It leaks.")]),
    ("it does not say what it read", GARDEN, [call("read_file", path="garden.md"), answer("Seeds.")]),
    ("it looks where nothing is asked for", THANKS, [call("list_directory", path="."), answer("Bye.")]),
    ("it deletes something else", DELETING, [call("delete_file", path="ideas.md"), answer("harbour")]),
    ("it calls a tool that is not there", GARDEN, [call("launch"), answer("It leaks.")]),
    ("it leaves out what a call needs", GARDEN, [call("read_file"), answer("It leaks.")]),
    ("it reads a file that is not there", GARDEN, [call("read_file", path="gone.md"), answer("It leaks.")]),
    ("it looks for what is nowhere", FINDING, [call("search_files", query="zebra"), answer("Nothing.")]),
    ("it lists what is empty", GARDEN, [call("list_directory", path="none/"), answer("It leaks.")]),
    ("it writes where nobody asked it to", GARDEN, [call("write_file", path="x.md", content="x"), answer("It leaks.")]),
)


@pytest.mark.parametrize(("trial", "replies"), DONE, ids=[f"{at}" for at in range(len(DONE))])
async def test_a_task_is_done_by_its_calls_and_an_answer_out_of_them(trial: Trial, replies: Sequence[Any]) -> None:
    assert await done(trial, *replies)


@pytest.mark.parametrize(("trial", "replies"), [each[1:] for each in NOT_DONE], ids=[each[0] for each in NOT_DONE])
async def test_a_task_is_not_done_where(trial: Trial, replies: Sequence[Any]) -> None:
    assert not await done(trial, *replies)


async def test_more_looks_than_it_takes_are_too_many() -> None:
    looks = [call("list_directory", path=folder) for folder in (".", "notes", "bills")]
    assert not await done(GARDEN, *looks, call("read_file", path="garden.md"), answer("It leaks."))


async def test_a_model_that_breaks_off_has_not_done_it() -> None:
    async def broken(request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        raise ValueError(request.max_tokens)
        yield TextDelta("")

    assert not await play(GARDEN, broken, Tier.NATIVE, CONTEXT)


def test_no_example_of_a_prompt_has_a_file_of_the_tasks_or_an_answer_to_one() -> None:
    shown = json.dumps(WORDS).lower()
    told = [word for trial in TRIALS for word in trial.told if word != "leak"]
    assert [each for each in (*FILES, *told) if each.lower() in shown] == []
