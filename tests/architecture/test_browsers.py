"""What runs in Chromium alone has a reason that still holds."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.e2e.browsers import CHROMIUM_ONLY, IN_EACH_RUN, browsers_for

E2E = Path(__file__).parents[1] / "e2e"


@cache
def source(module: str) -> str:
    path = E2E / f"{module}.py"
    assert path.is_file(), f"{module} is no module of tests/e2e any more"
    return path.read_text(encoding="utf-8")


@cache
def bodies_of(module: str) -> Mapping[str, str]:
    """The source of each test of a module, with that of the fixtures and other functions of the module that it names."""
    functions = [node for node in ast.parse(source(module)).body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    texts = {node.name: ast.get_source_segment(source(module), node) or "" for node in functions}
    with_names = {
        name: "\n".join([text, *(other for called, other in texts.items() if called != name and called in text)])
        for name, text in texts.items()
    }
    return {name: text for name, text in with_names.items() if name.startswith("test_")}


@pytest.mark.parametrize("where", CHROMIUM_ONLY)
def test_what_keeps_a_test_in_chromium_is_still_there(where: str) -> None:
    module, _, test = where.partition("::")
    why, sign = CHROMIUM_ONLY[where]
    assert why.endswith(".")
    assert not test or test in bodies_of(module), f"{where} is no test any more"
    assert not test or module not in CHROMIUM_ONLY, f"{where} is exempt with its module"
    if "::" in sign:
        other, _, name = sign.partition("::")
        assert name in bodies_of(other), f"{sign} is no test any more"
        assert "firefox" in browsers_for(other, name), f"{sign} does not run in Firefox either"
    else:
        text = bodies_of(module)[test] if test else source(module)
        assert sign in text, f"{where} has no {sign!r} any more: let it run in Firefox"


@pytest.mark.parametrize("module", sorted(IN_EACH_RUN))
def test_a_module_of_each_run_has_a_test_for_firefox(module: str) -> None:
    assert any("firefox" in browsers_for(module, test) for test in bodies_of(module))
