"""Searching the workspace."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.tools.builtin import files, redacted, searching
from gateway.adapters.tools.builtin.files import Workspace
from gateway.adapters.tools.builtin.redacted import RedactedTexts
from gateway.adapters.tools.builtin.sample_workspace import prepare_workspace
from gateway.adapters.tools.builtin.searching import search
from gateway.adapters.tools.builtin.workspace import file_tools
from gateway.adapters.tools.catalog import ToolCatalog
from gateway.core.errors import ToolFailed
from tests.adapters.tools.conftest import Call, catalog_of, failure_of

NEVER = threading.Event()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    prepare_workspace(path)
    return path


@pytest.fixture
def catalog(root: Path) -> ToolCatalog:
    return catalog_of(*file_tools(Workspace(root)), source="builtin")


async def test_a_text_is_found_with_its_line_whatever_its_case(catalog: ToolCatalog, call: Call) -> None:
    output = await call(catalog, "search_files", query="MARCH")
    assert output.text == "notes/todo.txt:2: - send the March report"
    assert output.structured["matches"] == [{"path": "notes/todo.txt", "line": 2, "text": "- send the March report"}]


async def test_a_name_is_found_by_its_pattern(catalog: ToolCatalog, call: Call) -> None:
    output = await call(catalog, "search_files", query="*.CSV", path="reports")
    assert output.text.splitlines() == ["reports/february.csv", "reports/january.csv"]
    assert (await call(catalog, "search_files", query="notes/o*")).text == "notes/old.txt"


async def test_a_search_without_result_says_so(catalog: ToolCatalog, call: Call) -> None:
    assert (await call(catalog, "search_files", query="zebra")).text == "nothing found in 16 files"


async def test_one_file_can_be_searched(catalog: ToolCatalog, call: Call) -> None:
    output = await call(catalog, "search_files", query="a", path="notes/old.txt")
    assert {match["path"] for match in output.structured["matches"]} == {"notes/old.txt"}


async def test_searching_what_is_not_there_fails(catalog: ToolCatalog, call: Call) -> None:
    assert "there is no none" in (await failure_of(call(catalog, "search_files", query="a", path="none"))).message


async def test_searching_follows_no_link_and_waits_for_nothing(catalog: ToolCatalog, call: Call, root: Path) -> None:
    (root.parent / "outside.txt").write_text("zebra")
    (root / "link.txt").symlink_to("../outside.txt")
    (root / "up").symlink_to("..")
    os.mkfifo(root / "fifo.txt")
    os.link(root.parent / "outside.txt", root / "hard.txt")
    (root / "zeros.bin").write_bytes(b"\0zebra")
    assert "nothing found" in (await call(catalog, "search_files", query="zebra")).text


def test_a_search_has_bounds(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(root)
    (root / "many.txt").write_text("needle\n" * 1_000)
    found = search(workspace, (), "needle", NEVER)
    assert (len(found.matches), found.complete) == (searching.MAX_MATCHES, False)
    monkeypatch.setattr(searching, "MAX_FILES", 2)
    found = search(workspace, (), "zebra", NEVER)
    assert (found.files, found.complete) == (2, False)
    monkeypatch.setattr(searching, "MAX_FILES", 5_000)
    monkeypatch.setattr(searching, "MAX_TOTAL", 10)
    assert search(workspace, (), "zebra", NEVER).complete is False


async def test_a_search_that_stopped_early_says_so(catalog: ToolCatalog, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MAX_FILES", 1)
    output = await call(catalog, "search_files", query="zebra")
    assert output.text.splitlines() == [
        "nothing found in 1 files",
        "…[there was too much to search all of it; ask for less, or in one folder]",
    ]


def test_what_vanishes_during_a_search_is_left_out(root: Path) -> None:
    class Moving(Workspace):
        def list(self, parts: tuple[str, ...], limit: int = 0) -> tuple[list[files.FileEntry], bool]:
            if parts:
                raise ToolFailed("gone")
            return super().list(parts, limit)

    assert {match.path for match in search(Moving(root), (), "*", NEVER).matches} == {"README.md"}


def test_a_deep_tree_ends_the_search_not_the_process(root: Path) -> None:
    deep = root.joinpath(*["d"] * 200)
    deep.mkdir(parents=True)
    (deep / "x.txt").write_text("needle")
    assert search(Workspace(root), (), "needle", NEVER).matches == []


def test_a_search_stops_when_nobody_waits_any_more(root: Path) -> None:
    cancelled = threading.Event()
    cancelled.set()
    assert search(Workspace(root), (), "a", cancelled).complete is False


class Counting(RedactedTexts):
    """Notes how many characters each file took."""

    def __init__(self) -> None:
        super().__init__()
        self.work: list[int] = []

    def look(self, data: bytes, text: str, classes: Collection[str], left: int) -> tuple[list[str] | None, int]:
        lines, looked_at = super().look(data, text, classes, left)
        self.work.append(looked_at)
        return lines, looked_at


def test_a_right_guess_at_what_is_redacted_takes_the_same_work_as_a_wrong_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        (root / f"log{number}.txt").write_text("db password: hunter2zq\n" + "all quiet\n" * 100)
    # More than one search may redact, so that it has to stop.
    seen: list[tuple[list[int], bool, int]] = []
    monkeypatch.setattr(searching, "Redacting", partial(searching.Redacting, left=2_500))
    for guess in ("hunter2zq", "hunter2", "hunter3", "zebra"):
        texts = Counting()
        found = search(Workspace(root), (), guess, NEVER, 0, ("secrets",), texts)
        seen.append((texts.work, found.complete, len(found.matches)))
    assert seen[0][2] == 0
    assert seen == [seen[0]] * 4


def test_what_was_redacted_once_costs_the_next_search_nothing_and_a_changed_file_is_read_anew(root: Path) -> None:
    workspace, texts = Workspace(root), Counting()
    (root / "wifi.txt").write_text("wifi password: tulip4477\nthe owner is Bea\n")
    assert [each.line for each in search(workspace, (), "owner", NEVER, 0, ("secrets",), texts).matches] == [2]
    texts.work.clear()
    assert [each.line for each in search(workspace, (), "owner", NEVER, 0, ("secrets",), texts).matches] == [2]
    assert set(texts.work) == {0}
    assert search(workspace, (), "tulip", NEVER, 0, ("secrets",), texts).matches == []
    assert len(search(workspace, (), "tulip", NEVER, 0, (), texts).matches) == 1
    (root / "wifi.txt").write_text("wifi password: orange9911\n\nthe owner is Bea\n")
    assert [each.line for each in search(workspace, (), "owner", NEVER, 0, ("secrets",), texts).matches] == [3]


def test_what_is_remembered_of_redacted_texts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redacted, "MAX_KNOWN", 3)
    monkeypatch.setattr(redacted, "MAX_KEPT", 100)
    texts = RedactedTexts()
    for number in range(10):
        texts.look(b"%d" % number, f"password: tulip{number}4477 {'x' * 30}", ("secrets",), 1)
    plain = [texts.look(b"%d" % number, "nothing", ("secrets",), 0)[0] is not None for number in range(10)]
    assert plain == [*[False] * 9, True]


def test_a_match_in_an_endless_line_shows_its_surroundings(root: Path) -> None:
    (root / "long.txt").write_text("x" * 5_000 + "needle" + "y" * 5_000)
    (match,) = search(Workspace(root), (), "needle", NEVER).matches
    assert match.text is not None
    assert "needle" in match.text
    assert len(match.text) <= searching.MAX_LINE + 2


@given(st.text(alphabet=st.sampled_from("*?[]!-^az\\&~|.{}()+$"), min_size=1, max_size=40))
def test_no_pattern_fails_or_hangs(query: str) -> None:
    class One(Workspace):
        def __init__(self) -> None: ...

        def list(self, parts: tuple[str, ...], limit: int = 0) -> tuple[list[files.FileEntry], bool]:
            return [files.FileEntry("a" * 60, "file", 1)], True

        def opened(self, parts: Sequence[str], flags: int) -> Any:
            raise FileNotFoundError

        def read(self, parts: tuple[str, ...], cancelled: threading.Event, limit: int = 0) -> files.FileContent:
            return files.FileContent(b"a" * 100, 100)

    assert len(search(One(), (), query, NEVER).matches) <= 2
