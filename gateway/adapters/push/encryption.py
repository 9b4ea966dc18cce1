"""The encryption of one push message (RFC 8291), in the one record that it always is (RFC 8188)."""

from __future__ import annotations

import os
from base64 import urlsafe_b64decode
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gateway.core.audit import base64url

POINT_BYTES: Final = 65
AUTH_BYTES: Final = 16
SALT_BYTES: Final = 16
RECORD: Final = 4096
"""Bytes of a record. RFC 8030 section 7.2 has services take as many, and the message is far shorter."""

PADDED: Final = 256
"""Bytes of every message before encryption, so that its length says nothing."""

_LAST: Final = b"\x02"
"""The delimiter of the last record; zeros after it are padding."""


def read_keys(p256dh: str, auth: str) -> tuple[ec.EllipticCurvePublicKey, bytes]:
    """A browser's keys. Raises ValueError for anything but a point on P-256 and 16 bytes, each in its one spelling."""
    point, secret = _decode(p256dh), _decode(auth)
    if len(point) != POINT_BYTES or len(secret) != AUTH_BYTES or (base64url(point), base64url(secret)) != (p256dh, auth):
        raise ValueError("these are no keys of a push subscription")
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point), secret


def public_point(key: ec.EllipticCurvePublicKey) -> bytes:
    """The uncompressed form of a public key."""
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def encrypt(
    text: bytes,
    to: ec.EllipticCurvePublicKey,
    auth: bytes,
    *,
    own: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
    padded: int = PADDED,
) -> bytes:
    """The body of a request in `aes128gcm`. `own` and `salt` are new for each message, but for the standard's example."""
    own, salt = own or ec.generate_private_key(ec.SECP256R1()), salt or os.urandom(SALT_BYTES)
    sender = public_point(own.public_key())
    shared = own.exchange(ec.ECDH(), to)
    # RFC 8291 section 3.4, then RFC 8188 section 2.2.
    material = _derive(auth, shared, b"WebPush: info\0" + public_point(to) + sender, 32)
    key = _derive(salt, material, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(salt, material, b"Content-Encoding: nonce\0", 12)
    plain = text + _LAST + bytes(max(0, padded - len(text) - 1))
    header = salt + RECORD.to_bytes(4, "big") + bytes([len(sender)]) + sender
    return header + AESGCM(key).encrypt(nonce, plain, None)


def _derive(salt: bytes, material: bytes, info: bytes, size: int) -> bytes:
    return HKDF(SHA256(), size, salt, info).derive(material)


def _decode(text: str) -> bytes:
    if not text.isascii():
        raise ValueError("base64url is ASCII")
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
