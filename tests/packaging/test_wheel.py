"""The built wheel, installed away from the checkout: everything that the commands need is in it, on every supported Python.

Interpreters are those of this machine; a version that is missing is skipped by name, and its wheels are still resolved.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.adapters.inference.scripted import Reply, ScriptedBackend
from tests.fakes.openai_server import openai_app, serving
from tests.harness.process import GatewayProcess

# One worker builds the wheel for all of them.
pytestmark = pytest.mark.xdist_group("wheel")

ROOT = Path(__file__).parents[2]
APPS = ("shell", "console", "verifier")
VERSIONS = ("3.11", "3.12", "3.13", "3.14")

UV = (sys.executable, "-m", "uv")
"""Keeps what it has unpacked, so that a second environment of the same packages costs seconds."""

MINUTES = 60.0
INSTALL_SECONDS = 10 * MINUTES
"""For some sixty packages from the index; a bound, not a measurement."""


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )


def copy_checkout(to: Path, *, web: bool) -> Path:
    """What git would hand out, and with `web` the built web apps."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=ROOT).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    if web:
        for app in APPS:
            assert (ROOT / "web" / "dist" / app / "index.html").is_file(), "run `make web/dist/ready` first"
            shutil.copytree(ROOT / "web" / "dist" / app, to / "web" / "dist" / app)
    return to


def build_wheel(checkout: Path, to: Path) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", to, ".", cwd=checkout)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    place = tmp_path_factory.mktemp("wheel")
    built = build_wheel(copy_checkout(place / "checkout", web=True), place)
    assert built.returncode == 0, built.stderr
    [found] = place.glob("*.whl")
    return found


def test_no_wheel_is_made_without_the_web_apps(tmp_path: Path) -> None:
    built = build_wheel(copy_checkout(tmp_path / "checkout", web=False), tmp_path)
    assert built.returncode != 0
    assert "the web apps are not built" in built.stdout + built.stderr
    assert "make web/dist/ready" in built.stdout + built.stderr
    assert list(tmp_path.glob("*.whl")) == []


def test_the_wheel_holds_every_file_that_is_not_python(wheel: Path) -> None:
    carried = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        *(f"gateway/web/dist/{app}/index.html" for app in APPS),
        *(
            str(Path("gateway") / path.relative_to(ROOT))
            for folder in ("eval", "loop", "migrations", "policy")
            for path in tracked_in(folder)
        ),
        *(str(path.relative_to(ROOT)) for path in tracked_in("gateway") if path.suffix != ".py"),
    }
    assert expected - carried == set()
    assert [name for name in carried if "node_modules" in name or name.startswith("tests/")] == []


def tracked_in(folder: str) -> Sequence[Path]:
    listed = run("git", "ls-files", "-z", folder, cwd=ROOT).stdout
    return [ROOT / name for name in listed.split("\0") if name]


# ── on every supported Python ───────────────────────────────────────────────────────────────────────────────────────────


def find_interpreter(version: str) -> Path | None:
    """An interpreter of that version with `venv`: on PATH, or where pyenv and uv put theirs."""
    named = shutil.which(f"python{version}")
    places = [
        *([Path(named)] if named else []),
        *Path.home().glob(f".pyenv/versions/{version}.*/bin/python"),
        *Path.home().glob(f".local/share/uv/python/cpython-{version}.*/bin/python"),
        *([Path(sys.executable)] if sys.version_info[:2] == tuple(map(int, version.split("."))) else []),
    ]
    probe = f"import sys, venv, ensurepip; sys.exit('.'.join(map(str, sys.version_info[:2])) != '{version}')"
    for place in places:
        if run(place, "-I", "-c", probe, cwd=ROOT).returncode == 0:
            return place
    return None


@dataclass(frozen=True)
class Installation:
    """An environment with the wheel in it, and an empty home to run it from."""

    environment: Path
    home: Path

    @property
    def countersign(self) -> str:
        return str(self.environment / "bin" / "countersign")

    async def command(self, gateway: GatewayProcess, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Another command, with the settings of that gateway. In a thread, for the model server answers in this loop."""
        return await asyncio.to_thread(run, self.countersign, *arguments, cwd=self.home, **gateway.environment())


@pytest.fixture(params=VERSIONS)
def installation(request: pytest.FixtureRequest, wheel: Path, tmp_path: Path) -> Iterator[Installation]:
    version: str = request.param
    interpreter = find_interpreter(version)
    if interpreter is None:
        pytest.skip(f"there is no Python {version} on this machine; its wheels are resolved by another test")
    environment, home = tmp_path / "environment", tmp_path / "home"
    home.mkdir()
    assert run(*UV, "venv", "--quiet", "--python", interpreter, environment, cwd=home).returncode == 0
    install = (*UV, "pip", "install", "--quiet", "--python", environment / "bin" / "python")
    locked = run(*install, "--only-binary", ":all:", "--require-hashes", "-r", ROOT / "requirements.lock", cwd=home)
    assert locked.returncode == 0, locked.stderr
    installed = run(*install, "--no-deps", "--no-index", wheel, cwd=home)
    assert installed.returncode == 0, installed.stderr
    yield Installation(environment, home)
    shutil.rmtree(environment)


@pytest.mark.registry
async def test_an_installed_wheel_serves_both_apps_and_answers_in_the_terminal(installation: Installation) -> None:
    backend = ScriptedBackend(lambda _asked: Reply("The wheel answers."))
    async with serving(openai_app(backend)) as url:
        gateway = GatewayProcess(
            installation.home,
            command=(installation.countersign, "serve"),
            settings={"PYTHONPATH": "", "COUNTERSIGN_MODEL_URL": url, "COUNTERSIGN_MODEL_TIER": "native", "PATH": os.defpath},
        )
        await gateway.start()
        try:
            assert await get(gateway, gateway.agent_origin, "/healthz") == 200
            for origin in (gateway.agent_origin, gateway.console_origin):
                assert await get(gateway, origin, "/") == 200
        finally:
            assert await gateway.stop() == 0
        asked = await installation.command(gateway, "agent", url, "--single", "Who answers?")
        tested = await installation.command(gateway, "policy", "test")
        doctor = await installation.command(gateway, "doctor")
        checked = await installation.command(gateway, "models", "check", url, "--sample", "1", "--json")
    assert (asked.returncode, asked.stdout) == (0, "The wheel answers.\n"), asked.stderr
    assert tested.returncode == 0, tested.stdout
    assert re.search(rf"web apps: built in {re.escape(str(installation.environment))}/lib/.*/gateway/web/dist", doctor.stdout)
    assert str(ROOT) not in doctor.stdout
    assert checked.returncode == 0, checked.stderr
    assert len(json.loads(checked.stdout)["kinds"]) == json.loads(checked.stdout)["cases"] > 10


async def get(gateway: GatewayProcess, origin: str, path: str) -> int:
    """The status that this origin answers with. By hand, for the names of the origins are resolved by browsers only."""
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    host = origin.removeprefix("http://")
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1])


@pytest.mark.registry
@pytest.mark.parametrize("version", VERSIONS)
def test_every_locked_package_has_a_wheel_for(version: str, tmp_path: Path) -> None:
    """Resolved for that version by its number alone, so that no interpreter is needed. Nothing may have to be compiled."""
    resolved = run(
        *(*UV, "pip", "compile", "--python-version", version, "--only-binary", ":all:", "--no-deps"),
        *("--quiet", "--no-header", "--no-annotate", "--output-file", tmp_path / "resolved", ROOT / "requirements.lock"),
        cwd=tmp_path,
    )
    assert resolved.returncode == 0, resolved.stderr
    wanted = re.findall(r"^([a-z0-9_.-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    found = re.findall(r"^([a-z0-9_.-]+)==", (tmp_path / "resolved").read_text(), re.MULTILINE)
    assert "pydantic-core" in found
    assert set(found) <= set(wanted)
