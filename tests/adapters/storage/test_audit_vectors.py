"""Receipts and a log that were changed: the place that is named, as the page that checks them names it too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.adapters.storage.exports import examine_export
from gateway.core.ledger import AUDITED
from tests.audit_vectors import FOLDER, LOG, TYPE_CHANGES, find_fault, read_changes


@pytest.mark.requirement("002-73", "both verifiers name the same first bad place in a thousand changed receipts and logs")
def test_the_first_bad_place_of_every_changed_file_is_the_one_that_both_verifiers_name(tmp_path: Path) -> None:
    changes = list(read_changes())
    assert len(changes) > 1000
    found = [(change, find_fault(change, tmp_path)) for change in changes]
    told = [(change, fault and fault.place, fault and fault.detail) for change, fault in found]
    assert [(change["steps"], place) for change, place, _ in told if place != change["place"]] == []
    assert [(change["steps"], detail) for change, _, detail in told if detail != change.get("detail", detail)] == []
    assert sum(place is not None for _, place, _ in told) > 900


def test_case_337_another_spelling_of_a_key_a_name_or_a_signature_is_refused(tmp_path: Path) -> None:
    spelt = {"publicKey", "credentialId", "event", "signature"}
    changes = [json.loads(line) for line in (FOLDER / TYPE_CHANGES).read_text().splitlines()]
    # Each of them is one value in one record of a receipt, signed anew.
    tried = [change for change in changes if change["steps"][0][0] == "set" and change["steps"][0][1][-1] in spelt]
    assert {change["steps"][0][1][-1] for change in tried} == spelt
    assert [change["steps"][0] for change in tried if find_fault(change, tmp_path) is None] == []


@pytest.mark.parametrize("name", [LOG, "anchored.jsonl", "rotated.jsonl"])
def test_an_export_that_was_cut_anywhere_is_told_as_cut_and_as_nothing_else(tmp_path: Path, name: str) -> None:
    raw = (FOLDER / name).read_bytes()
    assert raw.count(b"\n") > 20
    file, start = tmp_path / name, 0
    for number, line in enumerate(raw.splitlines(keepends=True), 1):
        # At the line's beginning, where a line break was before it; inside it; and before its own line break.
        for size in (start, start + len(line) // 2, start + len(line) - 1):
            file.write_bytes(raw[:size])
            report, _ = examine_export(file)
            assert report.fault is not None
            assert (report.fault.place, report.fault.detail) == (f"line {number}", told_of(size, start))
        start += len(line)


def told_of(size: int, start: int) -> str:
    if size == 0:
        return "the file is empty"
    inside = "the file was cut off inside this line"
    return inside if size > start else "the file was cut off: the line of type `end` is missing"


def test_the_events_that_the_page_knows_are_the_gateways() -> None:
    assert json.loads((FOLDER / "events.json").read_text()) == sorted(AUDITED), (
        "add the event to web/src/verifier/events.ts, then run `python -m tests.audit_vectors`"
    )
