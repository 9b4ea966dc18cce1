"""A push service of our own (RFC 8030), and browsers that subscribe to it, with keys that messages are decrypted with.

Decryption is written from RFC 8188 and RFC 8291 and shares no line with what the gateway encrypts with.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.authenticator import decode, encode
from tests.harness.process import free_port

CURVE = ec.SECP256R1()


def _hmac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()


def point_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def decrypt(body: bytes, private: ec.EllipticCurvePrivateKey, auth: bytes) -> bytes:
    """What a browser reads: RFC 8291 section 3.4, with the HKDF of RFC 5869 spelt out."""
    salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
    sender, record = body[21 : 21 + length], body[21 + length :]
    assert len(record) <= size
    shared = private.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender))
    material = _hmac(_hmac(auth, shared), b"WebPush: info\0" + point_of(private) + sender + b"\x01")
    pseudo_random = _hmac(salt, material)
    key = _hmac(pseudo_random, b"Content-Encoding: aes128gcm\0\x01")[:16]
    nonce = _hmac(pseudo_random, b"Content-Encoding: nonce\0\x01")[:12]
    plain = AESGCM(key).decrypt(nonce, record, None).rstrip(b"\0")
    assert plain.endswith(b"\x02"), "the delimiter of the last record"
    return plain[:-1]


@dataclass
class Subscription:
    """One browser's: its address at the service, and its keys."""

    endpoint: str
    private: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(CURVE))
    auth: bytes = field(default_factory=lambda: os.urandom(16))

    def params(self, name: str = "Phone") -> dict[str, str]:
        """What its page sends with `push/add`."""
        return {"name": name, "endpoint": self.endpoint, "publicKey": encode(point_of(self.private)), "auth": encode(self.auth)}

    def read(self, pushed: Pushed) -> Any:
        return orjson.loads(decrypt(pushed.body, self.private, self.auth))


@dataclass(frozen=True)
class Pushed:
    """A request that came."""

    path: str
    headers: Mapping[str, str]
    body: bytes


Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def take(_request: web.Request) -> web.StreamResponse:
    return web.Response(status=201)


@dataclass
class PushService:
    """What came to it, oldest first. `answers` has the paths that are not simply taken."""

    port: int = field(default_factory=free_port)
    came: asyncio.Queue[Pushed] = field(default_factory=asyncio.Queue[Pushed])
    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    count: int = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def subscribe(self, path: str | None = None) -> Subscription:
        self.count += 1
        return Subscription(f"http://{self.host}/{path or f'push-{self.count}'}")

    async def next(self) -> Pushed:
        """The oldest that nobody has looked at."""
        async with asyncio.timeout(20):
            return await self.came.get()

    @asynccontextmanager
    async def there(self) -> AsyncGenerator[PushService]:
        app = web.Application()
        app.router.add_post("/{path:.*}", self._take)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _take(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.came.put_nowait(Pushed(request.path, dict(request.headers), body))
        return await self.answers.get(request.path, take)(request)


def claims_of(pushed: Pushed, key: str) -> Mapping[str, Any]:
    """What the `Authorization` of a request says (RFC 8292), whose signature is checked against that public key."""
    scheme, _, rest = pushed.headers["Authorization"].partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    assert (scheme, parts["k"]) == ("vapid", key)
    signed, _, signature = parts["t"].rpartition(".")
    raw = decode(signature)
    assert len(raw) == 64
    numbers = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    public = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, decode(key))
    public.verify(numbers, signed.encode(), ec.ECDSA(SHA256()))
    head, claims = (orjson.loads(decode(part)) for part in signed.split("."))
    assert head == {"typ": "JWT", "alg": "ES256"}
    return claims


def origin_of(subscription: Subscription) -> str:
    there = urlsplit(subscription.endpoint)
    return f"{there.scheme}://{there.netloc}"
