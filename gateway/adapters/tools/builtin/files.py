"""Files of one folder: listed, read, written and deleted through descriptors that cannot lead out of it."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.adapters.tools.builtin.beneath import Opener, choose_opener, rename_to_free_name
from gateway.adapters.tools.builtin.paths import RESERVED_PREFIX, write_path
from gateway.core.effects import show
from gateway.core.errors import Misconfigured, ToolFailed
from gateway.core.vocabulary import Reason
from gateway.sandbox.opening import HeldFolder

MAX_READ = 1024 * 1024
"""Bytes of a file that are read; 128 times what a result may hold."""

MAX_ENTRIES = 500
"""Entries of a folder that are listed, unless a caller asks for more."""

MAX_SCANNED = 50_000
"""Entries of a folder that are looked at, so that sorting a folder of millions costs nothing."""

CHUNK = 64 * 1024

_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
"""Opening a FIFO without O_NONBLOCK waits for its other end, opening a terminal may make it ours."""

_APPEND: Final = os.O_RDWR | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY
"""Read too: whether the last line has ended is seen through the same descriptor."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY

_PERMISSIONS: Final = 0o777
"""What a replaced file keeps of its mode: no set-user-id."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One name in a folder. `kind` is `file`, `folder`, `link` or `other`; `bytes` is the size of a file."""

    name: str
    kind: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class FileContent:
    """The beginning of a file; `size` is what the whole has, in bytes."""

    data: bytes
    size: int


class Workspace:
    """One folder and everything below it. Methods block; paths are parts from `read_path`; failures are ToolFailed.

    It is the folder that is at `root` now, whatever is put there later; `close` lets go of it.
    """

    def __init__(self, root: Path, opener: Opener | None = None) -> None:
        self._folder = HeldFolder(root)
        self._open = opener or choose_opener()
        # Two writers of one name would share its temporary file.
        self._writing = threading.Lock()

    def list(self, parts: tuple[str, ...], limit: int = MAX_ENTRIES) -> tuple[list[FileEntry], bool]:
        """What a folder holds, sorted by name, and whether that is all."""
        with _errors_named(parts), self.opened(parts, _FOLDER) as folder, os.scandir(folder) as found:
            entries: list[FileEntry] = []
            complete = True
            for entry in found:
                if entry.name.startswith(RESERVED_PREFIX):
                    continue
                if len(entries) >= MAX_SCANNED:
                    complete = False
                    break
                with suppress(FileNotFoundError):
                    entries.append(_describe(entry))
        entries.sort(key=lambda entry: entry.name)
        return entries[:limit], complete and len(entries) <= limit

    def read(self, parts: tuple[str, ...], cancelled: threading.Event, limit: int = MAX_READ) -> FileContent:
        """The first `limit` bytes of a regular file."""
        with _errors_named(parts), self.opened(parts, _READ) as descriptor:
            return _read(descriptor, parts, limit, cancelled)

    def write(self, parts: tuple[str, ...], data: bytes) -> bool:
        """Make the file hold exactly `data`, durably, or leave everything as it was. Says whether it replaced one."""
        with _errors_named(parts), self._writing:
            return self._replace(_require_name(parts), data)

    def append(self, parts: tuple[str, ...], data: bytes) -> bool:
        """Put `data` at the end of the file, on a line of its own, durably, or leave the file as it was. Says whether there was
        one; a new one holds exactly `data`."""
        with _errors_named(parts), self._writing:
            try:
                with self.opened(_require_name(parts), _APPEND) as descriptor:
                    _append(descriptor, parts, data)
            except FileNotFoundError:
                return self._replace(parts, data)
        return True

    def edit(self, parts: tuple[str, ...], change: Callable[[FileContent], bytes], limit: int) -> tuple[int, int]:
        """Make the file hold what `change` makes of its content, durably, or leave it as it was; its sizes before and after.

        `change` gets at most `limit` bytes. What somebody else writes into the file meanwhile is not lost: the edit fails then.
        """
        with _errors_named(parts), self._writing:
            with self.opened(_require_name(parts), _READ) as descriptor:
                content = _read(descriptor, parts, limit, threading.Event())
                read = os.fstat(descriptor)
            data = change(content)
            self._replace(parts, data, expected=read)
        return content.size, len(data)

    def move(self, parts: tuple[str, ...], to: tuple[str, ...]) -> int:
        """Give a regular file another name, durably, in a folder that is made if it is not there; its size in bytes. Whatever has
        that name already is never replaced."""
        *folders, name = _require_name(parts)
        *new_folders, new_name = _require_name(to)
        with _errors_named(parts, to), self._writing, self.opened(folders, _FOLDER) as folder:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            _require_plain(status, parts)
            with self.opened((), _FOLDER) as root, self._made(root, new_folders) as new_folder:
                # A link that is put in the file's place by now is moved itself; it is not followed, and still leads nowhere.
                rename_to_free_name(folder, name, new_folder, new_name)
                os.fsync(new_folder)
            os.fsync(folder)
        return status.st_size

    def make_folder(self, parts: tuple[str, ...]) -> bool:
        """Have a folder there, durably, with those above it. Says whether it was not there before."""
        _require_name(parts)
        with _errors_named(parts), self._writing:
            try:
                with self.opened(parts, _FOLDER):
                    return False
            except FileNotFoundError:
                with self.opened((), _FOLDER) as root, self._made(root, parts):
                    return True

    def status(self, parts: tuple[str, ...]) -> os.stat_result | None:
        """What is known of whatever has that name, links not followed; None where nothing has it."""
        if not parts:
            with self.opened((), _FOLDER) as root:
                return os.fstat(root)
        *folders, name = parts
        with _errors_named(parts):
            try:
                with self.opened(folders, _FOLDER) as folder:
                    return _status_of(name, folder)
            except FileNotFoundError:
                return None

    def ends_line(self, parts: tuple[str, ...]) -> bool:
        """Whether the last line of a file has ended, or there is none."""
        with _errors_named(parts), self.opened(parts, _READ) as descriptor:
            return not _has_begun_line(descriptor, os.fstat(descriptor).st_size)

    def _replace(self, parts: tuple[str, ...], data: bytes, expected: os.stat_result | None = None) -> bool:
        *folders, name = parts
        with self.opened((), _FOLDER) as root, self._made(root, folders) as folder:
            before = _status_of(name, folder)
            if before is not None:
                _require_plain(before, parts)
            if expected is not None and (before is None or _version_of(before) != _version_of(expected)):
                raise ToolFailed(f"{show(write_path(parts))} was changed by somebody else meanwhile; nothing was written")
            # One name per target: what a crash leaves behind is found and removed by the next write.
            temporary = RESERVED_PREFIX + hashlib.sha256(name.encode()).hexdigest()[:32]
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            create = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(temporary, create, 0o666, dir_fd=folder)
            try:
                try:
                    _write_all(descriptor, data)
                    if before is not None:
                        os.fchmod(descriptor, before.st_mode & _PERMISSIONS)
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise
            os.fsync(folder)
        return before is not None

    def delete(self, parts: tuple[str, ...]) -> int:
        """Delete a regular file, durably; its size in bytes."""
        *folders, name = _require_name(parts)
        with _errors_named(parts), self._writing, self.opened(tuple(folders), _FOLDER) as folder:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            _require_plain(status, parts)
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)
            return status.st_size

    @contextmanager
    def opened(self, parts: Sequence[str], flags: int) -> Generator[int, None, None]:
        """A descriptor of what is at that path, for the length of the context. Raises OSError."""
        with self.held() as root:
            descriptor = self._open(root, parts, flags)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def held(self) -> Generator[int, None, None]:
        """A descriptor of the folder itself, for the length of the context.

        Raises ToolFailed when the workspace's path leads elsewhere by now. Nothing would be reached there, but a person who looks
        at that path would not see what the tools read and write.
        """
        if not self._folder.is_in_place():
            raise ToolFailed(
                "the workspace was moved or replaced after the gateway started; put it back, or start the gateway again",
                Reason.SOURCE_UNAVAILABLE,
            )
        with self._folder.borrowed() as root:
            yield root

    def close(self) -> None:
        """Let go of the folder. What is under way ends; what comes later fails."""
        self._folder.close()

    @contextmanager
    def _made(self, root: int, folders: Sequence[str]) -> Generator[int, None, None]:
        here = os.dup(root)
        try:
            for folder in folders:
                try:
                    below = self._open(here, (folder,), _FOLDER)
                except FileNotFoundError:
                    with suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=here)
                    os.fsync(here)
                    below = self._open(here, (folder,), _FOLDER)
                os.close(here)
                here = below
            yield here
        finally:
            os.close(here)


def require_folder(root: Path) -> None:
    """Raises Misconfigured when the workspace is not a folder that can be opened."""
    try:
        os.close(os.open(root, _FOLDER | os.O_CLOEXEC))
    except OSError as error:
        raise Misconfigured(f"the workspace cannot be opened: {os.strerror(error.errno or 0)}") from error


def _require_name(parts: tuple[str, ...]) -> tuple[str, ...]:
    if not parts:
        raise ToolFailed("`.` is the workspace itself; name a file in it, such as `notes/todo.txt`")
    return parts


def _require_plain(status: os.stat_result, parts: tuple[str, ...]) -> None:
    """Refuse what is not a regular file of this folder alone."""
    shown = show(write_path(parts))
    if stat.S_ISDIR(status.st_mode):
        raise ToolFailed(f"{shown} is a folder, not a file")
    if stat.S_ISLNK(status.st_mode):
        raise ToolFailed(f"{shown} is a link, and links are not followed")
    if not stat.S_ISREG(status.st_mode):
        raise ToolFailed(f"{shown} is not a regular file")
    # Its other name may be anywhere on the disk, so this would reach out of the workspace.
    if status.st_nlink > 1:
        raise ToolFailed(f"{shown} has a second name (a hard link), so it may not be only the workspace's; copy it first")


def _read(descriptor: int, parts: tuple[str, ...], limit: int, cancelled: threading.Event) -> FileContent:
    status = os.fstat(descriptor)
    _require_plain(status, parts)
    data = bytearray()
    while len(data) < limit and not cancelled.is_set():
        chunk = os.read(descriptor, min(CHUNK, limit - len(data)))
        if not chunk:
            break
        data += chunk
    return FileContent(bytes(data), max(status.st_size, len(data)))


def _version_of(status: os.stat_result) -> tuple[int, int, int, int]:
    """What is another one once a file was changed or replaced."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _has_begun_line(descriptor: int, size: int) -> bool:
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"


def _append(descriptor: int, parts: tuple[str, ...], data: bytes) -> None:
    status = os.fstat(descriptor)
    _require_plain(status, parts)
    size = status.st_size
    begun = _has_begun_line(descriptor, size)
    try:
        _write_all(descriptor, b"\n" + data if begun else data)
        os.fsync(descriptor)
    except BaseException:
        os.ftruncate(descriptor, size)
        raise


def _status_of(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _describe(entry: os.DirEntry[str]) -> FileEntry:
    status = entry.stat(follow_symlinks=False)
    if stat.S_ISREG(status.st_mode):
        return FileEntry(entry.name, "file", status.st_size)
    if stat.S_ISDIR(status.st_mode):
        return FileEntry(entry.name, "folder", None)
    return FileEntry(entry.name, "link" if stat.S_ISLNK(status.st_mode) else "other", None)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@contextmanager
def _errors_named(parts: tuple[str, ...], to: tuple[str, ...] | None = None) -> Generator[None, None, None]:
    """The system's refusals in words that name the workspace path, or both, and nothing of the machine."""
    try:
        yield
    except OSError as error:
        shown = show(write_path(parts)) + ("" if to is None else f" or {show(write_path(to))}")
        match error.errno:
            case errno.EEXIST if to is not None:
                message = f"there is something called {show(write_path(to))} already, and nothing is replaced"
            case errno.EXDEV if to is not None:
                message = f"{show(write_path(to))} is on another disk, or goes through a link"
            case errno.ENOENT:
                message = f"there is no {shown}"
            case errno.ENOTDIR:
                message = f"{shown} is not a folder, or a part of it is a file or a link"
            case errno.ELOOP | errno.EXDEV:
                message = f"{shown} is or goes through a link, and links are not followed"
            case errno.EISDIR:
                message = f"{shown} is a folder, not a file"
            case errno.ENXIO | errno.ENODEV | errno.EOPNOTSUPP:
                message = f"{shown} is not a regular file"
            case errno.EACCES | errno.EPERM | errno.EROFS:
                message = f"the gateway has no permission for {shown}"
            case errno.ENOSPC | errno.EDQUOT:
                message = "there is no space left; nothing was changed"
            case errno.ENAMETOOLONG:
                message = f"{shown} is too long for a path"
            case code:
                message = f"{shown} cannot be used: {os.strerror(code or errno.EIO)}"
        raise ToolFailed(message) from error
