"""A workspace stays the folder that it was at the start, whatever is done to its path (docs/SECURITY.md case 48)."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.adapters.tools.builtin.beneath import Opener
from gateway.adapters.tools.builtin.files import Workspace
from gateway.adapters.tools.builtin.searching import search
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import Reason
from gateway.sandbox.opening import HeldFolder

NEVER = threading.Event()


def swap_for_a_link(root: Path) -> None:
    root.rename(root.with_name("old"))
    root.symlink_to(root.with_name("outside"))


def swap_for_a_folder(root: Path) -> None:
    root.rename(root.with_name("old"))
    root.with_name("outside").rename(root)


SWAPS: dict[str, Callable[[Path], None]] = {
    "a link": swap_for_a_link,
    "another folder": swap_for_a_folder,
    "nothing": shutil.rmtree,
    "a file": lambda root: (shutil.rmtree(root), root.write_text("x"))[0],
}


@pytest.mark.parametrize("swap", SWAPS.values(), ids=list(SWAPS))
def test_what_is_put_in_the_place_of_the_workspace_is_neither_read_nor_changed(
    workspace: Workspace, root: Path, swap: Callable[[Path], None]
) -> None:
    swap(root)

    for act in (
        lambda: workspace.read(("secret.txt",), NEVER),
        lambda: workspace.list(()),
        lambda: workspace.write(("new.txt",), b"new"),
        lambda: workspace.delete(("secret.txt",)),
        lambda: search(workspace, (), "secret", NEVER),
    ):
        with pytest.raises(ToolFailed, match="moved or replaced after the gateway started; put it back") as refused:
            act()
        assert refused.value.reason == Reason.SOURCE_UNAVAILABLE
    assert not list(root.parent.rglob("new.txt"))
    if root.is_dir():
        assert (root / "secret.txt").read_text() == "secret"


def test_a_link_further_up_is_not_followed_either(root: Path, opener: Opener) -> None:
    (root.with_name("outside") / "notes").mkdir()
    (root.with_name("outside") / "notes" / "old.txt").write_text("secret")
    with contextlib.closing(Workspace(root / "notes", opener)) as workspace:
        assert workspace.read(("old.txt",), NEVER).data == b"old"
        swap_for_a_link(root)
        with pytest.raises(ToolFailed, match="moved or replaced"):
            workspace.read(("old.txt",), NEVER)


def test_a_swap_right_after_the_check_leads_nowhere(workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_in_place(_: HeldFolder) -> bool:
        return True

    monkeypatch.setattr(HeldFolder, "is_in_place", is_in_place)
    swap_for_a_link(root)
    with pytest.raises(ToolFailed, match=r"there is no secret\.txt"):
        workspace.read(("secret.txt",), NEVER)
    assert workspace.read(("notes", "old.txt"), NEVER).data == b"old"


def test_a_workspace_that_is_put_back_works_again(workspace: Workspace, root: Path) -> None:
    swap_for_a_link(root)
    with pytest.raises(ToolFailed):
        workspace.read(("notes", "old.txt"), NEVER)
    root.unlink()
    root.with_name("old").rename(root)
    assert workspace.read(("notes", "old.txt"), NEVER).data == b"old"


def test_a_workspace_that_the_operator_names_by_a_link_is_the_folder_that_the_link_led_to(root: Path, opener: Opener) -> None:
    named = root.with_name("named")
    named.symlink_to(root)
    with contextlib.closing(Workspace(named, opener)) as workspace:
        assert workspace.read(("notes", "old.txt"), NEVER).data == b"old"
        named.unlink()
        named.symlink_to(root.with_name("outside"))
        assert [entry.name for entry in workspace.list(())[0]] == ["notes"]


def test_a_workspace_that_was_not_there_at_the_start_is_not_there_later(tmp_path: Path, opener: Opener) -> None:
    with contextlib.closing(Workspace(tmp_path / "later", opener)) as workspace:
        (tmp_path / "later").mkdir()
        with pytest.raises(ToolFailed, match="start the gateway again"):
            workspace.list(())


def test_a_folder_that_was_let_go_of_is_not_borrowed_again_and_a_borrower_keeps_it(root: Path) -> None:
    folder = HeldFolder(root)
    with folder.borrowed() as borrowed:
        folder.close()
        folder.close()
        assert stat.S_ISDIR(os.stat("notes", dir_fd=borrowed).st_mode)
        with pytest.raises(OSError, match="No such file"), folder.borrowed():
            pass
