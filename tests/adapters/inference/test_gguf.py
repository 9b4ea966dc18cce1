"""Whatever file an operator points at: its head is read, or it is refused in words."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adapters.inference.gguf import read_head
from gateway.core.errors import Misconfigured

from .conftest import gguf


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
