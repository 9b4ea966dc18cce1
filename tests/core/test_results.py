"""What leaves of a tool's output."""

from __future__ import annotations

import json
from dataclasses import replace

import orjson
import pytest

from gateway.core.canonical import Json
from gateway.core.ledger import CallFoundUnknown, ToolResult
from gateway.core.model import ToolOutput, ToolSpec
from gateway.core.redaction import RedactionClass
from gateway.core.results import present_output
from gateway.core.vocabulary import Category, Recovery, Trust

AWS = "AKIA" + "IOSFODNN7EXAMPLE"
SPEC = ToolSpec("run", "runs", "i", "m", {"type": "object"}, Category.EXECUTE, "tests")


def present(output: ToolOutput, cap: int = 4096) -> ToolResult:
    return present_output("c1", SPEC, output, receipt_id="r", duration_ms=1, cap=cap, redact=(RedactionClass.SECRETS,))


@pytest.mark.parametrize("before", ["\n", "\t", "\r", "\x1b", "é", '"'])
def test_no_escape_of_json_hides_a_credential_in_its_text(before: str) -> None:
    structured: Json = {"stdout": f"found{before}{AWS}"}
    result = present(ToolOutput(orjson.dumps(structured).decode(), structured))
    assert AWS not in result.content
    assert json.loads(result.content) == result.structured == {"stdout": f"found{before}[redacted:aws-key-id]"}
    assert result.redactions == 1


def test_text_of_its_own_beside_a_structure_is_redacted_for_itself() -> None:
    result = present(ToolOutput(f"1 line: {AWS}", {"line": AWS}))
    assert (result.content, result.structured) == ("1 line: [redacted:aws-key-id]", {"line": "[redacted:aws-key-id]"})
    assert result.redactions == 2


def test_a_text_that_had_nothing_to_hide_leaves_as_it_was() -> None:
    structured: Json = {"stdout": "a\nb", "exit_code": 0, "duration_sec": 0.25}
    text = orjson.dumps(structured).decode()
    assert present(ToolOutput(text, structured)).content == text


@pytest.mark.parametrize("trust", list(Trust))
def test_a_result_has_the_trust_of_its_tool_and_the_labels_of_both(trust: Trust) -> None:
    spec = replace(SPEC, trust=trust, labels=("tool", "both"))
    output = ToolOutput("x", None, labels=("found", "both"))
    result = present_output("c1", spec, output, receipt_id="r", duration_ms=1, cap=4096, redact=())
    assert (result.trust, result.labels) == (trust, ("both", "found", "tool"))


def test_a_credential_at_the_cap_is_taken_out_before_the_cut() -> None:
    result = present(ToolOutput("x" * 90 + f" {AWS} " + "y" * 90), cap=128)
    assert AWS[:4] not in result.content
    assert (result.redactions, result.truncated) == (1, True)


@pytest.mark.parametrize(
    ("recovery", "told"),
    [
        (None, "it was not run again."),
        (Recovery.PURE, "reading again is safe."),
        (Recovery.IDEMPOTENT, "it may be sent again."),
        (Recovery.PROBE, "Check whether it took effect before you send it again."),
        (Recovery.UNSAFE, "Look at what it left before you repeat it."),
    ],
)
def test_an_unknown_outcome_says_what_may_be_done_about_it(recovery: Recovery | None, told: str) -> None:
    found = CallFoundUnknown(1, "usr_1", "cnv_1", "call-1", "rcp_1", recovery)
    assert found.result().content.endswith(told)
    assert found.leaf().body.get("recovery") == (None if recovery is None else recovery.value)
