"""A log whose key was changed twice, a receipt of it, and changes to both with the place that both verifiers name.

`python -m tests.key_vectors` makes them anew, into tests/vectors/audit, in the form that `tests.audit_vectors` describes.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from gateway.adapters.storage.export_writing import write_export
from gateway.adapters.storage.holding import hold_state
from gateway.adapters.storage.inspection import open_stored_log
from gateway.adapters.storage.keys import load_or_make_key
from gateway.adapters.storage.receipts import read_receipt
from gateway.adapters.storage.rotation import rotate_key
from gateway.adapters.storage.store import open_store
from gateway.core.canonical import canonical_bytes
from gateway.core.checkpoint import SigningKey
from gateway.core.key_rotation import rotate
from gateway.core.ledger import Entry, PolicyLoaded
from gateway.core.merkle import leaf_hash, root_of
from tests.audit_vectors import FOLDER, KEY_CHANGES, Step, changes_of, find_place
from tests.fakes.signed_history import signed_history

ORIGIN: Final = "gateway.example/audit"
LOG: Final = "rotated.jsonl"
RECEIPT: Final = "rotated.json"
NOW: Final = 1_795_000_100_000


async def _write(folder: Path, submissions: Sequence[Sequence[Entry]]) -> None:
    async with open_store(folder, origin=ORIGIN) as store:
        for submission in submissions:
            await store.ledger.append(*submission)


async def _tell_story(folder: Path) -> Sequence[SigningKey]:
    """The keys that the log had, in order."""
    await _write(folder, signed_history())
    keys = [load_or_make_key(folder, "", fresh=False)]
    for step in range(2):
        with hold_state(folder):
            rotate_key(folder, NOW + step)
        keys.append(load_or_make_key(folder, "", fresh=False))
        await _write(folder, [[PolicyLoaded(NOW + 10 + step, "b" * 64)]])
    with (FOLDER / LOG).open("w+b") as file:
        write_export(lambda: open_stored_log(folder), file)
    with open_stored_log(folder) as stored:
        (FOLDER / RECEIPT).write_bytes(read_receipt(stored, "cnv_1", "call-write"))
    return keys


def _change(keys: Sequence[SigningKey]) -> Iterator[dict[str, Any]]:
    lines = [json.loads(line) for line in (FOLDER / LOG).read_text().splitlines()]
    handed_over = [number for number, line in enumerate(lines) if "toKey" in line.get("body", {})]
    notes = [line["note"] for line in lines if line["type"] == "checkpoint"]
    stranger = SigningKey(ORIGIN, b"s" * 32)
    for every in (False, True):
        yield {"file": LOG, "steps": [], "every": every}
        for key in (*keys, stranger):
            yield {"file": LOG, "steps": [], "every": every, "kept": {"key": key.verification_key.line()}}
        for note in (notes[0], notes[-4], notes[-3], notes[-1], stranger.sign(1, bytes(32))):
            yield {"file": LOG, "steps": [], "every": every, "kept": {"checkpoint": note}}
        for number in handed_over:
            yield {"file": LOG, "steps": [["drop", number], ["count"]], "every": every}
            yield {"file": LOG, "steps": [["double", number], ["count"]], "every": every}
            for place, new in changes_of(lines[number]["body"]):
                yield {"file": LOG, "steps": [_with_body(lines[number], number, place, new)], "every": every}
        yield from _sign_again(lines, handed_over, keys, stranger, every=every)
    whole = json.loads((FOLDER / RECEIPT).read_text())
    for key in (*keys, stranger):
        yield {"file": RECEIPT, "steps": [], "kept": {"key": key.verification_key.line()}}
    for number, record in enumerate(whole["records"]):
        if "toKey" in record["body"]:
            yield {"file": RECEIPT, "steps": [["remove", ["records", number]]]}
            for place, new in changes_of({"records": {number: {"body": record["body"]}}}):
                if len(place) > 3:
                    yield {"file": RECEIPT, "steps": [["remove", [*place]] if new is KeyError else ["set", [*place], new]]}
    yield {"file": RECEIPT, "steps": [["set", ["key"], keys[0].verification_key.line()]]}


def _sign_again(
    lines: Sequence[dict[str, Any]], handed_over: Sequence[int], keys: Sequence[SigningKey], stranger: SigningKey, *, every: bool
) -> Iterator[dict[str, Any]]:
    """Rotations that were changed, or that a stranger made, under one checkpoint by the key that they lead to."""
    for number in handed_over:
        for place, new in changes_of(lines[number]["body"]):
            yield _resigned(lines, {number: _with_body(lines[number], number, place, new)}, keys[-1], every=every)
    last = handed_over[-1]
    taken = rotate(stranger, keys[-1]).members()
    for forged in (
        {**rotate(keys[1], stranger).members(), "fromSignature": taken["fromSignature"]},
        {**rotate(stranger, keys[0]).members(), "fromKey": keys[1].verification_key.line()},
        rotate(stranger, keys[2]).members(),
        {**rotate(keys[1], stranger).members(), "toSignature": lines[last]["body"]["toSignature"]},
        # That one was made with the stolen key: it holds, and the log is the stranger's from there on.
        rotate(keys[1], stranger).members(),
    ):
        body = {**lines[last]["body"], **forged}
        header: list[Any] = ["line", 0, _line({**lines[0], "key": stranger.verification_key.line()})]
        change = _resigned(lines, {0: header, last: _line_step(lines[last], last, body)}, stranger, every=every)
        yield change
        yield {**change, "kept": {"key": keys[0].verification_key.line()}}
        yield {**change, "kept": {"key": keys[2].verification_key.line()}}


def _resigned(lines: Sequence[dict[str, Any]], steps: dict[int, Step], key: SigningKey, *, every: bool) -> dict[str, Any]:
    changed = [json.loads(steps[number][2]) if number in steps else line for number, line in enumerate(lines)]
    hashes = [leaf_hash(canonical_bytes(line["body"])) for line in changed if line["type"] == "leaf"]
    note = '{"type":"checkpoint","note":' + canonical_bytes(key.sign(len(hashes), root_of(hashes))).decode() + "}"
    return {
        "file": LOG,
        "steps": [*steps.values(), ["without", "checkpoint"], ["append", note], ["count"]],
        "every": every,
    }


def _with_body(line: dict[str, Any], number: int, place: Sequence[str | int], new: Any) -> Step:
    name = str(place[0])
    body: dict[str, Any] = {each: held for each, held in line["body"].items() if each != name}
    return _line_step(line, number, body if new is KeyError else {**body, name: new})


def _line_step(line: dict[str, Any], number: int, body: dict[str, Any]) -> Step:
    return ["line", number, _line({**line, "hash": leaf_hash(canonical_bytes(body)).hex(), "body": body})]


def _line(members: dict[str, Any]) -> str:
    return "{" + ",".join(f'"{name}":{canonical_bytes(value).decode()}' for name, value in members.items()) + "}"


def make() -> None:
    """Write all of them."""
    with tempfile.TemporaryDirectory() as folder:
        keys = asyncio.run(_tell_story(Path(folder) / "state"))
        with (FOLDER / KEY_CHANGES).open("w") as file:
            for change in _change(keys):
                found = {**change, "place": find_place(change, Path(folder))}
                file.write(json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    make()
