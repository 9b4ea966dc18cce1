"""The gateway's own look at its log: every leaf hashed again, and the root compared with the last signed checkpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gateway.core.canonical import own_bytes
from gateway.core.checkpoint import Unverified, VerificationKey, open_note
from gateway.core.merkle import leaf_hash, root_of
from gateway.protocol.console_methods import AuditVerification
from gateway.runtime.ports import AuditQuery, AuditRow, Records

ROWS_AT_ONCE = 1000
"""Leaves read and hashed between two chances for everything else to go on."""


class AuditVerifier:
    """Checks the log of one key. One check at a time: it reads everything there is."""

    def __init__(self, records: Records, key: VerificationKey) -> None:
        self._records = records
        self._key = key
        self._checking = asyncio.Lock()

    async def verify(self) -> AuditVerification:
        """Look at every leaf that the newest checkpoint covers."""
        async with self._checking:
            note = await self._records.checkpoint()
            if note is None:
                return _report("nothing is recorded yet", size=0, root=root_of(()), checkpoint="", verified=True)
            signed = open_note(note, self._key)
            if isinstance(signed, Unverified):
                return _report(f"the checkpoint does not verify: {signed.reason}", size=0, root=root_of(()), checkpoint=note)
            leaves, fault = await self._hash_leaves(signed.size)
            root = await asyncio.to_thread(root_of, leaves)
            if fault is not None:
                return _report(fault, size=signed.size, root=root, checkpoint=note)
            if root != signed.root:
                return _report("the leaves do not hash to the signed root", size=signed.size, root=root, checkpoint=note)
            told = f"all {signed.size} leaves hash to the root that `{self._key.name}` signed"
            return _report(told, size=signed.size, root=root, checkpoint=note, verified=True)

    async def _hash_leaves(self, size: int) -> tuple[Sequence[bytes], str | None]:
        """Leaf hashes in order, made from the bodies, and what is wrong with the log if something is."""
        backwards: list[bytes] = []
        place = size
        while place > 0:
            rows = await self._records.audit(AuditQuery(before=place, limit=ROWS_AT_ONCE))
            if not rows or [row.index for row in rows] != list(range(place - 1, place - 1 - len(rows), -1)):
                return backwards[::-1], f"a leaf is missing below index {place}"
            hashes = await asyncio.to_thread(_hash_bodies, rows)
            for row, hashed in zip(rows, hashes, strict=True):
                if hashed.hex() != row.hash:
                    return backwards[::-1], f"leaf {row.index} was changed"
            backwards += hashes
            place -= len(rows)
        return backwards[::-1], None


def _hash_bodies(rows: Sequence[AuditRow]) -> list[bytes]:
    return [leaf_hash(own_bytes(row.body)) for row in rows]


def _report(detail: str, *, size: int, root: bytes, checkpoint: str, verified: bool = False) -> AuditVerification:
    return AuditVerification(verified=verified, detail=detail, size=size, root=root.hex(), checkpoint=checkpoint)
