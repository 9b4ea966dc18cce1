"""Several models at once: each asked by its id, one local model in memory at a time, none of it kept when memory is short."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import psutil
import pytest

from gateway.adapters.inference.factory import ModelChoice, build_backend, build_models
from gateway.adapters.inference.local import LocalBackend
from gateway.adapters.inference.local_slot import LocalSlot
from gateway.adapters.inference.memory_pressure import describe_pressure, left_memory
from gateway.adapters.inference.model_set import ModelSet
from gateway.adapters.inference.scripted import Reply, ScriptedBackend
from gateway.adapters.inference.stub import stub_backend
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import ModelPhase
from tests.adapters.inference.sidecar_stage import FAKE_SERVER
from tests.adapters.inference.test_gguf import gguf
from tests.fakes.clock import FakeClock
from tests.harness.processes import running_below

CHAT = "/v1/chat/completions"
WAIT = 30.0


@dataclass
class Stage:
    """Two model files, a server that plays llama.cpp's, and how short memory is."""

    folder: Path
    short: str | None = None
    looks: int = 0
    models: ModelSet = field(init=False)

    def pressure(self) -> str | None:
        self.looks += 1
        return self.short

    def file(self, name: str) -> Path:
        return self.folder / f"{name}.gguf"

    def choice(self, *names: str) -> ModelChoice:
        first, *others = [str(self.file(name)) for name in names]
        binary = str(self.folder / "llama-server")
        return ModelChoice(
            first, self.folder, self.folder / "state", llama_server=binary, sandbox=None, other_models=(*others, "stub")
        )

    def servers(self) -> list[psutil.Process]:
        """The model servers that run."""
        return running_below(None, str(self.folder))

    def loaded(self) -> list[str]:
        """Names of the files that are in memory."""
        lines = [each.cmdline() for each in self.servers()]
        return [Path(line[line.index("--model") + 1]).stem for line in lines]

    async def ids(self) -> list[str]:
        return [model.id for model in await self.models.models()]

    async def ask(self, model: str | None, tokens: int = 1) -> bytes:
        asked = {"max_tokens": tokens} | ({} if model is None else {"model": model})
        async with asyncio.timeout(WAIT), self.models.ask(CHAT, orjson.dumps(asked)) as answer:
            return b"".join([chunk async for chunk in answer.chunks()])

    @contextlib.asynccontextmanager
    async def asking(self, model: str) -> AsyncGenerator[None]:
        """An answer that goes on until it is left."""
        async with self.models.ask(CHAT, orjson.dumps({"model": model})) as answer:
            assert await anext(aiter(answer.chunks()))
            yield

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until it is so."""
        async with asyncio.timeout(WAIT):
            while not is_so():
                await asyncio.sleep(0.02)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    stage = Stage(tmp_path)
    for name in ("a", "b"):
        stage.file(name).write_bytes(gguf() + name.encode())
    binary = tmp_path / "llama-server"
    binary.write_text(f"#!{sys.executable} -I\n" + FAKE_SERVER.read_text(encoding="utf-8"))
    binary.chmod(0o755)
    choice = stage.choice("a", "b")
    built = [build_backend(each, FakeClock()) for each in (choice, *choice.others())]
    stage.models = ModelSet(built, pressure=stage.pressure, watch_seconds=0.02)
    await stage.models.start()
    async with asyncio.timeout(WAIT):
        assert (await stage.models.settle()).phase is ModelPhase.READY
        while len(await stage.ids()) < 3:
            await asyncio.sleep(0.02)
    yield stage
    await stage.models.stop()
    assert stage.servers() == []


async def test_all_are_offered_and_the_first_one_alone_is_loaded(stage: Stage) -> None:
    assert [model.local for model in await stage.models.models()] == [True, True, True]
    assert len(set(await stage.ids())) == 3
    assert stage.loaded() == ["a"]
    await stage.ask(None)
    assert stage.loaded() == ["a"]


@pytest.mark.requirement("002-48", "several local models are configured, and at most one of them is loaded")
@pytest.mark.requirement("004-17", "a question for another model waits until that one is loaded, not until any is ready")
async def test_asking_another_one_puts_it_in_the_place_of_the_first(stage: Stage) -> None:
    a, b, stub = await stage.ids()
    await stage.ask(b)
    assert stage.loaded() == ["b"]
    await stage.ask(stub)
    assert stage.loaded() == ["b"], "what needs no memory changes nothing"
    await stage.ask(a)
    assert stage.loaded() == ["a"]


async def test_an_answer_under_way_is_not_cut_off_for_another_model(stage: Stage) -> None:
    a, b, _ = await stage.ids()
    async with stage.asking(a):
        other = asyncio.create_task(stage.ask(b))
        late = asyncio.create_task(stage.ask(a))
        done, _ = await asyncio.wait({other, late}, timeout=0.3)
        assert not done, "the one that came later waits behind the one that came first"
        assert stage.loaded() == ["a"]
    await other
    await late
    assert stage.loaded() == ["a"]


async def test_a_client_that_leaves_during_the_exchange_leaves_one_model_behind(stage: Stage) -> None:
    a, b, _ = await stage.ids()
    for _ in range(5):
        leaving = asyncio.create_task(stage.ask(b))
        await asyncio.wait({leaving}, timeout=0.05)
        leaving.cancel()
        await asyncio.wait({leaving})
        await stage.ask(a)
        assert stage.loaded() == ["a"]


async def test_a_model_that_is_kept_busy_is_said_and_not_waited_for_without_end(tmp_path: Path) -> None:
    slot = LocalSlot(switch_seconds=0.05)
    busy, other = (build_backend(ModelChoice(f"{tmp_path}/{name}.gguf", tmp_path, tmp_path), FakeClock()) for name in "ab")
    assert isinstance(busy, LocalBackend)
    assert isinstance(other, LocalBackend)
    async with asyncio.timeout(WAIT), slot.use(busy):
        with pytest.raises(ModelUnavailable, match="another model"):
            async with slot.use(other):
                raise AssertionError("both at once")
        async with slot.use(busy):
            pass
    await slot.close()
    await busy.stop()


@pytest.mark.requirement("004-17", "a model that nobody asks is unloaded when memory is short; the next question loads it")
async def test_short_memory_unloads_what_nobody_asks(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    a, *_ = await stage.ids()
    async with stage.asking(a):
        stage.looks, stage.short = 0, "3 MiB of memory are left"
        await stage.until(lambda: stage.looks > 3)
        assert stage.loaded() == ["a"], "an answer under way keeps it"
    await stage.until(lambda: "next question loads it" in stage.models.state().detail)
    assert stage.loaded() == []
    await stage.until(lambda: "unloaded" in caplog.text)
    assert "unloaded: 3 MiB of memory are left" in caplog.text
    assert stage.models.state().phase is ModelPhase.READY
    assert (await stage.ids())[0] == a
    stage.short = None
    await stage.ask(a)
    assert stage.loaded() == ["a"]


@pytest.mark.requirement("002-47", "a file that was exchanged does not answer under the old one's digest")
async def test_a_file_that_was_exchanged_is_not_asked_in_the_place_of_the_old_one(stage: Stage) -> None:
    _, b, _ = await stage.ids()
    stage.file("b").write_bytes(gguf() + b"other weights")
    with pytest.raises(ModelUnavailable, match="exchanged"):
        await stage.ask(b)
    journal = stage.folder / "state" / "inference" / "journal"
    assert "asked" not in journal.read_text().splitlines()
    assert b not in await stage.ids()


async def test_a_model_that_is_not_configured_is_not_asked(stage: Stage) -> None:
    for name in ("gpt", "", "a.gguf", "/etc/passwd", "x" * 10_000):
        with pytest.raises(ModelUnavailable, match="no model"):
            await stage.ask(name)


async def test_a_set_of_remote_and_scripted_models_needs_no_memory(tmp_path: Path) -> None:
    script = ScriptedBackend(lambda asked: Reply("scripted"))
    models = ModelSet([script, stub_backend()])
    await models.start()
    stub = (await models.models())[1].id
    async with models.ask(CHAT, orjson.dumps({"model": stub})) as answer:
        assert b"stub model" in b"".join([chunk async for chunk in answer.chunks()])
    assert script.asked == []
    with pytest.raises(ModelUnavailable):
        await models.warm([])
    assert models.keep_tokens()() is None
    await models.stop()


def test_the_setting_decides_whether_there_is_a_set(tmp_path: Path) -> None:
    choice = ModelChoice("stub", tmp_path, tmp_path)
    assert isinstance(build_models(choice, FakeClock()), ScriptedBackend)
    several = ModelChoice("stub", tmp_path, tmp_path, other_models=("ollama/x", "stub", "none", "ollama/x"))
    assert [each.model for each in several.others()] == ["ollama/x"]
    assert isinstance(build_models(several, FakeClock()), ModelSet)
    assert isinstance(build_models(ModelChoice("none", tmp_path, tmp_path, other_models=("stub",)), FakeClock()), ScriptedBackend)


async def test_a_model_that_is_configured_and_not_there_is_told_with_the_reason(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone.gguf")
    models = build_models(ModelChoice("stub", tmp_path, tmp_path, other_models=(gone,)), FakeClock())
    assert isinstance(models, ModelSet)
    await models.start()
    async with asyncio.timeout(WAIT):
        while not (missing := await models.missing()):
            await asyncio.sleep(0.02)
    await models.stop()
    assert missing == [(gone, "the model file `gone.gguf` does not read: No such file or directory")]


# ── how short memory is ─────────────────────────────────────────────────────────────────────────────────────────────────


def group(folder: Path, **values: str) -> Path:
    for name, value in values.items():
        (folder / name.replace("_", ".")).write_text(value)
    return folder


def test_processes_that_wait_for_memory_are_pressure(tmp_path: Path) -> None:
    psi = tmp_path / "memory"
    psi.write_text("some avg10=42.50 avg60=9.00 avg300=2.00 total=1\nfull avg10=30.00 avg60=1.00 avg300=0.00 total=1\n")
    assert describe_pressure((psi,), tmp_path) == "processes wait for memory 42 % of the time"
    psi.write_text("some avg10=0.00 avg60=99.00 avg300=99.00 total=1\n")
    assert describe_pressure((psi,), tmp_path) is None


def test_a_container_that_is_nearly_full_is_pressure_though_the_machine_is_not(tmp_path: Path) -> None:
    full = group(
        tmp_path, memory_max="1073741824\n", memory_current="1000000000\n", memory_stat="anon 5\ninactive_file 1000000\n"
    )
    assert left_memory(full) == 74741824
    assert describe_pressure((), full) == "71 MiB of memory are left, and 256 should be"
    cached = group(tmp_path, memory_stat="active_file 400000000\ninactive_file 400000000\n")
    assert describe_pressure((), cached) is None, "what caches files can be given up"


def test_a_machine_that_says_nothing_is_not_short(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("max\n")
    assert describe_pressure((tmp_path / "none",), tmp_path) is None
    garbled = tmp_path / "garbled"
    garbled.write_bytes(b"\xff some avg10=x")
    assert describe_pressure((garbled,), tmp_path) is None
