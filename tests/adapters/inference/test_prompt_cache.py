"""A prompt is evaluated once and read from disk by later launches, and no file but its own is believed."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import hashlib
import os
import stat
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.adapters.inference.factory import ModelChoice, build_backend
from gateway.adapters.inference.local import LocalBackend
from gateway.adapters.inference.prompt_cache import MAGIC, CacheKey, PromptCache
from gateway.adapters.inference.warm_prefix import PrefixState
from gateway.adapters.system.clock import SystemClock
from gateway.core.errors import Misconfigured
from tests.fakes.clock import FakeClock

from .conftest import gguf, read_journal

FAKE_SERVER = Path(__file__).with_name("fake_server.py")
BEGINNING: list[dict[str, str]] = [{"role": "system", "content": "be brief"}]

KEY = CacheKey(
    model="Tiny",
    weights="abc:qwen2",
    weights_bytes=10,
    weights_mtime=5,
    prompt="<|im_start|>system",
    vocab=99,
    layers=24,
    dtype="Q4_K_M, cache f16",
    build="b1",
    context_tokens=4096,
)
STATE = bytes(range(256)) * 5000


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Desk:
    """A cache, and a folder where a server would save."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "kv"
        self.slot = folder / "x.slot"
        self.cache = PromptCache(self.folder)

    def store(self, key: CacheKey = KEY, content: bytes = STATE) -> Path:
        self.slot.write_bytes(content)
        self.cache.store(key, self.slot)
        self.slot.unlink()
        return self.folder / f"{key.digest}.kv"

    def fetch(self, key: CacheKey = KEY) -> bytes | None:
        self.slot.unlink(missing_ok=True)
        found = self.cache.fetch(key, self.slot)
        assert found == self.slot.exists()
        return self.slot.read_bytes() if found else None


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_what_was_stored_is_fetched_and_only_its_owner_can_read_it(desk: Desk) -> None:
    path = desk.store()
    assert desk.fetch() == STATE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(desk.folder.stat().st_mode) == 0o700
    assert os.listdir(desk.folder) == [path.name]


CHANGES: dict[str, object] = {
    "model": "Other",
    "weights": "def:qwen2",
    "weights_bytes": 11,
    "weights_mtime": 6,
    "prompt": "<|im_start|>system ",
    "vocab": 100,
    "layers": 25,
    "dtype": "Q8_0, cache f16",
    "build": "b2",
    "context_tokens": 2048,
}


@pytest.mark.requirement("000-11", "a change of any member of the key misses, and the old file still fits the old key")
@pytest.mark.parametrize("member", [field.name for field in dataclasses.fields(CacheKey)])
def test_with_anything_changed_it_is_another_key(desk: Desk, member: str) -> None:
    desk.store()
    changed: Any = {member: CHANGES[member]}
    assert desk.fetch(dataclasses.replace(KEY, **changed)) is None
    assert desk.fetch() == STATE


def head_of(**changes: object) -> bytes:
    head = {"key": KEY.digest, "bytes": len(STATE), "sha256": digest_of(STATE)} | changes
    return MAGIC + orjson.dumps(head) + b"\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        STATE,
        MAGIC,
        MAGIC + b"[]\n" + STATE,
        MAGIC + b"{" * 5000,
        head_of(key=digest_of(b"")) + STATE,
        head_of(bytes="1") + STATE,
        head_of(bytes=-1) + STATE,
        head_of(bytes=2**62) + STATE,
        head_of(sha256=None) + STATE,
        head_of() + STATE[:-1],
        head_of() + STATE + b"x",
        head_of() + STATE[:-1] + b"x",
        head_of(bytes=len(STATE) - 1) + STATE[:-1],
    ],
    ids=[
        *("empty", "garbage", "raw", "no-head", "list", "long-head", "foreign-key", "text-size", "negative-size", "huge-size"),
        *("no-digest", "cut-off", "longer", "changed", "shorter"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_and_replaced(desk: Desk, content: bytes) -> None:
    path = desk.store()
    path.write_bytes(content)
    assert desk.fetch() is None
    assert not list(desk.slot.parent.glob("*.part"))
    desk.store()
    assert desk.fetch() == STATE


def make_pipe(path: Path, _desk: Desk) -> None:
    os.mkfifo(path)


def make_folder(path: Path, _desk: Desk) -> None:
    path.mkdir()
    (path / "full").touch()


def make_link(path: Path, desk: Desk) -> None:
    target = desk.slot.with_name("elsewhere")
    target.write_bytes(head_of() + STATE)
    path.symlink_to(target)


@pytest.mark.parametrize("make", [make_pipe, make_folder, make_link])
def test_what_is_no_file_of_its_own_is_refused_and_replaced(desk: Desk, make: Callable[[Path, Desk], None]) -> None:
    path = desk.store()
    path.unlink()
    make(path, desk)
    assert desk.fetch() is None
    desk.store()
    assert desk.fetch() == STATE


@pytest.mark.requirement("002-62", "a link that the model server left shows it no file and changes none")
def test_a_link_that_the_server_left_is_followed_in_no_direction(desk: Desk, tmp_path: Path) -> None:
    """docs/SECURITY.md case 52."""
    desk.store()
    secret = tmp_path / "audit.key"
    secret.write_bytes(b"the gateway's own")
    for left in (desk.slot, desk.slot.with_name("x.slot.part")):
        left.symlink_to(secret)
    with pytest.raises(OSError, match="symbolic link"):
        desk.cache.store(KEY, desk.slot)
    assert desk.cache.fetch(KEY, desk.slot)
    assert desk.slot.read_bytes() == STATE
    assert not desk.slot.is_symlink()
    assert secret.read_bytes() == b"the gateway's own"
    desk.slot.unlink()
    os.link(secret, desk.slot)
    with pytest.raises(OSError, match="not a plain file"):
        desk.cache.store(KEY, desk.slot)
    desk.slot.unlink()
    os.mkfifo(desk.slot)
    with pytest.raises(OSError, match="not a plain file"):
        desk.cache.store(KEY, desk.slot)


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kv").mkdir()
    (tmp_path / "kv").chmod(0o777)
    with pytest.raises(Misconfigured, match="others may write to it") as caught:
        PromptCache(tmp_path / "kv")
    assert str(tmp_path) not in caught.value.message


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misconfigured, match="cannot be made"):
        PromptCache(tmp_path / "file" / "kv")


def numbered(number: int) -> CacheKey:
    return dataclasses.replace(KEY, context_tokens=number)


def test_the_folder_is_bounded_and_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.cache = PromptCache(desk.folder, most_files=3)
    for age, number in enumerate((1, 2, 3)):
        os.utime(desk.store(numbered(number)), (1000 + age, 1000 + age))
    assert desk.fetch(numbered(1)) == STATE
    desk.store(numbered(4))
    assert [number for number in (1, 2, 3, 4) if desk.fetch(numbered(number)) is not None] == [1, 3, 4]


def test_the_folder_is_bounded_in_bytes_but_the_newest_stays(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.cache = PromptCache(desk.folder, most_bytes=len(STATE))
    os.utime(desk.store(numbered(1)), (1000, 1000))
    desk.store(numbered(2))
    assert (desk.fetch(numbered(1)), desk.fetch(numbered(2))) == (None, STATE)


def test_files_of_others_are_left_alone_and_abandoned_ones_removed(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.cache = PromptCache(desk.folder, most_files=1)
    (desk.folder / "notes.txt").touch()
    (desk.folder / "fresh.part").touch()
    (desk.folder / "old.part").touch()
    os.utime(desk.folder / "old.part", (1000, 1000))
    path = desk.store()
    assert sorted(os.listdir(desk.folder)) == sorted([path.name, "fresh.part", "notes.txt"])


# ── with a server ───────────────────────────────────────────────────────────────────────────────────────────────────────


@contextlib.asynccontextmanager
async def launched(tmp_path: Path, launch: int) -> AsyncGenerator[tuple[LocalBackend, Path]]:
    """A backend over the fake server with a state folder of its own, and where the server's journal is."""
    weights, binary = tmp_path / "m.gguf", tmp_path / "llama-server"
    if not weights.exists():
        weights.write_bytes(gguf())
        binary.write_text(f"#!{sys.executable} -I\n" + FAKE_SERVER.read_text(encoding="utf-8"))
        binary.chmod(0o755)
    state = tmp_path / f"s{launch}"
    choice = ModelChoice(str(weights), tmp_path, state, llama_server=str(binary), prompt_cache=tmp_path / "kv", sandbox=None)
    backend = build_backend(choice, FakeClock())
    assert isinstance(backend, LocalBackend)
    await backend.start()
    try:
        async with asyncio.timeout(30):
            await backend.settle()
            yield backend, state / "inference"
    finally:
        await backend.stop()


@pytest.mark.requirement("000-12", "the second launch restores the prompt that the first evaluated")
async def test_the_first_launch_evaluates_and_the_next_one_reads_from_disk(tmp_path: Path) -> None:
    for launch, expected in enumerate((PrefixState(restored=False, tokens=7, kept=True), PrefixState(restored=True, tokens=7))):
        async with launched(tmp_path, launch) as (backend, _):
            assert await backend.warm(BEGINNING) == expected


async def test_a_damaged_file_never_reaches_the_server(tmp_path: Path) -> None:
    async with launched(tmp_path, 0) as (backend, _):
        await backend.warm(BEGINNING)
    (path,) = (tmp_path / "kv").iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    async with launched(tmp_path, 1) as (backend, folder):
        assert not (await backend.warm(BEGINNING)).restored
        assert read_journal(folder) == ["started", "asked", "save"]
    async with launched(tmp_path, 2) as (backend, _):
        assert (await backend.warm(BEGINNING)).restored


async def test_other_words_other_weights_and_another_server_are_evaluated_anew(tmp_path: Path) -> None:
    async with launched(tmp_path, 0) as (backend, _):
        await backend.warm(BEGINNING)
        assert not (await backend.warm([*BEGINNING, *BEGINNING])).restored
    os.utime(tmp_path / "m.gguf", (1000, 1000))
    async with launched(tmp_path, 1) as (backend, _):
        assert not (await backend.warm(BEGINNING)).restored
    os.utime(tmp_path / "llama-server", (1000, 1000))
    async with launched(tmp_path, 2) as (backend, _):
        assert not (await backend.warm(BEGINNING)).restored


async def test_a_cache_that_cannot_be_written_costs_only_the_cache(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with launched(tmp_path, 0) as (backend, _):
        (tmp_path / "kv").rmdir()
        assert await backend.warm(BEGINNING) == PrefixState(restored=False, tokens=7)
    assert "could not be kept" in caplog.text


@pytest.mark.live
async def test_the_real_server_takes_up_a_prompt_that_another_launch_evaluated(real_models: Path, tmp_path: Path) -> None:
    beginning = [{"role": "system", "content": "You are a helper. " * 40}]
    seen: list[PrefixState] = []
    for launch in range(2):
        choice = ModelChoice("default", real_models, tmp_path / f"s{launch}", prompt_cache=tmp_path / "kv")
        backend = build_backend(choice, SystemClock())
        assert isinstance(backend, LocalBackend)
        await backend.start()
        try:
            async with asyncio.timeout(120):
                await backend.settle()
                seen.append(await backend.warm(beginning))
                question = {"messages": [*beginning, {"role": "user", "content": "hello"}], "max_tokens": 1}
                async with backend.ask("/v1/chat/completions", orjson.dumps(question)) as answer:
                    told = orjson.loads(b"".join([chunk async for chunk in answer.chunks()]))
        finally:
            await backend.stop()
        assert told["timings"]["cache_n"] > 10 * told["timings"]["prompt_n"]
    assert [each.restored for each in seen] == [False, True]
    assert seen[0].tokens == seen[1].tokens > 160
