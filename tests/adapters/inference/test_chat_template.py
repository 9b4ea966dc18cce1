"""The chat template is found behind the longest vocabulary, and says whether a model is shown tools."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from gateway.adapters.inference.chat_template import LARGEST_BYTES, mentions_tools, read_chat_template, read_template_file
from gateway.core.errors import Misconfigured

TEXT, ARRAY, FLOAT = 8, 9, 6


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def entry(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def words(*values: str) -> bytes:
    return struct.pack("<IQ", TEXT, len(values)) + b"".join(map(text, values))


def written(folder: Path, *entries: bytes) -> Path:
    path = folder / "m.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries))
    return path


VOCABULARY = (
    entry("tokenizer.ggml.tokens", ARRAY, words(*map(str, range(70_000)))),
    entry("tokenizer.ggml.scores", ARRAY, struct.pack("<IQ", FLOAT, 70_000) + bytes(4 * 70_000)),
)
BROKEN = {"kind": entry("a", 99, b""), "length": entry("a", ARRAY, struct.pack("<IQ", TEXT, 1 << 40))}


def test_it_stands_behind_the_vocabulary(tmp_path: Path) -> None:
    path = written(tmp_path, *VOCABULARY, entry("tokenizer.chat_template", TEXT, text("{% if tools %}")))
    assert read_chat_template(path) == "{% if tools %}"


def test_a_file_without_one_has_an_empty_one(tmp_path: Path) -> None:
    assert read_chat_template(written(tmp_path, *VOCABULARY)) == ""


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_what_is_out_of_bounds_is_refused(tmp_path: Path, broken: bytes) -> None:
    with pytest.raises(Misconfigured):
        read_chat_template(written(tmp_path, broken, entry("tokenizer.chat_template", TEXT, text("x"))))


@pytest.mark.parametrize(
    ("template", "takes"), [("{%- if tools %}", True), ("{{ messages }}", False), ("my_tools", False), ("", False)]
)
def test_a_template_with_no_place_for_tools_drops_them(template: str, takes: bool) -> None:
    assert mentions_tools(template) is takes


def test_a_template_of_ones_own_is_read_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "own.jinja"
    path.write_bytes("{% for tool in tools %}é{% endfor %}\n".encode())
    assert read_template_file(path) == "{% for tool in tools %}é{% endfor %}\n"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read"),
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xff", "is not UTF-8"),
        (b"x" * (LARGEST_BYTES + 1), "longer"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_in_words(tmp_path: Path, content: bytes | None, why: str) -> None:
    path = tmp_path / "own.jinja"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Misconfigured, match=why) as caught:
        read_template_file(path)
    assert str(tmp_path) not in caught.value.message
