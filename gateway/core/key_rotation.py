"""Changing the key that signs the log: each key is handed over to the next by a record that both of them signed.

A record `audit-key:rotated` names the key so far and the next one, and has a signature of each over both names. So whoever
trusts one of a log's keys can tell the others from those of somebody else: the old one vouches for the new, and the new one
shows that its owner knows of it. From the first checkpoint that covers the record on, checkpoints are signed by the new key.
The name of the log does not change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.canonical import Json
from gateway.core.checkpoint import SigningKey, Unverified, VerificationKey, open_signature, read_verification_key
from gateway.core.errors import Misconfigured

FORM: Final = "countersign audit key rotation v1"


@dataclass(frozen=True, slots=True)
class KeyRotation:
    """One key handed over to the next: both as vkey lines, and the signature of each as in a signed note's line."""

    from_key: str
    to_key: str
    from_signature: str
    to_signature: str

    def members(self) -> dict[str, Json]:
        """As a record has it."""
        return {
            "fromKey": self.from_key,
            "toKey": self.to_key,
            "fromSignature": self.from_signature,
            "toSignature": self.to_signature,
        }


@dataclass(frozen=True, slots=True)
class KeyFault:
    """A rotation that does not hold: which one of those that were read, the member that is wrong, and a sentence."""

    index: int
    member: str
    detail: str


@dataclass(frozen=True, slots=True)
class KeyHistory:
    """The keys of a log, oldest first. `places` are the indices of the records that handed over to each after the first."""

    keys: tuple[VerificationKey, ...]
    places: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The log's."""
        return self.keys[0].name

    @property
    def newest(self) -> VerificationKey:
        """The one that signs now."""
        return self.keys[-1]

    def at(self, size: int) -> VerificationKey:
        """The key that signs a checkpoint over that many records."""
        return self.keys[bisect_left(self.places, size)]


def rotate(before: SigningKey, after: SigningKey) -> KeyRotation:
    """Hand over from one key to another of the same log."""
    lines = before.verification_key.line(), after.verification_key.line()
    text = _text(*lines)
    return KeyRotation(*lines, before.signature(text), after.signature(text))


def read_rotation(members: Mapping[str, Any]) -> KeyRotation | None:
    """The rotation of a record's body, or of a line that was kept; None where a member is missing or no text."""
    values = [members.get(name) for name in ("fromKey", "toKey", "fromSignature", "toSignature")]
    return KeyRotation(*(str(each) for each in values)) if all(isinstance(each, str) for each in values) else None


def read_key_history(rotations: Iterable[tuple[int, Mapping[str, Any]]], newest: VerificationKey) -> KeyHistory | KeyFault:
    """The keys of a log by its rotations, each with its index, in order; `newest` is the key that it says it has.

    Without any rotation that is the only one. With some, the last of them has to hand over to `newest`: the fault of one that
    does not is that of no member.
    """
    keys: list[VerificationKey] = []
    places: list[int] = []
    for index, body in rotations:
        rotation = read_rotation(body)
        if rotation is None:
            return KeyFault(index, "fromKey", "a rotation names two keys and has two signatures")
        before = _read_key(rotation.from_key)
        if before is None or (keys and before != keys[-1]):
            return KeyFault(index, "fromKey", "the key that it hands over from is not the one that the log had")
        after = _read_key(rotation.to_key)
        if after is None or after.name != before.name or after in (*keys, before):
            return KeyFault(index, "toKey", "the key that it hands over to is no new key of this log")
        for key, signature, member in (
            (before, rotation.from_signature, "fromSignature"),
            (after, rotation.to_signature, "toSignature"),
        ):
            if isinstance(fault := open_signature(_text(rotation.from_key, rotation.to_key), signature, key), Unverified):
                return KeyFault(index, member, f"the key was not handed over: {fault.reason}")
        keys = [*keys, after] if keys else [before, after]
        places.append(index)
    if keys and keys[-1] != newest:
        return KeyFault(places[-1], "", "the last key that was handed over to is not the one that is named")
    return KeyHistory(tuple(keys) or (newest,), tuple(places))


def _read_key(line: str) -> VerificationKey | None:
    try:
        key = read_verification_key(line)
    except Misconfigured:
        return None
    return key if key.line() == line else None


def _text(from_key: str, to_key: str) -> str:
    """What both keys sign."""
    return f"{FORM}\n{from_key}\n{to_key}\n"
