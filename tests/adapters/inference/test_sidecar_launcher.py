"""The launcher and the binaries that it runs: flags, refusals, the log, and an end together with the gateway."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.adapters.inference.engine import WheelEngine, find_engine, scrubbed_environment
from gateway.adapters.inference.sidecar import LOG_FILE
from gateway.adapters.inference.sidecar_process import LAUNCHER, BoundedLog
from gateway.core.errors import Misconfigured
from gateway.runtime.ports import ModelPhase

from .conftest import read_seen
from .sidecar_stage import FAKE_SERVER, Stage, settled, stream


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
from gateway.adapters.inference.sidecar import Sidecar
from gateway.adapters.inference.sidecar_plan import SidecarPlan
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
