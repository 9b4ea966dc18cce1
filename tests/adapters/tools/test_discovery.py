"""Tools of other people, and the example that docs/TOOLS.md gives."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from gateway.adapters.tools import discovery
from gateway.adapters.tools.discovery import GROUP, add_installed, add_module
from gateway.adapters.tools.registry import Registry
from gateway.core.errors import Misconfigured
from tests.adapters.tools.conftest import Call

DOCS = Path(__file__).parents[3] / "docs" / "TOOLS.md"

ONE = '''
from gateway.adapters.tools import tool

@tool(category="read")
def {name}(text: str) -> str:
    """Say it."""
    return text
'''


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the import path whose modules are forgotten afterwards."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if (tmp_path / f"{name}.py").exists():
            del sys.modules[name]


def names(registry: Registry) -> list[str]:
    return [spec.name for spec in registry.specs()]


def test_a_module_offers_every_function_it_decorates(modules: Path) -> None:
    (modules / "some_tools.py").write_text(ONE.format(name="first") + ONE.format(name="second"))
    registry = Registry()
    add_module(registry, "some_tools")
    assert names(registry) == ["first", "second"]
    assert {spec.source for spec in registry.specs()} == {"module:some_tools"}


def test_a_list_named_tools_is_the_whole_offer(modules: Path) -> None:
    (modules / "listing.py").write_text(ONE.format(name="first") + ONE.format(name="second") + "\ntools = [second]\n")
    registry = Registry()
    add_module(registry, "listing")
    assert names(registry) == ["second"]


def test_an_imported_tool_is_not_offered_twice(modules: Path) -> None:
    (modules / "origin.py").write_text(ONE.format(name="first"))
    (modules / "borrower.py").write_text("from origin import first\n" + ONE.format(name="second"))
    registry = Registry()
    add_module(registry, "borrower")
    assert names(registry) == ["second"]


def test_a_module_in_the_current_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lying_here.py").write_text(ONE.format(name="first"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    registry = Registry()
    add_module(registry, "lying_here")
    assert names(registry) == ["first"]
    assert sys.path[-1] == str(tmp_path)
    del sys.modules["lying_here"]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "import no_such_module_at_all",
        "1 / 0",
        "def broken(:",
        "raise SystemExit(0)",
        "tools = []",
        "tools = [print]",
        ONE.format(name="respond"),
        "from gateway.adapters.tools import tool\n@tool(category='wild')\ndef f(): 'F.'",
    ],
)
def test_a_module_that_cannot_be_used_is_named(modules: Path, source: str) -> None:
    (modules / "faulty.py").write_text(source)
    with pytest.raises(Misconfigured, match="`faulty`"):
        add_module(Registry(), "faulty")


def test_a_module_that_does_not_exist_is_named() -> None:
    with pytest.raises(Misconfigured, match="`no_such_module_at_all`"):
        add_module(Registry(), "no_such_module_at_all")


def offer(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    def find(*, group: str) -> list[EntryPoint]:
        return [point for point in points if point.group == group]

    monkeypatch.setattr(discovery, "entry_points", find)


def test_installed_packages_offer_modules_lists_and_single_tools(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (modules / "installed.py").write_text(ONE.format(name="first") + ONE.format(name="second") + "\nboth = (first, second)\n")
    (modules / "another.py").write_text(ONE.format(name="third"))
    points = [EntryPoint("z", "installed:both", GROUP), EntryPoint("a", "another", GROUP)]
    offer(monkeypatch, *points)
    registry = Registry()
    add_installed(registry)
    assert names(registry) == ["third", "first", "second"]


def test_an_installed_package_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, EntryPoint("mine", "no_such_module_at_all", GROUP), EntryPoint("other", "x", "other.group"))
    with pytest.raises(Misconfigured, match="`mine`"):
        add_installed(Registry())


async def test_the_example_of_the_documentation_works(modules: Path, call: Call) -> None:
    examples = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert len(examples[0].strip().splitlines()) <= 8
    (modules / "mytools.py").write_text(examples[0])
    registry = Registry()
    add_module(registry, "mytools")
    (spec,) = registry.specs()
    output = await call(registry, spec.name, text="a b  c")
    assert output.text == "3 words"
