"""The key that signs checkpoints: made on first use, readable by its owner only, and never made twice for one log.

A key can be handed over to a new one (`rotation.py`). The new one lies beside it, in `audit.key.next`, until the record of it is
on the disk; `audit.rotations` keeps each handing over, so that what an earlier key signed can still be told from anything else.
"""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import orjson

from gateway.core.canonical import own_bytes
from gateway.core.checkpoint import KEY_SIZE, SigningKey, VerificationKey, read_signing_key, read_verification_key
from gateway.core.errors import Misconfigured
from gateway.core.key_rotation import KeyHistory, KeyRotation, read_key_history, read_rotation

SECRET: Final = "audit.key"  # noqa: S105 - a file's name
PUBLIC: Final = "audit.vkey"
NEXT: Final = "audit.key.next"
ROTATIONS: Final = "audit.rotations"


def leave_no_core_file() -> None:
    """Have no crash of this process write its memory, with keys, secrets and documents, into a file of whatever folder this is.

    Whoever reads the secret key does so first.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def load_or_make_key(directory: Path, origin: str, *, fresh: bool) -> SigningKey:
    """The signing key of the log in that directory. `fresh`: the log is empty, so a key may be made, named `origin`.

    Raises Misconfigured when the key is missing, damaged or open to others.
    """
    leave_no_core_file()
    path = directory / SECRET
    if path.is_dir():
        rest = "remove it to have a key made" if fresh else "put the key of the audit log in its place, from a backup"
        raise Misconfigured(f"`{SECRET}` is a folder; {rest}")
    if not path.exists():
        if not fresh:
            raise Misconfigured(f"the audit log has entries but its key `{SECRET}` is gone; restore it from a backup")
        write_once(path, SigningKey(origin, os.urandom(KEY_SIZE)).line(), 0o600)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise Misconfigured(f"`{SECRET}` can be read by others; run `chmod 600` on it")
    key = read_signing_key(_read(path))
    publish_key(directory, key)
    return key


def publish_key(directory: Path, key: SigningKey) -> None:
    """Have the public half beside the secret one."""
    public = directory / PUBLIC
    if not public.exists() or _read(public) != key.verification_key.line():
        public.unlink(missing_ok=True)
        write_once(public, key.verification_key.line(), 0o644)


def read_rotations(directory: Path, key: VerificationKey) -> Sequence[KeyRotation]:
    """How that directory's key came to be handed over to, oldest first. Raises Misconfigured where the file was changed."""
    path = directory / ROTATIONS
    if not path.exists():
        return ()
    rotations: list[KeyRotation] = []
    for number, line in enumerate(_read(path).splitlines(), 1):
        try:
            rotation = read_rotation(dict(orjson.loads(line)))
        except (ValueError, TypeError):
            rotation = None
        if rotation is None:
            raise Misconfigured(f"line {number} of `{ROTATIONS}` is none that this program writes; put it back from a backup")
        rotations.append(rotation)
    # One that was prepared and never went on record is the last line, and no key of this log.
    ends = [number for number, each in enumerate(rotations) if each.to_key == key.line()]
    chain = rotations[: ends[-1] + 1] if ends else []
    if not isinstance(read_key_history(((each, one.members()) for each, one in enumerate(chain)), key), KeyHistory):
        raise Misconfigured(f"`{ROTATIONS}` does not lead to the key of this log; put it back from a backup")
    return chain


def write_rotations(directory: Path, rotations: Sequence[KeyRotation]) -> None:
    """Keep these, in place of what was kept."""
    write_once(directory / ROTATIONS, "\n".join(own_bytes(each.members()).decode() for each in rotations), 0o644)


def known_keys(directory: Path, key: VerificationKey) -> Sequence[VerificationKey]:
    """Every key that the log has had, the present one first. Raises Misconfigured."""
    return (key, *(read_verification_key(each.from_key) for each in reversed(read_rotations(directory, key))))


def read_next_key(directory: Path) -> SigningKey | None:
    """The key that is being handed over to. Raises Misconfigured."""
    leave_no_core_file()
    path = directory / NEXT
    return read_signing_key(_read(path)) if path.exists() else None


def take_next_key(directory: Path, key: SigningKey) -> None:
    """The key that was handed over to is the key from now on; `key` is that one. The old secret is gone then."""
    (directory / NEXT).replace(directory / SECRET)
    _sync(directory)
    publish_key(directory, key)


def load_verification_key(directory: Path) -> VerificationKey:
    """The public half, for verifying without the secret. Raises Misconfigured."""
    path = directory / PUBLIC
    if not path.exists():
        raise Misconfigured(f"there is no `{PUBLIC}` in this state directory")
    return read_verification_key(_read(path))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise Misconfigured(f"`{path.name}` cannot be read") from None


def write_once(path: Path, line: str, mode: int) -> None:
    """Write a file that is either whole or absent, even after a power failure."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())
    part.rename(path)
    _sync(path.parent)


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
