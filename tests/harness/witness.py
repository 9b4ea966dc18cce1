"""A witness of our own (c2sp.org/tlog-witness): it signs a checkpoint that goes on from the one that it signed before."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from hashlib import sha256

from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateway.core.checkpoint import Checkpoint, VerificationKey, open_note
from tests.harness.process import free_port
from tests.harness.web_app import posted_to

NAME = "witness.example/w1"


@dataclass
class Witness:
    """What it signed last, by the log's own key. `signing` is another key than the one it names when it lies."""

    log: VerificationKey | None = None
    signed: Checkpoint | None = None
    port: int = field(default_factory=free_port)
    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    signing: Ed25519PrivateKey | None = None
    in_pieces: bool = False
    answers: list[int] = field(default_factory=list[int])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def line(self) -> str:
        """Its key."""
        typed = b"\x04" + self.key.public_key().public_bytes_raw()
        return f"{NAME}+{self._id().hex()}+{b64encode(typed).decode()}"

    def there(self) -> AbstractAsyncContextManager[None]:
        return posted_to("/add-checkpoint", self._add, self.port)

    async def _add(self, request: web.Request) -> web.StreamResponse:
        status, text = self._judge((await request.read()).decode())
        self.answers.append(status)
        if not self.in_pieces:
            return web.Response(status=status, text=text)
        answer = web.StreamResponse(status=status)
        await answer.prepare(request)
        for octet in text.encode():
            await answer.write(bytes((octet,)))
        return answer

    def _judge(self, asked: str) -> tuple[int, str]:
        head, _, note = asked.partition("\n\n")
        first, *proof = head.split("\n")
        assert self.log is not None
        checkpoint = open_note(note, self.log)
        if not isinstance(checkpoint, Checkpoint):
            return 403, ""
        old = int(first.removeprefix("old "))
        before = self.signed
        if old != (0 if before is None else before.size):
            return 409, f"{0 if before is None else before.size}\n"
        hashes = [b64decode(each) for each in proof]
        if before is not None and not is_consistent(before, checkpoint, hashes):
            return 422, ""
        self.signed = checkpoint
        return 200, f"{self.sign(checkpoint)}\n"

    def sign(self, checkpoint: Checkpoint, at: int = 1_795_000_000) -> str:
        """The line of its signature."""
        message = f"cosignature/v1\ntime {at}\n{checkpoint.text()}".encode()
        raw = self._id() + at.to_bytes(8) + (self.signing or self.key).sign(message)
        return f"— {NAME} {b64encode(raw).decode()}"

    def _id(self) -> bytes:
        return sha256(NAME.encode() + b"\n\x04" + self.key.public_key().public_bytes_raw()).digest()[:4]


def is_consistent(old: Checkpoint, new: Checkpoint, proof: Sequence[bytes]) -> bool:
    """The check of RFC 9162 section 2.1.4.2, step by step."""
    if old.size == new.size:
        return old.root == new.root and not proof
    path = [*proof] if old.size & (old.size - 1) else [old.root, *proof]
    if not path:
        return False
    fn, sn = old.size - 1, new.size - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for each in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = sha256(b"\x01" + each + fr).digest(), sha256(b"\x01" + each + sr).digest()
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = sha256(b"\x01" + sr + each).digest()
        fn, sn = fn >> 1, sn >> 1
    return fr == old.root and sr == new.root and sn == 0
