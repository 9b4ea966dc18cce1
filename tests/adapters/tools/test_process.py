"""What a run becomes: one JSON object, whatever was written (000-27, 000-28)."""

from __future__ import annotations

import json

import pytest

from gateway.adapters.tools.process import read_stream, tell
from gateway.adapters.tools.sandbox.cage import OUTPUT_CAP, Ended, Finished


def finished(
    stdout: bytes = b"", stderr: bytes = b"", *, exit_code: int | None = 0, signal: int | None = None, omitted: int = 0
) -> Finished:
    return Finished(exit_code, signal, stdout, stderr, omitted, 0, 0.04321, Ended.EXITED)


def test_a_run_is_told_as_one_json_object() -> None:
    output = tell("echo", finished(b"out\n", b"err", exit_code=3))
    assert json.loads(output.text) == output.structured
    assert output.text == '{"tool":"echo","stdout":"out\\n","stderr":"err","exit_code":3,"duration_sec":0.043}'


def test_a_program_that_a_signal_ended_has_the_exit_code_of_shells() -> None:
    assert tell("x", finished(exit_code=None, signal=9)).structured["exit_code"] == 137


def test_what_is_not_utf_8_is_replaced_and_said_so_where_no_program_can_write() -> None:
    told = tell("x", finished(b"a\xffb", b'"not_utf8"')).structured
    assert (told["stdout"], told["not_utf8"]) == ("a\ufffdb", ["stdout"])
    # A program may write the replacement character itself.
    assert "not_utf8" not in tell("x", finished("a\ufffdb".encode())).structured


@pytest.mark.parametrize(
    ("raw", "omitted", "text", "readable"),
    [
        (b"", 0, "", True),
        (b"abc", 0, "abc", True),
        (b"abc", 5, "abc…[truncated 5 bytes]", True),
        ("añ".encode(), 5, "añ…[truncated 5 bytes]", True),
        ("añ".encode()[:-1], 5, "a…[truncated 6 bytes]", True),
        ("a🦆".encode()[:-1], 5, "a…[truncated 8 bytes]", True),
        ("a🦆".encode()[:-3], 5, "a…[truncated 6 bytes]", True),
        ("añ".encode()[:-1], 0, "a\ufffd", False),
        (b"a\x80\xbf", 5, "a\ufffd\ufffd…[truncated 5 bytes]", False),
        (b"\xed\xa0\x80", 0, "\ufffd\ufffd\ufffd", False),
        (b"a\x00b\x1b[2J", 0, "a\x00b\x1b[2J", True),
        (b"x" * (OUTPUT_CAP + 3), 4, "x" * OUTPUT_CAP + "…[truncated 7 bytes]", True),
    ],
)
def test_a_stream_is_cut_between_characters_and_counts_every_missing_byte(
    raw: bytes, omitted: int, text: str, readable: bool
) -> None:
    assert read_stream(raw, omitted) == (text, readable)


def test_a_result_at_its_worst_still_passes_the_gateways_cap() -> None:
    output = tell("x", finished(b"\x01" * OUTPUT_CAP, b"\x01" * OUTPUT_CAP, omitted=10**12))
    assert len(output.text.encode()) < 128 * 1024
