"""Files of one folder, over both ways of opening (docs/SECURITY.md case 47)."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import socket
import stat
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gateway.adapters.tools.builtin import beneath, files
from gateway.adapters.tools.builtin.beneath import Opener, choose_opener, open_by_kernel, open_by_steps
from gateway.adapters.tools.builtin.files import FileContent, Workspace
from gateway.core.errors import ToolFailed

NEVER = threading.Event()


def test_linux_has_the_kernel_hold_to_the_folder() -> None:
    if sys.platform.startswith("linux") and tuple(int(part) for part in os.uname().release.split(".")[:2]) >= (5, 6):
        assert choose_opener() is open_by_kernel


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EPERM])
def test_without_the_system_call_the_steps_are_taken(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(root: int, parts: Sequence[str], flags: int, mode: int = 0) -> int:
        raise OSError(code, "refused")

    monkeypatch.setattr(beneath, "open_by_kernel", refuse)
    assert choose_opener() is open_by_steps


# ── reading and listing ──


def test_a_file_is_read(workspace: Workspace) -> None:
    content = workspace.read(("notes", "old.txt"), NEVER)
    assert (content.data, content.size) == (b"old", 3)


def test_only_the_beginning_of_a_large_file_is_read(workspace: Workspace, root: Path) -> None:
    with (root / "large").open("wb") as large:
        large.truncate(10 * 1024**3)
    content = workspace.read(("large",), NEVER, limit=1000)
    assert (len(content.data), content.size) == (1000, 10 * 1024**3)


def test_reading_stops_when_nobody_waits_any_more(workspace: Workspace, root: Path) -> None:
    (root / "large").write_bytes(b"x" * files.MAX_READ)
    cancelled = threading.Event()
    cancelled.set()
    assert workspace.read(("large",), cancelled).data == b""


def test_a_folder_is_listed_by_name_with_kinds_and_sizes(workspace: Workspace, root: Path) -> None:
    (root / "b.txt").write_text("12")
    (root / "a").symlink_to("b.txt")
    os.mkfifo(root / "c")
    entries, complete = workspace.list(())
    assert [(entry.name, entry.kind, entry.bytes) for entry in entries] == [
        ("a", "link", None),
        ("b.txt", "file", 2),
        ("c", "other", None),
        ("notes", "folder", None),
    ]
    assert complete


def test_a_very_full_folder_is_listed_in_part(workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        (root / "notes" / f"{number:02}").touch()
    entries, complete = workspace.list(("notes",), limit=10)
    assert ([entry.name for entry in entries], complete) == ([f"{number:02}" for number in range(10)], False)
    monkeypatch.setattr(files, "MAX_SCANNED", 5)
    entries, complete = workspace.list(("notes",))
    assert (len(entries), complete) == (5, False)


# ── what is not reached ──


def break_out_with_absolute_link(root: Path) -> None:
    (root / "x").symlink_to(root.parent / "secret.txt")


def break_out_with_relative_link(root: Path) -> None:
    (root / "x").symlink_to("../secret.txt")


def link_inside(root: Path) -> None:
    (root / "x").symlink_to("notes/old.txt")


def link_to_itself(root: Path) -> None:
    (root / "x").symlink_to("x")


def link_to_nothing(root: Path) -> None:
    (root / "x").symlink_to(root.parent / "new.txt")


def link_to_device(root: Path) -> None:
    (root / "x").symlink_to("/dev/zero")


def magic_link(root: Path) -> None:
    (root / "x").symlink_to("/proc/self/cwd")


def hard_link(root: Path) -> None:
    os.link(root.parent / "secret.txt", root / "x")


def fifo(root: Path) -> None:
    os.mkfifo(root / "x")


def device(root: Path) -> None:
    try:
        os.mknod(root / "x", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("making a device needs root")


def unix_socket(root: Path) -> None:
    here = Path.cwd()
    os.chdir(root)  # a socket's address is short, the test folder's path is not
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("x")
    finally:
        os.chdir(here)


TRAPS = [
    break_out_with_absolute_link,
    break_out_with_relative_link,
    link_inside,
    link_to_itself,
    link_to_nothing,
    link_to_device,
    magic_link,
    hard_link,
    fifo,
    device,
    unix_socket,
]


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("deed", ["read", "write", "delete"])
async def test_a_trap_is_neither_read_nor_written_nor_deleted_nor_waited_for(
    workspace: Workspace, root: Path, trap: Callable[[Path], None], deed: str
) -> None:
    trap(root)
    before = os.lstat(root / "x")
    act: dict[str, Callable[[], object]] = {
        "read": lambda: workspace.read(("x",), NEVER),
        "write": lambda: workspace.write(("x",), b"changed"),
        "delete": lambda: workspace.delete(("x",)),
    }
    async with asyncio.timeout(5):
        with pytest.raises(ToolFailed):
            await asyncio.to_thread(act[deed])
    after = os.lstat(root / "x")
    assert (after.st_ino, after.st_mode, after.st_nlink) == (before.st_ino, before.st_mode, before.st_nlink)
    assert (root.parent / "secret.txt").read_text() == "secret"
    assert not (root.parent / "new.txt").exists()
    assert (root / "notes" / "old.txt").read_text() == "old"


@pytest.mark.parametrize("target", ["../outside", "notes", "/", "/proc/self/root", "/proc/self/fd"])
@pytest.mark.parametrize("deed", ["list", "read", "write", "delete"])
def test_no_folder_on_the_way_may_be_a_link(workspace: Workspace, root: Path, target: str, deed: str) -> None:
    (root / "x").symlink_to(target)
    act: dict[str, Callable[[], object]] = {
        "list": lambda: workspace.list(("x",)),
        "read": lambda: workspace.read(("x", "secret.txt"), NEVER),
        "write": lambda: workspace.write(("x", "new.txt"), b"changed"),
        "delete": lambda: workspace.delete(("x", "secret.txt")),
    }
    with pytest.raises(ToolFailed):
        act[deed]()
    assert sorted(path.name for path in (root.parent / "outside").iterdir()) == ["secret.txt"]
    assert sorted(path.name for path in (root / "notes").iterdir()) == ["old.txt"]


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT])
@pytest.mark.parametrize("parts", [("x",), ("x", "secret.txt")])
@pytest.mark.parametrize("target", ["../outside", "../secret.txt", "notes", "/proc/self/root", "/proc/self/fd/0"])
def test_an_opener_follows_no_link_by_itself(opener: Opener, root: Path, target: str, parts: tuple[str, ...], flags: int) -> None:
    (root / "x").symlink_to(target)
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with pytest.raises(OSError) as caught:  # noqa: PT011 # the two ways give different numbers
            opener(descriptor, parts, flags)
        assert caught.value.errno in (errno.ELOOP, errno.ENOTDIR, errno.EXDEV)
    finally:
        os.close(descriptor)


@contextmanager
def swapping(root: Path) -> Generator[None, None, None]:
    """`flip` and `flop`, a folder and a link out of the workspace, change places without a moment between."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        pytest.skip("no RENAME_EXCHANGE here")
    (root / "flip").mkdir()
    (root / "flip" / "secret.txt").write_text("harmless")
    (root / "flop").symlink_to("../outside")
    one, other = os.fsencode(root / "flip"), os.fsencode(root / "flop")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            libc.renameat2(-100, one, -100, other, 2)  # AT_FDCWD, RENAME_EXCHANGE

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(5)


def test_a_race_between_folder_and_link_leads_nowhere(workspace: Workspace, root: Path) -> None:
    """docs/SECURITY.md case 47: the same race made check-then-open leak 63 times."""
    seen: set[bytes] = set()
    with swapping(root):
        for _ in range(2_000):
            try:
                seen.add(workspace.read(("flip", "secret.txt"), NEVER).data)
            except ToolFailed:
                seen.add(b"refused")
    assert seen <= {b"harmless", b"refused"}


def test_a_race_never_writes_or_deletes_outside(workspace: Workspace, root: Path) -> None:
    with swapping(root):
        for _ in range(300):
            with suppress(ToolFailed):
                workspace.write(("flip", "new.txt"), b"x")
            with suppress(ToolFailed):
                workspace.delete(("flip", "secret.txt"))
    assert [path.name for path in (root.parent / "outside").iterdir()] == ["secret.txt"]


def test_a_race_never_edits_moves_or_makes_anything_outside(workspace: Workspace, root: Path) -> None:
    """docs/SECURITY.md case 185."""
    outside = root.parent / "outside"
    secret = (outside / "secret.txt").read_bytes()
    edited: set[bytes] = set()

    def note(content: FileContent) -> bytes:
        edited.add(content.data)
        return b"harmless"

    here, there = ("flip", "secret.txt"), ("flip", "moved.txt")
    with swapping(root):
        for number in range(200):
            for deed in (
                lambda: workspace.append(here, b"x"),
                lambda: workspace.edit(here, note, 100),
                lambda: workspace.move(here, there),
                lambda: workspace.move(there, here),
                lambda number=number: workspace.make_folder(("flip", f"new-{number}")),
            ):
                with suppress(ToolFailed):
                    deed()
    assert [path.name for path in outside.iterdir()] == ["secret.txt"]
    assert (outside / "secret.txt").read_bytes() == secret
    assert not any(secret in each for each in edited)
