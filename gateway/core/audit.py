"""Audit leaves: what the log records of an entry, and a separate payload that may be erased.

A leaf holds ids, closed words, numbers and digests: never a secret, never free text. What people or programs wrote
(arguments, results, names, statements) is in the payload: canonical JSON, stored separately. The leaf holds only SHA-256(salt ||
payload). Deleting salt and payload erases the content and leaves every proof valid; without the salt, not even a guess can be
confirmed.

Bodies have ASCII member names, integers below 2^53 and no floats, so `canonical.own_bytes` writes their RFC 8785 form.
Each entry of `gateway.core.ledger` writes its own leaf; once an entry is signed, its form never changes.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from typing import Final, NamedTuple

import orjson

from gateway.core.canonical import Json, own_bytes

LEAF_VERSION: Final = 1

SALT_SIZE: Final = 16
"""Bytes of salt before each payload: 128 bits, as RFC 9901 section 9.3 asks of salts for selectively kept claims."""


class Leaf(NamedTuple):
    """A leaf before it is salted: its body without `payload`, and the canonical bytes of the payload, if it has one."""

    body: dict[str, Json]
    payload: bytes | None = None


def seal(leaf: Leaf, salt: bytes) -> bytes:
    """The canonical bytes that are hashed into the tree. The salt is not used by a leaf without payload."""
    if leaf.payload is None:
        return own_bytes(leaf.body)
    return own_bytes({**leaf.body, "payload": hashlib.sha256(salt + leaf.payload).hexdigest()})


def is_sealed(body: bytes, salt: bytes | None, payload: bytes) -> bool:
    """Whether a leaf's canonical body was sealed over this payload."""
    sealed = orjson.loads(body).get("payload")
    return sealed == hashlib.sha256((salt or b"") + payload).hexdigest()


def header(event: str, at: int, principal_id: str | None) -> dict[str, Json]:
    """The members that every leaf begins with. `event` is `subject:past-tense`, `at` epoch milliseconds."""
    return {"v": LEAF_VERSION, "event": event, "at": at, "principalId": principal_id}


def base64url(raw: bytes) -> str:
    """WebAuthn's text form of bytes: base64url without padding."""
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
