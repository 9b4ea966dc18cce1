"""A syslog receiver of our own, written from RFC 5425 (TLS, octet counting) and RFC 5424 (the message) alone: it takes
nothing that their grammars do not allow. And certificates of an authority of our own for it, right ones and wrong ones."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

_DAY: Final = timedelta(days=1)
_LENGTH: Final = re.compile(rb"([1-9][0-9]*) ")
_MESSAGE: Final = re.compile(
    r"<(?P<priority>0|[1-9][0-9]{0,2})>(?P<version>[1-9][0-9]{0,2})"
    r" (?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d))"
    r" (?P<host>[!-~]{1,255}) (?P<app>[!-~]{1,48}) (?P<process>[!-~]{1,128}) (?P<kind>[!-~]{1,32})"
    r' (?P<data>-|(\[[^\s="\]]{1,32}( [^\s="\]]{1,32}="([^"\\\]]|\\["\\\]])*")*\])+)'
    r"( (?P<text>.*))?",
    re.DOTALL,
)
_TAKEN: Final = 8192
"""Octets of a message that every receiver should take (RFC 5425 section 4.3.1)."""


@dataclass(frozen=True)
class Message:
    """One message by its parts."""

    priority: int
    time: str
    kind: str
    data: str
    text: str


def read_message(raw: bytes) -> Message:
    """A message of version 1, of a length that every receiver should take."""
    assert len(raw) <= _TAKEN, f"{len(raw)} octets"
    read = _MESSAGE.fullmatch(raw.decode())
    assert read is not None, raw
    assert read["version"] == "1"
    assert int(read["priority"]) <= 191
    return Message(int(read["priority"]), read["time"], read["kind"], read["data"], read["text"] or "")


@dataclass
class Receiver:
    """Listens with that certificate on a port of its own, by blocking sockets in threads.

    `frames` are whole ones; `broken` is what was none, and `cut` how many connections ended without the `close_notify` that
    RFC 5425 section 4.4 asks for. Without an identity it does not speak TLS."""

    identity: Identity | None
    port: int = 0
    client_ca: Path | None = None
    frames: list[bytes] = field(default_factory=list[bytes])
    broken: list[bytes] = field(default_factory=list[bytes])
    connections: int = 0
    cut: int = 0
    ended: int = 0
    came: bytes = b""

    def messages(self) -> list[Message]:
        return [read_message(frame) for frame in [*self.frames]]

    @asynccontextmanager
    async def there(self) -> AsyncGenerator[None]:
        with socket.create_server(("127.0.0.1", self.port)) as listening:
            listening.settimeout(0.05)
            self.port = listening.getsockname()[1]
            stop = asyncio.Event()
            work = asyncio.create_task(self._accept(listening, stop))
            try:
                yield
            finally:
                stop.set()
                await work

    async def _accept(self, listening: socket.socket, stop: asyncio.Event) -> None:
        serving: list[asyncio.Task[None]] = []
        held: list[socket.socket] = []
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                connection, _ = await asyncio.to_thread(listening.accept)
                connection.settimeout(30)
                self.connections += 1
                held.append(connection)
                serving.append(asyncio.create_task(asyncio.to_thread(self._serve, connection)))
        for each in held:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        await asyncio.gather(*serving)

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            if self.identity is None:
                # No TLS at all: it says something of its own, and reads what comes.
                connection.sendall(b"220 ready\r\n")
                self.came += connection.recv(65_536)
                return
            context = self.identity.context()
            if self.client_ca is not None:
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(self.client_ca)
            with context.wrap_socket(connection, server_side=True, suppress_ragged_eofs=False) as spoken:
                self._read(spoken)

    def _read(self, spoken: ssl.SSLSocket) -> None:
        buffer = b""
        while True:
            try:
                came = spoken.recv(65_536)
            except (ssl.SSLEOFError, ConnectionError):
                self.cut += 1
                return
            if not came:
                self.ended += 1
                return
            self.came += came
            buffer += came
            for frame in self._frames(buffer):
                self.frames.append(frame)
                buffer = buffer[len(b"%d " % len(frame)) + len(frame) :]

    def _frames(self, buffer: bytes) -> Iterator[bytes]:
        while buffer:
            length = _LENGTH.match(buffer)
            if length is None:
                if not re.fullmatch(rb"[1-9][0-9]{0,9}", buffer):
                    self.broken.append(buffer[:100])
                return
            end = length.end() + int(length[1])
            if len(buffer) < end:
                return
            yield buffer[length.end() : end]
            buffer = buffer[end:]


@dataclass(frozen=True)
class Identity:
    """A certificate with its key, both in PEM in one file."""

    file: Path
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file)
        return context


def certify(
    file: Path,
    issuer: Identity | None = None,
    *,
    names: Sequence[str] = ("localhost",),
    ca: bool = False,
    begins: timedelta = -_DAY,
    ends: timedelta = _DAY,
    purpose: ObjectIdentifier = ExtendedKeyUsageOID.SERVER_AUTH,
) -> Identity:
    """A certificate for those host names (none: only its common name says one); signed by itself where there is no issuer."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)  # noqa: TID251 # certificates are dated by the wall clock
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, file.stem if ca else (names or ("localhost",))[0])])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer is None else issuer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begins)
        .not_valid_after(now + ends)
        .add_extension(x509.BasicConstraints(ca, None), critical=True)
    )
    if not ca:
        builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
    if names and not ca:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(each) for each in names]), critical=False)
    certificate = builder.sign(key if issuer is None else issuer.key, hashes.SHA256())
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(certificate.public_bytes(Encoding.PEM) + secret)
    return Identity(file, certificate, key)
