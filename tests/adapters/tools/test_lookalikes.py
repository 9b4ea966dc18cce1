"""Names that look alike, whichever source brings them (docs/SECURITY.md case 85)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.tools import functions
from gateway.adapters.tools.declaration import AnyTool, tool
from gateway.adapters.tools.local import LocalSource
from gateway.adapters.tools.lookalikes import skeleton
from gateway.core.errors import Misconfigured
from tests.adapters.tools.conftest import catalog_of, catalog_over


def named(name: str) -> AnyTool:
    @tool(category="read", name=name)
    def anything() -> None:
        """Anything."""

    return anything


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("slow", "s1ow"),
        ("slow", "sIow"),
        ("slow", "SL0W"),
        ("slow", "slovv"),
        ("summon", "surnrnon"),
        ("modern", "rnodem"),
        ("dial", "clial"),
        ("read_file", "read__file"),
        ("find", "flnd"),
    ],
)
def test_a_tool_that_looks_like_another_is_refused_whichever_source_has_it(one: str, other: str) -> None:
    with pytest.raises(Misconfigured, match=f"`{other}` of test looks like `{one}` of test"):
        catalog_of(named(one), named(other))
    threads = functions.tool_threads()
    first = LocalSource("builtin", lambda: [functions.read_function(named(one), "builtin", threads)])
    second = LocalSource("module:x", lambda: [functions.read_function(named(other), "module:x", threads)])
    with pytest.raises(Misconfigured, match=f"`{other}` of module:x looks like `{one}` of builtin"):
        catalog_over(first, second)


@pytest.mark.parametrize("name", ["resp0nd", "Respond", "responcl", "RESP0ND"])
def test_a_tool_that_looks_like_a_pseudo_tool_is_refused(name: str) -> None:
    with pytest.raises(Misconfigured, match="belongs to the agent loop"):
        catalog_of(named(name))


@given(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True))
def test_a_skeleton_looks_like_its_name(name: str) -> None:
    assert skeleton(skeleton(name)) == skeleton(name) == skeleton(name.upper())
