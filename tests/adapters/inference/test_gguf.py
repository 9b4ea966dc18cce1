"""Whatever file an operator points at: its head is read, or it is refused in words."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adapters.inference.gguf import read_head
from gateway.core.errors import Misconfigured

from .conftest import gguf, half_billion_head, with_entries


def test_the_head_says_what_the_weights_are(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf(name="Mine", license="mit"))
    head = read_head(path)
    assert (head.arch, head.name, head.licence) == ("qwen2", "Mine", "mit")
    assert (head.quantisation, head.context_tokens) == ("Q4_K_M", 2048)


def test_a_missing_file_is_named_without_its_folder(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured) as caught:
        read_head(tmp_path / "gone.gguf")
    assert "`gone.gguf`" in caught.value.message
    assert str(tmp_path) not in caught.value.message


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured):
        read_head(tmp_path)


@given(cut=st.integers(0, 300), junk=st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)
def test_a_damaged_file_is_refused_or_read_but_never_breaks_the_reader(tmp_path: Path, cut: int, junk: bytes) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf(name="Mine")[:cut] + junk)
    # Nothing but these two ends: another exception fails the test.
    with contextlib.suppress(Misconfigured):
        assert read_head(path).arch


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"GGUF",
        b"GGML" + gguf()[4:],
        gguf()[:4] + b"\x01\x00\x00\x00" + gguf()[8:],
        gguf()[:16] + b"\xff" * 8 + gguf()[24:],
        gguf()[:24] + b"\xff" * 8,
        gguf().replace(b"general.architecture", b"general.architectura"),
    ],
    ids=["empty", "only magic", "other magic", "version 1", "endless entries", "endless string", "no architecture"],
)
def test_what_is_no_gguf_file_is_refused(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(head)
    with pytest.raises(Misconfigured, match=r"`m.gguf` is not a GGUF model file"):
        read_head(path)


def an_entry(name: str, kind: int, layout: str, *values: object) -> bytes:
    return struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind) + struct.pack(layout, *values)


QWEN_HALF_BILLION = (
    an_entry("qwen2.block_count", 4, "<I", 24),
    an_entry("qwen2.embedding_length", 4, "<I", 896),
    an_entry("qwen2.attention.head_count", 4, "<I", 14),
)


@pytest.mark.parametrize(
    ("entries", "cache_bytes"),
    [
        # Keys and values of two heads of 64 numbers in each of 24 layers, at two bytes.
        ((an_entry("qwen2.attention.head_count_kv", 4, "<I", 2),), 12_288),
        ((), 24 * 14 * 128 * 2),
        ((an_entry("qwen2.attention.head_count_kv", 9, "<IQ24I", 4, 24, *[2] * 12, *[0] * 12),), 6_144),
        (
            (
                an_entry("qwen2.attention.head_count_kv", 4, "<I", 2),
                an_entry("qwen2.attention.key_length", 4, "<I", 128),
                an_entry("qwen2.attention.value_length", 4, "<I", 128),
            ),
            24_576,
        ),
    ],
    ids=["grouped heads", "no grouping", "by layer", "lengths of their own"],
)
def test_the_head_tells_what_a_token_takes_in_the_cache(tmp_path: Path, entries: tuple[bytes, ...], cache_bytes: int) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(with_entries(*QWEN_HALF_BILLION, *entries))
    assert read_head(path).cache_bytes == cache_bytes


def test_a_token_of_the_default_model_takes_twelve_kibibytes(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(half_billion_head())
    assert (read_head(path).cache_bytes, read_head(path).context_tokens) == (12_288, 32_768)


@pytest.mark.parametrize(
    "entries",
    [
        (),
        QWEN_HALF_BILLION[:2],
        (an_entry("qwen2.block_count", 4, "<I", 0), *QWEN_HALF_BILLION[1:]),
        (an_entry("qwen2.block_count", 4, "<I", 1 << 20), *QWEN_HALF_BILLION[1:]),
        (*QWEN_HALF_BILLION[:2], an_entry("qwen2.attention.head_count", 4, "<I", 0)),
        (*QWEN_HALF_BILLION, an_entry("qwen2.attention.head_count_kv", 6, "<f", 2.0)),
    ],
)
def test_a_head_that_does_not_say_it_or_makes_no_sense_tells_nothing(tmp_path: Path, entries: tuple[bytes, ...]) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(with_entries(*entries))
    assert read_head(path).cache_bytes is None
