"""The built-in tools that change files in part, and those that give parts of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gateway.adapters.tools.builtin.files import FileContent, Workspace
from gateway.adapters.tools.builtin.sample_workspace import prepare_workspace
from gateway.adapters.tools.builtin.workspace import file_tools
from gateway.adapters.tools.catalog import ToolCatalog
from gateway.core.errors import ToolFailed
from gateway.core.preview import LineMark, Preview, PreviewChange
from tests.adapters.tools.conftest import Call, catalog_of, failure_of, spec_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    prepare_workspace(path)
    return path


@pytest.fixture
def catalog(root: Path) -> ToolCatalog:
    return catalog_of(*file_tools(Workspace(root)), source="builtin")


async def test_lines_of_a_file_are_given_by_their_numbers(catalog: ToolCatalog, call: Call, root: Path) -> None:
    (root / "ten").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    output = await call(catalog, "read_file", path="ten", first_line=3, last_line=4)
    assert output.text == "line 3\nline 4"
    assert {name: output.structured[name] for name in ("lines", "firstLine", "lastLine")} == {
        "lines": 10,
        "firstLine": 3,
        "lastLine": 4,
    }
    assert (await call(catalog, "read_file", path="ten", first_line=9)).text == "line 9\nline 10"
    assert (await call(catalog, "read_file", path="ten", last_line=1)).text == "line 1"
    for first, last in ((11, 0), (11, 20), (4, 3)):
        assert (await failure_of(call(catalog, "read_file", path="ten", first_line=first, last_line=last))).message == (
            "ten has 10 lines"
        )


async def test_a_match_can_be_shown_with_the_lines_around_it(catalog: ToolCatalog, call: Call, root: Path) -> None:
    (root / "ten").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    output = await call(catalog, "search_files", query="line 1", path="ten", around=1)
    assert output.text.splitlines() == ["ten:1: line 1", "ten-2- line 2", "ten-9- line 9", "ten:10: line 10"]
    assert output.structured["matches"][1] == {"path": "ten", "line": 10, "text": "line 10", "before": ["line 9"], "after": []}
    plain = await call(catalog, "search_files", query="line 2", path="ten")
    assert plain.structured["matches"] == [{"path": "ten", "line": 2, "text": "line 2"}]


async def test_a_text_is_replaced_where_it_stands_once(catalog: ToolCatalog, call: Call, root: Path) -> None:
    path = root / "a.txt"
    path.write_bytes("\ufeffone\r\ntwo\r\nÄ\n".encode())
    os.chmod(path, 0o640)
    output = await call(catalog, "edit_file", path="a.txt", old="two\r\n", new="2\n")
    assert path.read_bytes() == "\ufeffone\r\n2\nÄ\n".encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert output.structured["bytes"] == path.stat().st_size
    await call(catalog, "edit_file", path="a.txt", old="Ä\n", new="")
    assert path.read_text().endswith("2\n")


@pytest.mark.parametrize(
    ("content", "old", "said"),
    [
        (b"abc", "d", "does not hold the old text"),
        (b"abab", "ab", "more than once"),
        (b"aaa", "aa", "more than once"),
        (b"\xff\x02", "a", "no text"),
        (b"x" * (1024 * 1024 + 1), "a", "too large to be edited"),
    ],
)
async def test_what_cannot_be_replaced_exactly_is_left_alone_and_nobody_is_asked(
    catalog: ToolCatalog, call: Call, root: Path, content: bytes, old: str, said: str
) -> None:
    (root / "f").write_bytes(content)
    assert said in (await failure_of(call(catalog, "edit_file", path="f", old=old, new="z"))).message
    with pytest.raises(ToolFailed, match=said):
        await catalog.preview(spec_of(catalog, "edit_file"), {"path": "f", "old": old, "new": "z"})
    assert (root / "f").read_bytes() == content


def test_what_somebody_else_writes_during_an_edit_is_not_lost(root: Path) -> None:
    workspace, path = Workspace(root), root / "f"
    path.write_text("one")

    def change(content: FileContent) -> bytes:
        path.write_text("theirs")
        return content.data + b" more"

    with pytest.raises(ToolFailed, match="changed by somebody else meanwhile"):
        workspace.edit(("f",), change, 100)
    assert path.read_text() == "theirs"

    def replace_it(content: FileContent) -> bytes:
        path.unlink()
        path.symlink_to("notes/todo.txt")
        return content.data

    with pytest.raises(ToolFailed, match="is a link"):
        workspace.edit(("f",), replace_it, 100)
    assert path.is_symlink()


async def test_a_file_gets_another_name_or_another_folder(catalog: ToolCatalog, call: Call, root: Path) -> None:
    (root / "a.txt").write_text("a")
    path = "a.txt"
    for to, there in (("b.txt", "b.txt"), ("new/deep/", "new/deep/b.txt"), (".", "b.txt"), ("./notes/c.txt", "notes/c.txt")):
        output = await call(catalog, "move_file", path=path, to=to)
        assert output.structured["to"] == there
        assert (root / there).read_text() == "a"
        assert not (root / path).exists()
        path = there


@pytest.mark.parametrize("way", ["the kernel's", "by a second name"])
def test_nothing_is_replaced_by_a_file_that_is_moved(
    root: Path, way: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if way != "the kernel's":
        monkeypatch.setattr(sys, "platform", "other")
    workspace = Workspace(root)
    (root / "a").write_text("a")
    (root / "b").write_text("b")
    (root / "link").symlink_to(tmp_path / "nowhere")
    (root / "folder").mkdir()
    for taken in ("b", "link", "folder"):
        with pytest.raises(ToolFailed, match="there is something called"):
            workspace.move(("a",), (taken,))
    assert (root / "a").read_text() == "a"
    assert (root / "b").read_text() == "b"
    assert not (tmp_path / "nowhere").exists()
    assert workspace.move(("a",), ("c",)) == 1
    assert not (root / "a").exists()
    assert (root / "c").stat().st_nlink == 1


@pytest.mark.parametrize("kind", ["link", "second name", "pipe", "folder"])
def test_only_a_plain_file_is_moved_also_if_nobody_looked_before(root: Path, tmp_path: Path, kind: str) -> None:
    (tmp_path / "outside").write_text("mine")
    match kind:
        case "link":
            (root / "trap").symlink_to(tmp_path / "outside")
        case "second name":
            os.link(tmp_path / "outside", root / "trap")
        case "pipe":
            os.mkfifo(root / "trap")
        case _:
            (root / "trap").mkdir()
    with pytest.raises(ToolFailed):
        Workspace(root).move(("trap",), ("moved",))
    assert os.path.lexists(root / "trap")
    assert not os.path.lexists(root / "moved")


async def test_a_folder_is_made_once(catalog: ToolCatalog, call: Call, root: Path) -> None:
    assert (await call(catalog, "make_directory", path="x/y/z")).structured == {"path": "x/y/z", "made": True}
    assert (root / "x" / "y" / "z").is_dir()
    assert (await call(catalog, "make_directory", path="x/y/")).structured["made"] is False
    assert "is not a folder" in (await failure_of(call(catalog, "make_directory", path="README.md/below"))).message
    assert (await failure_of(call(catalog, "make_directory", path="README.md"))).message
    assert (await failure_of(call(catalog, "make_directory", path="."))).message


async def test_what_would_change_is_shown_before(catalog: ToolCatalog, root: Path) -> None:
    async def preview(name: str, **arguments: str) -> Preview:
        shown = await catalog.preview(spec_of(catalog, name), arguments)
        assert shown is not None
        return shown

    (root / "f").write_text("one\ntwo\nthree")
    edited = await preview("edit_file", path="f", old="two", new="2")
    assert (edited.change, edited.bytes_after) == (PreviewChange.REPLACE, 11)
    assert [(line.mark, line.text) for line in edited.lines if line.mark in (LineMark.ADDED, LineMark.REMOVED)] == [
        (LineMark.REMOVED, "two"),
        (LineMark.ADDED, "2"),
    ]
    moved = await preview("move_file", path="f", to="notes/")
    assert (moved.change, [line.text for line in moved.lines]) == (PreviewChange.MOVE, ["f", "notes/f"])
    assert (await preview("move_file", path="f", to="f")).change is PreviewChange.KEEP
    assert (await preview("make_directory", path="new/er")).change is PreviewChange.MAKE
    assert (await preview("make_directory", path="notes")).change is PreviewChange.KEEP
    for name, arguments, said in (
        ("move_file", {"path": "f", "to": "notes"}, "is a folder; write notes/"),
        ("move_file", {"path": "f", "to": "README.md"}, "nothing is replaced"),
        ("move_file", {"path": "gone", "to": "x"}, "there is no gone"),
        ("move_file", {"path": "notes", "to": "x"}, "is a folder, not a file"),
        ("make_directory", {"path": "f"}, "it is no folder"),
    ):
        with pytest.raises(ToolFailed, match=said):
            await preview(name, **arguments)


@pytest.mark.parametrize("ending", ["", "\n"])
async def test_the_size_that_a_long_file_will_have_is_the_size_that_it_gets(
    catalog: ToolCatalog, call: Call, root: Path, ending: str
) -> None:
    (root / "long").write_text("x" * 300_000 + ending)
    shown = await catalog.preview(spec_of(catalog, "append_file"), {"path": "long", "content": "more"})
    assert shown is not None
    await call(catalog, "append_file", path="long", content="more")
    assert shown.bytes_after == (root / "long").stat().st_size == 300_006


def test_facts_of_a_move_are_both_paths(catalog: ToolCatalog) -> None:
    facts = catalog.facts(spec_of(catalog, "move_file"), {"path": "./a.txt", "to": "secrets/"})
    assert (facts.path, facts.second_path) == ("a.txt", "secrets/a.txt")
    for to in ("../a", "/etc/a", ".countersign-x", "a//b", "a\x00"):
        with pytest.raises(ToolFailed):
            catalog.facts(spec_of(catalog, "move_file"), {"path": "a", "to": to})


@pytest.mark.parametrize("name", ["edit_file", "move_file", "make_directory", "delete_file"])
@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a//b", "", "a\0b"])
def test_the_policy_is_never_asked_about_a_path_that_is_none(catalog: ToolCatalog, name: str, path: str) -> None:
    with pytest.raises(ToolFailed):
        catalog.facts(spec_of(catalog, name), {"path": path, "old": "x", "new": "x", "to": "x"})


async def test_of_a_file_that_is_cut_it_is_not_said_how_many_lines_it_has(catalog: ToolCatalog, call: Call, root: Path) -> None:
    (root / "long.log").write_text("0123456\n" * 200_000)
    refused = await failure_of(call(catalog, "read_file", path="long.log", first_line=150_000))
    assert refused.message == "long.log is too large to be read beyond its line 131072: it has 1600000 bytes"
    assert (await call(catalog, "read_file", path="long.log", first_line=131_072, last_line=131_072)).text == "0123456"
