"""A log with anchors, a receipt of it, and changes to both with the place that both verifiers name.

`python -m tests.anchor_vectors` makes them anew, into tests/vectors/audit, in the form that `tests.audit_vectors` describes. It
takes `openssl`, for the time stamp.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from rfc3161_client import TimestampRequestBuilder

from gateway.adapters.storage.export_writing import write_export
from gateway.adapters.storage.holding import hold_state
from gateway.adapters.storage.inspection import open_stored_log
from gateway.adapters.storage.keys import load_or_make_key
from gateway.adapters.storage.receipts import read_receipt
from gateway.adapters.storage.rotation import rotate_key
from gateway.adapters.storage.store import open_store
from gateway.core.anchors import Evidence, cosigner_evidence, git_evidence, time_stamp_evidence
from gateway.core.canonical import canonical_bytes
from gateway.core.checkpoint import Checkpoint, SigningKey, read_note
from gateway.core.ledger import Entry, PolicyLoaded
from gateway.core.merkle import leaf_hash, root_of
from tests.audit_vectors import ANCHOR_CHANGES, FOLDER, Step, changes_of, find_place
from tests.fakes.signed_history import signed_history
from tests.harness.authority import Authority
from tests.harness.witness import Witness

ORIGIN: Final = "gateway.example/audit"
LOG: Final = "anchored.jsonl"
RECEIPT: Final = "anchored.json"
NOW: Final = 1_795_000_200_000

Change = dict[str, Any]


async def _write(folder: Path, submissions: Sequence[Sequence[Entry]]) -> None:
    async with open_store(folder, origin=ORIGIN) as store:
        for submission in submissions:
            await store.ledger.append(*submission)


def _newest(folder: Path) -> tuple[str, Checkpoint]:
    with open_stored_log(folder) as stored:
        note = stored.newest_note() or ""
        checkpoint = read_note(note, stored.key)
    assert isinstance(checkpoint, Checkpoint)
    return note, checkpoint


async def _tell_story(folder: Path, witness: Witness, authority: Authority) -> Sequence[SigningKey]:
    """A witness and a repository had a checkpoint before the key was changed, a time stamp was made of the last one."""
    history = [*signed_history()]
    await _write(folder, history[:-6])
    keys = [load_or_make_key(folder, "", fresh=False)]
    note, checkpoint = _newest(folder)
    evidence: list[Evidence] = [
        cosigner_evidence(note, witness.line(), witness.sign(checkpoint.text())),
        git_evidence(note, "0a" * 20),
    ]
    with hold_state(folder):
        rotate_key(folder, NOW)
    keys.append(load_or_make_key(folder, "", fresh=False))
    await _write(folder, [*history[-6:], [PolicyLoaded(NOW + 1, "b" * 64)]])
    note, checkpoint = _newest(folder)
    answer = authority.answer(TimestampRequestBuilder().data(note.encode()).build().as_bytes())
    evidence.append(time_stamp_evidence(note, b64encode(answer).decode()))
    with (FOLDER / LOG).open("w+b") as file:
        write_export(lambda: open_stored_log(folder), file, evidence)
    with open_stored_log(folder) as stored:
        (FOLDER / RECEIPT).write_bytes(read_receipt(stored, "cnv_1", "call-write", evidence=evidence))
    return keys


def _forge(evidence: Sequence[Evidence], keys: Sequence[SigningKey], witness: Witness) -> Iterator[tuple[int, dict[str, Any]]]:
    """Evidence that somebody changed or made himself, with its number, without the proof in a receipt."""
    stranger, other = SigningKey(ORIGIN, b"s" * 32), Witness()
    cosigned, _, stamped = evidence
    signed = read_note(str(cosigned["note"]), keys[0].verification_key)
    assert isinstance(signed, Checkpoint)
    for note in (
        stranger.sign(signed.size, signed.root),
        keys[1].sign(signed.size, signed.root),
        keys[0].sign(signed.size, bytes(32)),
        keys[0].sign(signed.size - 1, signed.root),
        keys[0].sign(signed.size + 1000, signed.root),
        keys[0].sign(0, root_of([])),
        keys[0].sign_text(f"{signed.text()}more\n"),
        keys[0].sign_text("no checkpoint\n"),
        f"{cosigned['note']}— another AAAA\n",
    ):
        yield 0, {**cosigned, "note": note}
        yield 1, {"kind": "git", "note": note, "commit": "0b" * 20}
    # A checkpoint that was never in the log, signed by its key and by the witness.
    forged = Checkpoint(ORIGIN, signed.size, bytes(32))
    yield 0, cosigner_evidence(keys[0].sign(forged.size, forged.root), witness.line(), witness.sign(forged.text()))
    yield 0, {**cosigned, "signature": other.sign(signed.text())}
    yield 0, {**cosigned, "key": other.line()}
    yield 0, {**cosigned, "key": keys[0].verification_key.line()}
    yield 0, {**cosigned, "signature": witness.sign(signed.text(), at=(1 << 64) - 1)}
    yield 0, {**cosigned, "signature": f"{cosigned['signature']}\n"}
    # Somebody else's witness: it holds, and shows nothing to whoever trusts another one.
    yield 0, {**cosigned, "key": other.line(), "signature": other.sign(signed.text())}
    yield 1, {"kind": "git", "note": cosigned["note"], "commit": "0B" * 20}
    yield 1, {"kind": "git", "note": cosigned["note"], "commit": "0b" * 32}
    yield 1, {"kind": "file", "note": cosigned["note"], "path": "/mnt/worm"}
    yield 2, {**stamped, "note": cosigned["note"]}
    yield 2, {**stamped, "commit": "0b" * 20}


def _change_stamp(token: str, chance: random.Random) -> Iterator[str]:
    """The authority's answer with bits of it turned, cut, and with more at its end."""
    raw = b64decode(token)
    # What says which digest it is of, and when, is in the first few hundred bytes.
    for at in (*range(80), *chance.sample(range(80, 330), 80), *chance.sample(range(330, len(raw)), 20)):
        changed = bytearray(raw)
        changed[at] ^= 1 << chance.randrange(8)
        yield b64encode(bytes(changed)).decode()
    for changed in (raw[:-1], raw[: len(raw) // 2], raw + b"\x00", b"", raw.replace(b"Z", b"z", 1)):
        yield b64encode(changed).decode()
    at = next(each for each in range(len(raw)) if raw[each : each + 15].endswith(b"Z") and raw[each : each + 14].isdigit())
    for moment in (b"20261340000000Z", b"20260230000000Z", b"00000101000000Z", b"20260228235960Z", b"20270228235959Z"):
        yield b64encode(raw[:at] + moment + raw[at + 15 :]).decode()


def _change_receipt(keys: Sequence[SigningKey], witness: Witness, chance: random.Random) -> Iterator[Change]:
    whole = json.loads((FOLDER / RECEIPT).read_text())
    anchors = whole["anchors"]

    def changed(*steps: Step) -> Change:
        return {"file": RECEIPT, "steps": list(steps)}

    yield changed()
    for key in (witness.line(), Witness().line()):
        yield {**changed(), "kept": {"cosigner": key}}
        yield {**changed(["remove", ["anchors", 0]]), "kept": {"cosigner": key}}
    # A receipt from before there were any.
    yield changed(["remove", ["anchors"]], ["set", ["v"], 1])
    yield {**changed(["remove", ["anchors"]], ["set", ["v"], 1]), "kept": {"cosigner": witness.line()}}
    yield changed(["remove", ["anchors"]])
    yield changed(["set", ["v"], 1])
    yield changed(["set", ["anchors"], []])
    yield changed(["set", ["anchors", 0], anchors[1]])
    for place, new in changes_of({"anchors": anchors}):
        yield changed(["remove", list(place)] if new is KeyError else ["set", list(place), new])
    for one, other in ((0, 2), (2, 0), (1, 2)):
        for member in ("note", "consistency"):
            yield changed(["set", ["anchors", one, member], anchors[other][member]])
    for number, each in _forge([_without_proof(each) for each in anchors], keys, witness):
        forged = changed(["set", ["anchors", number], {**each, "consistency": anchors[number]["consistency"]}])
        yield forged
        yield {**forged, "kept": {"cosigner": witness.line()}}
    for token in _change_stamp(anchors[2]["token"], chance):
        yield changed(splice(anchors[2]["token"], token))


def splice(before: str, after: str) -> Step:
    """The text in the receipt with another in its place, without what both have in common."""
    start = next(
        (at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), min(len(before), len(after))
    )
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    place = (FOLDER / RECEIPT).read_bytes().index(before.encode())
    return ["splice", place + start, place + len(before) - end, after[start : len(after) - end]]


def _change_log(keys: Sequence[SigningKey], witness: Witness) -> Iterator[Change]:
    lines = [json.loads(line) for line in (FOLDER / LOG).read_text().splitlines()]
    numbers = [number for number, line in enumerate(lines) if line["type"] == "anchor"]
    evidence = [lines[number]["evidence"] for number in numbers]

    def changed(*steps: Step) -> Change:
        return {"file": LOG, "steps": list(steps), "every": False}

    yield changed()
    yield {**changed(), "every": True}
    for key in (witness.line(), Witness().line()):
        yield {**changed(), "kept": {"cosigner": key}}
        yield {**changed(["drop", numbers[0]], ["count"]), "kept": {"cosigner": key}}
    yield changed(["line", 0, _line({**lines[0], "v": 2})])
    yield changed(["line", 0, _line({**lines[0], "v": 4})])
    for number in numbers:
        yield changed(["drop", number])
        yield changed(["drop", number], ["count"])
        yield changed(["double", number], ["count"])
        yield changed(["swap", number, number - 1])
        yield changed(["line", number, _line({"type": "anchor", "evidence": "x"})])
    for number, each in zip(numbers, evidence, strict=True):
        for place, new in changes_of(each):
            held = {name: value for name, value in each.items() if name != place[0]}
            member = held if new is KeyError else {**held, str(place[0]): new}
            yield changed(["line", number, _line({"type": "anchor", "evidence": member})])
    for number, each in _forge(evidence, keys, witness):
        forged = changed(["line", numbers[number], _line({"type": "anchor", "evidence": each})])
        yield forged
        yield {**forged, "kept": {"cosigner": witness.line()}}
    yield from _sign_log_again(lines, keys[1])


def _sign_log_again(lines: Sequence[dict[str, Any]], key: SigningKey) -> Iterator[Change]:
    """The log that its own key signed anew, with a record changed or its end cut off: whoever has the key does that, and the
    anchors know better."""
    leaves = [number for number, line in enumerate(lines) if line["type"] == "leaf"]
    anchors = [_line(line) for line in lines if line["type"] == "anchor"]

    def signed(hashes: Sequence[bytes], *steps: Step) -> Change:
        note = canonical_bytes(key.sign(len(hashes), root_of(hashes))).decode()
        appended: list[Step] = [["append", each] for each in ('{"type":"checkpoint","note":' + note + "}", *anchors)]
        without: list[Step] = [["without", "checkpoint"], ["without", "anchor"]]
        return {"file": LOG, "steps": [*steps, *without, *appended, ["count"]], "every": False}

    hashes = [bytes.fromhex(lines[number]["hash"]) for number in leaves]
    for at in (0, len(leaves) // 2, len(leaves) - 1):
        body = {**lines[leaves[at]]["body"], "at": lines[leaves[at]]["body"]["at"] + 1}
        changed = leaf_hash(canonical_bytes(body))
        line = _line({**lines[leaves[at]], "hash": changed.hex(), "body": body})
        yield signed([*hashes[:at], changed, *hashes[at + 1 :]], ["line", leaves[at], line])
    for size in (len(leaves) - 1, len(leaves) - 2):
        yield signed(hashes[:size], *(["drop", leaves[size]] for _ in leaves[size:]))


def _without_proof(anchor: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in anchor.items() if name != "consistency"}


def _line(members: dict[str, Any]) -> str:
    return "{" + ",".join(f'"{name}":{canonical_bytes(value).decode()}' for name, value in members.items()) + "}"


def make() -> None:
    """Write all of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        witness, authority = Witness(), Authority(folder)
        authority.make()
        keys = asyncio.run(_tell_story(folder / "state", witness, authority))
        (FOLDER / "authority.pem").write_bytes((folder / "root.pem").read_bytes())
        (FOLDER / "stranger.pem").write_bytes((folder / "other.pem").read_bytes())
        changes = (*_change_receipt(keys, witness, random.Random(12)), *_change_log(keys, witness))
        with (FOLDER / ANCHOR_CHANGES).open("w") as file:
            for change in changes:
                found = {**change, "place": find_place(change, folder)}
                file.write(json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    make()
