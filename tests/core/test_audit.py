"""What a leaf says and what it never says."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core import audit
from gateway.core import ledger as steps
from gateway.core.canonical import Json, canonical_bytes, parse
from gateway.core.checkpoint import SigningKey
from gateway.core.elicitation import ElicitationStatus
from gateway.core.key_rotation import rotate
from gateway.core.ledger import AUDITED, Entry
from gateway.core.ledger.erasures import CallSubject, ErasureReason, RecordsErased
from gateway.core.merkle import leaf_hash
from gateway.core.model import ModelRef
from gateway.core.sources import AddedSource, SeenTool, SourceKind
from gateway.core.verification import LeafRecord
from gateway.core.vocabulary import (
    Category,
    ClientEnding,
    ClientRefusal,
    InferenceRefusal,
    Outcome,
    Profile,
    PushDeviceEnd,
    Runner,
    ShadowEnding,
    SignInEnd,
)
from tests.fakes.history import FAR, OPERATOR, PASSKEY, READ, WRITE, History
from tests.fakes.written import KEY, Written

SALT = bytes(range(16))
UNAUDITED = {steps.ConversationRenamed, steps.PasskeyRenamed, steps.TokensReserved}


def entries_of_0_1_0() -> list[Entry]:
    """Every kind of entry that version wrote, as it wrote them."""
    history = History()
    whole = [entry for submission in history.whole() for entry in submission]
    at = history.tick()
    return [
        *whole,
        steps.PolicyLoaded(at, "b" * 64),
        steps.PasskeyAdded(at, PASSKEY),
        steps.PasskeyRenamed(at, OPERATOR.id, PASSKEY.id, "Desk"),
        steps.PasskeyRemoved(at, OPERATOR.id, PASSKEY.id),
        steps.SignInRefused(at, "signin", "signature", None),
        steps.ConsoleSessionRenewed(at, "cse_1", "renewed-hash", OPERATOR.id, FAR),
        steps.ConsoleSessionEnded(at, "cse_1", OPERATOR.id, "signedOut"),
        steps.AgentSessionEnded(at, "ses_1", OPERATOR.id, "signedOut"),
        steps.LocalOperatorAdded(at, OPERATOR),
        steps.ConversationRenamed(at, "cnv_1", OPERATOR.id, "Another title"),
        steps.ConversationDeleted(at, "cnv_1", OPERATOR.id),
        steps.SnapshotIssued(at, OPERATOR.id, history.snapshot, "refresh"),
        steps.LateResultDiscarded(at, OPERATOR.id, "cnv_1", "call-1", "c" * 64),
        steps.InferenceTokenMinted(at, OPERATOR.id, "ses_1", "cnv_1", "trn_1", "model-1", "inference-token-hash", FAR),
        steps.InferenceFinished(at, OPERATOR.id, "cnv_1", "trn_1", "model-1", "completed", 12, None),
    ]


SEEN = SeenTool("read note", "notes__read_note", "e" * 64, {"name": "read note", "ä": 1.5})


def later_entries() -> list[Entry]:
    """Every kind that came after it."""
    history = History()
    at = history.tick()
    return [
        steps.AgentSessionLabelRaised(at, "ses_1", OPERATOR.id, 3, "cnv_1"),
        steps.PrincipalProfileChanged(at, OPERATOR.id, Profile.GUEST),
        steps.QuestionsAllowed(at, OPERATOR.id, "cnv_1", "trn_1"),
        steps.TokensReserved(()),
        steps.SessionQuestionsAllowed(at, "ses_1", OPERATOR.id),
        steps.ClockSetBack(at, FAR),
        steps.PrincipalRemoved(at, OPERATOR.id),
        steps.InferenceRefused(at, OPERATOR.id, "ses_1", "cnv_1", "trn_1", None, InferenceRefusal.MODEL),
        steps.RecordsLost(at, steps.LossReason.SHORTER, 40, "c" * 64, at - 2, at - 1, 0),
        steps.SourceAdded(at, OPERATOR.id, AddedSource("notes", SourceKind.MCP, {"command": ["serve"]})),
        steps.SourceChanged(at, OPERATOR.id, AddedSource("notes", SourceKind.MCP, {"command": ["serve"]})),
        steps.SourceSwitched(at, None, "notes", False),
        steps.SourceRemoved(at, OPERATOR.id, "notes"),
        steps.SourceToolsSeen(at, "notes", (SEEN,), (SEEN,)),
        steps.SourceToolDecided(at, OPERATOR.id, "notes", SEEN, Category.READ),
        steps.SecretStored(at, None, "notes.TOKEN", b"sealed-secret"),
        steps.SecretRemoved(at, None, "notes.TOKEN"),
        steps.ElicitationAsked(at, history.request("call-1"), "eli_1", "git", "e" * 64, FAR),
        steps.ElicitationResolved(at, history.request("call-1"), "eli_1", ElicitationStatus.ACCEPTED, "cse_1", "f" * 64),
        steps.SourceSignInStarted(at, OPERATOR.id, "notes"),
        steps.SourceSignInFailed(at, OPERATOR.id, "notes", "the server said \u00fc"),
        steps.SourceSignedIn(at, OPERATOR.id, "notes", "https://login.example", b"sealed-tokens"),
        steps.SourceTokensRenewed(at, "notes", b"sealed-tokens"),
        steps.SourceSignedOut(at, None, "notes", SignInEnd.REFUSED),
        steps.ClientGranted(at, OPERATOR.id, "ses_1", "cgr_1", "client-1", "editor", "http://localhost/mcp", "d" * 64),
        steps.ClientTokenMinted(at, OPERATOR.id, "ses_1", "cgr_1", "editor", FAR, "a" * 64, "b" * 64),
        steps.ClientTokenRefused(at, OPERATOR.id, None, ClientRefusal.PERSON),
        steps.ClientTokenRevoked(at, OPERATOR.id, "ses_1", "cgr_1", ClientEnding.PERSON, OPERATOR.id),
        steps.PolicyProposed(at, None, "pol_1", "b" * 64, "a" * 64, b"{}", SIGNATURE),
        steps.PolicyPublished(at, OPERATOR.id, "pol_1", "b" * 64, "a" * 64, b"{}", (SIGNATURE,), {"cases/a.toml": ""}),
        steps.PolicySignatureRefused(at, OPERATOR.id, "pol_1", "signature"),
        steps.PolicyFrozen(at, None, "frz_1", "something is wrong"),
        steps.PolicyThawed(at, "frz_1", b"{}", SIGNATURE),
        steps.SettingChanged(at, OPERATOR.id, "approval_seconds", 60, {"approval_seconds": 60}, SETTING_SIGNATURE),
        steps.SettingChangeRefused(at, OPERATOR.id, "approval_seconds", "signature"),
        steps.PushDeviceAdded(at, "ses_1", steps.PushDevice("dev_1", OPERATOR.id, "Android", "push.example", "d" * 64, b"x", at)),
        steps.PushDeviceRemoved(at, OPERATOR.id, "dev_1", PushDeviceEnd.GONE),
        steps.PolicyShadowStarted(at, None, "shd_1", "b" * 64, "a" * 64, "to see", {"default.cedar": ""}),
        steps.PolicyShadowEnded(at, OPERATOR.id, "shd_1", "b" * 64, ShadowEnding.STOPPED, 7, 2),
        steps.PrincipalSuspended(at, OPERATOR.id, "usr_2"),
        steps.PrincipalResumed(at, OPERATOR.id, Profile.OPERATOR, None),
        steps.ApprovalGiven(at, "apr_1", "call-1", "cnv_1", OPERATOR.id, "cse_1", PASSKEY.id, {"id": "x"}),
        steps.BreakGlassUsed(
            at,
            "apr_1",
            "call-1",
            "cnv_1",
            OPERATOR.id,
            "cse_1",
            PASSKEY.id,
            "erase",
            "nobody else is awake",
            b"{}",
            {"id": "x"},
        ),
        steps.AuditKeyRotated(at, rotate(KEY, SigningKey(KEY.verification_key.name, b"n" * 32))),
        RecordsErased(at, ErasureReason.REQUESTED, (3, 5), CallSubject("cnv_1", "call-1"), OPERATOR.id),
    ]


SIGNATURE = steps.PolicySignature(OPERATOR.id, "ses_1", b"credential", {"id": "x"})
SETTING_SIGNATURE = steps.SettingSignature("ses_1", b"credential", b"{}", {"id": "x"})


def every_entry() -> list[Entry]:
    return [*entries_of_0_1_0(), *later_entries()]


def leaf_of(entry: Entry) -> audit.Leaf:
    leaf = entry.leaf()
    assert leaf is not None
    return leaf


def values_of(value: Json) -> Iterator[Json]:
    match value:
        case dict():
            for name, member in cast("dict[str, Json]", value).items():
                assert name.isascii()
                yield from values_of(member)
        case list():
            for member in cast("list[Json]", value):
                yield from values_of(member)
        case _:
            yield value


AUDITED_ENTRIES = [entry for entry in every_entry() if type(entry) not in UNAUDITED]
AUDITED_IN_0_1_0 = [entry for entry in entries_of_0_1_0() if type(entry) not in UNAUDITED]


def test_a_log_of_version_0_1_0_still_verifies_and_the_same_entries_still_give_the_same_leaves() -> None:
    """The file was written by that version from these entries: what is signed once is never written differently again."""
    *leaves, checkpoint = map(orjson.loads, (Path(__file__).parent / "data" / "log-0.1.0.jsonl").read_bytes().splitlines())
    records: list[LeafRecord] = []
    for index, (entry, old) in enumerate(zip(AUDITED_IN_0_1_0, leaves, strict=True)):
        body = old["body"].encode()
        salt = None if old["salt"] is None else bytes.fromhex(old["salt"])
        leaf = leaf_of(entry)
        assert audit.seal(leaf, salt or b"") == body
        assert leaf.payload == (None if old["payload"] is None else old["payload"].encode())
        records.append(LeafRecord(index, leaf_hash(body), body, salt, leaf.payload))
    report = Written(tuple(records), (checkpoint["note"],)).check()
    assert (report.fault, report.size, report.calls, report.erased) == (None, len(leaves), 8, 0)


def test_every_kind_of_entry_is_tried_here() -> None:
    assert {type(entry) for entry in every_entry()} == set(get_args(Entry))


def test_all_but_a_persons_own_wording_is_audited_under_its_own_event() -> None:
    events: dict[type, str] = {}
    for entry in every_entry():
        leaf = entry.leaf()
        if type(entry) in UNAUDITED:
            assert leaf is None
        else:
            assert leaf is not None
            events[type(entry)] = leaf.body["event"]
    assert set(events.values()) == AUDITED
    assert len(events) == len(AUDITED)


@pytest.mark.parametrize("entry", AUDITED_ENTRIES, ids=lambda e: type(e).__name__)
def test_a_leaf_is_canonical_json_of_closed_words_and_integers(entry: Entry) -> None:
    leaf = leaf_of(entry)
    sealed = audit.seal(leaf, SALT)
    assert sealed == canonical_bytes(parse(sealed))
    for value in values_of(parse(sealed)):
        assert value is None or isinstance(value, (str, bool, int))
    if leaf.payload is not None:
        assert leaf.payload == canonical_bytes(parse(leaf.payload))
        assert parse(sealed)["payload"] == hashlib.sha256(SALT + leaf.payload).hexdigest()


def test_a_session_at_the_terminal_is_distinguished_from_one_of_a_browser() -> None:
    started = steps.ConsoleSessionStarted(1, "ses_1", "console-hash", OPERATOR.id, FAR)
    assert "via" not in leaf_of(started).body
    assert leaf_of(replace(started, terminal=True)).body["via"] == "terminal"


@pytest.mark.requirement("002-72", "an entry says whether browser or gateway ran the loop that proposed the call")
def test_a_call_says_where_the_loop_ran_that_proposed_it() -> None:
    history = History()
    request = history.request("call-1", WRITE, {})
    assert leaf_of(history.refuse(request)).body["runner"] == "browser-agent-ui"
    assert leaf_of(history.refuse(replace(request, runner=Runner.GATEWAY))).body["runner"] == "gateway-side"


def test_hashes_of_secrets_are_in_no_leaf_and_no_payload() -> None:
    written = b"".join(audit.seal(leaf, SALT) + (leaf.payload or b"") for entry in every_entry() if (leaf := entry.leaf()))
    for secret in (b"token-hash", b"console-hash", b"agent-hash", b"renewed-hash", b"sealed-secret"):
        assert secret not in written


WORDS = st.text(min_size=8, max_size=40).map(lambda text: f"\u201c{text}\u201d")


@pytest.mark.requirement("002-73", "no entry holds the words of a message, only its payload's digest")
@given(WORDS)
def test_what_people_and_programs_write_never_reaches_a_leaf(text: str) -> None:
    history = History()
    request = history.request("call-1", WRITE, {text: text})
    asked = history.ask(request, "apr_1")
    entries = (
        history.message(0, text),
        history.intend(request, approval_id="apr_1"),
        history.close(request, history.result("call-1", text, {"rows": [text]})),
        history.refuse(request),
        asked,
        steps.GrantIssued(history.tick(), history.grant(asked, "grt_1", freed=(text,))),
        steps.ConversationOpened(history.tick(), "cnv_1", OPERATOR.id, text),
        steps.EnrolmentOffered(history.tick(), "hash", text, OPERATOR.profile, FAR),
        steps.TurnEnded(history.tick(), OPERATOR.id, "cnv_1", "trn_1", "ended", {text: 1}),
    )
    quoted = orjson.dumps(text)[1:-1]
    for entry in entries:
        assert quoted not in audit.seal(leaf_of(entry), SALT)


def test_a_name_that_only_the_client_claims_is_not_in_the_leaf() -> None:
    history = History()
    body = leaf_of(history.refuse(history.request("call-1", READ))).body
    assert (body["tool"], body["snapshotDigest"], body["descriptorDigest"]) == (None, None, None)
    payload = leaf_of(history.refuse(history.request("call-1", READ))).payload
    assert payload is not None
    assert parse(payload)["tool"] == "read_file"


@pytest.mark.requirement(
    "002-72", "an intent names person, session, turn, call, runner, snapshot, tool, permission, model and decision"
)
@pytest.mark.requirement("002-11", "an intent names the model, the turn's index, the snapshot, the decision and the approval")
def test_an_intent_says_who_what_under_which_snapshot_and_why() -> None:
    history = History()
    request = history.request("call-1", WRITE)
    body = leaf_of(history.intend(request, approval_id="apr_1")).body
    assert body | {"at": 0} == {
        "v": 1,
        "event": "call:intended",
        "at": 0,
        "principalId": OPERATOR.id,
        "runner": "browser-agent-ui",
        "sessionId": "ses_1",
        "conversationId": "cnv_1",
        "turnId": "trn_1",
        "turnIndex": 0,
        "callId": "call-1",
        "snapshotDigest": request.snapshot_digest,
        "policyVersion": "a" * 64,
        "tool": "write_file",
        "permission": "consent",
        "descriptorDigest": WRITE.digest,
        "modelId": "model-1",
        "decision": "auto",
        "because": ["policy.write"],
        "approvalId": "apr_1",
        "grantId": None,
    }


@pytest.mark.requirement("002-72", "the payload of an intent holds the canonical bytes of the arguments")
def test_the_payload_of_an_intent_holds_the_exact_arguments() -> None:
    history = History()
    request = history.request("call-1", WRITE, {"path": "ä", "n": 0.5, "deep": {"b": [1], "a": None}})
    payload = leaf_of(history.intend(request)).payload
    assert payload is not None
    assert canonical_bytes(parse(payload)["arguments"]) == request.arguments


@pytest.mark.parametrize("claimed", [False, True])
def test_the_payload_names_the_model_its_backend_and_the_nonce_and_the_leaf_only_what_is_not_claimed(claimed: bool) -> None:
    history = History()
    model = ModelRef("model-7", "llama.cpp b7000", "nonce-7", claimed=claimed)
    request = replace(history.request("call-1", WRITE), model=model)
    told = {"id": "model-7", "backend": "llama.cpp b7000", "nonce": "nonce-7", "claimed": claimed}
    for entry in (history.intend(request), history.refuse(request), history.ask(request, "apr_1")):
        leaf = leaf_of(entry)
        assert leaf.payload is not None
        assert parse(leaf.payload)["model"] == told
        assert leaf.body["modelId"] == (None if claimed else "model-7")


@pytest.mark.requirement("002-72", "a closing entry has the outcome, and its payload the result")
def test_an_outcome_says_how_the_call_closed_and_its_payload_what_came_back() -> None:
    history = History()
    leaf = leaf_of(history.close(history.request("call-1")))
    assert (leaf.body["outcome"], leaf.body["executed"], leaf.body["receiptId"]) == (Outcome.OK, True, "rcp_call-1")
    assert leaf.payload is not None
    assert parse(leaf.payload)["result"]["content"] == "the content"


@pytest.mark.requirement("002-73", "a message is on record by its digest, which a salt hides")
def test_the_same_payload_under_another_salt_is_another_digest() -> None:
    leaf = leaf_of(History().message(0, "yes"))
    assert audit.seal(leaf, SALT) != audit.seal(leaf, bytes(16))
    assert leaf.payload is not None
    assert parse(leaf.payload) == {"digest": hashlib.sha256(b"yes").hexdigest()}
