"""Tests about the house itself: its floors, its doors, its names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "gateway").rglob("*.py"))

NO_DOOR = {"utils", "helpers", "common", "manager", "base", "service", "impl"}

DOORS = {
    # What may be imported from outside the standard library, and the only rooms that may.
    "subprocess": {"gateway/adapters/inference", "gateway/adapters/tools"},
    "aiohttp": {"gateway/adapters/inference", "gateway/adapters/tools"},
    "cedarpy": {"gateway/adapters/policy"},
    "webauthn": {"gateway/adapters/identity"},
    "itsdangerous": {"gateway/adapters/identity"},
    "sqlalchemy": {"gateway/adapters/storage"},
    "jsonschema_rs": {"gateway/adapters/tools"},
    "starlette": {"gateway/server"},
    "uvicorn": {"gateway/server", "gateway/bootstrap.py"},
}


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                yield from (name.name.split(".")[0] for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.split(".")[0]
            case _:
                pass


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


def test_imports_only_go_downstairs() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports"))]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("library", DOORS)
def test_each_library_comes_in_by_its_own_door(library: str) -> None:
    strangers = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if library in imports_of(path) and not any(str(path.relative_to(ROOT)).startswith(door) for door in DOORS[library])
    ]
    assert strangers == []


def test_only_the_settings_and_the_composition_root_read_the_environment() -> None:
    allowed = {"gateway/settings.py", "gateway/bootstrap.py"}
    readers = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if re.search(r"os\.(environ|getenv)", path.read_text()) and "gateway/cli" not in str(path)
    }
    assert readers <= allowed


def test_no_room_is_named_for_nothing_in_particular() -> None:
    assert [str(path) for path in SOURCES if path.stem in NO_DOOR] == []


def test_importing_any_room_does_nothing_but_define_it() -> None:
    """No engine, file, thread or registration: every module of core, protocol and runtime imports in a bare process."""
    rooms = [
        str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
        for path in SOURCES
        if path.parts[len(ROOT.parts) + 1] in ("core", "protocol", "runtime") and path.stem != "__init__"
    ]
    probe = f"import sys, threading\nfor room in {rooms!r}: __import__(room)\nassert threading.active_count() == 1\n"
    checked = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_the_tree_names_no_package_registry_and_no_path_of_a_machine() -> None:
    hosts = re.compile(r"pyp[i]\.org|pythonhoste[d]\.org|registry\.npmj[s]|deb\.debia[n]\.org|/wor[k]/|/roo[t]/")
    found: list[str] = []
    for name in tracked():
        path = ROOT / name
        if path.is_file() and path.suffix not in (".png", ".woff2"):
            text = path.read_text(errors="replace")
            found += [f"{name}: {match.group(0)}" for match in hosts.finditer(text)]
    assert found == []
