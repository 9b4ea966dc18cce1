"""Rollouts are kept whole, for their owner only, and what is no rollout is named."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gateway.adapters.storage import trajectories
from gateway.adapters.storage.trajectories import TrajectoryFolder, read_trajectories, write_whole
from gateway.agent.trajectory import Trajectory, TrajectoryRole, TrajectoryStep, to_json
from gateway.core.errors import MalformedTrajectory, Misconfigured

ROLLOUT = Trajectory("r1", "t", "m", 0, (TrajectoryStep(TrajectoryRole.USER, "hello"),))


@pytest.mark.requirement("000-36", "a rollout reads back equal")
def test_a_rollout_is_written_and_read_and_written_over(tmp_path: Path) -> None:
    folder = TrajectoryFolder(tmp_path / "made" / "here")
    path = folder.write(ROLLOUT)
    assert path.read_bytes() == to_json(ROLLOUT)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    longer = Trajectory("r1", "t", "m", 0, ROLLOUT.steps * 2)
    assert folder.write(longer) == path
    assert list(read_trajectories(path.parent)) == [(path, longer)]
    assert os.listdir(path.parent) == ["r1.atraj"]


@pytest.mark.parametrize("name", ["", "../up", ".hidden", "a/b", "a\0b", "ä", "x" * 200])
def test_an_id_that_is_no_name_of_a_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Misconfigured, match="becomes the name of a file"):
        TrajectoryFolder(tmp_path).write(Trajectory(name, "t", "m", 0))


def test_what_is_no_rollout_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    TrajectoryFolder(tmp_path).write(ROLLOUT)
    (tmp_path / "a.atraj").write_bytes(b"{")
    (tmp_path / "b.atraj").mkdir()
    os.mkfifo(tmp_path / "c.atraj")
    (tmp_path / "notes.txt").touch()
    found = [
        (path.name, each.message if isinstance(each, MalformedTrajectory) else each) for path, each in read_trajectories(tmp_path)
    ]
    assert found == [("a.atraj", "not JSON"), ("b.atraj", "not a file"), ("c.atraj", "not a file"), ("r1.atraj", ROLLOUT)]


def test_a_file_without_end_is_not_read_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trajectories, "MAX_BYTES", 10)
    TrajectoryFolder(tmp_path).write(ROLLOUT)
    ((_, found),) = read_trajectories(tmp_path)
    assert isinstance(found, MalformedTrajectory)
    assert "longer than" in found.message


def test_folders_that_cannot_be_used_are_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misconfigured, match="cannot be made"):
        TrajectoryFolder(tmp_path / "file" / "x")
    with pytest.raises(Misconfigured, match="cannot be read"):
        list(read_trajectories(tmp_path / "nowhere"))
    gone = TrajectoryFolder(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(Misconfigured, match="cannot be written"):
        gone.write(ROLLOUT)


def test_a_file_that_breaks_off_while_it_is_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")

    def pieces():
        yield b"new"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_whole(path, pieces())
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["x"])
