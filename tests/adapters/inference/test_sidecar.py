"""The supervisor over real processes that play the model server: it comes up, comes back, gives up, and leaves nothing behind.

Requirement ids: 002-01, 002-62.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest

from gateway.adapters.inference.child import LAUNCHER, BoundedLog
from gateway.adapters.inference.engine import Engine, Threads, WheelEngine, find_engine, scrubbed_environment
from gateway.adapters.inference.sidecar import LOG_FILE, Patience, Sidecar, SidecarPlan
from gateway.core.errors import Misconfigured, ModelUnavailable
from gateway.runtime.ports import ModelPhase, ModelState
from tests.fakes.clock import FakeClock

from .conftest import read_journal, read_seen

FAKE_SERVER = Path(__file__).with_name("fake_server.py")
AS_LAUNCHER = (sys.executable, "-I", "-B", str(FAKE_SERVER))
QUICK = Patience(start=20, poll=0.02, probe=5, watch=0.02, misses=2)
PATIENT = 30.0
"""Seconds until a wait counts as a hang."""

CHAT = "/v1/chat/completions"


class Stage:
    """A sidecar over the fake server, with pauses that take no time and are written down."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = FakeClock()
        self.pauses: list[float] = []
        self.stack = contextlib.AsyncExitStack()

    def build(self, *, engine: Engine | None = None, patience: Patience = QUICK, real_launcher: bool = False) -> Sidecar:
        plan = SidecarPlan(
            weights=self.folder / "m.gguf",
            weights_id="abc:qwen2",
            folder=self.folder,
            context_tokens=4096,
            threads=Threads(1, 2),
            repack=False,
            origins=("http://agent.localhost:8765",),
        )
        sidecar = Sidecar(
            plan,
            engine or WheelEngine(),
            clock=self.clock,
            patience=patience,
            pause=self.pause,
            launcher=LAUNCHER if real_launcher else AS_LAUNCHER,
        )
        self.stack.push_async_callback(sidecar.stop)
        return sidecar

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(0)

    def behave(self, how: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "behaviour").write_text(how)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENT):
            while not condition():
                await asyncio.sleep(0.01)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    stage = Stage(tmp_path / "s")
    async with stage.stack:
        yield stage


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    path = tmp_path / "llama-server"
    path.write_text(f"#!{sys.executable} -I\n" + FAKE_SERVER.read_text(encoding="utf-8"))
    path.chmod(0o755)
    return path


def is_up(stage: Stage, sidecar: Sidecar, starts: int) -> bool:
    return read_journal(stage.folder).count("started") == starts and sidecar.state().phase is ModelPhase.READY


async def settled(sidecar: Sidecar) -> ModelState:
    async with asyncio.timeout(PATIENT):
        return await sidecar.settle()


async def drain(chunks: AsyncIterator[bytes]) -> None:
    async with asyncio.timeout(PATIENT):
        async for _ in chunks:
            pass


async def stream(sidecar: Sidecar, **body: object) -> bytes:
    async with asyncio.timeout(PATIENT), sidecar.ask(CHAT, json.dumps(body).encode()) as answer:
        assert (answer.status, answer.content_type) == (200, "text/event-stream")
        return b"".join([chunk async for chunk in answer.chunks()])


async def test_it_comes_up_and_answers(stage: Stage) -> None:
    sidecar = stage.build()
    assert sidecar.state().phase is ModelPhase.STOPPED
    await sidecar.start()
    assert sidecar.state().phase is ModelPhase.STARTING
    assert (await settled(sidecar)).phase is ModelPhase.READY
    assert (await stream(sidecar, max_tokens=3)).count(b"data:") == 4


async def test_before_it_is_ready_a_question_is_refused_with_the_state(stage: Stage) -> None:
    stage.behave("hang")
    sidecar = stage.build()
    await sidecar.start()
    with pytest.raises(ModelUnavailable, match="being loaded") as caught:
        await stream(sidecar)
    assert caught.value.state == "starting"


async def test_its_environment_is_scrubbed_and_its_key_is_nowhere_to_be_seen(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLAMA_ARG_TOOLS", "all")
    monkeypatch.setenv("COUNTERSIGN_MODEL_KEY", "secret")
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    seen = read_seen(stage.folder)
    # LC_CTYPE is what CPython sets for itself when there is no locale.
    assert set(seen.environment) - {"LC_CTYPE"} == {"PATH", "HOME", "OMP_WAIT_POLICY"}
    assert seen.environment["HOME"].startswith(str(stage.folder))
    assert seen.arguments == [str(FAKE_SERVER)]


async def test_its_socket_lies_in_a_private_folder(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    assert stat.S_IMODE(stage.folder.stat().st_mode) == 0o700
    assert stat.S_ISSOCK((stage.folder / "sidecar.sock").stat().st_mode)


async def test_a_folder_too_deep_for_a_socket_means_loopback(stage: Stage) -> None:
    stage.folder = stage.folder / ("deep" * 30)
    sidecar = stage.build()
    await sidecar.start()
    assert (await settled(sidecar)).phase is ModelPhase.READY
    assert b"DONE" in await stream(sidecar, max_tokens=1)
    assert not (stage.folder / "sidecar.sock").exists()


@pytest.mark.parametrize(("behaviour", "why"), [("keyless", "does not ask for its key"), ("otherkey", "does not take its key")])
async def test_a_server_that_is_careless_with_keys_is_not_used(stage: Stage, behaviour: str, why: str) -> None:
    stage.behave(behaviour)
    sidecar = stage.build()
    await sidecar.start()
    state = await settled(sidecar)
    assert state.phase is ModelPhase.CRASHED
    assert why in state.detail


async def test_leaving_an_answer_ends_it_at_the_server(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    async with sidecar.ask(CHAT, b"{}") as answer:
        chunks = answer.chunks()
        assert await anext(chunks)
    await stage.until(lambda: "given up" in read_journal(stage.folder))


async def test_a_killed_server_is_started_again(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    first = read_seen(stage.folder)
    first.kill()
    await stage.until(partial(is_up, stage, sidecar, 2))
    assert stage.pauses == [1.0]
    assert read_seen(stage.folder).pid != first.pid
    assert b"DONE" in await stream(sidecar, max_tokens=1)


async def test_a_crash_in_the_middle_of_an_answer_is_said(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    async with sidecar.ask(CHAT, b"{}") as answer:
        chunks = answer.chunks()
        assert await anext(chunks)
        read_seen(stage.folder).kill()
        with pytest.raises(ModelUnavailable, match="broke off") as caught:
            await drain(chunks)
    assert caught.value.state == "crashed"


async def test_a_server_that_keeps_crashing_is_given_up_after_growing_pauses(stage: Stage) -> None:
    stage.behave("crash")
    sidecar = stage.build()
    await sidecar.start()
    state = await settled(sidecar)
    assert state.phase is ModelPhase.CRASHED
    assert "ended with exit code 3 while it was loading the model, 5 times in a row" in state.detail
    assert "countersign doctor" in state.detail
    assert stage.pauses == [1.0, 2.0, 4.0, 8.0]
    assert read_journal(stage.folder) == ["started"] * 5
    with pytest.raises(ModelUnavailable, match="5 times in a row") as caught:
        await stream(sidecar)
    assert caught.value.state == "crashed"


async def test_a_long_run_makes_the_count_of_failures_start_anew(stage: Stage) -> None:
    sidecar = stage.build(patience=Patience(start=20, poll=0.02, probe=5, watch=0.02, attempts=2))
    await sidecar.start()
    for starts in (1, 2, 3):
        await stage.until(partial(is_up, stage, sidecar, starts))
        stage.clock.advance(61)
        read_seen(stage.folder).kill()
        await stage.until(lambda: sidecar.state().phase is not ModelPhase.READY)
    assert stage.pauses == [1.0, 1.0, 1.0]


async def test_a_server_that_never_gets_ready_is_given_up(stage: Stage) -> None:
    stage.behave("hang")
    sidecar = stage.build(patience=Patience(start=0.3, poll=0.02, probe=5, attempts=2))
    await sidecar.start()
    state = await settled(sidecar)
    assert "was not ready after 0.3 s" in state.detail
    assert not read_seen(stage.folder).is_alive


async def test_a_server_that_stops_answering_is_replaced(stage: Stage) -> None:
    stage.behave("mute")
    sidecar = stage.build(patience=Patience(start=20, poll=0.02, probe=0.1, watch=0.02, misses=2))
    await sidecar.start()
    await settled(sidecar)
    stage.behave("")
    first = read_seen(stage.folder)
    # The one that plays mute had read its part before it was rewritten.
    await stream(sidecar, max_tokens=1)
    await stage.until(lambda: read_journal(stage.folder).count("started") >= 2)
    await stage.until(lambda: not first.is_alive)


async def test_stopping_ends_the_process_and_removes_socket_and_key(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    await sidecar.stop()
    assert sidecar.state().phase is ModelPhase.STOPPED
    assert not read_seen(stage.folder).is_alive
    assert not {"sidecar.sock", "api-key"} & set(os.listdir(stage.folder))
    with pytest.raises(ModelUnavailable) as caught:
        await stream(sidecar)
    assert caught.value.state == "stopped"
    await sidecar.stop()


async def test_a_server_that_does_not_want_to_end_is_killed(stage: Stage) -> None:
    stage.behave("stubborn")
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    await sidecar.stop()
    assert read_journal(stage.folder) == ["started", "asked to end"]
    assert not read_seen(stage.folder).is_alive


async def test_stopping_at_once_leaves_nothing_behind(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await asyncio.sleep(0)
    await sidecar.stop()
    assert not (stage.folder / "seen.json").exists() or not read_seen(stage.folder).is_alive


async def test_a_supervisor_that_broke_does_not_look_like_one_that_is_trying(stage: Stage) -> None:
    async def break_down(seconds: float) -> None:
        raise RuntimeError("a bug")

    stage.behave("crash")
    stage.pause = break_down
    sidecar = stage.build()
    await sidecar.start()
    state = await settled(sidecar)
    assert (state.phase, "no longer supervised" in state.detail) == (ModelPhase.CRASHED, True)


async def test_a_launcher_that_does_not_exist_is_a_crash_with_words(stage: Stage) -> None:
    plan = SidecarPlan(stage.folder / "m", "a:b", stage.folder, 4096, Threads(1, 1), repack=True, origins=())
    sidecar = Sidecar(
        plan, WheelEngine(), clock=stage.clock, patience=Patience(attempts=1), pause=stage.pause, launcher=("/nonexistent",)
    )
    await sidecar.start()
    assert "exit code 127" in (await settled(sidecar)).detail


async def test_a_folder_that_cannot_be_used_is_a_crash_with_words(stage: Stage) -> None:
    stage.folder.write_text("in the way")
    sidecar = stage.build(patience=Patience(attempts=1))
    await sidecar.start()
    assert "cannot be started" in (await settled(sidecar)).detail


async def test_it_tells_the_ids_of_a_prompt(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    assert await sidecar.tokenise("hé") == (104, 195, 169)


async def test_a_server_that_tells_no_ids_is_an_error_in_words(stage: Stage) -> None:
    stage.behave("wordless")
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    with pytest.raises(ModelUnavailable, match="does not tell token ids"):
        await sidecar.tokenise("x")


# ── warmth ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

BEGINNING: list[dict[str, str]] = [{"role": "system", "content": "be brief"}]


async def test_a_beginning_is_evaluated_once_and_restored_by_the_next_run(stage: Stage) -> None:
    for expected in (["started", "asked", "save"], ["started", "restore"]):
        sidecar = stage.build()
        (stage.folder / "journal").unlink(missing_ok=True)
        await sidecar.start()
        await settled(sidecar)
        await sidecar.warm(BEGINNING)
        assert read_journal(stage.folder) == expected
        await sidecar.stop()


async def test_another_beginning_replaces_the_saved_one(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    await sidecar.warm(BEGINNING)
    await sidecar.warm([*BEGINNING, {"role": "user", "content": "hello"}])
    assert len(os.listdir(stage.folder / "slots")) == 1


async def test_after_its_sleep_the_beginning_is_put_back_before_the_question(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    await sidecar.warm(BEGINNING)
    await stream(sidecar, max_tokens=1)
    stage.clock.advance(301)
    await stream(sidecar, max_tokens=1)
    assert read_journal(stage.folder)[3:] == ["asked", "restore", "asked"]


async def test_after_a_crash_the_beginning_is_put_back(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    await sidecar.warm(BEGINNING)
    read_seen(stage.folder).kill()
    await stage.until(lambda: read_journal(stage.folder)[3:] == ["started", "restore"])


# ── the launcher, and binaries ──────────────────────────────────────────────────────────────────────────────────────────


async def test_a_binary_is_run_by_the_launcher_with_the_flags_it_knows(stage: Stage, binary: Path) -> None:
    sidecar = stage.build(engine=find_engine(str(binary)), real_launcher=True)
    await sidecar.start()
    assert (await settled(sidecar)).phase is ModelPhase.READY
    seen = read_seen(stage.folder)
    arguments = seen.arguments
    assert arguments[arguments.index("--alias") + 1] == "abc:qwen2"
    assert arguments[arguments.index("--threads-batch") + 1] == "2"
    assert "--no-repack" in arguments
    assert "--offline" in arguments
    # This build does not know it, and would not start.
    assert "--no-ui" not in arguments
    assert set(seen.environment) - {"LC_CTYPE"} == {"PATH", "HOME", "OMP_WAIT_POLICY"}
    assert b"DONE" in await stream(sidecar, max_tokens=1)


def test_a_binary_on_the_path_is_preferred_to_the_wheel(binary: Path, tmp_path: Path) -> None:
    assert find_engine("", str(binary.parent)).name == "llama-server"
    assert isinstance(find_engine("", str(tmp_path / "empty")), WheelEngine)


def test_a_binary_without_api_keys_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "llama-server"
    old.write_text("#!/bin/sh\necho --ctx-size --slot-save-path\n")
    old.chmod(0o755)
    with pytest.raises(Misconfigured, match="does not know --api-key-file"):
        find_engine(str(old))


def test_a_binary_that_is_not_there_is_refused_without_its_folder(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="`llama-server` does not start") as caught:
        find_engine(str(tmp_path / "llama-server"))
    assert str(tmp_path) not in caught.value.message


def find_nothing(name: str) -> None:
    return None


def test_a_missing_wheel_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.adapters.inference.engine.find_spec", find_nothing)
    with pytest.raises(Misconfigured, match="pip install xllamacpp"):
        find_engine("", str(tmp_path))


SUPERVISOR = """
import asyncio, pathlib, sys
from gateway.adapters.inference.engine import Threads, find_engine
from gateway.adapters.inference.sidecar import Sidecar, SidecarPlan
from gateway.adapters.system.clock import SystemClock

async def main():
    folder = pathlib.Path(sys.argv[1])
    plan = SidecarPlan(folder / "m.gguf", "a:b", folder, 4096, Threads(1, 1), repack=True, origins=())
    sidecar = Sidecar(plan, find_engine(sys.argv[2]), clock=SystemClock())
    await sidecar.start()
    print((await sidecar.settle()).phase, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_the_server_does_not_outlive_a_killed_gateway(tmp_path: Path, binary: Path) -> None:
    folder = tmp_path / "s"
    command = [sys.executable, "-c", textwrap.dedent(SUPERVISOR), str(folder), str(binary)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as gateway:
        assert gateway.stdout is not None
        assert gateway.stdout.readline() == b"ready\n"
        server = read_seen(folder)
        assert server.is_alive
        gateway.kill()
    deadline = time.monotonic() + 20
    while server.is_alive:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("order", "code"),
    [
        ({"parent": 1, "command": ["/bin/echo", "alive"]}, 1),
        ({"parent": os.getpid(), "settings": {"n_ctx": 512, "surprise": 1}}, 78),
        ({"parent": os.getpid(), "settings": {"cpuparams.surprise": 1}}, 78),
    ],
    ids=["for a gateway that is gone", "with a setting this release has not", "with a nested one"],
)
def test_the_launcher_does_not_serve(order: dict[str, object], code: int) -> None:
    environment = scrubbed_environment(Path("/nonexistent"))
    with subprocess.Popen(
        LAUNCHER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    ) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        run.stdin.write(json.dumps(order).encode() + b"\n")
        run.stdin.flush()
        # Standard input stays open, as it does under a living gateway.
        assert run.wait(timeout=60) == code
        assert b"alive" not in run.stdout.read()


def test_a_full_log_starts_anew_and_keeps_the_one_before(tmp_path: Path) -> None:
    log = BoundedLog(tmp_path / LOG_FILE, limit=100)
    for mark in (b"a", b"b", b"c"):
        reader, writer = os.pipe()
        os.write(writer, mark * 60)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            log.take(pipe)
    assert (tmp_path / LOG_FILE).read_bytes() == b"c" * 60
    assert (tmp_path / f"{LOG_FILE}.1").read_bytes() == b"b" * 60


async def test_what_the_server_says_is_in_the_log(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    await sidecar.stop()
    assert (stage.folder / LOG_FILE).read_bytes().startswith(b"fake server started\n")
