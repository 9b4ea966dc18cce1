"""Signed cookie values: itsdangerous behind the CookieSigner port, with the key in one file of the state directory."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from itsdangerous import BadSignature, TimestampSigner

from gateway.core.errors import Misconfigured

KEY_OCTETS = 32
SIGNED_LIMIT = 1024
"""Characters; ours are below 150, and nothing longer is worth an HMAC."""


class ItsdangerousSigner:
    """The CookieSigner port. Each purpose has a key of its own, so that a value signed for one is not valid for another."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._signers: dict[str, TimestampSigner] = {}

    def sign(self, value: str, *, purpose: str) -> str:
        """`value.timestamp.signature`."""
        return self._signer(purpose).sign(value).decode()

    def unsign(self, signed: str, *, purpose: str, max_age: int | None = None) -> str | None:
        """The value, or None when the signature, purpose or age (seconds) is wrong."""
        if len(signed) > SIGNED_LIMIT:
            return None
        try:
            return self._signer(purpose).unsign(signed, max_age=max_age).decode()
        except (BadSignature, ValueError):
            return None

    def _signer(self, purpose: str) -> TimestampSigner:
        if purpose not in self._signers:
            self._signers[purpose] = TimestampSigner(self._key, salt=f"countersign.{purpose}", digest_method=hashlib.sha256)
        return self._signers[purpose]


def read_key(path: Path) -> bytes:
    """The signing key of that file; made, readable by its owner alone, when there is none yet. Raises Misconfigured."""
    if path.is_dir():
        raise Misconfigured(f"`{path.name}` is a folder; remove it to have a key made (everyone signs in again)")
    try:
        if not path.exists():
            _write_key(path)
        if path.stat().st_mode & 0o077:
            raise Misconfigured(f"`{path.name}` may be read by others; run `chmod 600` on it")
        key = path.read_bytes()
    except OSError as fault:
        raise Misconfigured(f"`{path.name}` cannot be read or made: {fault.strerror}") from fault
    if len(key) < KEY_OCTETS:
        raise Misconfigured(f"`{path.name}` is no signing key; remove it to have one made (everyone signs in again)")
    return key


def _write_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Private from the first byte on: the mode is set by open, not by a chmod afterwards.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(KEY_OCTETS))
        file.flush()
        os.fsync(file.fileno())
