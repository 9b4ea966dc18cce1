"""Receipts of calls at a running gateway, checked without its log, and changes to them; docs/SECURITY.md cases 123 and 124."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections.abc import AsyncIterator, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from gateway.adapters.identity.recorded_answers import check_recorded_answer
from gateway.core.canonical import canonical_bytes
from gateway.core.checkpoint import SigningKey, read_signing_key, read_verification_key
from gateway.core.merkle import inclusion_proofs, leaf_hash, root_of
from gateway.core.receipts import ReceiptReport, check_receipt
from tests.harness.http import Browser
from tests.harness.person import Turn
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import edit, finish, stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

WRITE = '@why("This changes files, so it needs your yes")\n'


@dataclass
class Receipts:
    """A gateway on whose record several kinds of calls are, and the receipt of each by call id."""

    scene: Scene
    conversation_id: str
    files: dict[str, Path]
    key: SigningKey

    def read(self, call_id: str) -> dict[str, Any]:
        return json.loads(self.files[call_id].read_bytes())


def check(raw: bytes | dict[str, Any]) -> ReceiptReport:
    """The verdict on a receipt, given as bytes or as what it says."""
    return check_receipt(raw if isinstance(raw, bytes) else canonical_bytes(raw), check_recorded_answer)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def receipts(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Receipts]:
    folder = tmp_path_factory.mktemp("receipts")
    async with stage(folder) as scene:
        turn = await scene.begin()
        assert (await turn.invoke("peek", {"what": "milk"}, "auto"))["outcome"] == "ok"
        call = await turn.start("erase", {"what": "milk"}, "signed")
        await scene.ada.answer(scene.console, await scene.asked("signed"))
        assert (await finish(call))["outcome"] == "ok"
        call = await turn.start("note", {"what": "milk"}, "consented")
        await scene.ada.answer(scene.console, await scene.asked("consented"), scope="turn")
        assert (await finish(call))["outcome"] == "ok"
        assert (await turn.invoke("note", {"what": "milk"}, "granted"))["outcome"] == "ok"
        call = await turn.start("erase", {"what": "all"}, "denied")
        await scene.ada.answer(scene.console, await scene.asked("denied"), "deny")
        assert (await finish(call))["outcome"] == "deniedByUser"
        edit(scene.gateway, "default.cedar", WRITE, f'{WRITE}@approvers("2")\n@break_glass("allowed")\n')
        assert (await scene.gateway.run("policy", "reload"))[0] == 0
        ben = await scene.another("Ben", "operator")
        bens = await ben.console()
        both = await scene.begin()
        call = await both.start("note", {"what": "bread"}, "both")
        approval_id = await scene.asked("both")
        await scene.ada.answer(scene.console, approval_id)
        await ben.answer(bens, approval_id)
        assert (await finish(call))["outcome"] == "ok"
        files: dict[str, Path] = {}
        for call_id in ("auto", "signed", "consented", "granted", "denied", "both"):
            files[call_id] = folder / f"{call_id}.json"
            code, said = await scene.gateway.run("audit", "receipt", call_id, "-o", str(files[call_id]))
            assert code == 0, said
        key = read_signing_key((scene.gateway.state / "audit.key").read_text().strip())
        yield Receipts(scene, turn.conversation_id, files, key)
        await ben.leave()


@pytest.mark.requirement("002-74", "a call is shown to somebody who has no access to the log")
@pytest.mark.parametrize(
    ("call_id", "signatures", "said"),
    [
        ("auto", 0, "ended after"),
        ("signed", 1, "Operator (usr_"),
        ("consented", 0, "approved on the console"),
        ("granted", 0, "under the grant"),
        ("denied", 0, "denied"),
        ("both", 2, "Ben (usr_"),
    ],
)
async def test_a_receipt_holds_and_tells_the_call(receipts: Receipts, call_id: str, signatures: int, said: str) -> None:
    path = receipts.files[call_id]
    report = check(path.read_bytes())
    assert (report.fault, report.signatures, report.call_id) == (None, signatures, call_id)
    code, output = await receipts.scene.gateway.run("audit", "verify", str(path))
    assert (code, "The receipt holds" in output, said in output) == (0, True, True), output
    code, output = await receipts.scene.gateway.run("audit", "verify", str(path), "--json")
    assert (code, json.loads(output)["sound"], json.loads(output)["signatures"]) == (0, True, signatures)


async def test_a_receipt_holds_against_a_key_and_a_checkpoint_that_were_kept(receipts: Receipts, tmp_path: Path) -> None:
    gateway, path = receipts.scene.gateway, receipts.files["signed"]
    whole = receipts.read("signed")
    (tmp_path / "kept").write_text(whole["checkpoint"])
    key = whole["key"]
    code, output = await gateway.run("audit", "verify", str(path), "--key", key, "--checkpoint", str(tmp_path / "kept"))
    assert (code, "cannot show" in output) == (0, False), output
    other = SigningKey(receipts.key.verification_key.name, bytes(32)).verification_key.line()
    code, output = await gateway.run("audit", "verify", str(path), "--key", other)
    assert (code, "at key, the receipt was signed with another key" in output) == (1, True), output
    code, note = await gateway.run("audit", "checkpoint")
    await receipts.scene.begin()
    code, note = await gateway.run("audit", "checkpoint")
    (tmp_path / "later").write_text(note)
    code, output = await gateway.run("audit", "verify", str(path), "--checkpoint", str(tmp_path / "later"))
    assert (code, "at checkpoint, the receipt stands on another checkpoint" in output) == (1, True), output


@pytest.mark.requirement("002-73", "every changed bit of a receipt is noticed")
async def test_case_123_no_bit_of_a_receipt_can_be_changed(receipts: Receipts) -> None:
    raw = receipts.files["signed"].read_bytes().removesuffix(b"\n")
    chance = random.Random(123)
    for place in chance.sample(range(len(raw)), 900):
        changed = bytearray(raw)
        changed[place] ^= 1 << chance.randrange(8)
        report = check(bytes(changed))
        assert report.fault is not None, f"bit of byte {place}: {bytes(changed[max(0, place - 40) : place + 40])!r}"
        assert report.fault.place
    for cut in (0, 1, len(raw) // 2, len(raw) - 1):
        assert not check(raw[:cut]).sound


def resign(receipt: dict[str, Any], key: SigningKey) -> dict[str, Any]:
    """The receipt with its records in a tree of their own, which this key signs."""
    records = receipt["records"]
    leaves = [leaf_hash(canonical_bytes(record["body"])) for record in records]
    proofs = inclusion_proofs(leaves, range(len(leaves)))
    for number, record in enumerate(records):
        record |= {"index": number, "proof": [each.hex() for each in proofs[number]]}
    receipt["checkpoint"] = key.sign(len(leaves), root_of(leaves))
    receipt["key"] = key.verification_key.line()
    return receipt


def changes(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every single value of a document with another of its type in its place, and every member and entry left out."""
    match value:
        case dict():
            for name, held in value.items():  # type: ignore[reportUnknownVariableType] - JSON of any shape
                yield from changes(held, (*place, str(name)))  # type: ignore[reportUnknownArgumentType]
                yield (*place, str(name)), KeyError  # type: ignore[reportUnknownArgumentType]
        case list():
            for number, held in enumerate(value):  # type: ignore[reportUnknownVariableType, reportUnknownArgumentType]
                yield from changes(held, (*place, number))
                yield (*place, number), KeyError
        case bool():
            yield place, not value
        case int() | float():
            yield place, value + 1
        case str():
            yield place, value + "x"
            if value:
                yield place, value[:-1]
        case _:
            yield place, "x"


def changed(whole: dict[str, Any], place: tuple[str | int, ...], new: Any) -> dict[str, Any]:
    """The document with one value changed, or left out."""
    copy = deepcopy(whole)
    target: Any = copy
    for step in place[:-1]:
        target = target[step]
    if new is KeyError:
        del target[place[-1]]
    else:
        target[place[-1]] = new
    return copy


LEFT_OUT_AT_WILL = {"policy:loaded", "principal:enrolled", "conversation:tainted"}
"""Records that a receipt need not have: what was left out of a file leaves no trace in it, and a receipt says so."""


@pytest.mark.requirement("002-73", "every changed field of a receipt is noticed, and named")
@pytest.mark.parametrize("call_id", ["signed", "granted", "both"])
async def test_case_123_no_field_of_a_receipt_can_be_changed(receipts: Receipts, call_id: str) -> None:
    whole = receipts.read(call_id)
    tried = 0
    for place, new in changes({name: value for name, value in whole.items() if name != "snapshots"}):
        report = check(changed(whole, place, new))
        tried += 1
        record = whole["records"][place[1]] if place[0] == "records" and len(place) > 1 else None
        if new is KeyError and len(place) == 2 and record is not None and report.sound:
            assert record["body"]["event"] in LEFT_OUT_AT_WILL
            continue
        assert report.fault is not None, (place, new)
        # The first bad place is the changed one, or what holds it.
        named = report.fault.place.replace("[", ".").replace("]", "").split(".")
        told = [str(step) for step in place]
        assert named == told[: len(named)] or named[0] in ("file", "records", "call", "snapshots", "checkpoint"), (place, named)
    assert tried > 250


@pytest.mark.requirement("002-73", "a receipt that was put together anew, and signed by somebody else, does not hold")
async def test_case_124_a_receipt_that_was_made_up_is_noticed(receipts: Receipts) -> None:
    signed, denied = receipts.read("signed"), receipts.read("denied")
    # Records of two calls, in the place of each other.
    mixed = deepcopy(signed)
    mixed["records"] = sorted([*signed["records"], denied["records"][-1]], key=lambda each: each["index"])
    assert not check(mixed).sound
    swapped = deepcopy(signed)
    swapped["records"].reverse()
    report = check(swapped)
    assert report.fault is not None
    assert report.fault.detail == "the records are not in the order of the log"
    # Of another call altogether.
    another = {**signed, "call": denied["call"]}
    assert check(another).fault is not None

    def forge(key: SigningKey, **body: Any) -> ReceiptReport:
        """The same receipt with its closing record changed, in a tree of its own that this key signs."""
        forged = deepcopy(signed)
        forged["records"][-1]["body"] |= body
        resign(forged, key)
        return check_receipt(canonical_bytes(forged), check_recorded_answer, pinned=read_verification_key(signed["key"]))

    assert forge(receipts.key).sound, "the gateway's own key can sign any log: that is what a kept checkpoint is for"
    stranger = forge(SigningKey(receipts.key.verification_key.name, bytes(32)))
    assert stranger.fault is not None
    assert stranger.fault.place == "key"
    # Even whoever has the key cannot make the record break its own rules.
    assert not forge(receipts.key, executed="no", event="call:intended").sound


@pytest.mark.requirement("002-33", "whoever has the log's key cannot make a passkey's signature")
async def test_case_124_an_answer_that_the_passkey_did_not_give_is_noticed(
    receipts: Receipts,
) -> None:
    whole = receipts.read("signed")
    resolved = next(each for each in whole["records"] if each["body"]["event"] == "approval:resolved")
    response = resolved["payload"]["assertion"]["response"]
    response["signature"] = response["signature"][:20] + "AAAA" + response["signature"][24:]
    sealed = bytes.fromhex(resolved["salt"]) + canonical_bytes(resolved["payload"])
    resolved["body"]["payload"] = hashlib.sha256(sealed).hexdigest()
    report = check(resign(whole, receipts.key))
    assert report.fault is not None
    assert "the passkey's signature does not verify" in report.fault.detail
    code, output = await receipts.scene.gateway.run("audit", "verify")
    assert (code, "3 approvals signed by a passkey" in output) == (0, True), output


@pytest.mark.requirement("002-74", "a receipt is given on the console, of one's own calls")
async def test_the_console_gives_the_receipt_of_ones_own_calls_and_operators_those_of_all(receipts: Receipts) -> None:
    scene, conversation = receipts.scene, receipts.conversation_id
    gateway = scene.gateway

    def address(origin: str, call_id: str = "signed", of: str = conversation) -> str:
        return f"{origin}/receipt?conversation={of}&call={call_id}"

    given = await scene.ada.browser.get(address(gateway.console_origin))
    assert (given.status, given.headers["Content-Disposition"]) == (200, 'attachment; filename="receipt.json"')
    report = check(given.body)
    assert (report.fault, report.call_id, report.signatures) == (None, "signed", 1)
    gil = await scene.another("Gil", "guest")
    shell = await gil.agent()
    turn = await Turn.begin(shell)
    assert (await turn.invoke("peek", {"what": "milk"}, "gils"))["outcome"] == "ok"
    own = address(gateway.console_origin, "gils", turn.conversation_id)
    assert check((await gil.browser.get(own)).body).sound
    assert check((await scene.ada.browser.get(own)).body).sound
    for refused in (
        address(gateway.console_origin),
        address(gateway.console_origin, "nothing"),
        f"{gateway.console_origin}/receipt",
    ):
        assert (await gil.browser.get(refused)).status == 404
    assert (await Browser(gateway.port).get(own)).status == 401
    assert b"countersign.receipt" not in (await scene.ada.browser.get(address(gateway.agent_origin))).body
    await gil.leave()


async def test_a_call_under_way_or_unknown_has_no_receipt_and_a_file_that_is_none_is_said_to_be(
    receipts: Receipts, tmp_path: Path
) -> None:
    scene = receipts.scene
    turn = await scene.begin()
    call = await turn.start("erase", {"what": "rest"}, "waits")
    await scene.asked("waits")
    code, output = await scene.gateway.run("audit", "receipt", "waits")
    assert (code, "no such call that has closed" in output) == (2, True), output
    code, output = await scene.gateway.run("audit", "receipt", "nothing")
    assert (code, "no call `nothing` is on record" in output) == (2, True), output
    for text in ("", "{}", "nonsense", '{"call":1}'):
        (tmp_path / "file").write_text(text)
        code, output = await scene.gateway.run("audit", "verify", str(tmp_path / "file"))
        assert (code, "Traceback" in output) == (1, False), output
    exported = tmp_path / "log.jsonl"
    assert (await scene.gateway.run("audit", "export", str(exported)))[0] == 0
    code, output = await scene.gateway.run("audit", "verify", str(exported))
    assert (code, "The log is sound" in output) == (0, True), output
    await scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "waits"})
    async with asyncio.timeout(30):
        await call
