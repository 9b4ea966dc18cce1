"""Files of calls in formats of others: what a line says, what its readers require, and words of others that stay words."""

from __future__ import annotations

import csv
import io
import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft7Validator

from gateway.core.call_files import CallFormat, writer_of
from gateway.core.call_files.csv import make_inert
from gateway.core.call_files.described import MEMBERS, Named
from gateway.core.call_files.ocsf import OcsfWriter
from gateway.core.call_history import OPEN, AuditedCall, Traits, write_rules
from gateway.core.canonical import canonical_bytes
from gateway.core.vocabulary import Outcome
from gateway.protocol.audit_methods import WireAuditedCall

OCSF = Path(__file__).parent.parent / "vectors" / "ocsf"

NAMED = Named("gateway.example/audit", "1.2.3", {"p-1": "Ada", "p-2": "=cmd|' /C calc'!A0"})

TRAITS = Traits(
    principal_id="p-1",
    tool="erase",
    source="notes",
    outcome="ok",
    reason="",
    decision="step-up-succeeded",
    model_id="tiny",
    label=1,
    rules=write_rules(("default-3", "high")),
    policy_version="ab" * 32,
    approval_kind="stepUp",
)

CALL = AuditedCall(
    position=7,
    conversation_id="c-1",
    call_id="call-1",
    turn_id="t-1",
    turn_index=0,
    at=1_800_000_000_123,
    traits=TRAITS,
    approval_id="a-1",
    asked_at=1_800_000_000_200,
    decided_at=1_800_000_001_200,
    answer="approved",
    approver_id="p-1",
    credential_id="cred",
    started_at=1_800_000_001_300,
    closed_at=1_800_000_001_400,
    duration_ms=1_277,
    leaves=(7, 9, 10, 11),
)

REFUSED = AuditedCall(
    position=3,
    conversation_id="c-1",
    call_id="call-0",
    turn_id="",
    turn_index=None,
    at=1_799_999_999_000,
    traits=Traits("", "", "", "unknownTool", "notAdvertised", "", "", -1, "", "", ""),
    closed_at=1_799_999_999_001,
    duration_ms=1,
    leaves=(3,),
)

HOSTILE = CALL._replace(call_id='x",=1+1\r\n;@SUM(1)\u202e', traits=TRAITS._replace(principal_id="p-2", tool="a|b=c\\d\ne"))


def written(form: CallFormat, *calls: AuditedCall) -> bytes:
    writer = writer_of(form, NAMED)
    return writer.head() + writer.lines(calls) + writer.tail()


def test_a_line_of_json_is_what_the_console_lists() -> None:
    (line,) = written(CallFormat.JSONL, CALL).splitlines()
    told = WireAuditedCall.admit(json.loads(line))
    assert (told.at, told.principal_name, told.label, told.rules) == (
        "2027-01-15T08:00:00.123Z",
        "Ada",
        "internal",
        ("default-3", "high"),
    )
    assert set(MEMBERS) == {field.alias for field in WireAuditedCall.model_fields.values()} - {"passkeyName"}


def test_a_row_of_a_spreadsheet_has_every_member_and_is_one_line() -> None:
    raw = written(CallFormat.CSV, CALL, REFUSED, HOSTILE)
    assert raw.count(b"\n") == raw.count(b"\r\n") == 4
    header, told, refused, hostile = csv.reader(io.StringIO(raw.decode(), newline=""))
    assert tuple(header) == MEMBERS
    assert dict(zip(header, told, strict=True))["closedAt"] == "2027-01-15T08:00:01.400Z"
    assert dict(zip(header, refused, strict=True))["durationMs"] == "1"
    assert dict(zip(header, hostile, strict=True))["principalName"] == "'=cmd|' /C calc'!A0"
    for cell in hostile:
        assert re.search(r"(^|[;,|]) *[=+\-@]", cell) is None
        assert cell.isprintable()


@pytest.mark.parametrize("begun", ["=1", "+1", "-1", "@SUM(A1)", " =1", "a;=1", "a,@b", "＝1", "\t=1", "\r\n=1"])
def test_no_word_of_others_begins_a_formula(begun: str) -> None:
    assert re.search(r"(^|[;,|\s])[=+\-@＝]", make_inert(begun).lstrip(" ")) is None


def test_an_event_of_cef_keeps_its_fields_apart() -> None:
    for call in (CALL, REFUSED, HOSTILE):
        raw = written(CallFormat.CEF, call)
        assert raw.count(b"\n") == 1
        header = re.split(r"(?<!\\)(?:\\\\)*\|", raw.decode().rstrip("\n"), maxsplit=7)
        assert header[:4] == ["CEF:0", "Countersign", "Countersign", "1.2.3"]
        assert header[6].isdecimal()
        keys = re.findall(r"(?:^| )([A-Za-z0-9]+)(?<!\\)=", header[7])
        assert len(keys) == len(set(keys))
        assert {"rt", "externalId", "outcome", "cn1", "cs1"} <= set(keys)
    assert r"act=a|b\=c" in written(CallFormat.CEF, HOSTILE).decode()


def event_schema() -> Draft7Validator:
    """See the README beside the files."""
    shared: dict[str, Any] = json.loads((OCSF / "detection_finding-1.9.0.json").read_text())
    event: dict[str, Any] = json.loads((OCSF / "api_activity-1.8.0.json").read_text())
    properties = {name: value for name, value in event["properties"].items() if name != "message_context"}
    for added in ("ai_agent", "attestation"):
        properties[added] = {"$ref": f"#/$defs/{added}"}
    return Draft7Validator({**shared, "properties": properties, "required": event["required"]})


def test_an_event_of_ocsf_is_one_of_the_published_schema() -> None:
    schema = event_schema()
    outcomes = [CALL._replace(traits=TRAITS._replace(outcome=outcome)) for outcome in (*Outcome, OPEN)]
    for call in (CALL, REFUSED, HOSTILE, *outcomes):
        (line,) = written(CallFormat.OCSF, call).splitlines()
        assert [error.message for error in schema.iter_errors(json.loads(line))] == []
    event = OcsfWriter(NAMED).event(CALL)
    assert not schema.is_valid({**event, "invented": 1})
    assert (event["class_uid"], event["type_uid"], event["metadata"]["version"]) == (6003, 600399, "1.9.0")


def test_the_fingerprint_of_an_event_is_over_everything_else_in_it() -> None:
    event = OcsfWriter(NAMED).event(CALL)
    assert (event["ai_agent"]["ai_model"]["name"], event["status"], event["action"]) == ("tiny", "Success", "Allowed")
    fingerprint = event["attestation"].pop("fingerprint")
    assert fingerprint["value"] == sha256(canonical_bytes(event)).hexdigest()
