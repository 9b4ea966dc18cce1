"""Checkpoints are kept elsewhere, by each kind of anchor, and one that is down gets the next when it is back."""

from __future__ import annotations

import asyncio
import re
import subprocess
from base64 import b64decode
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.anchoring.anchorer import GONE, UNFORESEEN, anchoring
from gateway.adapters.anchoring.file import FileKeeper
from gateway.adapters.anchoring.places import AnchorDown, AnchorFile, AnchorPlace, SignedCheckpoint
from gateway.adapters.anchoring.settings import read_anchors
from gateway.core.checkpoint import SigningKey
from gateway.core.cosigner import ask_cosigner
from gateway.core.errors import Misconfigured
from gateway.core.merkle import consistency_proof, root_of
from tests.harness.authority import Authority
from tests.harness.process import free_port
from tests.harness.witness import Refused, Witness, is_consistent

KEY = SigningKey("gateway.example/audit", bytes(32))
HASHES = [sha256(b"%d" % number).digest() for number in range(40)]
OTHERS = [sha256(b"another").digest(), *HASHES[1:]]
PATIENCE = 30.0
OFTEN = 0.0005
"""Minutes."""


def checkpoint_of(size: int, hashes: list[bytes] = HASHES) -> SignedCheckpoint:
    return SignedCheckpoint(KEY.sign(size, root_of(hashes[:size])), size)


class Log:
    """A log that grows, as an anchor sees it."""

    def __init__(self, state: Path, size: int = 7) -> None:
        self.state = state
        self.size = size
        self.leaves = HASHES

    def newest(self) -> SignedCheckpoint:
        return checkpoint_of(self.size, self.leaves)

    def has(self, note: str) -> bool:
        return note in [checkpoint_of(size, self.leaves).note for size in range(1, self.size + 1)]

    def prove(self, old: int, note: str) -> Sequence[bytes]:
        return consistency_proof(self.leaves[: int(note.split("\n")[1])], old)

    def place(self, name: str = "kept") -> AnchorPlace:
        return AnchorFile(self.state, name).read()

    async def follow(self, table: dict[str, Any], until: Callable[[AnchorPlace], bool]) -> AnchorPlace:
        """Anchor until the place is such."""
        anchors = read_anchors({"kept": {"minutes": OFTEN, **table}})
        async with asyncio.timeout(PATIENCE), anchoring(anchors, self.state, self, lambda: 7):
            while not until(place := self.place()):
                await asyncio.sleep(0.01)
        return place


def make_repository(path: Path) -> Path:
    """A bare one, whose branches nobody can rewrite."""
    subprocess.run(["git", "init", "--quiet", "--bare", str(path)], check=True)
    subprocess.run(["git", "-C", str(path), "config", "receive.denyNonFastForwards", "true"], check=True)
    return path


@pytest.mark.parametrize("size", range(1, 41))
def test_a_consistency_proof_shows_every_earlier_tree_and_no_other(size: int) -> None:
    new = (size, root_of(HASHES[:size]))
    for old in range(1, size + 1):
        proof = consistency_proof(HASHES[:size], old)
        assert is_consistent((old, root_of(HASHES[:old])), new, proof)
        assert not is_consistent((old, sha256(b"other").digest()), new, proof)


async def test_a_file_gets_each_checkpoint_once(tmp_path: Path) -> None:
    log, path = Log(tmp_path), tmp_path / "elsewhere"
    table = {"kind": "file", "path": str(path)}
    assert (await log.follow(table, lambda place: place.size == 7)).at == 7
    log.size = 9
    await log.follow(table, lambda place: place.size == 9)
    assert path.read_text() == f"{checkpoint_of(7).note}\n{checkpoint_of(9).note}\n"


async def test_an_anchor_that_is_down_says_why_and_gets_the_newest_when_it_is_back(tmp_path: Path) -> None:
    log, folder = Log(tmp_path), tmp_path / "not-mounted"
    table = {"kind": "file", "path": str(folder / "elsewhere")}
    place = await log.follow(table, lambda place: bool(place.fault))
    assert (place.size, place.fault) == (0, "the file cannot be written: No such file or directory")
    folder.mkdir()
    place = await log.follow(table, lambda place: place.size == 7)
    assert place.fault == ""


async def test_an_anchor_that_breaks_in_a_new_way_is_told_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, path = Log(tmp_path), tmp_path / "elsewhere"
    put = FileKeeper.put

    async def break_always(self: FileKeeper, checkpoint: SignedCheckpoint, old: int) -> str:
        raise RuntimeError("the handler is closed")

    monkeypatch.setattr(FileKeeper, "put", break_always)
    table = {"kind": "file", "path": str(path)}
    place = await log.follow(table, lambda place: bool(place.fault))
    assert (place.size, place.fault) == (0, UNFORESEEN)

    async def break_once(self: FileKeeper, checkpoint: SignedCheckpoint, old: int) -> str:
        # The state folder's disk is full, too.
        (tmp_path / "anchor-kept.new").mkdir()
        monkeypatch.setattr(FileKeeper, "put", put_again)
        raise AnchorDown("it is away")

    async def put_again(self: FileKeeper, checkpoint: SignedCheckpoint, old: int) -> str:
        (tmp_path / "anchor-kept.new").rmdir()
        return await put(self, checkpoint, old)

    monkeypatch.setattr(FileKeeper, "put", break_once)
    assert (await log.follow(table, lambda place: place.size == 7)).fault == ""


async def test_a_git_repository_gets_a_commit_on_top_of_the_one_before(tmp_path: Path) -> None:
    log, remote = Log(tmp_path), make_repository(tmp_path / "remote.git")

    def shown(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(remote), *arguments], check=True, capture_output=True, text=True).stdout

    table = {"kind": "git", "remote": str(remote), "branch": "audit/checkpoints"}
    first = await log.follow(table, lambda place: place.size == 7)
    log.size = 9
    second = await log.follow(table, lambda place: place.size == 9)
    assert shown("rev-list", "audit/checkpoints").split() == [second.proof, first.proof]
    assert shown("show", f"{first.proof}:checkpoint") == checkpoint_of(7).note
    assert shown("show", "audit/checkpoints:checkpoint") == checkpoint_of(9).note
    log.size = 11
    place = await log.follow({**table, "remote": str(tmp_path / "nowhere.git")}, lambda place: bool(place.fault))
    assert (place.size, place.proof) == (9, second.proof)


async def test_a_witness_signs_what_goes_on_from_what_it_signed(tmp_path: Path) -> None:
    log, witness = Log(tmp_path), Witness(KEY.verification_key.line())
    table = {"kind": "cosigner", "url": witness.url, "key": witness.line()}
    place = await log.follow(table, lambda place: bool(place.fault))
    assert place.fault == "it cannot be reached"
    async with witness.there():
        place = await log.follow(table, lambda place: place.size == 7)
        assert place.proof.startswith("— witness.example/w1 ")
        log.size = 23
        await log.follow(table, lambda place: place.size == 23)
        # The place is lost, and the witness says itself where it is.
        (tmp_path / "anchor-kept.json").unlink()
        log.size = 40
        await log.follow(table, lambda place: place.size == 40)
        assert witness.answers[-2:] == [409, 200]


async def test_a_witness_may_send_its_signature_in_pieces(tmp_path: Path) -> None:
    log, witness = Log(tmp_path), Witness(KEY.verification_key.line(), in_pieces=True)
    async with witness.there():
        table = {"kind": "cosigner", "url": witness.url, "key": witness.line()}
        place = await log.follow(table, lambda place: place.size == 7 or bool(place.fault))
        assert (place.size, place.fault) == (7, "")


@pytest.mark.parametrize(
    ("status", "old", "new"),
    [
        (400, rb"\Aold 0", b"old 00"),
        (400, rb"\Aold 0", b"old 8"),
        (400, rb"\Aold 0", b"old 0\r"),
        (400, rb"\Aold 0", b"old 0\n" + b"A" * 43),
        (400, rb"\Aold 0", b"old 0\n" + b"\n".join([b"A" * 43 + b"="] * 64)),
        (400, rb"\n\Z", b""),
        (400, rb"\n\n", b"\n"),
        (403, rb"\n7\n", b"\n6\n"),
        (404, rb"gateway.example/audit", b"other.example/audit"),
        (409, rb"\Aold 0", b"old 3"),
        (422, rb"\Aold 0", b"old 0\n" + b"A" * 43 + b"="),
    ],
)
def test_the_witness_of_these_tests_refuses_what_its_text_does(status: int, old: bytes, new: bytes) -> None:
    asked = ask_cosigner(0, (), checkpoint_of(7).note)
    changed, times = re.subn(old, new, asked, count=1)
    witness = Witness(KEY.verification_key.line())
    with pytest.raises(Refused) as refused:
        witness.judge(changed)
    assert (times, refused.value.status) == (1, status)
    assert witness.judge(asked).startswith("— witness.example/w1 ")


async def test_a_witness_signs_no_other_history_and_its_refusal_is_said(tmp_path: Path) -> None:
    log, witness = Log(tmp_path), Witness(KEY.verification_key.line())
    table = {"kind": "cosigner", "url": witness.url, "key": witness.line()}
    async with witness.there():
        await log.follow(table, lambda place: place.size == 7)
        # Whoever wrote the log anew has lost what the gateway knows of the anchor, too.
        (tmp_path / "anchor-kept.json").unlink()
        log.size, log.leaves = 9, OTHERS
        place = await log.follow(table, lambda place: bool(place.fault))
        assert place.fault == "it says that this log is not the one that it signed before"
        log.size = 5
        place = await log.follow(table, lambda place: "has 5 only" in place.fault)
        assert place.size == 0


@pytest.mark.parametrize("kind", ["file", "git"])
@pytest.mark.parametrize("changed", ["cut off", "written anew"])
@pytest.mark.parametrize("known", [True, False], ids=["known", "forgotten"])
async def test_a_log_that_an_anchor_knows_better_is_not_anchored(tmp_path: Path, kind: str, changed: str, *, known: bool) -> None:
    log, path = Log(tmp_path), tmp_path / "elsewhere"
    table = {"kind": "git", "remote": str(make_repository(path))} if kind == "git" else {"kind": "file", "path": str(path)}
    await log.follow(table, lambda place: place.size == 7)
    before = log.place()
    if not known:
        # What the gateway noted is gone as well, and the anchor itself has to tell.
        (tmp_path / "anchor-kept.json").unlink()
    log.size, log.leaves = (5, HASHES) if changed == "cut off" else (9, OTHERS)
    place = await log.follow(table, lambda place: bool(place.fault))
    assert place.fault == GONE
    assert place.size == (before.size if known else 0)
    log.size, log.leaves = 9, HASHES
    place = await log.follow(table, lambda place: place.size == 9)
    assert place.fault == ""


async def test_a_checkpoint_that_was_cut_off_in_a_file_is_left_by_itself(tmp_path: Path) -> None:
    log, path = Log(tmp_path), tmp_path / "elsewhere"
    path.write_text(f"{checkpoint_of(5).note}\n{checkpoint_of(6).note[:40]}")
    await log.follow({"kind": "file", "path": str(path)}, lambda place: place.size == 7)
    log.size = 8
    await log.follow({"kind": "file", "path": str(path)}, lambda place: place.size == 8)
    torn = f"{checkpoint_of(5).note}\n{checkpoint_of(6).note[:40]}\n\n"
    assert path.read_text() == f"{torn}{checkpoint_of(7).note}\n{checkpoint_of(8).note}\n"


@pytest.mark.parametrize("signed", ["by another key", "under another name"])
async def test_a_signature_that_is_not_the_witnesss_counts_for_nothing(tmp_path: Path, signed: str) -> None:
    log, witness, other = Log(tmp_path), Witness(KEY.verification_key.line()), Witness()
    key = witness.line()
    if signed == "by another key":
        witness.signing = other.key
    else:
        key = other.line()
    async with witness.there():
        place = await log.follow({"kind": "cosigner", "url": witness.url, "key": key}, lambda place: bool(place.fault))
    assert place.size == 0
    assert place.fault in (
        "its signature does not verify",
        "its answer has no signature by the key that is configured",
    )


async def test_a_time_stamp_is_taken_from_the_authority_that_is_trusted_alone(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    authority.make()
    log = Log(tmp_path)
    table = {"kind": "rfc3161", "url": f"http://127.0.0.1:{authority.port}/tsa", "ca": str(tmp_path / "root.pem")}
    place = await log.follow(table, lambda place: bool(place.fault))
    assert place.fault == "it cannot be reached"
    async with authority.there():
        place = await log.follow(table, lambda place: place.size == 7)
        (tmp_path / "kept.tsr").write_bytes(b64decode(place.proof))
        (tmp_path / "note").write_text(place.note)
        # Somebody else's program takes it, too.
        command = ["openssl", "ts", "-verify", "-data", "note", "-in", "kept.tsr", "-CAfile", "root.pem"]
        await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True, cwd=tmp_path)
        log.size = 9
        place = await log.follow({**table, "ca": str(tmp_path / "other.pem")}, lambda place: bool(place.fault))
        assert (place.size, place.fault.startswith("its time stamp does not hold")) == (7, True)
        place = await log.follow({**table, "ca": str(tmp_path / "note")}, lambda place: "no certificates" in place.fault)
        assert place.size == 7


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"kind": "ftp"}, "'file', 'git', 'cosigner', 'rfc3161'"),
        ({"kind": "git", "remote": "--upload-pack=touch x"}, "remote"),
        ({"kind": "git", "remote": "r", "branch": "../x"}, "branch"),
        ({"kind": "cosigner", "url": "file:///x", "key": Witness().line()}, "url"),
        ({"kind": "cosigner", "url": f"http://127.0.0.1:{free_port()}", "key": "x"}, "no key of a cosigner"),
        ({"kind": "file", "path": "x", "minutes": 0}, "minutes"),
    ],
)
def test_a_table_that_is_wrong_is_named(table: dict[str, Any], said: str) -> None:
    with pytest.raises(Misconfigured, match=said) as raised:
        read_anchors({"kept": table})
    assert raised.value.message.startswith("`[anchors.kept]`")
