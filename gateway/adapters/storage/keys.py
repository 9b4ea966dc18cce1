"""The key that signs checkpoints: made on first use, readable by its owner only, and never made twice for one log."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from gateway.core.checkpoint import KEY_SIZE, SigningKey, VerificationKey, read_signing_key, read_verification_key
from gateway.core.errors import Misconfigured

SECRET: Final = "audit.key"  # noqa: S105 - a file's name
PUBLIC: Final = "audit.vkey"


def load_or_make_key(directory: Path, origin: str, *, fresh: bool) -> SigningKey:
    """The signing key of the log in that directory. `fresh`: the log is empty, so a key may be made, named `origin`.

    Raises Misconfigured when the key is missing, damaged or open to others.
    """
    path = directory / SECRET
    if not path.exists():
        if not fresh:
            raise Misconfigured(f"the audit log has entries but its key `{SECRET}` is gone; restore it from a backup")
        write_once(path, SigningKey(origin, os.urandom(KEY_SIZE)).line(), 0o600)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise Misconfigured(f"`{SECRET}` can be read by others; run `chmod 600` on it")
    key = read_signing_key(_read(path))
    public = directory / PUBLIC
    if not public.exists() or _read(public) != key.verification_key.line():
        public.unlink(missing_ok=True)
        write_once(public, key.verification_key.line(), 0o644)
    return key


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
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
