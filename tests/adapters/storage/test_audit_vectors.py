"""Receipts and a log that were changed: the place that is named, as the page that checks them names it too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.core.ledger import AUDITED
from tests.audit_vectors import FOLDER, find_fault, read_changes


@pytest.mark.requirement("002-73", "both verifiers name the same first bad place in a thousand changed receipts and logs")
def test_the_first_bad_place_of_every_changed_file_is_the_one_that_both_verifiers_name(tmp_path: Path) -> None:
    changes = list(read_changes())
    assert len(changes) > 1000
    found = [(change, find_fault(change, tmp_path)) for change in changes]
    told = [(change, fault and fault.place, fault and fault.detail) for change, fault in found]
    assert [(change["steps"], place) for change, place, _ in told if place != change["place"]] == []
    assert [(change["steps"], detail) for change, _, detail in told if detail != change.get("detail", detail)] == []
    assert sum(place is not None for _, place, _ in told) > 900


def test_the_events_that_the_page_knows_are_the_gateways() -> None:
    assert json.loads((FOLDER / "events.json").read_text()) == sorted(AUDITED), (
        "add the event to web/src/verifier/events.ts, then run `python -m tests.audit_vectors`"
    )
