"""Layers, the modules that may import a library, names that say nothing, and the length of files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "gateway").rglob("*.py"))

MEANINGLESS = {"utils", "helpers", "common", "manager", "base", "service", "impl"}

LONGEST = 400
"""Lines of a source file: more than that is more than one subject, or has its reason here."""

LONGER = {"web/src/protocol/generated.ts": "generated from web/protocol.schema.json"}

IMPORTERS = {
    # What may be imported from outside the standard library, and the only modules that may.
    "subprocess": {
        "gateway/adapters/anchoring/git.py",
        "gateway/adapters/inference",
        "gateway/adapters/tools",
        "gateway/sandbox",
    },
    "aiohttp": {
        "gateway/adapters/anchoring",
        "gateway/adapters/inference",
        "gateway/adapters/shipping",
        "gateway/adapters/tools",
        "gateway/cli/smoke_test",
    },
    "rfc3161_client": {"gateway/adapters/anchoring"},
    "cedarpy": {"gateway/adapters/policy"},
    "webauthn": {"gateway/adapters/identity"},
    "itsdangerous": {"gateway/adapters/identity"},
    "sqlalchemy": {"gateway/adapters/storage", "gateway/adapters/tools/sql"},
    "sqlglot": {"gateway/adapters/tools/sql"},
    "jsonschema_rs": {"gateway/adapters/tools", "gateway/adapters/inference/output_schema.py"},
    "starlette": {"gateway/server"},
    "mcp": {"gateway/adapters/tools", "gateway/server/mcp"},
    "mcp_types": {"gateway/adapters/tools", "gateway/server/mcp"},
    "uvicorn": {"gateway/server"},
}


@cache
def imports_of(path: Path) -> frozenset[str]:
    """The top names of what a file imports. Kept, because each library asks for all files."""
    return frozenset(_imports_in(ast.parse(path.read_text())))


def _imports_in(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
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


@pytest.mark.parametrize("library", IMPORTERS)
def test_each_library_is_imported_only_where_it_belongs(library: str) -> None:
    strangers = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if library in imports_of(path) and not any(str(path.relative_to(ROOT)).startswith(place) for place in IMPORTERS[library])
    ]
    assert strangers == []


def test_only_the_settings_read_the_environment() -> None:
    allowed = {"gateway/settings_reading.py", "gateway/adapter_settings.py"}
    readers = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if re.search(r"os\.(environ|getenv)", path.read_text()) and "gateway/cli" not in str(path)
    }
    assert readers <= allowed


def test_the_composition_root_only_wires() -> None:
    """Short enough to be read in one go, and without anything that runs, waits or reacts."""
    bootstrap = ROOT / "gateway/bootstrap.py"
    assert len(bootstrap.read_text().splitlines()) <= 150
    assert {"asyncio", "signal", "socket", "gc", "os", "logging"}.isdisjoint(imports_of(bootstrap))


def test_a_source_file_is_no_longer_than_a_person_can_hold_in_their_head() -> None:
    sources = [name for name in tracked() if name.endswith((".py", ".ts", ".tsx")) and (ROOT / name).is_file()]
    lengths = {name: len((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in sources}
    assert {name for name, length in lengths.items() if length > LONGEST} == set(LONGER)


def test_a_conversation_and_its_turn_change_only_through_their_own_methods() -> None:
    found: list[str] = []
    for path in SOURCES:
        if path.relative_to(ROOT) == Path("gateway/runtime/conversation.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Attribute(value=ast.Name("turn" | "conversation") | ast.Attribute(attr="turn"), ctx=ast.Store()):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
                case _:
                    pass
    assert [place for place in found if place.startswith(("gateway/runtime", "gateway/server"))] == []


def test_no_module_is_named_for_nothing_in_particular() -> None:
    assert [str(path) for path in SOURCES if path.stem in MEANINGLESS] == []


def test_importing_a_module_does_nothing_but_define_it() -> None:
    """No engine, file, thread or registration: every module of core, protocol and runtime imports in a bare process."""
    modules = [
        str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
        for path in SOURCES
        if path.parts[len(ROOT.parts) + 1] in ("core", "protocol", "runtime") and path.stem != "__init__"
    ]
    probe = f"import sys, threading\nfor module in {modules!r}: __import__(module)\nassert threading.active_count() == 1\n"
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
