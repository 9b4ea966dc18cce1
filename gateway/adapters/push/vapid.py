"""Who sends push messages (RFC 8292): the gateway's own key, which browsers bind their subscription to."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import orjson
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from gateway.adapters.push.encryption import public_point
from gateway.core.audit import base64url
from gateway.core.errors import Misconfigured

TOKEN_SECONDS: Final = 12 * 3600
"""How long a service may take a token for good; at most a day (RFC 8292 section 2)."""

_HALF: Final = 32
"""Bytes of either number of an ES256 signature (RFC 7518 section 3.4)."""


class VapidKey:
    """Signs for one sender. `contact` is a `mailto:` or `https:` address where an operator of a push service reaches somebody."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, contact: str) -> None:
        self._key = key
        self._contact = contact
        self.public = public_point(key.public_key())

    def authorization(self, endpoint: str, now: int) -> str:
        """The `Authorization` field of a request to that address; `now` in epoch seconds."""
        there = urlsplit(endpoint)
        head = {"typ": "JWT", "alg": "ES256"}
        claims = {"aud": f"{there.scheme}://{there.netloc}", "exp": now + TOKEN_SECONDS, "sub": self._contact}
        signed = ".".join(base64url(orjson.dumps(part)) for part in (head, claims))
        numbers = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(SHA256())))
        signature = b"".join(number.to_bytes(_HALF, "big") for number in numbers)
        return f"vapid t={signed}.{base64url(signature)}, k={base64url(self.public)}"


def make_key_file(path: Path) -> str:
    """Write a new key for its owner alone, and give the public half. Raises Misconfigured where there is a file already."""
    key = ec.generate_private_key(ec.SECP256R1())
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise Misconfigured(f"`{path}` is there already; a new key would void the devices that were added with it") from None
    except OSError as error:
        raise Misconfigured(f"`{path}` cannot be written ({error.strerror})") from None
    return base64url(public_point(key.public_key()))


def read_key_file(path: Path, contact: str) -> VapidKey:
    """Raises Misconfigured for a file that others can read, or that holds no such key."""
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise Misconfigured(f"`{path}` can be read by others; run `chmod 600` on it")
        key = load_pem_private_key(path.read_bytes(), None)
    except OSError as error:
        raise Misconfigured(f"`{path}` cannot be read ({error.strerror})") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise Misconfigured(f"`{path}` holds no key; `countersign push-key` makes one") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise Misconfigured(f"`{path}` holds a key of another kind; `countersign push-key` makes one on P-256")
    return VapidKey(key, contact)
