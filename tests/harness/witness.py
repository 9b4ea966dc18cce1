"""A witness of our own, written from the texts of c2sp.org alone (tlog-witness, tlog-checkpoint, tlog-cosignature, signed-note):
nothing of the gateway reads here what the gateway sent, so that a mistake in both ends cannot pass for agreement.

It refuses every request that the texts do not allow, and signs a checkpoint that goes on from the one that it signed before.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tests.harness.process import free_port
from tests.harness.web_app import posted_to

NAME = "witness.example/w1"

_DECIMAL: Final = re.compile(r"0|[1-9][0-9]*")
_SIGNATURE: Final = re.compile(r"— ([^\s+]+) (\S+)")
_MOST_LINES: Final = 63
_SIZE: Final = "text/x.tlog.size"

Head = tuple[int, bytes]
"""A tree's size and root."""


class Refused(Exception):
    """With the status that tlog-witness asks for, and why, which only a failed test shows."""

    def __init__(self, status: int, why: str, body: str = "") -> None:
        super().__init__(why)
        self.status, self.body = status, body


@dataclass
class Witness:
    """`log` is the only log that it knows, by the line of its key; `signing` another key than the one it names, when it lies."""

    log: str = ""
    signed: Head | None = None
    port: int = field(default_factory=free_port)
    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    signing: Ed25519PrivateKey | None = None
    in_pieces: bool = False
    beside: Sequence[str] = ()
    """Lines that its answer has before its own, of keys that nobody here knows."""
    answers: list[int] = field(default_factory=list[int])
    refusals: list[str] = field(default_factory=list[str])

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
        kind = "text/plain"
        try:
            status, text = 200, "".join(f"{line}\n" for line in (*self.beside, self.judge(await request.read())))
        except Refused as refused:
            status, text = refused.status, refused.body
            kind = _SIZE if text else kind
            self.refusals.append(str(refused))
        self.answers.append(status)
        if not self.in_pieces:
            return web.Response(status=status, text=text, content_type=kind)
        answer = web.StreamResponse(status=status)
        await answer.prepare(request)
        for octet in text.encode():
            await answer.write(bytes((octet,)))
        return answer

    def judge(self, raw: bytes) -> str:
        """The signature line for the body of a request. Raises Refused, in the order of the text's own paragraphs."""
        old, proof, text, signatures = _read_request(raw)
        origin, size, root = _read_checkpoint(text)
        name, known_id, public = _read_log_key(self.log)
        if origin != name:
            raise Refused(404, f"the log `{origin}` is not known")
        if not any(signer == name and _verifies(public, known_id, raw_line, text) for signer, raw_line in signatures):
            raise Refused(403, "no signature of the log's key")
        if old > size:
            raise Refused(400, f"old {old} is more than {size}")
        known_size, known_root = self.signed or (0, b"")
        if old != known_size:
            raise Refused(409, f"old {old} where {known_size} were signed", f"{known_size}\n")
        if old == size and old and root != known_root:
            raise Refused(409, "another root of the same size", f"{known_size}\n")
        if (proof and not old) or (old and not is_consistent((old, known_root), (size, root), proof)):
            raise Refused(422, "the consistency proof does not hold")
        self.signed = (size, root)
        return self.sign(text)

    def sign(self, text: str, at: int = 1_795_000_000) -> str:
        """The line of its signature over the text of a checkpoint."""
        message = f"cosignature/v1\ntime {at}\n{text}".encode()
        raw = self._id() + at.to_bytes(8) + (self.signing or self.key).sign(message)
        return f"— {NAME} {b64encode(raw).decode()}"

    def _id(self) -> bytes:
        return sha256(NAME.encode() + b"\n\x04" + self.key.public_key().public_bytes_raw()).digest()[:4]


def _read_request(raw: bytes) -> tuple[int, list[bytes], str, list[tuple[str, bytes]]]:
    """The old size, the proof, the checkpoint's text and its signatures by their names."""
    try:
        asked = raw.decode()
    except UnicodeDecodeError:
        raise Refused(400, "no UTF-8") from None
    if not asked.endswith("\n") or re.search(r"[\x00-\x09\x0b-\x1f]", asked):
        raise Refused(400, "a line that does not end, or a control character")
    head, blank, note = asked.partition("\n\n")
    first, *lines = head.split("\n")
    if not blank or not first.startswith("old ") or not _DECIMAL.fullmatch(first[4:]):
        raise Refused(400, "no old size line, or no empty line behind the proof")
    if len(lines) > _MOST_LINES:
        raise Refused(400, f"{len(lines)} lines of a proof")
    # The text of a note is parted from its signatures by its last empty line.
    text, blank, signed = note.rpartition("\n\n")
    if not blank:
        raise Refused(400, "no signed note")
    signatures: list[tuple[str, bytes]] = []
    for line in signed.removesuffix("\n").split("\n"):
        read = _SIGNATURE.fullmatch(line)
        if read is None or len(value := _decode(read[2])) < 5:
            raise Refused(400, f"`{line}` is no signature line")
        signatures.append((read[1], value))
    return int(first[4:]), [_decode(line, 32) for line in lines], f"{text}\n", signatures


def _read_checkpoint(text: str) -> tuple[str, int, bytes]:
    origin, size, root, *more = text.removesuffix("\n").split("\n") + [""] * 3
    if not origin or not _DECIMAL.fullmatch(size) or more != [""] * 3:
        raise Refused(400, "no checkpoint, or one with extension lines")
    return origin, int(size), _decode(root, 32)


def _read_log_key(line: str) -> tuple[str, bytes, Ed25519PublicKey]:
    """Of a verifier key `name+id+key` (signed-note), whose id it computes again."""
    name, known_id, key = line.split("+", 2)
    typed = b64decode(key, validate=True)
    assert typed[:1] == b"\x01", "no Ed25519 key"
    assert sha256(name.encode() + b"\n" + typed).digest()[:4].hex() == known_id, "the key's id is not that of the key"
    return name, bytes.fromhex(known_id), Ed25519PublicKey.from_public_bytes(typed[1:])


def _verifies(public: Ed25519PublicKey, known_id: bytes, signature: bytes, text: str) -> bool:
    if signature[:4] != known_id:
        return False
    try:
        public.verify(signature[4:], text.encode())
    except InvalidSignature:
        raise Refused(403, "a signature of the log's key that does not verify") from None
    return True


def _decode(encoded: str, length: int | None = None) -> bytes:
    try:
        raw = b64decode(encoded, validate=True)
    except ValueError:
        raise Refused(400, f"`{encoded}` is no base64") from None
    if b64encode(raw).decode() != encoded or (length is not None and len(raw) != length):
        raise Refused(400, f"`{encoded}` is no value of that length")
    return raw


def is_consistent(old: Head, new: Head, proof: Sequence[bytes]) -> bool:
    """The check of RFC 9162 section 2.1.4.2, step by step."""
    (first, old_root), (second, new_root) = old, new
    if first == second:
        return old_root == new_root and not proof
    path = [*proof] if first & (first - 1) else [old_root, *proof]
    if not path:
        return False
    fn, sn = first - 1, second - 1
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
    return fr == old_root and sr == new_root and sn == 0
