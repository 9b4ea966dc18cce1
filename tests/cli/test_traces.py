"""`countersign traces-to-data`, as an operator types it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gateway.adapters.storage.trajectories import TrajectoryFolder
from gateway.agent.rollout import Rollout
from gateway.agent.trajectory import TokenIds, TrajectoryRole
from gateway.cli import countersign


def keep(folder: Path, name: str, answer: str, tokens: TokenIds | None, reward: float | None = None) -> Path:
    rollout = Rollout(id=name, task="weather", model="m", started_at=0)
    rollout.told(TrajectoryRole.USER, "rain?")
    rollout.generated(answer, tokens)
    trajectory = rollout.trajectory
    return TrajectoryFolder(folder).write(trajectory if reward is None else trajectory.rewarded(reward))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    keep(tmp_path / "traj", "good", "yes\n☂", TokenIds((1, 2), (3, 4)), reward=1)
    keep(tmp_path / "traj", "bad", "no", TokenIds((1, 2), (5,)), reward=0)
    keep(tmp_path / "traj", "unknown", "perhaps", None)
    return tmp_path / "traj"


def traces_to_data(*arguments: str | Path) -> Result:
    return CliRunner().invoke(countersign, ["traces-to-data", *map(str, arguments)])


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.requirement("000-40", "rollouts become rows for fine-tuning with their ids")
def test_rows_for_fine_tuning_hold_the_ids_as_they_were(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "sft.jsonl"
    result = traces_to_data(folder, "--format", "sft", "--out", out)
    assert (result.exit_code, result.stderr) == (0, "3 rows from 3 rollouts, 1 of them without token ids\n")
    assert [row["rollout"] for row in rows(out)] == ["bad", "good", "unknown"]
    assert rows(out)[1]["input_ids"] == [1, 2, 3, 4]
    assert rows(out)[2]["absent"] is True
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_rows_can_be_limited_to_what_went_well_and_to_what_has_ids(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "sft.jsonl"
    traces_to_data(folder, "--format", "sft", "--out", out, "--min-reward", "0.5")
    assert [row["rollout"] for row in rows(out)] == ["good"]
    traces_to_data(folder, "--format", "sft", "--out", out, "--ids-only")
    assert [row["rollout"] for row in rows(out)] == ["bad", "good"]


@pytest.mark.requirement("000-40", "rewarded rollouts become preference pairs")
def test_pairs_are_made_of_rewards(folder: Path) -> None:
    result = traces_to_data(folder, "--format", "dpo", "--out", "-")
    (row,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert (row["chosen_input_ids"], row["rejected_input_ids"]) == ([3, 4], [5])
    assert result.stderr == "1 row from 3 rollouts\n"


def test_a_damaged_file_is_named_and_skipped_and_the_exit_status_says_so(folder: Path, tmp_path: Path) -> None:
    (folder / "evil\x1b[31m.atraj").write_bytes(b'{"format"')
    out = tmp_path / "sft.jsonl"
    result = traces_to_data(folder, "--format", "sft", "--out", out)
    assert result.exit_code == 1
    assert len(rows(out)) == 3
    first, last = result.stderr.splitlines()
    assert first.startswith("countersign: skipped evil")
    assert first.endswith(": not JSON")
    assert "\x1b" not in first
    assert last.endswith("; 1 file skipped")


@pytest.mark.requirement("000-36", "text that is no whole character survives the way into a row")
def test_half_a_character_survives(folder: Path, tmp_path: Path) -> None:
    keep(folder, "half", "\ud83d", None)
    out = tmp_path / "sft.jsonl"
    assert traces_to_data(folder, "--format", "sft", "--out", out).exit_code == 0
    assert [row["completion"][0]["content"] for row in rows(out) if row["rollout"] == "half"] == ["\ud83d"]


def test_what_makes_no_sense_is_refused_in_words(folder: Path, tmp_path: Path) -> None:
    assert traces_to_data(folder, "--format", "dpo", "--out", "-", "--min-reward", "1").exit_code == 2
    assert traces_to_data(folder, "--format", "ppo", "--out", "-").exit_code == 2
    assert traces_to_data(tmp_path / "nowhere", "--format", "sft", "--out", "-").exit_code == 2
    result = traces_to_data(folder, "--format", "sft", "--out", tmp_path / "no" / "where")
    assert "cannot be written" in str(result.exception)
