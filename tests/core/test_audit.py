"""What a leaf says and what it never says (002-72, 002-73, 002-74)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import cast, get_args

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core import audit
from gateway.core import ledger as steps
from gateway.core.audit import Event
from gateway.core.canonical import Json, canonical_bytes, parse
from gateway.core.ledger import Entry
from gateway.core.vocabulary import Outcome, Runner
from tests.fakes.history import FAR, OPERATOR, PASSKEY, READ, WRITE, History

SALT = bytes(range(16))
UNAUDITED = {steps.ConversationRenamed, steps.PasskeyRenamed}


def every_entry() -> list[Entry]:
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


def leaf_of(entry: Entry) -> audit.Leaf:
    leaf = audit.leaf(entry)
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


AUDITED = [entry for entry in every_entry() if type(entry) not in UNAUDITED]


def test_every_kind_of_entry_is_tried_here() -> None:
    assert {type(entry) for entry in every_entry()} == set(get_args(Entry))


def test_all_but_a_persons_own_wording_is_audited_under_its_own_event() -> None:
    events: dict[type, str] = {}
    for entry in every_entry():
        leaf = audit.leaf(entry)
        if type(entry) in UNAUDITED:
            assert leaf is None
        else:
            assert leaf is not None
            events[type(entry)] = leaf.body["event"]
    assert set(events.values()) == set(Event)
    assert len(events) == len(Event)


@pytest.mark.parametrize(
    "entry", [entry for entry in every_entry() if type(entry) not in UNAUDITED], ids=lambda e: type(e).__name__
)
def test_a_leaf_is_canonical_json_of_closed_words_and_integers(entry: Entry) -> None:
    leaf = leaf_of(entry)
    sealed = audit.seal(leaf, SALT)
    assert sealed == canonical_bytes(parse(sealed))
    for value in values_of(parse(sealed)):
        assert value is None or isinstance(value, (str, bool, int))
    if leaf.payload is not None:
        assert leaf.payload == canonical_bytes(parse(leaf.payload))
        assert parse(sealed)["payload"] == hashlib.sha256(SALT + leaf.payload).hexdigest()


def test_a_session_at_the_terminal_is_told_from_one_of_a_browser() -> None:
    started = steps.ConsoleSessionStarted(1, "ses_1", "console-hash", OPERATOR.id, FAR)
    assert "via" not in leaf_of(started).body
    assert leaf_of(replace(started, terminal=True)).body["via"] == "terminal"


def test_a_call_says_where_the_loop_ran_that_proposed_it() -> None:
    history = History()
    request = history.request("call-1", WRITE, {})
    assert leaf_of(history.refuse(request)).body["runner"] == "browser-agent-ui"
    assert leaf_of(history.refuse(replace(request, runner=Runner.GATEWAY))).body["runner"] == "gateway-side"


def test_hashes_of_secrets_are_in_no_leaf_and_no_payload() -> None:
    written = b"".join(audit.seal(leaf, SALT) + (leaf.payload or b"") for leaf in map(audit.leaf, every_entry()) if leaf)
    for secret in (b"token-hash", b"console-hash", b"agent-hash", b"renewed-hash"):
        assert secret not in written


WORDS = st.text(min_size=8, max_size=40).map(lambda text: f"\u201c{text}\u201d")


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


def test_the_payload_of_an_intent_holds_the_exact_arguments() -> None:
    history = History()
    request = history.request("call-1", WRITE, {"path": "ä", "n": 0.5, "deep": {"b": [1], "a": None}})
    payload = leaf_of(history.intend(request)).payload
    assert payload is not None
    assert canonical_bytes(parse(payload)["arguments"]) == request.arguments


def test_an_outcome_says_how_the_call_closed_and_its_payload_what_came_back() -> None:
    history = History()
    leaf = leaf_of(history.close(history.request("call-1")))
    assert (leaf.body["outcome"], leaf.body["executed"], leaf.body["receiptId"]) == (Outcome.OK, True, "rcp_call-1")
    assert leaf.payload is not None
    assert parse(leaf.payload)["result"]["content"] == "the content"


def test_the_same_payload_under_another_salt_is_another_digest() -> None:
    leaf = leaf_of(History().message(0, "yes"))
    assert audit.seal(leaf, SALT) != audit.seal(leaf, bytes(16))
    assert leaf.payload is not None
    assert parse(leaf.payload) == {"digest": hashlib.sha256(b"yes").hexdigest()}
