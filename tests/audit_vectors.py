"""Receipts and an export of a running gateway, and changes to them with the place that both verifiers name: tests/vectors/audit.

`python -m tests.audit_vectors` makes them anew, by a story at a gateway of its own. Each line of `changes.jsonl` is one change:
`file` and the `steps` to take on it, what is `kept` from elsewhere, and the `place` of the first thing that is wrong, null where
nothing is. The places are those that the Python verifier names; tests/core/test_audit_vectors.py holds it to them, and
web/tests/unit/verifier holds the other verifier to the same.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import tempfile
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from gateway.adapters.anchoring.timestamp import check_stamp
from gateway.adapters.identity.recorded_answers import check_recorded_answer
from gateway.adapters.storage.exports import examine_export
from gateway.core.anchors import AnchorTrust
from gateway.core.canonical import canonical_bytes
from gateway.core.checkpoint import SigningKey, read_signing_key, read_verification_key
from gateway.core.cosigner import read_cosigner_key
from gateway.core.ledger import AUDITED, RecordsErased
from gateway.core.merkle import inclusion_proofs, leaf_hash, root_of
from gateway.core.receipts import ReceiptFault, check_receipt
from gateway.core.verification import LogFault
from tests.scenarios.staging import edit, finish, stage

FOLDER: Final = Path(__file__).parent / "vectors" / "audit"
RECEIPTS: Final = ("signed", "granted", "both", "planned", "erased")
LOG: Final = "log.jsonl"
CHANGES: Final = "changes.jsonl"
KEY_CHANGES: Final = "key_changes.jsonl"
"""What `tests.key_vectors` makes: of a log whose key was changed."""
ANCHOR_CHANGES: Final = "anchor_changes.jsonl"
"""What `tests.anchor_vectors` makes: of a log with anchors."""
STAMP_CHANGES: Final = "stamp_changes.jsonl"
"""What `tests.stamp_vectors` makes: of its time stamp, with the `detail` of the fault."""
TYPE_CHANGES: Final = "type_changes.jsonl"
"""Values of another type or spelling in records under a checkpoint of their own, which the two took for different things, or one
ended over. They were found by chance and are kept as they are."""
WRITE: Final = '@why("This changes files, so it needs your yes")\n'

Step = Sequence[Any]
Place = tuple[str | int, ...]


def read_changes() -> Iterator[dict[str, Any]]:
    """Every change with what is to be found."""
    for name in (CHANGES, KEY_CHANGES, ANCHOR_CHANGES, STAMP_CHANGES, TYPE_CHANGES):
        for line in (FOLDER / name).read_text().splitlines():
            yield json.loads(line)


def find_place(change: Mapping[str, Any], folder: Path) -> str | None:
    """The place that the verifier names in a changed file, which is written to that folder."""
    fault = find_fault(change, folder)
    return None if fault is None else fault.place


def find_fault(change: Mapping[str, Any], folder: Path) -> LogFault | ReceiptFault | None:
    """What the verifier finds first in a changed file, which is written to that folder."""
    raw = take(change["steps"], (FOLDER / change["file"]).read_bytes())
    kept: Mapping[str, str] = change.get("kept", {})
    key = read_verification_key(kept["key"]) if "key" in kept else None
    check = None
    if "authority" in kept:
        authority = folder / "authority"
        named = kept["authority"]
        authority.write_bytes((FOLDER / named).read_bytes() if named.endswith(".pem") else b64decode(named))
        check = partial(check_stamp, authority)
    trust = AnchorTrust(read_cosigner_key(kept["cosigner"]) if "cosigner" in kept else None, check)
    if change["file"].endswith(".jsonl") and raw.startswith(b'{"type":'):
        path = folder / LOG
        path.write_bytes(raw)
        report, _ = examine_export(
            path,
            key,
            kept.get("checkpoint"),
            trust=trust,
            every_signature=change["every"],
            check_answer=check_recorded_answer,
        )
        return report.fault
    return check_receipt(raw, check_recorded_answer, pinned=key, anchor=kept.get("checkpoint"), trust=trust).fault


def take(steps: Sequence[Step], raw: bytes) -> bytes:
    """The file after these steps: on its bytes, on the lines of an export, or on the value of a receipt."""
    for name, *rest in steps:
        match name, rest:
            case "flip", [place, bit]:
                changed = bytearray(raw)
                changed[place] ^= 1 << bit
                raw = bytes(changed)
            case "cut", [size]:
                raw = raw[:size]
            case "splice", [start, end, text]:
                raw = raw[:start] + text.encode() + raw[end:]
            case "set", [path, value]:
                raw = _write(json.loads(raw), path, value)
            case "remove", [path]:
                raw = _write(json.loads(raw), path, KeyError)
            case _:
                raw = b"".join(_take_line(name, rest, raw.splitlines(keepends=True)))
    return raw


def _take_line(name: str, rest: Sequence[Any], lines: list[bytes]) -> list[bytes]:
    match name, rest:
        case "line", [number, text]:
            lines[number] = text.encode() + b"\n"
        case "drop", [number]:
            del lines[number]
        case "double", [number]:
            lines[number] *= 2
        case "swap", [one, other]:
            lines[one], lines[other] = lines[other], lines[one]
        case "without", [kind]:
            lines = [line for line in lines if not line.startswith(b'{"type":"%b"' % kind.encode())]
        case "append", [text]:
            lines.insert(len(lines) - 1, text.encode() + b"\n")
        case "count", []:
            lines[-1] = b'{"type":"end","lines":%d}\n' % (len(lines) - 1)
        case _:
            raise ValueError(name)
    return lines


def _write(value: Any, path: Sequence[str | int], new: Any) -> bytes:
    value = deepcopy(value)
    target = value
    for step in path[:-1]:
        target = target[step]
    if new is KeyError:
        del target[path[-1]]
    else:
        target[path[-1]] = new
    return canonical_bytes(value)


# ── making them ──


def changes_of(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every single value of a document with another of its type in its place, and every member and entry left out."""
    match value:
        case dict():
            for name, held in cast("dict[str, Any]", value).items():
                yield from changes_of(held, (*place, name))
                yield (*place, name), KeyError
        case list():
            for number, held in enumerate(cast("list[Any]", value)):
                yield from changes_of(held, (*place, number))
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


def _step(place: Place, new: Any) -> Step:
    return ["remove", list(place)] if new is KeyError else ["set", list(place), new]


def _sample(chance: random.Random, items: Iterator[Any], count: int) -> list[Any]:
    held = list(items)
    return held if len(held) <= count else chance.sample(held, count)


def _change_receipts(chance: random.Random) -> Iterator[dict[str, Any]]:
    for name in RECEIPTS:
        file = f"{name}.json"
        raw = (FOLDER / file).read_bytes()
        whole = json.loads(raw)
        yield {"file": file, "steps": []}
        for place, new in _sample(chance, changes_of({**whole, "snapshots": []}), 130):
            yield {"file": file, "steps": [_step(place, new)]}
        for place, new in _sample(chance, changes_of({"snapshots": whole["snapshots"]}), 15):
            yield {"file": file, "steps": [_step(place, new)]}
        for at in chance.sample(range(len(raw)), 60):
            yield {"file": file, "steps": [["flip", at, chance.randrange(8)]]}
        for size in (0, 1, len(raw) // 2, len(raw) - 2):
            yield {"file": file, "steps": [["cut", size]]}
        for text in (" ", "\\u0041", "\ufeff"):
            yield {"file": file, "steps": [["splice", 8, 8, text]]}
        one, other = chance.sample(range(len(whole["records"])), 2)
        order = whole["records"]
        yield {"file": file, "steps": [["set", ["records", one], order[other]], ["set", ["records", other], order[one]]]}
        yield {"file": file, "steps": [], "kept": {"checkpoint": whole["checkpoint"], "key": whole["key"]}}


def _sign_receipts_again(chance: random.Random, key: SigningKey) -> Iterator[dict[str, Any]]:
    """Records that were changed and put under a checkpoint of their own, which the log's own key signs."""
    for name in RECEIPTS:
        whole = json.loads((FOLDER / f"{name}.json").read_text())
        records = whole["records"]
        tried = [(number, *each) for number, record in enumerate(records) for each in _changes_of_record(record)]
        for number, place, new in _sample(chance, iter(tried), 25):
            changed = json.loads(_write(records[number], place, new))
            steps: list[Step] = [
                ["set", ["records", number, *place], new] if new is not KeyError else _step(("records", number, *place), new)
            ]
            if changed["payload"] is not None and place[0] == "payload":
                sealed = hashlib.sha256(bytes.fromhex(changed["salt"]) + canonical_bytes(changed["payload"])).hexdigest()
                changed["body"]["payload"] = sealed
                steps.append(["set", ["records", number, "body", "payload"], sealed])
            bodies = [changed["body"] if each == number else record["body"] for each, record in enumerate(records)]
            leaves = [leaf_hash(canonical_bytes(body)) for body in bodies]
            proofs = inclusion_proofs(leaves, range(len(leaves)))
            for each in range(len(leaves)):
                steps.append(["set", ["records", each, "index"], each])
                steps.append(["set", ["records", each, "proof"], [part.hex() for part in proofs[each]]])
            steps.append(["set", ["checkpoint"], key.sign(len(leaves), root_of(leaves))])
            yield {"file": f"{name}.json", "steps": steps}


def _changes_of_record(record: Mapping[str, Any]) -> Iterator[tuple[Place, Any]]:
    for part in ("body", "payload"):
        if isinstance(record[part], dict):
            yield from ((place, new) for place, new in changes_of({part: record[part]}) if len(place) > 1)


def _change_log(chance: random.Random) -> Iterator[dict[str, Any]]:
    raw = (FOLDER / LOG).read_bytes()
    lines = raw.splitlines()
    for every in (False, True):
        yield {"file": LOG, "steps": [], "every": every}
        for at in chance.sample(range(len(raw)), 90):
            yield {"file": LOG, "steps": [["flip", at, chance.randrange(8)]], "every": every}
    for number in chance.sample(range(len(lines)), 40):
        yield {"file": LOG, "steps": [["drop", number]], "every": True}
        yield {"file": LOG, "steps": [["double", number]], "every": True}
        other = chance.randrange(len(lines))
        yield {"file": LOG, "steps": [["swap", number, other]], "every": True}
        yield {"file": LOG, "steps": [["drop", number], ["count"]], "every": True}
    for size in (0, 1, len(raw) // 3, len(raw) // 2, len(raw) - 1, len(raw) - len(lines[-1]) - 1):
        yield {"file": LOG, "steps": [["cut", size]], "every": True}
    for number in chance.sample(range(len(lines)), 60):
        place, new = chance.choice(list(changes_of(json.loads(lines[number]))))
        # `json` keeps the order of the members, and canonical JSON has another; only their own parts are sorted.
        changed = json.loads(lines[number])
        rewritten = json.loads(_write(changed, place, new))
        ordered = {member: rewritten[member] for member in json.loads(lines[number]) if member in rewritten}
        text = json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))
        yield {"file": LOG, "steps": [["line", number, text]], "every": True}


def _take_payloads() -> Iterator[dict[str, Any]]:
    """Payloads that somebody took out without a record of it, each by itself."""
    for number, line in enumerate((FOLDER / LOG).read_text().splitlines()):
        if line.startswith('{"type":"leaf"') and not line.endswith('"salt":null,"payload":null}'):
            taken = line[: line.index(',"salt":')] + ',"salt":null,"payload":null}'
            yield {"file": LOG, "steps": [["line", number, taken]], "every": False}


def _sign_log_again(chance: random.Random, key: SigningKey) -> Iterator[dict[str, Any]]:
    """The log with one record changed, under one checkpoint that the log's own key signs: whoever has the key forks it so."""
    lines = [line for line in (FOLDER / LOG).read_text().splitlines() if not line.startswith('{"type":"checkpoint"')]
    newest = [line for line in (FOLDER / LOG).read_text().splitlines() if line.startswith('{"type":"checkpoint"')][-1]
    kept = json.loads(newest)["note"]
    numbers = {number: json.loads(line) for number, line in enumerate(lines) if line.startswith('{"type":"leaf"')}
    tried = [(number, *each) for number, leaf in numbers.items() for each in _changes_of_record(leaf)]
    erasures = [each for each in tried if numbers[each[0]]["body"]["event"] == RecordsErased.EVENT]
    for count, (number, place, new) in enumerate((*_sample(chance, iter(tried), 170), *erasures)):
        leaf = json.loads(_write(numbers[number], place, new))
        if leaf["payload"] is not None and place[0] == "payload":
            sealed = bytes.fromhex(leaf["salt"]) + canonical_bytes(leaf["payload"])
            leaf["body"]["payload"] = hashlib.sha256(sealed).hexdigest()
        leaf["hash"] = leaf_hash(canonical_bytes(leaf["body"])).hex()
        members = ",".join(
            f'"{name}":{canonical_bytes(leaf[name]).decode()}' for name in ("type", "index", "hash", "body", "salt", "payload")
        )
        hashes = [bytes.fromhex(leaf["hash"] if each == number else held["hash"]) for each, held in numbers.items()]
        note = canonical_bytes(key.sign(len(hashes), root_of(hashes))).decode()
        steps: list[Step] = [
            ["without", "checkpoint"],
            ["line", number, "{" + members + "}"],
            ["append", '{"type":"checkpoint","note":' + note + "}"],
            ["count"],
        ]
        change = {"file": LOG, "steps": steps, "every": False}
        yield {**change, "kept": {"checkpoint": kept}} if count % 8 == 0 else change
    for size in (len(lines) - 3, len(lines) // 2):
        steps = [["without", "checkpoint"], *(["drop", size] for _ in range(len(lines) - 1 - size))]
        hashes = [bytes.fromhex(leaf["hash"]) for number, leaf in numbers.items() if number < size]
        note = canonical_bytes(key.sign(len(hashes), root_of(hashes))).decode()
        steps += [["append", '{"type":"checkpoint","note":' + note + "}"], ["count"]]
        yield {"file": LOG, "steps": steps, "every": False}
        yield {"file": LOG, "steps": steps, "every": False, "kept": {"checkpoint": kept}}


async def _tell_story(folder: Path) -> SigningKey:
    async with stage(folder) as scene:
        turn = await scene.begin()
        await turn.invoke("peek", {"what": "milk"}, "auto")
        call = await turn.start("erase", {"what": "milk"}, "signed")
        await scene.ada.answer(scene.console, await scene.asked("signed"))
        await finish(call)
        call = await turn.start("note", {"what": "milk"}, "consented")
        await scene.ada.answer(scene.console, await scene.asked("consented"), scope="turn")
        await finish(call)
        await turn.invoke("note", {"what": "milk"}, "granted")
        call = await turn.start("erase", {"what": "all"}, "denied")
        await scene.ada.answer(scene.console, await scene.asked("denied"), "deny")
        await finish(call)
        call = await turn.start("erase", {"what": "plums"}, "erased")
        await scene.ada.answer(scene.console, await scene.asked("erased"))
        await finish(call)
        plan = [await turn.start("erase", {"what": "first"}, "first")]
        approval_id = await scene.asked("first")
        plan.append(await turn.start("erase", {"what": "second"}, "planned", after="first"))
        await scene.asked("planned")
        await scene.ada.answer_plan(scene.console, approval_id)
        for call in plan:
            await finish(call)
        edit(scene.gateway, "default.cedar", WRITE, f'{WRITE}@approvers("2")\n')
        await scene.gateway.run("policy", "reload")
        ben = await scene.another("Ben", "operator")
        bens = await ben.console()
        both = await scene.begin()
        call = await both.start("note", {"what": "bread"}, "both")
        approval_id = await scene.asked("both")
        await scene.ada.answer(scene.console, approval_id)
        await ben.answer(bens, approval_id)
        await finish(call)
        await scene.gateway.run("audit", "erase", "--call", "erased", "--yes")
        for name in RECEIPTS:
            await scene.gateway.run("audit", "receipt", name, "-o", str(FOLDER / f"{name}.json"))
        await scene.gateway.run("audit", "export", str(FOLDER / LOG))
        await ben.leave()
        return read_signing_key((scene.gateway.state / "audit.key").read_text().strip())


def make() -> None:
    """Write all of them."""
    with tempfile.TemporaryDirectory() as folder:
        (home := Path(folder) / "gateway").mkdir()
        key = asyncio.run(_tell_story(home))
        for name in RECEIPTS:
            path = FOLDER / f"{name}.json"
            path.write_bytes(path.read_bytes().removesuffix(b"\n"))
        (FOLDER / "events.json").write_text(json.dumps(sorted(AUDITED), indent=1) + "\n")
        chance = random.Random(12)
        with (FOLDER / CHANGES).open("w") as file:
            for change in (
                *_change_receipts(chance),
                *_sign_receipts_again(chance, key),
                *_change_log(chance),
                *_take_payloads(),
                *_sign_log_again(chance, key),
            ):
                found = {**change, "place": find_place(change, Path(folder))}
                file.write(json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    make()
