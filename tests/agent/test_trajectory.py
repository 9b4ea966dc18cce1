"""What was fed and sampled is kept to the token, and a file read and written again is the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.agent.rollout import Rollout
from gateway.agent.trajectory import (
    MAX_TOKEN,
    TokenIds,
    Trajectory,
    TrajectoryCall,
    TrajectoryResult,
    TrajectoryRole,
    TrajectoryStep,
    from_json,
    to_json,
)
from gateway.core.canonical import MAX_INTEGER
from gateway.core.errors import MalformedTrajectory

ids = st.lists(st.integers(0, MAX_TOKEN), max_size=12).map(tuple)
some_ids = st.lists(st.integers(0, 3), min_size=1, max_size=8).map(tuple)
"""Few different ones, so that sequences often share a beginning."""

numbers = st.floats(-MAX_INTEGER, MAX_INTEGER, allow_nan=False)
calls = st.builds(TrajectoryCall, name=st.text(), arguments_json=st.text())
results = st.builds(
    TrajectoryResult,
    name=st.text(),
    stdout=st.text(),
    stderr=st.text(),
    exit_code=st.none() | st.integers(),
    duration_sec=numbers,
)
steps = st.builds(
    TrajectoryStep,
    role=st.sampled_from(TrajectoryRole),
    content=st.text(),
    input_ids=ids,
    output_ids=ids,
    absent=st.booleans(),
    fault=st.none() | st.text(),
    tool_call=st.none() | calls,
    tool_result=st.none() | results,
    reward=st.none() | numbers,
)
trajectories = st.builds(
    Trajectory,
    id=st.text(),
    task=st.text(),
    model=st.text(),
    started_at=st.integers(0, MAX_INTEGER),
    steps=st.lists(steps, max_size=5).map(tuple),
)


@pytest.mark.requirement("000-36", "a trajectory written and read again is the same bytes")
@given(trajectories)
@settings(deadline=None)
def test_a_trajectory_comes_back_as_it_was_written(trajectory: Trajectory) -> None:
    raw = to_json(trajectory)
    assert raw.isascii()
    assert from_json(raw) == trajectory
    assert to_json(from_json(raw)) == raw


@given(st.lists(st.tuples(some_ids, some_ids), max_size=8))
@settings(deadline=None)
def test_every_generation_comes_back_as_it_was_fed_and_sampled(generated: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    rollout = a_rollout()
    for fed, sampled in generated:
        rollout.told(TrajectoryRole.USER, "go on")
        rollout.generated("…", TokenIds(fed, sampled))
    read = from_json(to_json(rollout.trajectory))
    assert [tokens for _, tokens in read.generations()] == [TokenIds(fed, sampled) for fed, sampled in generated]
    assert not read.absent


def a_rollout() -> Rollout:
    return Rollout(id="r1", task="t", model="abc:qwen2", started_at=5)


def a_result() -> TrajectoryResult:
    return TrajectoryResult("read_file", "one\ntwo", "", 0, 0.25)


def test_a_conversation_is_kept_step_by_step() -> None:
    rollout = a_rollout()
    rollout.told(TrajectoryRole.SYSTEM, "You have tools.")
    rollout.told(TrajectoryRole.USER, "read it")
    rollout.generated('{"tool": "read_file"}', TokenIds((1, 2, 3), (7, 8)))
    rollout.called("read_file", '{"path": "ä\\n"}')
    rollout.finished(a_result(), "It said: one, two")
    rollout.generated("one and two", TokenIds((1, 2, 3, 7, 8, 4), (9,)))
    assert rollout.trajectory == Trajectory(
        "r1",
        "t",
        "abc:qwen2",
        5,
        (
            TrajectoryStep(TrajectoryRole.SYSTEM, "You have tools."),
            TrajectoryStep(TrajectoryRole.USER, "read it", input_ids=(1, 2, 3)),
            TrajectoryStep(
                TrajectoryRole.ASSISTANT,
                '{"tool": "read_file"}',
                output_ids=(7, 8),
                tool_call=TrajectoryCall("read_file", '{"path": "ä\\n"}'),
            ),
            TrajectoryStep(TrajectoryRole.TOOL, "It said: one, two", input_ids=(4,), kept=5, tool_result=a_result()),
            TrajectoryStep(TrajectoryRole.ASSISTANT, "one and two", output_ids=(9,)),
        ),
    )


def test_a_prompt_that_was_seen_before_is_fed_its_last_token_again() -> None:
    rollout = a_rollout()
    rollout.told(TrajectoryRole.USER, "once")
    rollout.generated("a", TokenIds((1, 2), (3,)))
    rollout.told(TrajectoryRole.USER, "once more")
    rollout.generated("b", TokenIds((1, 2), (4,)))
    assert rollout.trajectory.steps[2] == TrajectoryStep(TrajectoryRole.USER, "once more", input_ids=(2,), kept=1)


def test_asking_twice_after_one_message_shows_what_was_asked() -> None:
    rollout = a_rollout()
    rollout.told(TrajectoryRole.USER, "read and write")
    rollout.generated("[]", TokenIds((1,), (2,)))
    rollout.generated("{}", TokenIds((3,), (4,)), asked="read")
    roles = [(step.role, step.content) for step in rollout.trajectory.steps]
    assert roles == [
        (TrajectoryRole.USER, "read and write"),
        (TrajectoryRole.ASSISTANT, "[]"),
        (TrajectoryRole.USER, "read"),
        (TrajectoryRole.ASSISTANT, "{}"),
    ]


@pytest.mark.parametrize("tokens", [None, TokenIds((), (1,)), TokenIds((1,), ())])
def test_ids_that_the_server_did_not_tell_are_absent_and_break_the_sequence(tokens: TokenIds | None) -> None:
    rollout = a_rollout()
    rollout.generated("first", TokenIds((1, 2), (3,)), asked="one")
    rollout.generated("second", tokens, asked="two")
    rollout.generated("third", TokenIds((1, 2, 3, 4), (5,)), asked="three")
    trajectory = from_json(to_json(rollout.trajectory))
    assert trajectory.absent
    assert json.loads(to_json(trajectory))["absent"] is True
    assert list(trajectory.generations()) == [(1, TokenIds((1, 2), (3,))), (3, None), (5, TokenIds((1, 2, 3, 4), (5,)))]
    assert trajectory.steps[4].kept == 0


def test_a_reply_that_cannot_be_used_says_why() -> None:
    rollout = a_rollout()
    rollout.generated("Sure!", None, asked="read it")
    rollout.faulted("not JSON")
    assert rollout.trajectory.steps[-1].fault == "not JSON"
    assert from_json(to_json(rollout.trajectory)) == rollout.trajectory


def test_the_second_call_of_one_reply_is_a_step_whose_ids_stand_with_the_first() -> None:
    rollout = a_rollout()
    rollout.generated("", TokenIds((1,), (2, 3)), asked="both")
    rollout.called("a", "{}")
    rollout.called("b", "{}")
    *_, first, second = rollout.trajectory.steps
    assert (first.output_ids, second.output_ids) == ((2, 3), ())
    assert second == TrajectoryStep(TrajectoryRole.ASSISTANT, "", tool_call=TrajectoryCall("b", "{}"))
    assert list(rollout.trajectory.generations()) == [(1, TokenIds((1,), (2, 3)))]
    assert not rollout.trajectory.absent


def test_a_call_that_nothing_led_to_is_kept_too() -> None:
    rollout = a_rollout()
    rollout.called("a", "{}")
    assert [step.tool_call for step in rollout.trajectory.steps] == [TrajectoryCall("a", "{}")]


def test_the_score_of_a_rollout_is_the_last_one_given() -> None:
    trajectory = Trajectory(
        "r", "t", "m", 0, (TrajectoryStep(TrajectoryRole.USER, "a", reward=0.5), TrajectoryStep(TrajectoryRole.ASSISTANT, "b"))
    )
    assert trajectory.reward == 0.5
    assert trajectory.rewarded(1).reward == 1
    assert Trajectory("r", "t", "m", 0).reward is None


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), True])
def test_a_score_that_is_no_number_is_refused(reward: float) -> None:
    with pytest.raises(MalformedTrajectory, match="reward is not a number"):
        Trajectory("r", "t", "m", 0, (TrajectoryStep(TrajectoryRole.USER, "a"),)).rewarded(reward)


def test_there_must_be_something_to_score() -> None:
    with pytest.raises(MalformedTrajectory, match="no step"):
        Trajectory("r", "t", "m", 0).rewarded(1)


def test_half_of_a_character_survives_as_bytes() -> None:
    raw = to_json(Trajectory("r", "t", "m", 0, (TrajectoryStep(TrajectoryRole.ASSISTANT, "\ud83d"),)))
    assert to_json(from_json(raw)) == raw


# ── files that are none ─────────────────────────────────────────────────────────────────────────────────────────────────


def a_document() -> dict[str, Any]:
    step = TrajectoryStep(
        TrajectoryRole.ASSISTANT,
        "x",
        input_ids=(1,),
        output_ids=(2,),
        tool_call=TrajectoryCall("a", "{}"),
        tool_result=a_result(),
        reward=1.5,
    )
    document: dict[str, Any] = json.loads(to_json(Trajectory("r", "t", "m", 0, (step,))))
    return document


def step_with(**members: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        document["steps"][0] |= members

    return change


def head_with(**members: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        document.update(members)

    return change


def head_without(name: str) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        del document[name]

    return change


def result_with(**members: Any) -> dict[str, Any]:
    return {"name": "a", "stdout": "", "stderr": "", "exit_code": 0, "duration_sec": 0, **members}


FAULTS: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (head_with(version=2), "not a countersign-trajectory of version 1"),
    (head_with(format="else"), "not a countersign-trajectory"),
    (head_without("task"), "the file has no `task`"),
    (head_with(extra=1), "the file has a member `extra`"),
    (head_with(id=7), "id is not text"),
    (head_with(started_at=-1), "started_at is out of range"),
    (head_with(started_at=True), "started_at is not a whole number"),
    (head_with(steps={}), "steps is not a list"),
    (head_with(steps=[1]), "step 0 is not an object"),
    (head_with(absent=True), "`absent` does not say what the steps say"),
    (head_with(absent=0), "absent is not true or false"),
    (step_with(role="oracle"), "step 0: `role` is none of system, user, assistant, tool"),
    (step_with(role=["user"]), "step 0: `role` is none of"),
    (step_with(content=None), "step 0: content is not text"),
    (step_with(input_ids=[1, -1]), "step 0: input_ids is out of range"),
    (step_with(output_ids=[2**31]), "step 0: output_ids is out of range"),
    (step_with(output_ids=[1.0]), "step 0: output_ids is not a whole number"),
    (step_with(kept=1), "step 0: `kept` is more than there is"),
    (step_with(fault=1), "step 0: fault is not text"),
    (step_with(reward="good"), "step 0: reward is not a number"),
    (step_with(reward=10**400), "step 0: reward is not a number within range"),
    (step_with(tool_call={"name": "a"}), "step 0: tool_call has no `arguments_json`"),
    (step_with(tool_call={"name": "a", "arguments_json": {}}), "step 0: tool_call.arguments_json is not text"),
    (step_with(tool_result=result_with(exit_code="0")), "step 0: tool_result.exit_code is not a whole number"),
    (step_with(tool_result=result_with(duration_sec=None)), "step 0: tool_result.duration_sec is not a number"),
    (step_with(tool_result=[]), "step 0: tool_result is not an object"),
]


@pytest.mark.parametrize(("change", "place"), FAULTS, ids=[place for _, place in FAULTS])
def test_a_file_that_is_wrong_is_refused_with_the_place(change: Callable[[dict[str, Any]], None], place: str) -> None:
    document = a_document()
    change(document)
    with pytest.raises(MalformedTrajectory) as caught:
        from_json(json.dumps(document).encode())
    assert caught.value.message.startswith(place)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "not JSON"),
        (b'{"format"', "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[]", "the file is not an object"),
        (b'{"a": NaN}', "`NaN` is not JSON"),
        (b'{"a": 1, "a": 2}', "stands twice"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
    ],
    ids=["empty", "cut-off", "no-text", "list", "nan", "twice", "huge-number", "deep"],
)
def test_what_is_no_trajectory_is_refused_in_words(raw: bytes, words: str) -> None:
    with pytest.raises(MalformedTrajectory, match=words):
        from_json(raw)


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_any_bytes_are_a_trajectory_or_refused(raw: bytes) -> None:
    with pytest.raises(MalformedTrajectory):
        from_json(raw)
