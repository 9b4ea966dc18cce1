"""Text files that are not in UTF-8: read, searched, and changed in the encoding that they have."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.adapters.tools.builtin.files import FileContent, Workspace
from gateway.adapters.tools.builtin.previews import preview_append, preview_edit
from gateway.adapters.tools.builtin.texts import decode_text
from gateway.adapters.tools.builtin.workspace import file_tools
from gateway.adapters.tools.catalog import ToolCatalog
from gateway.core.errors import ToolFailed
from gateway.core.preview import LineMark
from tests.adapters.tools.conftest import Call, catalog_of, failure_of

LETTER = "Grüße aus Köln\nBetrag: 84 €\n"
ENCODINGS = ["utf-8", "utf-8-sig", "windows-1252", "utf-16"]


@pytest.fixture
def catalog(tmp_path: Path) -> ToolCatalog:
    return catalog_of(*file_tools(Workspace(tmp_path)), source="builtin")


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_letter_is_read_and_found_in_every_encoding(
    catalog: ToolCatalog, call: Call, tmp_path: Path, encoding: str
) -> None:
    (tmp_path / "letter.txt").write_bytes(LETTER.encode(encoding))
    output = await call(catalog, "read_file", path="letter.txt")
    assert (output.text, output.structured["binary"]) == (LETTER, False)
    assert (await call(catalog, "search_files", query="KÖLN")).text == "letter.txt:1: Grüße aus Köln"
    assert output.structured.get("encoding") == {"windows-1252": "windows-1252", "utf-16": "utf-16-le"}.get(encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_an_edit_keeps_the_encoding_and_the_mark_of_a_file(
    catalog: ToolCatalog, call: Call, tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(LETTER.encode(encoding))
    await call(catalog, "edit_file", path="letter.txt", old="Köln", new="Düren")
    assert path.read_bytes() == LETTER.replace("Köln", "Düren").encode(encoding)


async def test_what_is_added_has_the_encoding_of_the_file(catalog: ToolCatalog, call: Call, tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(LETTER.encode("windows-1252"))
    shown = preview_append(Workspace(tmp_path), {"path": "letter.txt", "content": "Schöne Grüße"})
    await call(catalog, "append_file", path="letter.txt", content="Schöne Grüße")
    assert path.read_bytes() == f"{LETTER}Schöne Grüße\n".encode("windows-1252")
    assert shown.bytes_after == path.stat().st_size
    assert [line.text for line in shown.lines if line.mark is LineMark.ADDED] == ["Schöne Grüße"]


@pytest.mark.parametrize(("tool", "given"), [("append_file", {"content": "→"}), ("edit_file", {"old": "Köln", "new": "→"})])
async def test_a_character_that_the_encoding_lacks_is_refused_before_anybody_is_asked(
    catalog: ToolCatalog, call: Call, tmp_path: Path, tool: str, given: dict[str, str]
) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(LETTER.encode("windows-1252"))
    refused = 'letter.txt is in windows-1252, which has no "→"; write the whole file anew'
    assert (await failure_of(call(catalog, tool, path="letter.txt", **given))).message == refused
    preview = preview_append if tool == "append_file" else preview_edit
    with pytest.raises(ToolFailed, match="which has no"):
        preview(Workspace(tmp_path), {"path": "letter.txt", **given})
    assert path.read_bytes() == LETTER.encode("windows-1252")


async def test_nothing_is_added_to_a_file_in_utf_16(catalog: ToolCatalog, call: Call, tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(LETTER.encode("utf-16"))
    assert (await failure_of(call(catalog, "append_file", path="letter.txt", content="more"))).message == (
        "letter.txt is in utf-16-le; edit it, or write the whole file anew"
    )
    assert path.read_bytes() == LETTER.encode("utf-16")


@pytest.mark.parametrize(
    "data", [b"\xff\xd8\xff\xe0\x10JFIF", b"caf\xe9\0", b"\xff\xfeA", b"\xff\xfe\0\0", b"\xfe\xff\xd8\0", b"\x90", b"\xe9\x7f"]
)
def test_what_no_text_would_hold_is_no_text(data: bytes) -> None:
    assert decode_text(data) is None


def test_a_character_that_a_limit_cut_in_two_is_left_out() -> None:
    cut = FileContent("aé".encode()[:2], 3)
    decoded = decode_text(cut.data, whole=False)
    assert decoded is not None
    assert decoded.text == "a"


async def test_what_stands_beside_a_folder_of_thousands_is_found(
    catalog: ToolCatalog, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.adapters.tools.builtin.searching.MAX_FILES", 30)
    for number in range(40):
        folder = tmp_path / "archive" / "old" / f"{number:02}"
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text("nothing")
    (tmp_path / "bills").mkdir()
    (tmp_path / "bills" / "power.txt").write_text("Stadtwerke")
    output = await call(catalog, "search_files", query="Stadtwerke")
    assert output.text.splitlines()[0] == "bills/power.txt:1: Stadtwerke"
    assert output.structured["complete"] is False
