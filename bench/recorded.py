"""What the contract asks of each call beside its two commits, in the fewest lines of Python that do it.

Arguments are read, checked by a compiled schema, bound by a digest; the result is redacted; intent and outcome are leaves with
a salted payload, hashed into the tree, and each commit signs a checkpoint. No session, no snapshot, no policy, no quota, no
guard, no class for a value: so it is less than any gateway of this kind can do, and not a design of one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import jsonschema_rs
import orjson
from sqlalchemy import Column, Connection, Integer, LargeBinary, MetaData, Table, Text, insert

from bench.commits import GroupCommits
from gateway.core.canonical import Json
from gateway.core.checkpoint import SigningKey
from gateway.core.merkle import Frontier, grow, leaf_hash
from gateway.core.redaction import RedactionClass, redact_text

SCHEMA: Json = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 10_000}},
    "required": ["text"],
    "additionalProperties": False,
}

_TABLES = MetaData()
_LEAVES = Table(
    "leaves",
    _TABLES,
    Column("position", Integer, primary_key=True),
    Column("hash", LargeBinary),
    Column("body", Text),
    Column("salt", LargeBinary),
    Column("payload", LargeBinary),
)
_CHECKPOINTS = Table("checkpoints", _TABLES, Column("size", Integer, primary_key=True), Column("note", Text))


class RecordedCommits(GroupCommits):
    """Two commits per call, each with its leaf and a signed checkpoint."""

    def __init__(self, path: Path) -> None:
        self._key = SigningKey("bench.example/limit", bytes(32))
        self._frontier = Frontier()
        self._insert_leaves, self._insert_checkpoint = insert(_LEAVES), insert(_CHECKPOINTS)
        super().__init__(path)

    def prepare(self, connection: Connection) -> None:
        """The tables of the log."""
        _TABLES.create_all(connection)

    def seal(self, connection: Connection, leaves: Sequence[bytes]) -> None:
        """Append the leaves of one commit: each is a salt of 16 bytes, a payload, a zero byte and a body."""
        rows: list[dict[str, int | str | bytes]] = []
        size, hashes = self._frontier.size, [leaf_hash(leaf) for leaf in leaves]
        for position, (leaf, hashed) in enumerate(zip(leaves, hashes, strict=True), size):
            payload, _, body = leaf[16:].partition(b"\0")
            rows.append({"position": position, "hash": hashed, "body": body.decode(), "salt": leaf[:16], "payload": payload})
        self._frontier = grow(self._frontier, hashes)
        note = self._key.sign(self._frontier.size, self._frontier.root())
        connection.execute(self._insert_leaves, rows)
        connection.execute(self._insert_checkpoint, {"size": self._frontier.size, "note": note})


class RecordedCalls:
    """Answers messages; every message is a call of `echo`."""

    def __init__(self, path: Path) -> None:
        self._commits = RecordedCommits(path)
        self._schema = jsonschema_rs.validator_for(SCHEMA)
        self._classes = tuple(RedactionClass)

    async def answer(self, text: str) -> str:
        """The result of one call, on record."""
        message = orjson.loads(text)
        call = message["params"]["call"]
        arguments = orjson.dumps(call["arguments"], option=orjson.OPT_SORT_KEYS)
        assert self._schema.is_valid(call["arguments"]), "the callers send what `echo` takes"
        named: dict[str, Json] = {
            "callId": call["id"],
            "conversationId": "cnv_1",
            "principalId": "prn_bench",
            "sessionId": "ses_1",
            "tool": call["name"],
            "turnId": "trn_1",
            "decision": "auto",
            "v": 1,
        }
        bound = sha256(b"countersign/call\0" + arguments).hexdigest()
        intended: dict[str, Json] = {
            **named,
            "at": time.time_ns() // 1_000_000,
            "event": "call:intended",
            "because": [],
            "descriptorDigest": bound,
            "policyVersion": bound,
            "snapshotDigest": bound,
            "runner": "browser-agent-ui",
        }
        number = await self._commits.insert(arguments.decode(), _leaf(intended, arguments))
        found = redact_text(call["arguments"]["text"], self._classes)
        result = {"callId": call["id"], "outcome": "ok", "content": found.text, "auditSeq": number}
        written = orjson.dumps(result, option=orjson.OPT_SORT_KEYS)
        closed: dict[str, Json] = {
            **named,
            "at": time.time_ns() // 1_000_000,
            "event": "call:closed",
            "executed": True,
            "outcome": "ok",
            "trust": "untrusted",
            "truncated": False,
            "resultDigest": sha256(written).hexdigest(),
        }
        await self._commits.update(number, written.decode(), _leaf(closed, written))
        return orjson.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).decode()


def _leaf(body: Mapping[str, Json], payload: bytes) -> bytes:
    salt = os.urandom(16)
    whole = {**body, "payload": sha256(salt + payload).hexdigest()}
    return salt + payload + b"\0" + orjson.dumps(whole, option=orjson.OPT_SORT_KEYS)
