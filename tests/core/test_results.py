"""What leaves of a tool's output."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from itertools import product

import orjson
import pytest
from pydantic.alias_generators import to_camel

from gateway.core.attachments import AttachmentReference, MediaType
from gateway.core.canonical import Json
from gateway.core.ledger import CallFoundUnknown, ToolResult
from gateway.core.model import ToolOutput, ToolSpec
from gateway.core.pages import page_size, read_page
from gateway.core.redaction import RedactionClass
from gateway.core.results import (
    MAX_KEPT,
    KeptReference,
    PresentedOutput,
    bound_output,
    present_output,
    redact_output,
    restore_result,
    result_record,
)
from gateway.core.vocabulary import Category, Outcome, Reason, Recovery, Trust

AWS = "AKIA" + "IOSFODNN7EXAMPLE"
SPEC = ToolSpec("run", "runs", "i", "m", {"type": "object"}, Category.EXECUTE, "tests")


def let_out(output: ToolOutput, *, spec: ToolSpec = SPEC, cap: int = 4096, room: int = 0) -> PresentedOutput:
    redacted = redact_output(bound_output(output), (RedactionClass.SECRETS,))

    def keep(size: int) -> str | None:
        return "res_1" if size <= room else None

    return present_output("c1", spec, redacted, receipt_id="r", duration_ms=1, cap=cap, keep=keep)


def present(output: ToolOutput, cap: int = 4096) -> ToolResult:
    return let_out(output, cap=cap).result


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
    result = let_out(output, spec=spec).result
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


def test_an_output_is_trusted_less_than_its_tool_if_it_says_so_and_never_more() -> None:
    for own, said in product(Trust, Trust):
        result = let_out(ToolOutput("x", trust=said), spec=replace(SPEC, trust=own)).result
        assert result.trust is (Trust.TRUSTED if own is said is Trust.TRUSTED else Trust.UNTRUSTED)


def test_an_output_is_the_persons_own_only_if_its_tools_are_and_is_believed_no_more_for_that() -> None:
    for tools, said in product((True, False), repeat=2):
        result = let_out(ToolOutput("x", own=said), spec=replace(SPEC, own=tools)).result
        assert (result.own, result.trust) == (tools and said, Trust.UNTRUSTED)
        assert result_record(result).get("own", False) is result.own


LONG = "".join(f"line {number}\n" for number in range(1, 400))


def test_a_long_text_is_kept_whole_and_its_first_page_says_how_to_read_on() -> None:
    presented = let_out(ToolOutput(LONG), cap=1024, room=MAX_KEPT)
    result, kept = presented.result, presented.kept
    assert kept is not None
    assert kept.text.decode() == LONG
    assert result.kept == kept.reference
    assert len(result.content.encode()) <= 1024
    page, note = result.content.rsplit("\n", 1)
    first, pages = read_page(kept.text, kept.page_bytes, 1)
    assert page + "\n" == first
    assert note == (f'…[first {len(first)} of {len(LONG)} bytes. Next: read_result{{"page":2,"result_id":"res_1"}} of {pages}]')
    assert result.truncated
    assert restore_result(result_record(result)) == result


def test_a_long_text_for_which_there_is_no_room_is_only_cut() -> None:
    for room, cap in ((len(LONG) - 1, 1024), (MAX_KEPT, 255)):
        presented = let_out(ToolOutput(LONG), cap=cap, room=room)
        assert presented.kept is None
        assert presented.result.kept is None
        assert "kept" not in result_record(presented.result)
        assert presented.result.content.endswith("bytes]")
        assert "read_result" not in presented.result.content


def test_what_is_kept_is_redacted_wherever_a_page_ends() -> None:
    size = page_size(512)
    assert size is not None
    for before in range(size - len(AWS) - 2, size + 2):
        kept = let_out(ToolOutput("x" * before + f" {AWS} " + "y" * 900), cap=512, room=MAX_KEPT).kept
        assert kept is not None
        assert AWS.encode() not in kept.text
        assert kept.redacted == ("secrets",)


def test_more_than_is_kept_of_any_result_says_so_at_its_end() -> None:
    presented = let_out(ToolOutput("z" * (MAX_KEPT + 10)), cap=512, room=MAX_KEPT)
    assert presented.kept is not None
    assert len(presented.kept.text) <= MAX_KEPT
    assert presented.kept.text.endswith(b" bytes]")


def test_a_record_has_every_member_of_a_result_under_the_name_that_reads_it_back() -> None:
    reference = AttachmentReference("att_1", MediaType.PNG, 3, "c" * 64)
    result = ToolResult(
        call_id="c-1",
        outcome=Outcome.EXECUTION_ERROR,
        reason=Reason.TOOL_ERROR,
        content="text",
        structured={"a": [1, None]},
        error="why",
        truncated=True,
        redactions=2,
        labels=("a", "b"),
        trust=Trust.UNTRUSTED,
        duration_ms=7,
        receipt_id="rcp_1",
        result_digest="a" * 64,
        kept=KeptReference("res_1", 9, "b" * 64),
        attachments=(reference,),
        own=True,
    )
    record = result_record(result)
    assert record.keys() == {to_camel(each.name) for each in fields(ToolResult)}
    assert record["kept"].keys() == {to_camel(each.name) for each in fields(KeptReference)}
    assert record["attachments"][0].keys() == {to_camel(each.name) for each in fields(AttachmentReference)}
    # Read back from JSON too, as records are.
    assert restore_result(record) == restore_result(orjson.loads(orjson.dumps(record))) == result


@pytest.mark.parametrize("before_the_cut", [0, 1, 10, 19])
def test_case_312_what_is_longer_than_all_that_is_kept_is_cut_before_it_is_looked_through(before_the_cut: int) -> None:
    text = "x " * ((MAX_KEPT + 65_536 - before_the_cut) // 2) + " " * (before_the_cut % 2) + f"{AWS} {'y ' * 100}"
    shown = let_out(ToolOutput(text), cap=1024, room=MAX_KEPT)
    kept = shown.kept
    assert kept is not None
    assert shown.result.truncated
    # Half of the credential is before the cut, where no pattern recognises it.
    assert b"AKIA" not in kept.text
    cut = re.search(r"…\[truncated (\d+) bytes\]$", kept.text.decode())
    assert cut is not None
    assert int(cut[1]) + len(kept.text) - len(cut[0].encode()) == len(text)


@pytest.mark.parametrize("before_the_cut", [4, 10, 19])
def test_case_312_half_a_credential_is_not_kept_where_much_before_it_was_taken_out(before_the_cut: int) -> None:
    lines = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 4_000
    key = f"-----BEGIN PRIVATE KEY-----\n{lines}-----END PRIVATE KEY-----\n"
    filling = MAX_KEPT + 65_536 - len(key) - before_the_cut
    kept = let_out(
        ToolOutput(f"{key}{'x ' * (filling // 2)}{' ' * (filling % 2)}{AWS} {'y ' * 100}"), cap=1024, room=MAX_KEPT
    ).kept
    assert kept is not None
    # With the key taken out, what was before the cut is less than what is kept.
    assert len(kept.text) < MAX_KEPT - 65_536
    assert b"AKIA" not in kept.text


def test_case_312_json_that_is_longer_than_all_that_is_kept_is_refused_in_words() -> None:
    structured: Json = {"log": ["line\n" + AWS] * (MAX_KEPT // 26)}
    result = present(ToolOutput(orjson.dumps(structured).decode(), structured))
    assert (result.structured, result.truncated) == (None, True)
    assert result.content.startswith(f"[This result is JSON of more than {MAX_KEPT} bytes.")
    # Beside a text of its own it goes without it.
    assert present(ToolOutput("a line", structured)).content == "a line"


def test_text_that_is_its_structures_json_is_written_again_also_where_escapes_make_it_long() -> None:
    structured: Json = {"out": "\x00" * (MAX_KEPT // 2) + f"\n{AWS}"}
    kept = let_out(ToolOutput(orjson.dumps(structured).decode(), structured), cap=1024, room=MAX_KEPT)
    assert kept.result.redactions == 1
