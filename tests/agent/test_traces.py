"""Rows for training hold exactly what was fed and sampled, and pairs compare only what is comparable."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.agent.rollout import Rollout
from gateway.agent.traces import dpo_rows, sft_rows
from gateway.agent.trajectory import TokenIds, Trajectory, TrajectoryResult, TrajectoryRole, from_json, to_json

CALL = '{"tool": "list", "arguments": {}}'


def rollout(
    name: str, *replies: tuple[str, TokenIds | None], reward: float | None = None, task: str = "t", model: str = "m"
) -> Trajectory:
    """A question, and replies with a tool's result after each but the last."""
    growing = Rollout(id=name, task=task, model=model, started_at=0)
    growing.told(TrajectoryRole.USER, "what is there?")
    for index, (content, tokens) in enumerate(replies):
        if index:
            growing.called("list", "{}")
            growing.finished(TrajectoryResult("list", "a.txt", "", 0, 0.1), "a.txt")
        growing.generated(content, tokens)
    made = growing.trajectory
    return made if reward is None else made.rewarded(reward)


def test_a_row_of_fine_tuning_is_one_reply_with_all_that_led_to_it() -> None:
    made = rollout("r", (CALL, TokenIds((1, 2), (3, 4))), ("a file", TokenIds((1, 2, 3, 4, 5), (6,))), reward=0.5)
    first, second = sft_rows(made)
    assert first == {
        "task": "t",
        "rollout": "r",
        "step": 1,
        "prompt": [{"role": "user", "content": "what is there?"}],
        "completion": [{"role": "assistant", "content": CALL}],
        "reward": 0.5,
        "input_ids": [1, 2, 3, 4],
        "completion_mask": [0, 0, 1, 1],
    }
    assert [message["role"] for message in second["prompt"]] == ["user", "assistant", "tool"]
    assert (second["input_ids"], second["completion_mask"]) == ([1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 1])


def test_under_another_system_prompt_the_conversation_begins_anew() -> None:
    growing = Rollout(id="r", task="t", model="m", started_at=0)
    for system in ("Act.", "Report."):
        growing.told(TrajectoryRole.SYSTEM, system)
        growing.told(TrajectoryRole.USER, "what is there?")
        growing.generated("x", None)
    assert [[message["content"] for message in row["prompt"]] for row in sft_rows(growing.trajectory)] == [
        ["Act.", "what is there?"],
        ["Report.", "what is there?"],
    ]


ids = st.lists(st.integers(0, 4), min_size=1, max_size=6).map(tuple)


@pytest.mark.requirement("000-36", "rows for training hold the recorded ids")
@given(st.lists(st.tuples(ids, ids), min_size=1, max_size=6))
@settings(deadline=None)
def test_ids_in_rows_are_those_that_were_recorded(generated: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    made = from_json(to_json(rollout("r", *(("x", TokenIds(fed, sampled)) for fed, sampled in generated))))
    rows = list(sft_rows(made))
    assert [row["input_ids"] for row in rows] == [[*fed, *sampled] for fed, sampled in generated]
    assert [sum(row["completion_mask"]) for row in rows] == [len(sampled) for _, sampled in generated]


def test_a_row_without_ids_says_so_and_can_be_left_out() -> None:
    made = rollout("r", (CALL, None), ("a file", TokenIds((1,), (2,))))
    first, _ = sft_rows(made)
    assert first["absent"] is True
    assert "input_ids" not in first
    assert [row["step"] for row in sft_rows(made, ids_only=True)] == [3]


@pytest.mark.parametrize(("reward", "rows"), [(None, 0), (0.4, 0), (0.5, 1), (1, 1)])
def test_only_rollouts_that_were_scored_high_enough_are_taken(reward: float | None, rows: int) -> None:
    assert len(list(sft_rows(rollout("r", ("hi", None), reward=reward), min_reward=0.5))) == rows


def test_a_reply_that_had_to_be_repaired_or_broke_off_teaches_nothing() -> None:
    growing = Rollout(id="r", task="t", model="m", started_at=0)
    growing.told(TrajectoryRole.USER, "read it")
    growing.generated("Sure, I will!", None)
    growing.faulted("not JSON")
    growing.told(TrajectoryRole.USER, "Reply with JSON.")
    growing.generated("", None)
    growing.told(TrajectoryRole.USER, "again")
    growing.generated(CALL, None)
    assert [row["completion"][0]["content"] for row in sft_rows(growing.trajectory)] == [CALL]


def test_a_call_in_the_runtimes_own_form_is_written_as_one() -> None:
    growing = Rollout(id="r", task="t", model="m", started_at=0)
    growing.told(TrajectoryRole.USER, "read it")
    growing.generated("", None)
    growing.called("read", '{"path": "a"}')
    (row,) = sft_rows(growing.trajectory)
    call = {"type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
    assert row["completion"] == [{"role": "assistant", "content": "", "tool_calls": [call]}]


# ── pairs ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_two_rollouts_of_one_task_are_compared_where_they_part() -> None:
    shared = (CALL, TokenIds((1,), (2,)))
    good = rollout("good", shared, ("a file", TokenIds((1, 2, 3), (4,))), reward=1)
    bad = rollout("bad", shared, ("nothing", TokenIds((1, 2, 3), (5, 6))), reward=0)
    (row,) = dpo_rows([bad, good])
    assert row.pop("prompt")[-1] == {"role": "tool", "content": "a.txt"}
    assert row == {
        "task": "t",
        "chosen_rollout": "good",
        "rejected_rollout": "bad",
        "step": 3,
        "chosen": [{"role": "assistant", "content": "a file"}],
        "rejected": [{"role": "assistant", "content": "nothing"}],
        "prompt_input_ids": [1, 2, 3],
        "chosen_input_ids": [4],
        "rejected_input_ids": [5, 6],
        "chosen_reward": 1,
        "rejected_reward": 0,
    }


def pairs(*made: Trajectory, **options: Any) -> list[tuple[str, str]]:
    return [(row["chosen_rollout"], row["rejected_rollout"]) for row in dpo_rows(made, **options)]


@pytest.mark.requirement("000-40", "the higher reward is chosen in a pair")
def test_scores_decide_who_is_chosen_and_equal_ones_give_no_pair() -> None:
    made = [rollout(name, (name, TokenIds((1,), (index,))), reward=reward) for index, (name, reward) in enumerate(SCORED)]
    assert pairs(*made) == [("best", "middle"), ("best", "worst"), ("same", "middle"), ("same", "worst"), ("middle", "worst")]


SCORED = [("worst", 0.0), ("best", 1.0), ("middle", 0.5), ("same", 1.0), ("unscored", None)]


def test_rollouts_of_other_tasks_or_models_or_other_prompts_are_not_compared() -> None:
    good = rollout("good", ("a", TokenIds((1,), (2,))), reward=1)
    assert pairs(good, rollout("bad", ("b", TokenIds((1,), (3,))), reward=0, task="else")) == []
    assert pairs(good, rollout("bad", ("b", TokenIds((1,), (3,))), reward=0, model="else")) == []
    assert pairs(good, rollout("bad", ("b", TokenIds((9,), (3,))), reward=0)) == []
    assert pairs(good, rollout("bad", ("a", TokenIds((1,), (2,))), reward=0)) == []


def test_the_same_pair_of_replies_is_given_once() -> None:
    good = rollout("good", ("a", TokenIds((1,), (2,))), reward=1)
    bad = [rollout(f"bad{number}", ("b", TokenIds((1,), (3,))), reward=0) for number in range(3)]
    assert pairs(good, *bad) == [("good", "bad0")]


def test_without_ids_words_are_compared_and_the_row_says_so() -> None:
    good, bad = rollout("good", ("a", None), reward=1), rollout("bad", ("b", TokenIds((1,), (3,))), reward=0)
    (row,) = dpo_rows([good, bad])
    assert row["absent"] is True
    assert "prompt_input_ids" not in row
    assert pairs(good, bad, ids_only=True) == []
