"""The model server is held by the same sandboxes: a program in its place gets out of neither (docs/SECURITY.md case 52)."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import pytest

from gateway.adapters.inference import confinement
from gateway.adapters.inference.catalog import load_catalog, models_folder
from gateway.adapters.inference.confinement import PinnedSocket, confined_job
from gateway.adapters.inference.engine import Launch, Threads, WheelEngine
from gateway.adapters.inference.fetch import fetch_model, weights_path
from gateway.adapters.inference.openai_api import CHAT
from gateway.adapters.inference.sidecar_process import BoundedLog
from gateway.sandbox.bubblewrap import BubblewrapSandbox
from gateway.sandbox.job import Job, JobResult, Mechanism
from gateway.sandbox.landlock import LandlockSandbox
from tests.sandbox.conftest import MAIN_VARIANTS, PROBES, ROOT, TrialHost, Variant, find_python, make_host
from tests.sandbox.probes import START
from tests.sandbox.probes.run import ATTEMPTS
from tests.sandbox.public_python import copy_python
from tests.sandbox.test_escapes import ready, surroundings

WEIGHTS = b"GGUF weights"

ON_THE_WAY = {"list_the_gateways_state", "watch_a_folder_outside"}
"""Among namespaces the folders above the server's own are there, with nothing else in them."""


def make_launch(host: TrialHost) -> Launch:
    """Where a gateway puts the server's own folder: inside its state."""
    folder = host.state / "inference" / "run"
    folder.mkdir(parents=True)
    (host.root / "model.gguf").write_bytes(WEIGHTS)
    (host.root / "model.gguf").chmod(0o644)
    return Launch(
        weights=host.root / "model.gguf",
        alias="m",
        folder=folder,
        key="key",
        socket=folder / "sidecar.sock",
        port=None,
        context_tokens=4096,
        threads=Threads(1, 1),
        repack=True,
        origins=(),
        confined=True,
    )


def make_job(host: TrialHost, program: str, *argv: str) -> tuple[Job, Path]:
    """The job of a server that is this program of Python, and its log."""
    launch = make_launch(host)
    log = host.root / "sidecar.log"
    log.touch()
    order: dict[str, Any] = {"command": [find_python(), "-I", "-c", program, *argv]}
    job = confined_job(order, launch, BoundedLog(log))
    if ROOT:
        host.own()
    return job, log


def run(host: TrialHost, job: Job, cancelled: threading.Event | None = None) -> JobResult:
    sandbox = host.sandbox()
    assert isinstance(sandbox, BubblewrapSandbox | LandlockSandbox)
    # As the gateway chooses it: the server's folder lies within the state.
    confined = replace(sandbox, host=replace(sandbox.host, private=()))
    return host.as_gateway(lambda: confined.run(job, cancelled or threading.Event()))


@cache
def outcomes(variant: Variant) -> dict[str, str]:
    """What came of every attempt in the place of the model server."""
    host = make_host(variant)
    try:
        kit = host.root / "kit"
        shutil.copytree(PROBES, kit / "probes", ignore=shutil.ignore_patterns("__pycache__"))
        job, log = make_job(host, START.replace("'.'", repr(str(kit))))
        job = replace(job, readable=(*job.readable, kit))
        with surroundings(host) as targets:
            ready(host, targets)
            given = json.dumps({**targets, "attempts": sorted(ATTEMPTS)}).encode()
            result = run(host, replace(job, stdin=given))
            assert result.exit_code == 0, log.read_text()
            return json.loads(log.read_text())
    finally:
        shutil.rmtree(host.root)


@pytest.mark.requirement("002-01", "the model server reaches no file, secret, tool or network of the gateway")
@pytest.mark.requirement(
    "002-62", "the model server reaches no file, socket, network or process of the gateway's, in each sandbox"
)
@pytest.mark.parametrize("name", sorted(ATTEMPTS))
@pytest.mark.parametrize("variant", MAIN_VARIANTS, ids=str)
def test_a_program_in_the_place_of_the_model_server_does_not_get_out(variant: Variant, name: str) -> None:
    outcome = outcomes(variant)[name]
    assert outcome != "reached" or (name in ON_THE_WAY and variant.mechanism is Mechanism.BUBBLEWRAP)
    assert not outcome.startswith("died")


@pytest.fixture(params=MAIN_VARIANTS, ids=str)
def host(request: pytest.FixtureRequest) -> Generator[TrialHost]:
    made = make_host(request.param)
    yield made
    shutil.rmtree(made.root)


SERVER = """
import os, socket, sys
answers = {}
def attempt(name, do):
    try:
        answers[name] = do()
    except OSError as error:
        answers[name] = type(error).__name__
attempt("weights", lambda: open(sys.argv[1], "rb").read().decode())
attempt("weights are changed", lambda: open(sys.argv[1], "ab").write(b"x"))
attempt("beside", lambda: sorted(os.listdir("..")))
attempt("state", lambda: sorted(os.listdir("../..")))
attempt("user", os.geteuid)
attempt("saved", lambda: open("prefix.slot", "wb").write(b"saved"))
line = socket.socket(socket.AF_UNIX)
line.bind("./sidecar.sock")
line.listen()
import json
print(json.dumps(answers), flush=True)
caller, _ = line.accept()
caller.sendall(b"answered")
"""


@pytest.mark.requirement("002-07", "the model server cannot change its weights")
@pytest.mark.requirement("002-62", "it reads its weights, writes to its own folder and answers on its socket, as nobody's user")
def test_the_server_has_its_weights_its_folder_and_its_socket(host: TrialHost) -> None:
    job, log = make_job(host, SERVER, str(host.root / "model.gguf"))
    with PinnedSocket(job.folder / "sidecar.sock") as pinned:
        heard: list[bytes] = []
        caller = threading.Thread(target=lambda: heard.append(call(pinned)))
        caller.start()
        result = run(host, job)
        caller.join(30)
    assert (result.exit_code, heard) == (0, [b"answered"]), log.read_text()
    told = json.loads(log.read_text())
    assert told["weights"] == WEIGHTS.decode()
    assert told["weights are changed"] in {"PermissionError", "OSError"}
    assert told["beside"] == (["run"] if host.variant.mechanism is Mechanism.BUBBLEWRAP else "PermissionError")
    assert told["state"] == (["inference"] if host.variant.mechanism is Mechanism.BUBBLEWRAP else "PermissionError")
    assert told["user"] != 0
    if host.variant.by_root:
        assert told["user"] != host.gateway
    assert (job.folder / "prefix.slot").read_bytes() == b"saved"


def call(pinned: PinnedSocket) -> bytes:
    """What is said on the pinned socket once somebody listens there."""
    for _ in range(600):
        pinned.pin()
        with socket.socket(socket.AF_UNIX) as line:
            try:
                line.connect(str(pinned.path))
            except OSError:
                threading.Event().wait(0.05)
                continue
            return line.recv(16)
    return b"nobody listens"


def test_what_a_server_puts_in_the_place_of_its_socket_is_not_connected_to(tmp_path: Path) -> None:
    """It could be a link to a socket that only the gateway may use."""
    with socket.socket(socket.AF_UNIX) as own, socket.socket(socket.AF_UNIX) as foreign:
        made, other = tmp_path / "sidecar.sock", tmp_path / "control.sock"
        for line, path in ((own, made), (foreign, other)):
            line.bind(os.path.relpath(path))
            line.listen()
        with PinnedSocket(tmp_path / "link") as pinned, socket.socket(socket.AF_UNIX) as caller:
            (tmp_path / "link").symlink_to(other)
            pinned.pin()
            with pytest.raises(OSError, match="refused"):
                caller.connect(str(pinned.path))
        with PinnedSocket(made) as pinned, socket.socket(socket.AF_UNIX) as caller:
            pinned.pin()
            made.unlink()
            made.symlink_to(other)
            pinned.pin()
            caller.connect(str(pinned.path))
            own.settimeout(5)
            own.accept()[0].close()


# ── the real server ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def public() -> Generator[Path]:
    """A folder that every user may enter, with what the real server needs: interpreter, wheel, launcher, weights."""
    folder = Path(tempfile.mkdtemp(prefix="countersign-model-")).resolve()
    entry, models = load_catalog().find("default"), models_folder(os.environ)
    asyncio.run(fetch_model(entry, models, lambda what, have, total: None))
    copy_python(folder)
    wheel = find_spec("xllamacpp")
    assert wheel is not None
    assert wheel.origin is not None
    shutil.copytree(Path(wheel.origin).parent, folder / "site" / "xllamacpp")
    shutil.copy(xllama_launcher(), folder / "launcher.py")
    shutil.copyfile(weights_path(entry, models), folder / "model.gguf")
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o644))
    yield folder
    shutil.rmtree(folder)


def xllama_launcher() -> Path:
    return Path(confinement.__file__).with_name("xllama_launcher.py")


TRY_TO_CONNECT = """
import runpy, socket, sys

def connect(family, address):
    try:
        with socket.socket(family) as line:
            line.settimeout(10)
            line.connect(address)
    except OSError as error:
        return type(error).__name__
    return "connected"

print("to the port:", connect(socket.AF_INET, ("127.0.0.1", int(sys.argv[2]))))
print("to the socket:", connect(socket.AF_UNIX, sys.argv[3]), flush=True)
runpy.run_path(sys.argv[1], run_name="__main__")
"""
"""What the process tries before it becomes the real server."""


@pytest.mark.live
@pytest.mark.requirement("002-62", "the real model server answers a question from within each sandbox, and can connect to nobody")
def test_the_real_server_answers_from_within_and_connects_to_nobody(host: TrialHost, public: Path) -> None:
    launch = replace(make_launch(host), weights=public / "model.gguf")
    order = WheelEngine().order(launch)
    log = host.root / "sidecar.log"
    log.touch()
    job = confined_job(order, launch, BoundedLog(log))
    (python,) = (public / "bin").iterdir()
    with neighbours(host) as (port, path), PinnedSocket(job.folder / "sidecar.sock") as pinned:
        if ROOT:
            host.own()
        job = replace(
            job,
            command=(str(python), *job.command[1:-1], "-c", TRY_TO_CONNECT, str(public / "launcher.py"), port, path),
            readable=(public,),
            stdin=json.dumps({**order, "path": str(public / "site")}).encode() + b"\n",
        )
        answers: list[dict[str, Any]] = []
        # Seen by the process of another user too, where the gateway is played by one.
        cancelled = cast("threading.Event", multiprocessing.Event())
        asking = threading.Thread(target=lambda: answers.append(ask(pinned, cancelled)))
        asking.start()
        run(host, job, cancelled)
        asking.join(30)
    (answer,) = answers
    assert answer["choices"][0]["message"]["content"], log.read_text()
    assert answer["usage"]["completion_tokens"] == 8
    said = log.read_text()
    assert "listening on unix:" in said
    for place in ("port", "socket"):
        assert f"to the {place}: " in said
        assert f"to the {place}: connected" not in said


@contextmanager
def neighbours(host: TrialHost) -> Generator[tuple[str, str]]:
    """Two that listen outside, on a port and on a socket that everybody may connect to. Nobody may have come when it is over."""
    path = host.root / "everybody.sock"
    with socket.create_server(("127.0.0.1", 0)) as on_port, socket.socket(socket.AF_UNIX) as on_path:
        on_path.bind(str(path))
        on_path.listen()
        path.chmod(0o777)
        # Without a sandbox there is a way to both.
        for listener in (on_port, on_path):
            with socket.socket(listener.family) as caller:
                caller.connect(listener.getsockname())
            listener.accept()[0].close()
        yield str(on_port.getsockname()[1]), str(path)
        for listener in (on_port, on_path):
            listener.setblocking(False)
            with pytest.raises(BlockingIOError):
                listener.accept()


def ask(pinned: PinnedSocket, cancelled: threading.Event) -> dict[str, Any]:
    """A question to the server as soon as it is there; then it is stopped."""
    try:
        for _ in range(1200):
            pinned.pin()
            line = HTTPConnection("sidecar")
            line.sock = socket.socket(socket.AF_UNIX)
            try:
                line.sock.connect(str(pinned.path))
                asked = {"messages": [{"role": "user", "content": "Count to ten."}], "max_tokens": 8, "temperature": 0}
                line.request("POST", CHAT, json.dumps(asked), {"Authorization": "Bearer key", "Content-Type": "application/json"})
                reply = line.getresponse()
                document = json.loads(reply.read())
                if reply.status == 200:
                    return document
            except OSError:
                pass
            finally:
                line.close()
            threading.Event().wait(0.05)
        return {}
    finally:
        cancelled.set()
