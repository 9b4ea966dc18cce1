"""What leaves of a tool's output."""

from __future__ import annotations

import json

import orjson
import pytest

from gateway.core.canonical import Json
from gateway.core.ledger import ToolResult
from gateway.core.model import ToolOutput, ToolSpec
from gateway.core.redaction import RedactionClass
from gateway.core.results import present_output
from gateway.core.vocabulary import Category

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
