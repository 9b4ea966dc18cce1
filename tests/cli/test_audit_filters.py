"""Filters of `countersign audit show` and `audit export` that name what no record has: said, and not an empty answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.core.errors import Misconfigured
from tests.cli.audit_command import audit

EXPORT = ("export", "-", "--format", "jsonl")


@pytest.mark.parametrize("command", [("show",), EXPORT])
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("--principal", "Ada Ubermuth"), "no person `Ada Ubermuth` was ever on record; nearest: `Ada Übermut`"),
        (("--principal", "xyzzy"), "no person `xyzzy` was ever on record; there are `Ada Übermut`"),
        (("--tool", "write"), "no tool `write` was ever on record; nearest: `write_file`"),
        (("--tool", "Write_File"), "no tool `Write_File` was ever on record; nearest: `write_file`"),
        (("--tool", "\x1b[31m"), "no tool `\\u001b[31m` was ever on record; there are "),
        (("--conversation", "cnv_none"), "`cnv_none` is on record"),
    ],
)
def test_who_or_what_was_never_on_record_is_said_with_the_nearest_names(
    state: Path, command: tuple[str, ...], asked: tuple[str, str], told: str
) -> None:
    refused = audit(*command, *asked, "--state", state)
    assert isinstance(refused.exception, Misconfigured)
    assert told in str(refused.exception)
    assert refused.stdout == ""


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("--source", "file"), "no source of tools `file` was ever on record"),
        (("--model", "gpt-9"), "no model `gpt-9` was ever on record"),
        (("--rule", "none"), "no rule `none` was ever on record"),
        (("--policy-version", "00"), "no policy version `00` was ever on record"),
    ],
)
def test_what_no_call_ever_had_is_no_empty_export_and_leaves_no_file(
    state: Path, tmp_path: Path, asked: tuple[str, str], told: str
) -> None:
    kept = tmp_path / "calls.csv"
    kept.write_text("earlier")
    refused = audit("export", kept, "--format", "csv", *asked, "--state", state)
    assert isinstance(refused.exception, Misconfigured)
    assert told in str(refused.exception)
    assert kept.read_text() == "earlier"


@pytest.mark.parametrize(
    "command",
    [
        ("show", "--principal", "LONG"),
        ("show", "--tool", "LONG"),
        ("show", "--conversation", "LONG"),
        ("show", "--event", "LONG"),
        ("explain", "LONG"),
        ("explain", "call-write", "--conversation", "LONG"),
        ("compare", "LONG", "cnv_1"),
        ("replay", "LONG"),
        ("receipt", "LONG"),
        ("erase", "--call", "LONG", "--yes"),
        ("erase", "--conversation", "LONG", "--yes"),
        ("erase", "--person", "LONG", "--yes"),
        (*EXPORT, "--since", "LONG"),
    ],
    ids=" ".join,
)
def test_a_long_word_is_not_said_again_whole(state: Path, command: tuple[str, ...]) -> None:
    given = [("x" * 5_000 + "\x1b[31m") if word == "LONG" else word for word in command]
    refused = audit(*given, "--state", state)
    assert refused.exit_code != 0
    told = refused.output + str(refused.exception)
    assert len(told) < 2_500
    assert "\x1b" not in told


def test_a_person_is_found_by_name_as_by_id(state: Path) -> None:
    by_id = audit("show", "--principal", "prn_1", "--state", state)
    assert by_id.exit_code == 0
    assert len(by_id.output.splitlines()) > 5
    for name in ("Ada Übermut", "ada übermut"):
        assert audit("show", "--principal", name, "--state", state).output == by_id.output
    exported = [audit(*EXPORT, "--principal", asked, "--state", state).stdout for asked in ("prn_1", "Ada Übermut")]
    assert exported[0] == exported[1]
    assert {json.loads(line)["principalId"] for line in exported[0].splitlines()} == {"prn_1"}


def test_a_filter_that_names_what_is_on_record_may_find_nothing(state: Path) -> None:
    asked = ("--tool", "read_file", "--outcome", "timedOut")
    assert audit("show", *asked, "--state", state).output == "nothing matches\n"
    exported = audit(*EXPORT, *asked, "--state", state)
    assert (exported.exit_code, exported.stdout) == (0, "")
