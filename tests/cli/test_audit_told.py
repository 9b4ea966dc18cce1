"""What `countersign audit` does not tell, because it was changed, and does not look for, because it is too long."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.adapters.storage.accounts import read_rows
from gateway.adapters.storage.inspection import open_stored_log
from gateway.core.errors import LedgerDamaged, Misconfigured
from gateway.core.merkle import leaf_hash
from tests.cli.audit_command import audit, edit

TELLING = [
    ("explain", "call-write"),
    ("compare", "cnv_1", "cnv_1"),
    ("replay", "cnv_1"),
    ("show",),
    ("show", "--json"),
    ("show", "--conversation", "cnv_1", "--tool", "write_file"),
]
"""Commands that tell what records say, of which the fifteenth is one."""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("body = replace(body, 'consented', 'auto')", "record 14 of the audit log was changed"),
        ("body = replace(body, 'call-write', 'call-read')", "record 14 of the audit log was changed"),
        ("body = replace(body, 'cnv_1', 'cnv_2')", "record 14 of the audit log was changed"),
        (
            "payload = CAST(replace(CAST(payload AS TEXT), 'notes', 'other') AS BLOB)",
            "the payload of record 14 of the audit log was changed",
        ),
    ],
)
@pytest.mark.parametrize("asked", TELLING)
def test_a_record_that_was_changed_is_named_instead_of_told(state: Path, asked: tuple[str, ...], change: str, told: str) -> None:
    edit(state, f"UPDATE leaves SET {change} WHERE position = 14")
    refused = audit(*asked, "--state", state)
    assert isinstance(refused.exception, LedgerDamaged)
    assert told in str(refused.exception)
    assert refused.output == ""


@pytest.mark.parametrize("asked", TELLING)
def test_a_record_that_was_hashed_again_is_not_told_either(state: Path, asked: tuple[str, ...]) -> None:
    with open_stored_log(state) as stored:
        body = next(row.body for row in read_rows(stored.connection, [14]))
    forged = json.dumps({**body, "decision": "auto"}, separators=(",", ":"), sort_keys=True)
    written, hashed = forged.replace(":", "\\:"), leaf_hash(forged.encode()).hex()
    edit(state, f"UPDATE leaves SET body = '{written}', hash = x'{hashed}' WHERE position = 14")
    refused = audit(*asked, "--state", state)
    assert isinstance(refused.exception, LedgerDamaged)
    assert "not those that the newest checkpoint signed" in str(refused.exception)
    assert refused.output == ""


def test_nothing_matches_only_where_no_record_was_changed(state: Path) -> None:
    asked = ("show", "--state", state, "--outcome", "executionError")
    assert "executionError" in audit(*asked).output
    edit(state, "UPDATE leaves SET body = replace(body, 'executionError', 'cancelled')")
    refused = audit(*asked)
    assert isinstance(refused.exception, LedgerDamaged)
    assert "of the audit log was changed" in str(refused.exception)


@pytest.mark.parametrize("asked", [("show",), ("show", "--limit", "1"), ("show", "--outcome", "cancelled")])
def test_a_list_is_not_shown_of_a_log_whose_end_was_cut_off(state: Path, asked: tuple[str, ...]) -> None:
    edit(state, "DELETE FROM leaves WHERE position > 30")
    refused = audit(*asked, "--state", state)
    assert isinstance(refused.exception, LedgerDamaged)
    assert "`countersign audit verify` says more" in str(refused.exception)
    assert refused.output == ""


def test_decisions_are_not_made_again_from_tools_that_were_changed(state: Path) -> None:
    edit(state, "UPDATE descriptors SET body = replace(body, 'write_file', 'erase_file')")
    refused = audit("replay", "cnv_1", "--state", state)
    assert isinstance(refused.exception, LedgerDamaged)
    assert "the snapshot `" in str(refused.exception)


@pytest.mark.parametrize(
    ("option", "word"),
    [("--text", "a" * 100_000), ("--text", "%" * 201), ("--tool", "*" * 60_000), ("--policy-version", "a" * 201)],
)
def test_a_word_that_is_too_long_to_look_for_is_refused_with_the_longest_that_is_not(
    state: Path, tmp_path: Path, option: str, word: str
) -> None:
    refused = audit("export", tmp_path / "calls.csv", "--format", "csv", option, word, "--state", state)
    assert isinstance(refused.exception, Misconfigured)
    assert str(refused.exception) == f"{option} takes at most 200 characters, not {len(word):,}"
    assert not (tmp_path / "calls.csv").exists()


@pytest.mark.parametrize("word", ["%" * 200, "_" * 200, "*?[" * 66, "\\" * 200])
def test_wildcards_are_looked_for_as_they_are_written(state: Path, tmp_path: Path, word: str) -> None:
    found = audit("export", tmp_path / "calls.csv", "--format", "csv", "--text", word, "--state", state)
    assert (found.exit_code, found.output.splitlines()[0]) == (0, "0 calls exported")
    assert "`countersign audit verify` checks the log" in found.output
