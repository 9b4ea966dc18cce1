"""Cosigners: other people's programs that sign a checkpoint once they know that it goes on from the one they signed before.

The formats are C2SP's: the request `add-checkpoint`, and the signature cosignature/v1 of tlog-cosignature, which also says
when. A cosigner that signed a log cannot be shown another history of it.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gateway.core.checkpoint import Unverified
from gateway.core.errors import Misconfigured

COSIGNATURE_V1: Final = b"\x04"
"""The signature type byte of cosignature/v1."""

_KEY: Final = re.compile(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})")
_LINE: Final = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")


@dataclass(frozen=True, slots=True)
class CosignerKey:
    """A cosigner's name and its public key."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        """Four bytes that bind the key to the name."""
        return sha256(self.name.encode() + b"\n" + COSIGNATURE_V1 + self.public).digest()[:4]

    def line(self) -> str:
        """The vkey form."""
        return f"{self.name}+{self.id.hex()}+{b64encode(COSIGNATURE_V1 + self.public).decode()}"


@dataclass(frozen=True, slots=True)
class Cosignature:
    """A cosigner's signature line, and when it signed, in seconds since 1970."""

    line: str
    at: int


def read_cosigner_key(line: str) -> CosignerKey:
    """The key of a line `name+hash+key`. Raises Misconfigured."""
    read = _KEY.fullmatch(line.strip())
    raw = b"" if read is None else _decode(read[3])
    if read is None or raw[:1] != COSIGNATURE_V1 or len(raw) != 33:
        raise Misconfigured("this is no key of a cosigner: `name+hash+key`, with a key of the type 4")
    key = CosignerKey(read[1], raw[1:])
    if key.id.hex() != read[2]:
        raise Misconfigured("the key of the cosigner is damaged")
    return key


def ask_cosigner(old: int, proof: Sequence[bytes], note: str) -> bytes:
    """The request that a cosigner signs a checkpoint: the size that it signed last, the consistency proof, the signed note."""
    lines = "".join(f"{b64encode(each).decode()}\n" for each in proof)
    return f"old {old}\n{lines}\n{note}".encode()


def find_cosignature(answer: str, note: str, key: CosignerKey) -> Cosignature | Unverified:
    """The signature of this cosigner in its answer, where it is over this note's checkpoint."""
    for line in answer.splitlines():
        read = _LINE.fullmatch(line)
        if read is None:
            return Unverified("a line of its answer is no signature")
        if read[1] == key.name and _decode(read[2])[:4] == key.id:
            return check_cosignature(line, note, key)
    return Unverified("its answer has no signature by the key that is configured")


def check_cosignature(line: str, note: str, key: CosignerKey) -> Cosignature | Unverified:
    """The cosigner's signature of that line, where it is over this note's checkpoint."""
    start = f"— {key.name} "
    raw = _decode(line.removeprefix(start)) if line.startswith(start) else b""
    if len(raw) != 4 + 8 + 64 or raw[:4] != key.id:
        return Unverified("its line is no signature by that key")
    at, text = int.from_bytes(raw[4:12]), note[: note.rindex("\n\n") + 1]
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(raw[12:], f"cosignature/v1\ntime {at}\n{text}".encode())
    except InvalidSignature:
        return Unverified("its signature does not verify")
    return Cosignature(line, at)


def _decode(encoded: str) -> bytes:
    try:
        raw = b64decode(encoded, validate=True)
    except ValueError:
        return b""
    # Python ignores spare bits of the last character; one value has one spelling here.
    return raw if b64encode(raw).decode() == encoded else b""
