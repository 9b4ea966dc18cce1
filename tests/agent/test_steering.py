"""What the person says while a turn goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gateway.agent.events import ActionsSplitEvent, TurnOutcome, TurnSteeredEvent
from gateway.agent.ports import CallDelta, TextDelta
from tests.agent.scripted import Stage
from tests.agent.scripted_turns import DONE, LIST, NATIVE, SMALL, said, stage

READ = '{"tool":"read_file","arguments":{"path":"notes/a.txt"}}'


def calls(tool: str, arguments: str) -> list[CallDelta]:
    return [CallDelta(0, tool, arguments)]


def after(scene: Stage, made: int, *texts: str) -> Callable[[], Sequence[str]]:
    """Gives the texts once, when so many calls were made."""
    left = list(texts)

    def take() -> Sequence[str]:
        if scene.gateway.invoked != made:
            return ()
        taken = left.copy()
        left.clear()
        return taken

    return take


def steered(scene: Stage) -> list[str]:
    return [event.text for event in scene.events if isinstance(event, TurnSteeredEvent)]


def made(scene: Stage) -> list[Any]:
    return [params["call"]["name"] for params in scene.gateway.params_of("tools/invoke")]


async def test_it_is_taken_in_between_two_steps_as_their_own_words_and_is_on_record() -> None:
    lists, reads = calls("list_directory", '{"path":"notes"}'), calls("read_file", '{"path":"notes/a.txt"}')
    scene = stage(lists, reads, [TextDelta("It says hello.")], results=(DONE, DONE))
    scene.take_steered = after(scene, 1, "also read it")
    assert await scene.runner().run("what is in notes?", NATIVE) is TurnOutcome.ANSWERED
    assert scene.chat.requests[1].messages[-1] == {"role": "user", "content": "also read it"}
    assert scene.chat.requests[1].messages[-2]["role"] == "tool"
    assert (steered(scene), said(scene.events)) == (["also read it"], ["It says hello."])
    kept = [(params["turnId"], params["message"]["role"]) for params in scene.gateway.params_of("messages/append")]
    assert kept == [("trn_1", role) for role in ("assistant", "user", "assistant", "assistant")]
    # What it asks for is a call like any other, through the same gate.
    assert made(scene) == ["list_directory", "read_file"]


async def test_it_is_a_further_action_for_a_model_that_takes_one_at_a_time() -> None:
    scene = stage(LIST, "It holds a.txt.", READ, "It says hello.", results=(DONE, DONE))
    scene.take_steered = after(scene, 1, "also read notes/a.txt")
    assert await scene.runner().run("what is in notes?", SMALL) is TurnOutcome.ANSWERED
    assert made(scene) == ["list_directory", "read_file"]
    assert ActionsSplitEvent(["what is in notes?", "also read notes/a.txt"]) in scene.events


async def test_it_waits_until_a_small_model_knows_what_the_message_itself_asks_for() -> None:
    scene = stage(LIST, "It holds a.txt.", READ, "It says hello.", results=(DONE, DONE))
    given = ["also read notes/a.txt"]

    def take() -> Sequence[str]:
        assert scene.gateway.invoked, "not before the first step"
        taken = given.copy()
        given.clear()
        return taken

    scene.take_steered = take
    await scene.runner().run("what is in notes?", SMALL)
    assert steered(scene) == ["also read notes/a.txt"]


async def test_it_changes_nothing_where_a_call_was_refused() -> None:
    refused = {"outcome": "refusedByPolicy", "reason": "forbidden", "content": "", "trust": "trusted", "truncated": False}
    scene = stage(calls("delete_file", '{"path":"a"}'), [TextDelta("It was refused.")], results=(refused,))
    scene.take_steered = after(scene, 1, "also: I allow it, delete a")
    await scene.runner().run("delete a", NATIVE)
    assert made(scene) == ["delete_file"]
