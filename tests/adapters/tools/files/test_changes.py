"""Writing and deleting files of one folder, over both ways of opening (docs/SECURITY.md cases 47, 59)."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.adapters.tools.builtin import beneath, files
from gateway.adapters.tools.builtin.beneath import Opener, choose_opener, open_by_kernel, open_by_steps
from gateway.adapters.tools.builtin.files import Workspace, require_folder
from gateway.adapters.tools.builtin.paths import read_path
from gateway.core.errors import Misconfigured, ToolFailed

NEVER = threading.Event()


# ── writing ──


def test_a_file_is_written_with_the_folders_on_its_way(workspace: Workspace, root: Path) -> None:
    assert workspace.write(("a", "b", "c.txt"), b"new") is False
    assert (root / "a" / "b" / "c.txt").read_bytes() == b"new"
    assert workspace.write(("a", "b", "c.txt"), b"newer") is True
    assert (root / "a" / "b" / "c.txt").read_bytes() == b"newer"
    assert [path.name for path in (root / "a" / "b").iterdir()] == ["c.txt"]


def test_an_append_that_fails_leaves_the_file_as_it_was(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "list").write_bytes(b"milk")
    real = os.fsync

    def fail(_descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", real)
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ToolFailed, match="no space left; nothing was changed"):
        workspace.append(("list",), b"eggs\n")
    assert (root / "list").read_bytes() == b"milk"


@pytest.mark.parametrize("kind", ["folder", "link", "fifo", "second name"])
def test_nothing_is_appended_to_what_is_no_plain_file(workspace: Workspace, root: Path, kind: str) -> None:
    (root / "kept").write_bytes(b"kept")
    target = root / "target"
    match kind:
        case "folder":
            target.mkdir()
        case "link":
            target.symlink_to("kept")
        case "fifo":
            os.mkfifo(target)
        case _:
            target.hardlink_to(root / "kept")
    with pytest.raises(ToolFailed, match="target"):
        workspace.append(("target",), b"more\n")
    assert (root / "kept").read_bytes() == b"kept"


def test_a_replaced_file_keeps_its_permissions_but_no_set_user_id(workspace: Workspace, root: Path) -> None:
    (root / "run").write_text("x")
    (root / "run").chmod(0o4751)
    workspace.write(("run",), b"y")
    assert stat.S_IMODE((root / "run").stat().st_mode) == 0o751


def test_a_reader_sees_the_old_text_or_the_new_one_and_nothing_between(workspace: Workspace, root: Path) -> None:
    versions = [bytes([65 + number]) * 200_000 for number in range(4)]
    workspace.write(("big",), versions[0])
    stop = threading.Event()
    seen: set[bytes] = set()

    def look() -> None:
        while not stop.is_set():
            seen.add((root / "big").read_bytes())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for number in range(20):
            workspace.write(("big",), versions[number % 4])
    finally:
        stop.set()
        thread.join(5)
    assert seen <= set(versions)


@pytest.mark.parametrize("broken", ["write", "fsync", "replace"])
def test_a_write_that_fails_leaves_everything_as_it_was(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(files.os, broken, fail)
        with pytest.raises(ToolFailed, match="no space left"):
            workspace.write(("notes", "old.txt"), b"new")
    assert (root / "notes" / "old.txt").read_text() == "old"
    assert [path.name for path in (root / "notes").iterdir()] == ["old.txt"]


def test_what_a_crash_left_behind_is_hidden_and_removed_by_the_next_write(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    def do_nothing(*args: object, **kwargs: object) -> None: ...

    with monkeypatch.context() as patch:
        # SIGKILL between write and rename: neither the rename nor the clean-up happens.
        patch.setattr(files.os, "replace", die)
        patch.setattr(files.os, "unlink", do_nothing)
        with pytest.raises(KeyboardInterrupt):
            workspace.write(("notes", "old.txt"), b"half")
    assert len(list((root / "notes").iterdir())) == 2
    assert [entry.name for entry in workspace.list(("notes",))[0]] == ["old.txt"]
    workspace.write(("notes", "old.txt"), b"whole")
    assert [path.name for path in (root / "notes").iterdir()] == ["old.txt"]
    assert (root / "notes" / "old.txt").read_bytes() == b"whole"


@pytest.mark.skipif(shutil.which("mount") is None or os.geteuid() != 0, reason="needs a small file system")
def test_a_full_disk_is_reported_and_changes_nothing(tmp_path: Path, opener: Opener) -> None:
    """docs/SECURITY.md case 59."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, timeout=10).returncode:
        pytest.skip("no mounting here")
    try:
        # A file system with an open folder cannot be unmounted.
        with contextlib.closing(Workspace(disk, opener)) as workspace:
            workspace.write(("a",), b"first")
            with pytest.raises(ToolFailed, match="no space left"):
                workspace.write(("a",), b"x" * 200_000)
            assert workspace.read(("a",), NEVER).data == b"first"
            assert [entry.name for entry in workspace.list(())[0]] == ["a"]
    finally:
        subprocess.run(["umount", disk], check=True, timeout=10)


# ── deleting ──


def test_a_file_is_deleted(workspace: Workspace, root: Path) -> None:
    assert workspace.delete(("notes", "old.txt")) == 3
    assert list((root / "notes").iterdir()) == []


@pytest.mark.parametrize("parts", [(), ("notes",)])
def test_a_folder_is_not_a_file(workspace: Workspace, root: Path, parts: tuple[str, ...]) -> None:
    for act in (
        lambda: workspace.delete(parts),
        lambda: workspace.write(parts, b""),
        lambda: workspace.read(parts, NEVER),
    ):
        with pytest.raises(ToolFailed):
            act()
    assert (root / "notes" / "old.txt").exists()


def test_a_file_is_not_a_folder(workspace: Workspace) -> None:
    path = read_path("notes/old.txt/x")
    for act in (
        lambda: workspace.list(("notes", "old.txt")),
        lambda: workspace.write(path, b""),
        lambda: workspace.read(path, NEVER),
        lambda: workspace.delete(path),
    ):
        with pytest.raises(ToolFailed, match="is not a folder"):
            act()


def test_what_is_not_there_is_said_to_be_not_there(workspace: Workspace) -> None:
    for act in (
        lambda: workspace.list(("none",)),
        lambda: workspace.read(("none",), NEVER),
        lambda: workspace.delete(("none",)),
        lambda: workspace.delete(("none", "x")),
    ):
        with pytest.raises(ToolFailed, match="there is no"):
            act()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.EACCES, "no permission"),
        (errno.EROFS, "no permission"),
        (errno.ENAMETOOLONG, "too long"),
        (errno.EISDIR, "is a folder"),
        (errno.ENXIO, "not a regular file"),
        (errno.EXDEV, "links are not followed"),
        (errno.EDQUOT, "no space left"),
        (errno.EIO, "cannot be used"),
        (errno.EMFILE, "cannot be used"),
    ],
)
def test_every_refusal_of_the_system_is_reported_in_words(root: Path, code: int, words: str) -> None:
    def refuse(root: int, parts: Sequence[str], flags: int, mode: int = 0) -> int:
        raise OSError(code, "text of the system", "/some/path")

    with contextlib.closing(Workspace(root, refuse)) as workspace, pytest.raises(ToolFailed, match=words) as caught:
        workspace.read(("a",), NEVER)
    assert "/some/path" not in caught.value.message


def test_the_kernel_is_asked_again_while_the_tree_moves_and_not_for_ever(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    class Busy:
        def syscall(self, *arguments: object) -> int:
            tried.append(1)
            ctypes.set_errno(errno.EAGAIN)
            return -1

    monkeypatch.setattr(beneath, "_libc", Busy)
    with contextlib.closing(Workspace(root, open_by_kernel)) as workspace, pytest.raises(ToolFailed, match="cannot be used"):
        workspace.read(("a",), NEVER)
    assert 1 < len(tried) < 100


def test_elsewhere_than_on_linux_the_steps_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert choose_opener() is open_by_steps


def test_no_failure_names_a_place_outside_the_workspace(workspace: Workspace, root: Path) -> None:
    shutil.rmtree(root)
    with pytest.raises(ToolFailed) as caught:
        workspace.list(())
    assert str(root) not in caught.value.message


def test_a_workspace_must_be_a_folder(tmp_path: Path) -> None:
    require_folder(tmp_path)
    (tmp_path / "file").touch()
    for wrong in (tmp_path / "file", tmp_path / "none"):
        with pytest.raises(Misconfigured):
            require_folder(wrong)
