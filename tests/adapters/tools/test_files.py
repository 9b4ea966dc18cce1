"""Files of one folder, over both ways of opening (security.md section 5 and row 47)."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gateway.adapters.tools import beneath, files
from gateway.adapters.tools.beneath import Opener, choose_opener, open_by_kernel, open_by_steps
from gateway.adapters.tools.files import Workspace, require_folder
from gateway.adapters.tools.paths import read_path
from gateway.core.errors import Misconfigured, ToolFailed

KERNEL = pytest.param(
    open_by_kernel, id="kernel", marks=pytest.mark.skipif(choose_opener() is not open_by_kernel, reason="no openat2 here")
)
STEPS = pytest.param(open_by_steps, id="steps")
NEVER = threading.Event()


@pytest.fixture(params=[KERNEL, STEPS])
def opener(request: pytest.FixtureRequest) -> Opener:
    return request.param


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with something outside of it to steal."""
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    inside = tmp_path / "inside"
    (inside / "notes").mkdir(parents=True)
    (inside / "notes" / "old.txt").write_text("old")
    return inside


@pytest.fixture
def workspace(root: Path, opener: Opener) -> Workspace:
    return Workspace(root, opener)


@pytest.fixture(autouse=True)
def no_descriptor_is_left_open() -> Iterator[None]:
    def count() -> int:
        return len(os.listdir("/dev/fd"))

    before = count()
    yield
    assert count() == before


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


def test_a_very_full_folder_is_told_in_part(workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    """security.md section 5: the same race made check-then-open leak 63 times."""
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


# ── writing ──


def test_a_file_is_written_with_the_folders_on_its_way(workspace: Workspace, root: Path) -> None:
    assert workspace.write(("a", "b", "c.txt"), b"new") is False
    assert (root / "a" / "b" / "c.txt").read_bytes() == b"new"
    assert workspace.write(("a", "b", "c.txt"), b"newer") is True
    assert (root / "a" / "b" / "c.txt").read_bytes() == b"newer"
    assert [path.name for path in (root / "a" / "b").iterdir()] == ["c.txt"]


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
def test_a_full_disk_is_told_and_harms_nothing(tmp_path: Path, opener: Opener) -> None:
    """security.md row 59."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, timeout=10).returncode:
        pytest.skip("no mounting here")
    try:
        workspace = Workspace(disk, opener)
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
def test_whatever_the_system_refuses_is_told_in_words(root: Path, code: int, words: str) -> None:
    def refuse(root: int, parts: Sequence[str], flags: int, mode: int = 0) -> int:
        raise OSError(code, "text of the system", "/some/path")

    with pytest.raises(ToolFailed, match=words) as caught:
        Workspace(root, refuse).read(("a",), NEVER)
    assert "/some/path" not in caught.value.message


def test_the_kernel_is_asked_again_while_the_tree_moves_and_not_for_ever(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    class Busy:
        def syscall(self, *arguments: object) -> int:
            tried.append(1)
            ctypes.set_errno(errno.EAGAIN)
            return -1

    monkeypatch.setattr(beneath, "_libc", Busy)
    with pytest.raises(ToolFailed, match="cannot be used"):
        Workspace(root, open_by_kernel).read(("a",), NEVER)
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
