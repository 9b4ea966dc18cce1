"""Signed checkpoints: what the gateway commits to about its log, in the C2SP formats that other people's verifiers read.

A checkpoint (c2sp.org/tlog-checkpoint) is three lines: origin, tree size, base64 root. A signed note
(c2sp.org/signed-note) adds an empty line and one signature line per key. Keys are the note package's own one-line forms,
`PRIVATE+KEY+name+hash+key` and, to publish, `name+hash+key`.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from gateway.core.errors import Misconfigured

ED25519: Final = b"\x01"
"""The signature type byte of signed-note for Ed25519; others (ML-DSA is 0x06) can join without a new format."""

KEY_SIZE: Final = 32

_NAME = re.compile(r"[^\s+]+")
_CHECKPOINT = re.compile(r"([^\n]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n")
"""Origin, size and the base64 of 32 bytes. Lines after the third are extensions that a reader must tolerate."""

_PRIVATE = "PRIVATE+KEY+"
_SIGNATURE = "— "


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The log of that origin had `size` leaves and this root."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """The note text: the bytes that are signed."""
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"


@dataclass(frozen=True, slots=True)
class Unverified:
    """Why a note was not verified."""

    reason: str


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """What checks a checkpoint: a name, which is also the log's origin, and a public key."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        """Four bytes that let a verifier find its line; they bind the key to the name."""
        return sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:4]

    def line(self) -> str:
        """The vkey form, for publishing and pinning."""
        return f"{self.name}+{self.id.hex()}+{b64encode(ED25519 + self.public).decode()}"


class SigningKey:
    """What signs checkpoints. Never shown: it has no printable form but `line`, for its own file."""

    def __init__(self, name: str, seed: bytes) -> None:
        if _NAME.fullmatch(name) is None or len(seed) != KEY_SIZE:
            raise Misconfigured("an audit key needs a name without spaces or plus signs and a seed of 32 bytes")
        self._seed = seed
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        public = self._key.public_key().public_bytes_raw()
        self.verification_key: Final = VerificationKey(name, public)
        self._id = self.verification_key.id
        self._signature_prefix = f"{_SIGNATURE}{name} "

    def line(self) -> str:
        """The skey form, secret."""
        key = self.verification_key
        return f"{_PRIVATE}{key.name}+{key.id.hex()}+{b64encode(ED25519 + self._seed).decode()}"

    def sign(self, size: int, root: bytes) -> str:
        """The signed note of a checkpoint of this key's own log."""
        return self.sign_text(Checkpoint(self.verification_key.name, size, root).text())

    def sign_text(self, text: str) -> str:
        """The signed note of a text, which ends with a newline."""
        return f"{text}\n{self._signature_prefix}{self.signature(text)}\n"

    def signature(self, text: str) -> str:
        """The signature over a text by itself, as the line of a signed note has it."""
        return b64encode(self._id + self._key.sign(text.encode())).decode()


def read_signing_key(line: str) -> SigningKey:
    """The key of an skey line. Raises Misconfigured; the message never repeats the key."""
    if not line.startswith(_PRIVATE):
        raise Misconfigured("the audit key file does not hold a signing key")
    name, seed, key_id = _read_key(line.removeprefix(_PRIVATE))
    key = SigningKey(name, seed)
    if key.verification_key.id != key_id:
        raise Misconfigured("the audit key file is damaged")
    return key


def read_verification_key(line: str) -> VerificationKey:
    """The key of a vkey line. Raises Misconfigured."""
    name, public, key_id = _read_key(line)
    key = VerificationKey(name, public)
    if key.id != key_id:
        raise Misconfigured("the verification key is damaged")
    return key


def read_note(note: str, key: VerificationKey) -> Checkpoint | Unverified:
    """What a note says about this key's log, whoever signed it."""
    parted = _part(note)
    if parted is None:
        return Unverified("it is not a signed note")
    checkpoint = _read_checkpoint(parted[0])
    if checkpoint is None:
        return Unverified("it holds no checkpoint")
    if checkpoint.origin != key.name:
        return Unverified(f"it is about the log `{checkpoint.origin}`, not `{key.name}`")
    return checkpoint


def open_note(note: str, key: VerificationKey) -> Checkpoint | Unverified:
    """The checkpoint of a signed note, if this key signed it. Lines of other signers are ignored, as signed-note asks."""
    checkpoint = read_note(note, key)
    if isinstance(checkpoint, Unverified):
        return checkpoint
    opened = open_text(note, key)
    return opened if isinstance(opened, Unverified) else checkpoint


def open_note_of(note: str, keys: Sequence[VerificationKey]) -> Checkpoint | Unverified:
    """The checkpoint of a signed note, if one of these keys of one log signed it; the first of them is asked why not."""
    opened = [open_note(note, key) for key in keys]
    return next((each for each in opened if isinstance(each, Checkpoint)), opened[0])


def open_text_of(note: str, keys: Sequence[VerificationKey]) -> str | Unverified:
    """The text of a signed note that is no checkpoint, if one of these keys signed it."""
    opened = [open_text(note, key) for key in keys]
    return next((each for each in opened if isinstance(each, str)), opened[0])


def open_text(note: str, key: VerificationKey) -> str | Unverified:
    """The text of a signed note that is no checkpoint, if this key signed it."""
    parted = _part(note)
    if parted is None:
        return Unverified("it is not a signed note")
    return _find_fault(*parted, key) or parted[0]


def open_signature(text: str, signature: str, key: VerificationKey) -> str | Unverified:
    """The text, if this is the key's signature over it."""
    if "\n" in signature:
        return Unverified("a signature line is malformed")
    return _find_fault(text, f"{_SIGNATURE}{key.name} {signature}\n", key) or text


def _part(note: str) -> tuple[str, str] | None:
    """Text and signature lines of a note."""
    text, gap, signatures = note.rpartition("\n\n")
    return (f"{text}\n", signatures) if gap and signatures.endswith("\n") else None


def _find_fault(text: str, signatures: str, key: VerificationKey) -> Unverified | None:
    """Why the text is not one that this key signed."""
    public, key_id = _public_key(key.public), key.id
    for line in signatures.splitlines():
        signer, _, encoded = line.removeprefix(_SIGNATURE).rpartition(" ")
        signature = _decode(encoded)
        if not line.startswith(_SIGNATURE) or signature is None:
            return Unverified("a signature line is malformed")
        if signer != key.name or signature[:4] != key_id:
            continue
        try:
            public.verify(signature[4:], text.encode())
        except InvalidSignature:
            return Unverified("its signature does not verify")
        return None
    return Unverified("this key did not sign it")


@lru_cache(maxsize=8)
def _public_key(raw: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(raw)


def _read_checkpoint(text: str) -> Checkpoint | None:
    read = _CHECKPOINT.match(text)
    if read is None:
        return None
    origin, size, encoded = read.groups()
    root = _decode(encoded)
    return None if root is None else Checkpoint(origin, int(size), root)


def _read_key(line: str) -> tuple[str, bytes, bytes]:
    # The base64 part may hold plus signs itself, so the line is split from the left.
    match line.strip().split("+", 2):
        case [name, key_id, encoded] if _NAME.fullmatch(name) and re.fullmatch(r"[0-9a-f]{8}", key_id):
            key = _decode(encoded)
            if key is not None and key[:1] == ED25519 and len(key) == 1 + KEY_SIZE:
                return name, key[1:], bytes.fromhex(key_id)
        case _:
            pass
    raise Misconfigured("this is no Ed25519 key of the form `name+hash+key`")


def _decode(encoded: str) -> bytes | None:
    try:
        raw = binascii.a2b_base64(encoded)
    except ValueError:
        return None
    # Python ignores spare bits of the last character, and characters that are not base64; one value has one spelling here.
    return raw if binascii.b2a_base64(raw, newline=False).decode() == encoded else None
