"""Audit logs of many calls, written straight into the table of leaves: real leaves and nothing else.

Some forty people work over thirty days, more by day than by night, each with a few of sixty tools, and most calls run. The rate
of one process is some tens of thousands of calls a second.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Final

from sqlalchemy import Engine, insert

from bench.figures import say
from gateway.adapters.storage.tables import leaves, metadata
from gateway.core.audit import Leaf, header, seal
from gateway.core.canonical import Json
from gateway.core.merkle import leaf_hash

DAYS: Final = 30
END: Final = 1_795_000_000_000
BEGIN: Final = END - DAYS * 86_400_000

_AT_ONCE: Final = 5_000
_TOLD: Final = 100_000
_PEOPLE: Final = 40
_TOOLS: Final = 60
_OUTCOMES: Final = ("ok",) * 90 + ("executionError",) * 4 + ("timedOut", "cancelled", "invalidArguments")


def make_log(engine: Engine, calls: int) -> None:
    """Write a log of so many calls into an empty database."""
    metadata.create_all(engine)
    rows = (
        {"position": place, "hash": leaf_hash(body), "body": body.decode(), "salt": None, "payload": None}
        for place, body in enumerate(_bodies(calls))
    )
    written = 0
    while chunk := list(islice(rows, _AT_ONCE)):
        with engine.begin() as connection:
            connection.execute(insert(leaves), chunk)
        written += len(chunk)
        if written % _TOLD < _AT_ONCE:
            say(f"made {written} records")


def _bodies(calls: int) -> Iterator[bytes]:
    choice = random.Random(1)
    people = [_Person(choice, number) for number in range(_PEOPLE)]
    for number in range(calls):
        at = BEGIN + number * (END - BEGIN) // calls
        # The first people are the busiest.
        person = people[min(int(choice.expovariate(0.15)), _PEOPLE - 1)]
        for body in person.call(choice, at, number):
            yield seal(Leaf(body), b"")


class _Person:
    def __init__(self, choice: random.Random, number: int) -> None:
        self._id = f"usr_{number:022}"
        self._tools = choice.sample(range(_TOOLS), 6)
        self._model = f"model-{number % 3}"
        self._conversation = 0
        self._turn = 0

    def call(self, choice: random.Random, at: int, number: int) -> Iterator[dict[str, Json]]:
        if choice.random() < 0.3:
            self._turn += 1
            if choice.random() < 0.2:
                self._conversation += 1
        tool = self._tools[min(int(choice.expovariate(0.7)), 5)]
        asked = tool % 4 == 0
        ids = {
            "conversationId": f"cnv_{self._id[4:]}{self._conversation:06}"[:40],
            "callId": f"call_{number:010}",
            "turnId": f"trn_{self._id[4:]}{self._turn:07}"[:40],
        }
        about = {
            "runner": "browser-agent-ui",
            "turnIndex": self._turn % 20,
            "snapshotDigest": "c" * 64,
            "policyVersion": f"{(at - BEGIN) // (10 * 86_400_000):064}",
            "tool": f"tool_{tool:02}",
            "permission": "consent" if asked else "auto",
            "descriptorDigest": f"{tool:064}",
            "modelId": self._model,
            "because": ["workspace.write"] if asked else ["workspace.read"],
        }
        approval = f"apr_{number:022}"
        if asked:
            yield {
                **header("approval:requested", at, self._id), **ids, **about,
                "approvalId": approval, "kind": "consent", "presence": False, "statementDigest": "d" * 64, "expiresAt": at,
            }  # fmt: skip
            yield {
                **header("approval:resolved", at + 4_000, self._id), **ids,
                "approvalId": approval, "status": "approved", "consoleSessionId": "cse_1", "credentialId": None,
            }  # fmt: skip
        decision = "consented" if asked else "auto"
        yield {
            **header("call:intended", at, self._id), **ids, **about,
            "decision": decision, "approvalId": approval if asked else None, "grantId": None,
        }  # fmt: skip
        outcome = choice.choice(_OUTCOMES)
        yield {
            **header("call:closed", at + 30, self._id), **ids,
            "tool": about["tool"], "decision": decision, "executed": True, "outcome": outcome, "reason": None,
            "receiptId": f"rcp_{number:022}", "truncated": False, "redactions": 0, "trust": "untrusted", "durationMs": 30,
        }  # fmt: skip
