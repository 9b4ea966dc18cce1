"""The whole log in one file, read and checked; `export_writing` writes it, `gateway.core.export_form` says what its lines are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import orjson

from gateway.adapters.storage import log
from gateway.adapters.storage.inspection import examine
from gateway.core.anchors import AnchorTrust, Evidence
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.checkpoint import VerificationKey, read_verification_key
from gateway.core.errors import Misconfigured
from gateway.core.export_form import LINE_LIMIT, ExportForm, MalformedLine
from gateway.core.ledger import AuditKeyRotated
from gateway.core.signed_answers import AnswerCheck
from gateway.core.verification import Flaw, LeafRecord, LogFault, LogReport, SnapshotRecord


def examine_export(
    path: Path,
    key: VerificationKey | None = None,
    anchor: str | None = None,
    *,
    trust: AnchorTrust | None = None,
    every_signature: bool = False,
    check_answer: AnswerCheck | None = None,
) -> tuple[LogReport, VerificationKey | None]:
    """Check an exported file: first the form of each line, then the log, as `examine` does; with the key that was used, None
    where the file's own cannot be read."""
    form = ExportForm()
    number = 0
    try:
        for number, line in enumerate(_read_lines(path), 1):  # noqa: B007 - named after the loop
            form.read(line)
        number += 1
        form.finish()
        number = 1
        read = ExportedLog(path)
    except MalformedLine as fault:
        return LogReport(fault=LogFault(Flaw.FORM, None, fault.detail, f"line {number}")), key
    evidence = read.evidence()
    report = examine(
        read, key, anchor, evidence=evidence, trust=trust, every_signature=every_signature, check_answer=check_answer
    )
    if report.sound and form.misplaced is not None:
        number, detail = form.misplaced
        return replace(report, fault=LogFault(Flaw.FORM, None, detail, f"line {number}")), key or read.key
    return report, key or read.key


class ExportedLog:
    """The log in a file whose form was checked. It is read anew for each kind of line, so that a long one needs little memory."""

    def __init__(self, path: Path) -> None:
        """Raises MalformedLine where the key cannot be read."""
        self._path = path
        header = next(self._lines("log"))
        try:
            self.key = read_verification_key(header["key"])
        except Misconfigured:
            raise MalformedLine("its `key` is none that checks a checkpoint") from None
        if self.key.line() != header["key"]:
            raise MalformedLine("its `key` is none that checks a checkpoint")

    def leaves(self) -> Iterator[LeafRecord]:
        """As they stand in the file."""
        for line in self._lines("leaf"):
            yield _read_leaf(line)

    def rotations(self) -> Iterator[LeafRecord]:
        """The leaves with which the log's key was handed over."""
        for line in self._lines("leaf", b'"%b"' % AuditKeyRotated.EVENT.encode()):
            if line["body"].get("event") == AuditKeyRotated.EVENT:
                yield _read_leaf(line)

    def notes(self) -> Iterator[str]:
        """As they stand in the file."""
        for line in self._lines("checkpoint"):
            yield line["note"]

    def evidence(self) -> Sequence[Evidence]:
        """What anchors gave."""
        return [line["evidence"] for line in self._lines("anchor")]

    def snapshots(self) -> Iterator[SnapshotRecord]:
        """With their tools put back."""
        descriptors = {line["digest"]: line["body"] for line in self._lines("descriptor")}
        for line in self._lines("snapshot"):
            try:
                body = log.restore_snapshot(line["body"], descriptors)
            except (KeyError, TypeError, ValueError):
                body = {}
            yield SnapshotRecord(line["digest"], body)

    def _lines(self, kind: str, having: bytes = b"") -> Iterator[dict[str, Json]]:
        start = b'{"type":"%b",' % kind.encode()
        for line in _read_lines(self._path):
            if line.startswith(start) and having in line:
                yield orjson.loads(line)


def _read_leaf(line: dict[str, Json]) -> LeafRecord:
    payload: Json = line["payload"]
    return LeafRecord(
        index=line["index"],
        hash=bytes.fromhex(line["hash"]),
        body=canonical_bytes(line["body"]),
        salt=None if line["salt"] is None else bytes.fromhex(line["salt"]),
        payload=None if payload is None else canonical_bytes(payload),
    )


def _read_lines(path: Path) -> Iterator[bytes]:
    """The lines with their newlines; one that is too long is given one byte too long. Raises Misconfigured."""
    try:
        with path.open("rb") as file:
            while line := file.readline(LINE_LIMIT + 1):
                yield line
    except OSError as error:
        raise Misconfigured(f"`{path}` cannot be read: {error.strerror}") from None
