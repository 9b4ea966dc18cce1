"""What a person is shown of a file before they let it be written or deleted (docs/SECURITY.md case 83)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.tools.builtin.files import Workspace
from gateway.adapters.tools.builtin.previews import preview_append, preview_delete, preview_write
from gateway.core.errors import ToolFailed
from gateway.core.preview import LineMark, Preview, PreviewChange


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(folder: Path, path: str, content: str) -> Preview:
    return preview_write(Workspace(folder), {"path": path, "content": content})


def delete(folder: Path, path: str) -> Preview:
    return preview_delete(Workspace(folder), {"path": path})


def marks(preview: Preview) -> list[tuple[str, str]]:
    sign = {LineMark.SAME: " ", LineMark.REMOVED: "-", LineMark.ADDED: "+", LineMark.SKIPPED: "…"}
    return [(sign[line.mark], line.text or str(line.count)) for line in preview.lines]


def test_a_new_file_is_told_from_one_that_is_replaced(folder: Path) -> None:
    assert write(folder, "new/a.txt", "é").wire() == {
        "change": "create",
        "target": "new/a.txt",
        "bytesAfter": 2,
        "digest": "",
        "lines": [],
        "complete": True,
    }
    (folder / "a.txt").write_text("one\ntwo\n")
    assert write(folder, "a.txt", "one\ntwo\n").change is PreviewChange.KEEP


def test_a_replaced_file_shows_what_it_loses_and_gains_and_no_more_than_three_lines_around(folder: Path) -> None:
    old = [f"line {number}" for number in range(40)]
    new = [*old[:20], "changed", *old[21:]]
    (folder / "a.txt").write_text("\n".join(old))
    preview = write(folder, "a.txt", "\n".join(new))
    assert preview.change is PreviewChange.REPLACE
    assert preview.complete
    assert marks(preview) == [
        *[(" ", f"line {number}") for number in (0, 1, 2)],
        ("…", "14"),
        *[(" ", f"line {number}") for number in (17, 18, 19)],
        ("-", "line 20"),
        ("+", "changed"),
        *[(" ", f"line {number}") for number in (21, 22, 23)],
        ("…", "13"),
        *[(" ", f"line {number}") for number in (37, 38, 39)],
    ]


@pytest.mark.parametrize(("before", "joined"), [("milk\neggs", "milk\neggs\nbread\n"), ("", "bread\n"), (None, "bread\n")])
def test_what_is_added_is_shown_below_what_stays(folder: Path, before: str | None, joined: str) -> None:
    if before is not None:
        (folder / "list.txt").write_text(before)
    workspace = Workspace(folder)
    preview = preview_append(workspace, {"path": "list.txt", "content": "bread"})
    assert preview.bytes_after == len(joined)
    assert preview.change is (PreviewChange.CREATE if before is None else PreviewChange.REPLACE)
    shown = [(line.mark, line.text) for line in preview.lines]
    assert shown == [] if before is None else shown[-1] == (LineMark.ADDED, "bread")
    assert [text for mark, text in shown if mark is LineMark.REMOVED] == []
    workspace.append(("list.txt",), b"bread\n")
    assert (folder / "list.txt").read_text() == joined
    workspace.close()


def test_a_comparison_is_made_again_each_time_and_its_digest_follows_the_file(folder: Path) -> None:
    (folder / "a.txt").write_text("one")
    first = write(folder, "a.txt", "two")
    (folder / "a.txt").write_text("other")
    second = write(folder, "a.txt", "two")
    assert first.digest != second.digest
    assert marks(second) == [("-", "other"), ("+", "two")]


def test_a_deleted_file_shows_its_size_and_how_it_begins(folder: Path) -> None:
    (folder / "a.txt").write_text("\n".join(f"line {number}" for number in range(50)))
    preview = delete(folder, "a.txt")
    assert (preview.change, preview.bytes_before, preview.complete) == (PreviewChange.DELETE, 389, False)
    assert marks(preview) == [("-", f"line {number}") for number in range(20)]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x" * 300_000, b"\x00" * 100])
def test_what_is_no_text_or_too_long_is_not_compared_and_says_so(folder: Path, content: bytes) -> None:
    (folder / "a.bin").write_bytes(content)
    preview = write(folder, "a.bin", "text")
    assert preview.bytes_before == len(content)
    assert preview.digest
    assert preview.complete is False


@pytest.mark.parametrize("unit", ["\n", "a\n", "a\nb\n", "x" * 5_000 + "\n"])
def test_hostile_files_are_compared_within_bounds(folder: Path, unit: str) -> None:
    old = unit * (250_000 // len(unit))
    (folder / "a.txt").write_text(old)
    preview = write(folder, "a.txt", "b\n" + old[: len(old) // 2].replace("a", "c") + "\u202e")
    assert len(preview.lines) <= 200
    assert all(len(line.text) <= 500 for line in preview.lines)


@pytest.mark.parametrize("tool", [write, delete])
def test_a_call_that_cannot_work_says_so(folder: Path, tool: Any) -> None:
    (folder / "folder").mkdir()
    (folder / "file").write_text("x")
    (folder / "link").symlink_to("file")
    os.link(folder / "file", folder / "other")
    more = ("new",) if tool is write else ()
    for path in ("folder", "link", "file", "other", "file/below", "."):
        with pytest.raises(ToolFailed):
            tool(folder, path, *more)


def test_a_file_that_is_not_there_cannot_be_deleted(folder: Path) -> None:
    with pytest.raises(ToolFailed, match=r"there is no missing\.txt"):
        delete(folder, "missing.txt")
