"""`countersign audit verify` of a receipt and an export that carry what anchors gave: what is said of it, and whom it takes to be
trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.audit_vectors import FOLDER
from tests.cli.audit_command import audit
from tests.harness.witness import Witness

RECEIPT, LOG = FOLDER / "anchored.json", FOLDER / "anchored.jsonl"
AUTHORITY, STRANGER = FOLDER / "authority.pem", FOLDER / "stranger.pem"
FILES = pytest.mark.parametrize("file", [RECEIPT, LOG], ids=["receipt", "export"])


def whole() -> dict[str, Any]:
    return json.loads(RECEIPT.read_bytes())


def witness_key() -> str:
    return whole()["anchors"][0]["key"]


@FILES
def test_what_is_anchored_is_said_with_whom_it_takes_to_be_trusted(file: Path) -> None:
    result = audit("verify", file)
    assert result.exit_code == 0, result.output
    assert (
        "The cosigner witness.example/w1 signed the log's first 26 records at 2026-11-18T11:06:40.000Z;"
        " not checked: whether the key is that cosigner's." in result.output
    )
    assert "is said to hold the log's first 26 records; not checked: look it up in that repository." in result.output
    assert "A time stamp is over the log's first 36 records at " in result.output
    assert "; not checked: which authority signed that." in result.output


@FILES
@pytest.mark.requirement("002-73", "a receipt and an export show who else signed for the log, and whose key was not given")
def test_a_witness_and_an_authority_that_were_given_have_to_have_signed(file: Path) -> None:
    result = audit("verify", file, "--cosigner", witness_key(), "--ca", AUTHORITY)
    assert result.exit_code == 0, result.output
    assert "at 2026-11-18T11:06:40.000Z; with the key that was given." in result.output
    assert "; by the authority that was given." in result.output
    for options, place, said in (
        (("--cosigner", Witness().line()), "anchors", "no anchor is by the cosigner that was given"),
        (("--ca", str(STRANGER)), "anchors[2].token", "its time stamp does not hold"),
        (("--ca", str(RECEIPT)), "anchors[2].token", "holds no certificates in PEM or DER"),
    ):
        result = audit("verify", file, *options)
        assert result.exit_code == 1
        assert f"at {place}, " in result.output
        assert said in result.output


def test_a_time_stamp_that_says_another_moment_is_not_its_authoritys(tmp_path: Path) -> None:
    # Without the certificates nobody can tell: docs/LIMITATIONS.md says so.
    lines = (FOLDER / "anchor_changes.jsonl").read_text().splitlines()
    moved = [json.loads(line) for line in lines if '"splice"' in line][-1]
    [[_, start, end, text]] = moved["steps"]
    raw = RECEIPT.read_bytes()
    path = tmp_path / "moved.json"
    path.write_bytes(raw[:start] + text.encode() + raw[end:])
    result = audit("verify", path)
    assert result.exit_code == 0, result.output
    assert "records at 2027-02-28T23:59:59.000Z; not checked: which authority signed that." in result.output
    assert audit("verify", path, "--ca", AUTHORITY).exit_code == 1


def test_how_much_of_a_receipt_came_before_an_anchor_is_said() -> None:
    output = audit("verify", RECEIPT).output
    records = whole()["records"]
    before = sum(record["index"] < 26 for record in records)
    assert 0 < before < len(records)
    assert f"not checked: whether the key is that cosigner's. {before} of these {len(records)} records are among them." in output


def test_a_file_without_anchors_says_so() -> None:
    for file in (FOLDER / "rotated.json", FOLDER / "rotated.jsonl"):
        assert "No anchor: nobody but the gateway has signed for these records." in audit("verify", file).output
    told = json.loads(audit("verify", RECEIPT, "--json").output)
    assert [(each["kind"], each["size"], each["trusted"]) for each in told["anchors"]] == [
        ("cosigner", 26, False),
        ("git", 26, False),
        ("rfc3161", 36, False),
    ]
