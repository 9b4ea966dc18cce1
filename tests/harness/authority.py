"""A time-stamping authority of our own (RFC 3161)."""

from __future__ import annotations

import asyncio
import subprocess
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from aiohttp import web

from tests.harness.process import free_port
from tests.harness.web_app import posted_to


@dataclass
class Authority:
    """A time-stamping authority of our own: `openssl ts`, with a root that signed its certificate."""

    folder: Path
    port: int = field(default_factory=free_port)

    def make(self) -> None:
        """Its certificates and its settings."""
        (self.folder / "ts.cnf").write_text(AUTHORITY.format(folder=self.folder))
        (self.folder / "serial").write_text("01\n")
        run = partial(subprocess.run, check=True, capture_output=True, cwd=self.folder)
        for name in ("root", "other"):
            key = ("-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "3650")
            run(["openssl", "req", "-x509", *key, "-subj", f"/CN={name}", "-config", "ts.cnf", "-extensions", "root"])
        request = ("-newkey", "rsa:2048", "-nodes", "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=tsa")
        run(["openssl", "req", *request, "-config", "ts.cnf"])
        signer = ("-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-days", "3650", "-extfile", "ts.cnf")
        run(["openssl", "x509", "-req", "-in", "tsa.csr", "-out", "tsa.pem", *signer, "-extensions", "signer"])

    def there(self) -> AbstractAsyncContextManager[None]:
        return posted_to("/tsa", self._stamp, self.port)

    def answer(self, asked: bytes) -> bytes:
        """Its answer to a request in DER."""
        (self.folder / "asked").write_bytes(asked)
        command = ["openssl", "ts", "-reply", "-config", "ts.cnf", "-queryfile", "asked", "-out", "answer"]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder)
        return (self.folder / "answer").read_bytes()

    async def _stamp(self, request: web.Request) -> web.Response:
        answer = await asyncio.to_thread(self.answer, await request.read())
        return web.Response(body=answer, content_type="application/timestamp-reply")


AUTHORITY = """
[req]
distinguished_name = name
[name]
[root]
basicConstraints = critical,CA:true
subjectKeyIdentifier = hash
keyUsage = critical,keyCertSign
[signer]
basicConstraints = critical,CA:false
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[tsa]
default_tsa = authority
[authority]
dir = {folder}
serial = $dir/serial
signer_cert = $dir/tsa.pem
signer_key = $dir/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
crypto_device = builtin
ordering = yes
tsa_name = yes
ess_cert_id_chain = no
ess_cert_id_alg = sha256
"""
