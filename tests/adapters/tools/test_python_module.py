"""Tools of other people, and the example that docs/TOOLS.md gives."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from gateway.adapters.tools.catalog import ToolCatalog
from gateway.adapters.tools.functions import tool_threads
from gateway.adapters.tools.python_module import source as module_under_test
from gateway.adapters.tools.python_module.source import GROUP, installed_sources, module_source
from gateway.core.errors import Misconfigured
from tests.adapters.tools.conftest import Call, catalog_over

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


def open_module(name: str) -> ToolCatalog:
    return catalog_over(module_source(name, tool_threads()))


def open_installed() -> ToolCatalog:
    return catalog_over(*installed_sources(tool_threads()))


def names(catalog: ToolCatalog) -> list[str]:
    return [spec.name for spec in catalog.specs()]


@pytest.mark.requirement("002-25", "each decorated function of a module becomes a tool")
def test_a_module_offers_every_function_it_decorates(modules: Path) -> None:
    (modules / "some_tools.py").write_text(ONE.format(name="first") + ONE.format(name="second"))
    catalog = open_module("some_tools")
    assert names(catalog) == ["first", "second"]
    assert {spec.source for spec in catalog.specs()} == {"module:some_tools"}


def test_a_list_named_tools_is_the_whole_offer(modules: Path) -> None:
    (modules / "listing.py").write_text(ONE.format(name="first") + ONE.format(name="second") + "\ntools = [second]\n")
    catalog = open_module("listing")
    assert names(catalog) == ["second"]


def test_an_imported_tool_is_not_offered_twice(modules: Path) -> None:
    (modules / "origin.py").write_text(ONE.format(name="first"))
    (modules / "borrower.py").write_text("from origin import first\n" + ONE.format(name="second"))
    catalog = open_module("borrower")
    assert names(catalog) == ["second"]


def test_a_module_in_the_current_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lying_here.py").write_text(ONE.format(name="first"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    catalog = open_module("lying_here")
    assert names(catalog) == ["first"]
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
    with pytest.raises(Misconfigured, match="faulty"):
        open_module("faulty")


def test_a_module_that_does_not_exist_is_named() -> None:
    with pytest.raises(Misconfigured, match="`no_such_module_at_all`"):
        open_module("no_such_module_at_all")


def offer(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    def find(*, group: str) -> list[EntryPoint]:
        return [point for point in points if point.group == group]

    monkeypatch.setattr(module_under_test, "entry_points", find)


def test_installed_packages_offer_modules_lists_and_single_tools(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (modules / "installed.py").write_text(ONE.format(name="first") + ONE.format(name="second") + "\nboth = (first, second)\n")
    (modules / "another.py").write_text(ONE.format(name="third"))
    points = [EntryPoint("z", "installed:both", GROUP), EntryPoint("a", "another", GROUP)]
    offer(monkeypatch, *points)
    catalog = open_installed()
    assert names(catalog) == ["third", "first", "second"]


def test_an_installed_package_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, EntryPoint("mine", "no_such_module_at_all", GROUP), EntryPoint("other", "x", "other.group"))
    with pytest.raises(Misconfigured, match="`mine`"):
        open_installed()


async def test_the_example_of_the_documentation_works(modules: Path, call: Call) -> None:
    examples = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert len(examples[0].strip().splitlines()) <= 8
    (modules / "mytools.py").write_text(examples[0])
    catalog = open_module("mytools")
    (spec,) = catalog.specs()
    output = await call(catalog, spec.name, text="a b  c")
    assert output.text == "3 words"
