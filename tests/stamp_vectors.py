"""Time stamps in a receipt and an export, good ones and bad ones, each with the certificates to trust and the fault that both
verifiers name.

`python -m tests.stamp_vectors` makes them anew, into tests/vectors/audit, in the form that `tests.audit_vectors` describes, for
the files that `tests.anchor_vectors` made.
"""

from __future__ import annotations

import json
import random
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, ObjectIdentifier

from tests.anchor_vectors import LOG, RECEIPT, splice
from tests.audit_vectors import FOLDER, STAMP_CHANGES, find_fault
from tests.harness.time_stamps import AT, Identity, Stamping, certify, new_key

Change = dict[str, Any]

SECOND: Final = timedelta(seconds=1)
_UNKNOWN: Final = x509.UnrecognizedExtension(ObjectIdentifier("1.2.3.4"), b"\x05\x00")


def _own(token: str, authority: bytes) -> Iterator[Change]:
    """The stamp that `openssl ts` made, as it is, cut, with bits of it turned, and for other authorities."""
    stranger = (FOLDER / "stranger.pem").read_bytes()
    der = x509.load_pem_x509_certificate(authority).public_bytes(Encoding.DER)
    for given in (
        authority,
        stranger,
        authority + stranger,
        stranger + authority + authority,
        b"a comment\n" + authority,
        der,
        der + b"\x00",
        der[:-1],
        b"",
        b"no certificate\n",
        b"-----BEGIN NOTHING-----\n",
    ):
        yield _with(token, token, given)
    raw, chance = b64decode(token), random.Random(31)
    turned = [(at, chance.randrange(8)) for at in chance.sample(range(len(raw)), 160)]
    # What no signature covers: the versions, and the kinds of the signer's digest and signature.
    ends = raw.index(bytes.fromhex("a082"), 200), len(raw) - 256 - 4
    turned += [(at, bit) for at in (*range(28, 55), *range(ends[1] - 15, ends[1] + 4)) for bit in (0, 3, 7)]
    for at, bit in turned:
        changed = bytearray(raw)
        changed[at] ^= 1 << bit
        yield _with(token, b64encode(bytes(changed)).decode(), authority)
    for changed in (raw[:-1], raw + b"\x00", raw.replace(b"Z", b"z", 1)):
        yield _with(token, b64encode(changed).decode(), authority)


def _made() -> Iterator[tuple[Stamping, tuple[Identity, ...]]]:
    """Stamps of an authority of our own, each with the certificates that are trusted."""
    root = certify("root", new_key(1), ca=True)
    middle = certify("middle", new_key(2), root, ca=True)
    key = new_key(3)
    signer, below = certify("tsa", key, root), certify("tsa", key, middle)
    curve = certify("root", new_key(4, elliptic=True), ca=True)
    yield Stamping(signer), (root,)
    yield Stamping(signer), (middle, root)
    yield Stamping(signer), (certify("root", new_key(5), ca=True),)
    yield Stamping(certify("tsa", new_key(6, elliptic=True), root)), (root,)
    yield Stamping(certify("tsa", new_key(6, elliptic=True), curve), digest="sha384"), (curve,)
    yield Stamping(certify("tsa", new_key(6, elliptic=True), curve), signed_by=new_key(7, elliptic=True)), (curve,)
    yield Stamping(signer, digest="sha384"), (root,)
    yield Stamping(signer, digest="sha1"), (root,)
    # What goes back to whom.
    for carried in ((below,), (below, middle), (below, middle, root)):
        yield Stamping(below, carried=carried), (root,)
        yield Stamping(below, carried=carried), (middle,)
    yield Stamping(below), (middle, root)
    yield Stamping(signer, carried=()), (root,)
    yield Stamping(signer, carried=(root,)), (root,)
    yield Stamping(signer), (signer,)
    yield Stamping(signer), (signer, root)
    yield Stamping(certify("alone", key)), (certify("alone", key),)
    another = certify("other", new_key(8), signer)
    yield Stamping(another, carried=(another, signer)), (root,)
    for bad in (
        certify("root", new_key(1), ca=None),
        certify("root", new_key(1), ca=False),
        certify("root", new_key(1), ca=True, signs_certificates=False),
        certify("root", new_key(1), ca=True, ends=AT - SECOND),
        certify("root", new_key(1), ca=True, begins=AT + SECOND),
        certify("root", new_key(1), ca=True, more=[(_UNKNOWN, True)]),
        certify("root", new_key(1), ca=True, path_length=0),
    ):
        yield Stamping(certify("tsa", key, bad)), (bad,)
    short = certify("root", new_key(1), ca=True, path_length=0)
    long = certify("middle", new_key(2), short, ca=True)
    through = certify("tsa", key, long)
    yield Stamping(through, carried=(through, long)), (short,)
    expired = certify("middle", new_key(2), root, ca=True, ends=AT)
    through = certify("tsa", key, expired)
    yield Stamping(through, carried=(through, expired)), (root,)
    elsewhere = x509.AuthorityKeyIdentifier(b"another key", None, None)
    known = certify("root", new_key(1), ca=True, more=[(x509.SubjectKeyIdentifier(b"this key"), False)])
    yield Stamping(certify("tsa", key, known, more=[(elsewhere, False)])), (known,)
    # A dozen that signed each other, and lead nowhere: there are millions of ways through them.
    ones, others = (
        [certify(name, new_key(2), certify(by, new_key(2), ca=True), ca=True, more=_numbered(each)) for each in range(6)]
        for name, by in (("one", "other"), ("other", "one"))
    )
    lost = certify("tsa", key, ones[0])
    yield Stamping(lost, carried=(lost, *ones, *others)), (root,)
    yield from _of_signer(root, signer)


def _numbered(number: int) -> list[tuple[x509.ExtensionType, bool]]:
    return [(x509.UnrecognizedExtension(ObjectIdentifier("1.2.3.5"), bytes([2, 1, number])), False)]


def _of_signer(root: Identity, signer: Identity) -> Iterator[tuple[Stamping, tuple[Identity, ...]]]:
    """What its certificate is for and when, and what is signed."""
    key, trusted = signer.key, (root,)
    stamping, mail = ExtendedKeyUsageOID.TIME_STAMPING, ExtendedKeyUsageOID.EMAIL_PROTECTION
    for each in (
        certify("tsa", key, root, purposes=None),
        certify("tsa", key, root, purposes=[mail]),
        certify("tsa", key, root, purposes=[stamping, mail]),
        certify("tsa", key, root, critical=False),
        certify("tsa", key, root, ca=True),
        certify("tsa", key, root, ends=AT - SECOND),
        certify("tsa", key, root, ends=AT),
        certify("tsa", key, root, ends=AT + SECOND),
        certify("tsa", key, root, begins=AT),
        certify("tsa", key, root, begins=AT + SECOND),
        certify("tsa", key, root, more=[(_UNKNOWN, True)]),
        certify("tsa", key, root, more=[(_UNKNOWN, False)]),
    ):
        yield Stamping(each), trusted
    for years in (-2, 2, 60, 200):
        yield Stamping(signer, at=AT + years * timedelta(days=365)), trusted
    long = certify("tsa", key, root, begins=AT - 70 * timedelta(days=365), ends=AT + 80 * timedelta(days=365))
    yield Stamping(long), trusted
    yield Stamping(signer, said=b"x" * 32), trusted
    yield Stamping(signer, content_digest=b"x" * 32), trusted
    yield Stamping(signer, content_digest=b""), trusted
    yield Stamping(signer, content_type="1.2.840.113549.1.7.1"), trusted
    yield Stamping(signer, signed_by=new_key(9)), trusted
    yield Stamping(signer, signed_by=new_key(6, elliptic=True)), trusted
    yield Stamping(signer, disordered=True), trusted
    yield Stamping(signer, signers=0), trusted
    yield Stamping(signer, signers=2), trusted
    # Another certificate of the same key: what is signed has to name the one that is there.
    twin = certify("tsa", key, root, ends=AT + 2 * SECOND)
    yield Stamping(signer, named=twin), trusted
    yield Stamping(signer, carried=(twin,)), trusted
    yield Stamping(signer, issuer=root), trusted
    yield Stamping(signer, issuer=root, carried=(signer, root)), trusted
    for naming in ((), ("v1",), ("sha384",), ("v1", "v2"), ("v2", "v2")):
        yield Stamping(signer, naming=naming), trusted
        yield Stamping(signer, naming=naming, named=root), trusted
    for kind in ("1.2.840.113549.1.1.1", "1.2.840.113549.1.1.10", "1.2.840.113549.1.1.5", "1.2.840.113549.1.1.13"):
        yield Stamping(signer, signature_kind=kind), trusted


def _with(before: str, token: str, authority: bytes) -> Change:
    """The receipt with another token in it."""
    steps = [] if token == before else [splice(before, token)]
    return {"file": RECEIPT, "steps": steps, "kept": {"authority": _kept(authority)}}


def _kept(authority: bytes) -> str:
    """The name of the file in the folder that has it, or itself in base64."""
    for name in ("authority.pem", "stranger.pem"):
        if (FOLDER / name).read_bytes() == authority:
            return name
    return b64encode(authority).decode()


def make() -> None:
    """Write all of them."""
    anchor = json.loads((FOLDER / RECEIPT).read_text())["anchors"][2]
    token, note = str(anchor["token"]), str(anchor["note"]).encode()
    authority = (FOLDER / "authority.pem").read_bytes()
    changes = [*_own(token, authority)]
    for stamping, trusted in _made():
        made = b64encode(stamping.stamp(note)).decode()
        changes.append(_with(token, made, b"".join(each.pem for each in trusted)))
    kept = {"authority": _kept(authority)}
    changes.append({"file": RECEIPT, "steps": [["remove", ["anchors", 2]]], "kept": kept})
    lines = (FOLDER / LOG).read_text().splitlines()
    stamped = next(number for number, line in enumerate(lines) if '"kind":"rfc3161"' in line)
    for given in (authority, (FOLDER / "stranger.pem").read_bytes()):
        of_log = {"file": LOG, "every": False, "kept": {"authority": _kept(given)}}
        changes += [{**of_log, "steps": []}, {**of_log, "steps": [["drop", stamped], ["count"]]}]
    with tempfile.TemporaryDirectory() as name, (FOLDER / STAMP_CHANGES).open("w") as file:
        for change in changes:
            fault = find_fault(change, Path(name))
            found = {"place": None, "detail": None} if fault is None else {"place": fault.place, "detail": fault.detail}
            file.write(json.dumps({**change, **found}, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    make()
