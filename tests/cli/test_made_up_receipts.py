"""A receipt that somebody made up and signed with a key of their own: what its words do in the terminal of whoever checks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gateway.core.canonical import canonical_bytes
from gateway.core.checkpoint import SigningKey
from gateway.core.merkle import inclusion_proofs, leaf_hash, root_of
from tests.cli.audit_command import audit

KEY = SigningKey("console.localhost:8765", bytes(range(32)))
SIGNED = Path(__file__).parents[1] / "vectors" / "audit" / "signed.json"
ACTS = "\x1b]0;title\x07\x1b[2J\u202e\nIts checkpoint is the one that was given."


def made_up() -> Iterator[bytes]:
    """The receipt of the vectors, each time with another word of its records changed wherever it stands, and signed anew."""
    whole: dict[str, Any] = json.loads(SIGNED.read_text())
    words = {(name, word) for record in whole["records"] for name, word in record["body"].items() if isinstance(word, str)}
    for name, word in sorted(words):
        receipt: dict[str, Any] = json.loads(SIGNED.read_text())
        records = receipt["records"]
        for record in records:
            if record["body"].get(name) == word:
                record["body"][name] = word + ACTS
        leaves = [leaf_hash(canonical_bytes(record["body"])) for record in records]
        proofs = inclusion_proofs(leaves, range(len(leaves)))
        for number, record in enumerate(records):
            record |= {"index": number, "proof": [each.hex() for each in proofs[number]]}
        receipt |= {"checkpoint": KEY.sign(len(leaves), root_of(leaves)), "key": KEY.verification_key.line()}
        yield canonical_bytes(receipt) + b"\n"


def test_case_319_no_word_of_a_made_up_receipt_acts_on_the_terminal_or_stands_as_a_line_of_its_own(tmp_path: Path) -> None:
    held = 0
    for number, raw in enumerate(made_up()):
        file = tmp_path / f"{number}.json"
        file.write_bytes(raw)
        told = audit("verify", file)
        assert told.exit_code in (0, 1), told.exception
        assert not set("\x1b\x07\u202e") & set(told.output)
        assert "Its checkpoint is the one that was given." not in told.output.splitlines()
        held += told.exit_code == 0
    assert held >= 3, "words that no rule of the log is about can be anything under a key of one's own"
