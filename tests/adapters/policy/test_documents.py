"""Loading strictly: a document that could be misread is refused, which and where is said (docs/SECURITY.md case 65)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.adapters.policy import documents
from gateway.adapters.policy.cases import read_case_texts
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import LARGEST
from gateway.core.errors import PolicyUnusable
from gateway.core.vocabulary import Profile

SCOPE = 'principal, action == Countersign::Action::"invoke", resource'
TWO_MODES = 'principal, action in [Countersign::Action::"invoke", Countersign::Action::"invoke_with_consent"], resource'
GOOD = f'@id("extra.rule") @why("An extra rule for a test") permit ({SCOPE}) when {{ context.taint < 0 }};'


def refusal(folder: Path) -> str:
    with pytest.raises(PolicyUnusable) as refused:
        CedarPolicy(folder)
    assert str(folder) not in refused.value.message
    return refused.value.message


def add(folder: Path, rule: str, name: str = "extra.cedar") -> None:
    (folder / name).write_text(rule, "utf-8")


def test_the_documents_that_come_with_it_load(folder: Path) -> None:
    assert re.fullmatch("[0-9a-f]{64}", CedarPolicy(folder).version)


def test_rules_of_every_file_count(folder: Path) -> None:
    add(folder, GOOD)
    assert "extra.rule" in CedarPolicy(folder).rule_ids


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (f'@why("No name at all") permit ({SCOPE});', "line 1, column 1: this rule: annotation `id`: field required"),
        (f'@id("x.y") permit ({SCOPE});', "rule `x.y`: annotation `why`: field required"),
        (f'@id("x.y") @why("") permit ({SCOPE});', "rule `x.y`: annotation `why`"),
        (f'@id("X Y") @why("A name with a space") permit ({SCOPE});', "rule `X Y`: annotation `id`"),
        (f'@id("") @why("An empty name") permit ({SCOPE});', "this rule: annotation `id`"),
        (f'@id("x.y") @why("Known keys only") @prescence("click") permit ({SCOPE});', "`prescence`: extra inputs"),
        (
            f'@id("x.y") @why("Known keys only") @prescence("click") permit ({SCOPE});',
            "the annotations are `id`, `why`",
        ),
        (
            f'@id("x.y")\n@why("Seconds have no unit")\n  @timeout_s("5s") permit ({SCOPE});',
            "line 3, column 3: rule `x.y`",
        ),
        (f'@id("x.y") @why("Seconds have no unit") @timeout_s("5s") permit ({SCOPE});', "whole number of seconds from 1 to 600"),
        (
            f'@id("x.y") @why("No part of a second") @lease_s("1.5") permit ({SCOPE});',
            "`lease_s`: must be a whole",
        ),
        (
            f'@id("x.y") @why("Days have bounds") @retain_days("0") permit ({SCOPE});',
            "`retain_days`: must be a",
        ),
        (f'@id("x.y") @why("No such place") @release("printer=high") permit ({SCOPE});', "recipients are browser"),
        (f'@id("x.y") @why("No such label") @release("browser=secret") permit ({SCOPE});', "labels are public, internal"),
        (
            f'@id("x.y") @why("One place twice") @release("browser=high,browser=public") permit ({SCOPE});',
            "names `browser` twice",
        ),
        (f'@id("x.y") @why("No such presence") @presence("fingerprint") permit ({SCOPE});', "one of click, passkey, passkey-uv"),
        (f'@id("x.y") @why("Nobody approves") @approvers("0") permit ({SCOPE});', "`approvers`: must be a number from 1 to 9"),
        (f'@id("x.y") @why("Too few are named") @approvers("2 of prn_a") permit ({SCOPE});', "fewer people than must approve"),
        (f'@id("x.y") @why("True or false") @requester_excluded("yes") permit ({SCOPE});', "`requester_excluded`: must be"),
        (
            f'@id("x.y") @why("Old and new name") @result_cap("256") @max_result_bytes("256") permit ({SCOPE});',
            "the earlier name",
        ),
        (f'@id("x.y") @why("Seconds are a number") @approval_ttl_s("soon") permit ({SCOPE});', "`approval_ttl_s`"),
        (f'@id("x.y") @why("Seconds have bounds") @approval_ttl_s("1") permit ({SCOPE});', "`approval_ttl_s`"),
        (
            f'@id("x.y") @why("Bytes have bounds") @result_cap("999999999") permit ({SCOPE});',
            "`max_result_bytes`: must",
        ),
        (f'@id("x.y") @why("Known classes only") @redact("secrets,everything") permit ({SCOPE});', "`redact.1`"),
        (f'@id("x.y") @why("Presence is required or not") @presence permit ({SCOPE});', "`presence`"),
        (
            f'@id("x.y") @why("Two must approve") @approvers("2") permit ({SCOPE});',
            "rule `x.y`: it lets calls run without asking",
        ),
        (
            f'@id("x.y") @why("Somebody else approves") @requester_may_approve("false") permit ({SCOPE});',
            "rule `x.y`: it lets calls run without asking",
        ),
        (f'@id("x.y") @why("One of both asks nobody") @approvers("2") permit ({TWO_MODES});', "it lets calls run without asking"),
        (
            '@id("x.y") @why("Every mode is one of them") @approvers("2") permit (principal, action, resource);',
            "it lets calls run without asking",
        ),
        (
            f'@id("x.y") @why("Alone is what it is") @break_glass("allowed") permit ({SCOPE});',
            "`break_glass`: the rule asks nobody",
        ),
        (f'@id("x.y") @why("One word or another") @break_glass("yes") permit ({SCOPE});', '`break_glass`: must be "allowed" or'),
        (f'@id("x.y") @why("Obligations are the permits") @presence("passkey") forbid ({SCOPE});', "cannot oblige"),
        (f'@id("read.auto") @why("The name is taken") permit ({SCOPE});', "rule `read.auto` exists already, in `default.cedar`"),
        (f"{GOOD} {GOOD}", "rule `extra.rule` exists already, in `extra.cedar`"),
        (
            f'@id("x.y") @why("It calculates") forbid ({SCOPE}) when {{ context.taint + 1 > 1 }};',
            "it calculates (`add`)",
        ),
        (
            f'@id("x.y") @why("It calculates") forbid ({SCOPE}) when {{ context.taint * 9 > 1 }};',
            "it calculates (`mul`)",
        ),
        (
            f'@id("x.y") @why("It calculates") forbid ({SCOPE}) unless {{ -context.taint == 0 }};',
            "it calculates (`neg`)",
        ),
        (
            f'@id("x.y") @why("Branches") permit ({SCOPE}) when {{ if context.taint > 0 then true else context.label - 1 > 0 }};',
            "it calculates (`sub`)",
        ),
        (f'@id("x.y") @why("No such attribute") forbid ({SCOPE}) when {{ context.tainted > 1 }};', "rule `x.y`:"),
        (f'@id("x.y") @why("Optional, unasked") forbid ({SCOPE}) when {{ context.facts.path like "*" }};', "rule `x.y`:"),
        (f'@id("x.y") @why("Wrong type") forbid ({SCOPE}) when {{ context.label == "high" }};', "rule `x.y`:"),
        (
            '@id("x.y") @why("No such profile") forbid (principal in Countersign::Profile::"gest", action, resource);',
            "rule `x.y`:",
        ),
        (
            '@id("x.y") @why("No such category") forbid (principal, action, resource in Countersign::Category::"reed");',
            "rule `x.y`:",
        ),
        (
            '@id("x.y") @why("No such action") permit (principal, action == Countersign::Action::"invok", resource);',
            "rule `x.y`:",
        ),
        ('@id("x.y") @why("An open slot") permit (principal == ?principal, action, resource);', "rule `x.y` has an open slot"),
        (
            '@id("x.y") @why("Nobody has no name") permit (principal == Countersign::Principal::"", action, resource);',
            "rule `x.y`: it names a person with an empty id",
        ),
        ('@id("x.y") @id("z") @why("Two names") permit (principal, action, resource);', "line 1, column 12: does not parse"),
        (f"{GOOD}\npermit (principal, action", "`extra.cedar` line 2, column 26: does not parse"),
        (
            f'@id("x.y") @why("Reads \u202ebackwards") permit ({SCOPE});',
            "`extra.cedar` line 1, column 24: an invisible character, U+202E",
        ),
        (
            f'@id("x.y")\n@why("Zero\u200bwidth is here") permit ({SCOPE});',
            "`extra.cedar` line 2, column 11: an invis",
        ),
    ],
)
def test_a_rule_that_could_be_misread_is_refused_by_name(folder: Path, rule: str, message: str) -> None:
    add(folder, rule)
    said = refusal(folder)
    assert "`extra.cedar`" in said
    assert message in said


def test_a_rule_cannot_run_on_into_the_next_file(folder: Path) -> None:
    add(folder, '@id("x.y") @why("It never ends") permit (principal, action, resource)', "aaa.cedar")
    assert "`aaa.cedar` line 1, column 70: does not parse" in refusal(folder)


@pytest.mark.parametrize("name", ["schema.cedarschema", "profiles.toml"])
def test_a_missing_document_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert refusal(folder) == f"the policy folder has no file `{name}`"


def test_a_folder_without_rules_is_refused(folder: Path) -> None:
    (folder / "default.cedar").unlink()
    assert "no `*.cedar` file" in refusal(folder)


@pytest.mark.parametrize("text", ["", "// nothing but a comment\n"])
def test_an_empty_rule_file_alone_is_refused(folder: Path, text: str) -> None:
    add(folder, text, "default.cedar")
    assert "no rule" in refusal(folder)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "has no" in refusal(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["default.cedar", "schema.cedarschema", "profiles.toml"])
def test_bytes_that_are_no_text_are_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"\xff\xfe garbage")
    assert f"`{name}` line 1, column 1: not UTF-8" in refusal(folder)


def test_a_document_of_absurd_size_is_refused(folder: Path) -> None:
    (folder / "default.cedar").write_bytes(b"// a\n//" + "ä".encode() * 16_000_000)
    assert f"`default.cedar` line 2, column {(LARGEST - 7) // 2 + 4}: it is larger than 1048576 bytes" in refusal(folder)


def test_a_file_of_cases_of_absurd_size_is_refused(folder: Path) -> None:
    (folder / "cases").mkdir(exist_ok=True)
    (folder / "cases" / "large.toml").write_bytes(b"#\n" + b"#" * 16_000_000)
    with pytest.raises(PolicyUnusable, match=r"^`cases/large\.toml` line 2, column 1048575: it is larger than 1048576 bytes$"):
        read_case_texts(folder)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_a_document_that_is_no_file_is_refused_and_not_waited_for(folder: Path, make: Callable[[Path], None]) -> None:
    (folder / "profiles.toml").unlink()
    make(folder / "profiles.toml")
    assert re.fullmatch("`profiles.toml` is (a folder|something else) and not a file", refusal(folder))


def test_a_file_name_that_reads_differently_from_what_it_is_is_refused(folder: Path) -> None:
    add(folder, GOOD, "extra\u202e.cedar")
    assert "an invisible character, U+202E" in refusal(folder)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("entity", "`schema.cedarschema` line 1, column 7: it does not load"),
        ("namespace Other { entity Thing; }", "rule `read.auto`:"),
    ],
)
def test_a_schema_that_rules_do_not_fit_is_refused(folder: Path, schema: str, message: str) -> None:
    (folder / "schema.cedarschema").write_text(schema, "utf-8")
    assert message in refusal(folder)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"bytes"?: Long,', '"bytes"?: String,'),
        ('"taint": Long,', '"taint": Long, "weather": String,'),
        ('"remoteModels": Bool,', '"remoteModels": Bool, "age": Long,'),
    ],
)
def test_a_schema_that_no_longer_describes_what_is_asked_is_refused(folder: Path, before: str, after: str) -> None:
    path = folder / "schema.cedarschema"
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")
    assert "does not describe what the gateway asks" in refusal(folder)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("calls_per_turn = 40", "calls_per_turn = 0", "`operator.calls_per_turn`"),
        ("calls_per_turn = 40", 'calls_per_turn = "40"', "`operator.calls_per_turn`"),
        ("calls_per_turn = 40", "", "`operator.calls_per_turn`: field required"),
        ("calls_per_turn = 40", "calls_per_turn = 40\ncalls_per_minute = 3", "`operator.calls_per_minute`: extra inputs"),
        ("[guest]", "[gest]", "`guest`: field required"),
        ("[anonymous]", "[robot]\n[anonymous]", "`robot`: extra inputs"),
        ("shows_forbidden = true", "shows_forbidden = 1", "`operator.shows_forbidden`"),
        ("network_auto_hosts = []", 'network_auto_hosts = ["*.example.com"]', "`operator.network_auto_hosts.0`"),
        ("network_auto_hosts = []", 'network_auto_hosts = ["Example.com"]', "`operator.network_auto_hosts.0`"),
        ("session_seconds = 43_200", "session_seconds = nan", "`operator.session_seconds`"),
        ("[operator]", "[operator", "line 15, column 10: not TOML"),
    ],
)
def test_a_profile_that_is_wrong_is_refused_by_key(folder: Path, before: str, after: str, message: str) -> None:
    path = folder / "profiles.toml"
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")
    said = refusal(folder)
    assert "`profiles.toml`" in said
    assert message in said


@pytest.mark.parametrize("name", ["default.cedar", "schema.cedarschema", "profiles.toml"])
def test_the_version_covers_every_document(folder: Path, name: str) -> None:
    before = CedarPolicy(folder).version
    path = folder / name
    comment = "#" if name.endswith("toml") else "//"
    path.write_text(f"{path.read_text('utf-8')}\n{comment} a comment\n", "utf-8")
    assert CedarPolicy(folder).version != before


def test_the_version_covers_the_names_of_files_and_not_the_cases(folder: Path) -> None:
    before = CedarPolicy(folder).version
    (folder / "cases" / "more.toml").write_text("case = []", "utf-8")
    assert CedarPolicy(folder).version == before
    (folder / "default.cedar").rename(folder / "rules.cedar")
    assert CedarPolicy(folder).version != before


# ── reload ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("002-08", "a policy that cannot be read leaves the last good one in force")
def test_a_bad_reload_keeps_the_last_good_policy(folder: Path) -> None:
    policy = CedarPolicy(folder)
    before = policy.version
    add(folder, "permit (")
    with pytest.raises(PolicyUnusable):
        policy.reload()
    assert policy.version == before
    (folder / "extra.cedar").unlink()
    policy.reload()
    assert policy.version == before


def test_a_reload_with_bad_profiles_changes_no_rule(folder: Path) -> None:
    policy = CedarPolicy(folder)
    add(folder, GOOD)
    (folder / "profiles.toml").write_text("", "utf-8")
    with pytest.raises(PolicyUnusable):
        policy.reload()
    assert "extra.rule" not in policy.rule_ids
    assert policy.limits(Profile.OPERATOR).calls_per_turn == 40


def test_a_folder_that_changes_while_it_is_read_is_not_put_in_force(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = CedarPolicy(folder)
    before = policy.version
    read = documents._read  # pyright: ignore[reportPrivateUsage] (the moment between two files has no other name)

    def read_while_somebody_saves(folder: Path, name: str) -> bytes:
        raw = read(folder, name)
        if name == "profiles.toml":
            with (folder / "default.cedar").open("ab") as file:
                file.write(b"// saved\n")
        return raw

    monkeypatch.setattr(documents, "_read", read_while_somebody_saves)
    with pytest.raises(PolicyUnusable, match="changed while they were read"):
        policy.reload()
    assert policy.version == before
