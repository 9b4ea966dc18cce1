"""Secrets of sources, encrypted with AES-256-GCM under a key that lies beside the audit key.

What is encrypted is bound to its name, so that nobody who can write to the database can put one secret in the place of another.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidTag

from gateway.adapters.storage.keys import write_once
from gateway.core.errors import Misconfigured

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SECRETS_KEY: Final = "secrets.key"

_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
"""NIST SP 800-38D section 8.2.2: 96 random bits. 2^32 values may be sealed under one key, far more than anybody types."""


class SecretBox:
    """Seals and unseals; the key is made when it is first needed."""

    def __init__(self, state: Path) -> None:
        self._path = state / SECRETS_KEY
        self._cipher: AESGCM | None = None

    def seal(self, name: str, value: str) -> bytes:
        """A nonce and the ciphertext. Raises Misconfigured when the key cannot be used."""
        if not self._path.exists():
            write_once(self._path, os.urandom(_KEY_BYTES).hex(), 0o600)
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._key().encrypt(nonce, value.encode(), name.encode())

    def unseal(self, name: str, sealed: bytes) -> str:
        """What was sealed under that name. Raises Misconfigured when the key is another one or the bytes were changed."""
        try:
            return self._key().decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], name.encode()).decode()
        except (InvalidTag, ValueError):
            raise Misconfigured(
                f"the secret `{name}` cannot be read with this `{SECRETS_KEY}`; store it again with `countersign secrets set`"
            ) from None

    def _key(self) -> AESGCM:
        if self._cipher is None:
            # Imported by the first secret.
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM

            self._cipher = AESGCM(self._read())
        return self._cipher

    def _read(self) -> bytes:
        try:
            if stat.S_IMODE(self._path.stat().st_mode) & 0o077:
                raise Misconfigured(f"`{SECRETS_KEY}` can be read by others; run `chmod 600` on it")
            key = bytes.fromhex(self._path.read_text(encoding="ascii").strip())
        except FileNotFoundError:
            raise Misconfigured(f"`{SECRETS_KEY}` is gone, so no stored secret can be read; store them again") from None
        except (OSError, ValueError):
            raise Misconfigured(f"`{SECRETS_KEY}` cannot be read") from None
        if len(key) != _KEY_BYTES:
            raise Misconfigured(f"`{SECRETS_KEY}` is damaged; restore it from a backup, or remove it and store the secrets again")
        return key
