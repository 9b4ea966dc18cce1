"""State folders with audit logs of many calls, written straight into their tables: real records, without any payload.

Some forty people work over thirty days, each with a few of sixty tools, and most calls run. What a gateway keeps beside the log
is there too: conversations, turns, calls, questions and checkpoints, so that a gateway can go on with it. One process makes some
ten thousand calls a second.
"""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Table, insert

from bench.figures import Pace, report, say
from bench.servers import work_folder
from gateway.adapters.storage import tables as t
from gateway.adapters.storage.history.places import HISTORY
from gateway.adapters.storage.history.stored import StoredHistory
from gateway.adapters.storage.history.writing import read_progress
from gateway.adapters.storage.keys import SECRET, load_or_make_key
from gateway.adapters.storage.record_texts import QuestionText, pack
from gateway.adapters.storage.sqlite import DATABASE, dispose, open_for_reading, open_history
from gateway.adapters.storage.store import open_store
from gateway.adapters.system.entropy import RANDOM_OCTETS, ordered_name
from gateway.core.audit import Leaf, header, seal
from gateway.core.canonical import Json
from gateway.core.checkpoint import SigningKey
from gateway.core.merkle import Frontier, grow, leaf_hash

DAYS: Final = 30
END: Final = 1_795_000_000_000
BEGIN: Final = END - DAYS * 86_400_000
ORIGIN: Final = "bench.example/audit"

_UNDER_A_CHECKPOINT: Final = 25
"""Calls. A quiet gateway signs for each record, a busy one for dozens."""

_IN_A_COMMIT: Final = 5_000
_TOLD: Final = 100_000
_PEOPLE: Final = 40
_TOOLS: Final = 60
_OUTCOMES: Final = ("ok",) * 90 + ("executionError",) * 4 + ("timedOut", "cancelled", "invalidArguments")

Row = dict[str, Any]


def _every_fourth(tool: int) -> bool:
    return tool % 4 == 0


@asynccontextmanager
async def made_state(pace: Pace) -> AsyncGenerator[Path]:
    """A state folder with a log of so many calls and its history read to the end, in the `state` of the folder that was named."""
    async with AsyncExitStack() as held:
        folder = held.enter_context(work_folder()) if pace.folder is None else pace.folder
        state = folder / "state"
        await make_state(state, pace.calls)
        read_history(state)
        yield state


def read_history(state: Path) -> None:
    """Read the log into its history, to the end."""
    with dispose(open_for_reading(state / DATABASE)) as log, dispose(open_history(state / HISTORY)) as engine:
        with engine.connect() as connection:
            told = read_progress(connection)
        history, began = StoredHistory(engine, log), time.perf_counter()
        leaves = history.read_all() - (0 if told is None else told.size)
        if leaves > _TOLD:
            report("history/told", leaves / (time.perf_counter() - began), "records/s")
        history.close()


async def make_state(folder: Path, calls: int, asked: Callable[[int], bool] = _every_fourth) -> None:
    """A state folder with a log of so many calls, where there is none yet. One that was left half made is refused.
    `asked` says of the number of a tool whether a person is asked about its calls."""
    made = folder / "made"
    if made.exists():
        if int(made.read_text()) != calls:
            raise SystemExit(f"`{folder}` has {made.read_text().strip()} calls and not {calls}; name another folder")
        return
    if (folder / SECRET).exists():
        raise SystemExit(f"`{folder}` was left half made; remove it")
    async with open_store(folder, origin=ORIGIN):
        pass
    key = load_or_make_key(folder, ORIGIN, fresh=False)
    with dispose(open_history(folder / DATABASE)) as engine, engine.connect() as connection:
        cursor: Any = connection.connection.cursor()
        # Whatever is cut off is made again from the beginning.
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -400000"):
            cursor.execute(f"PRAGMA {pragma}")
        _Maker(connection, key, asked).make(calls)
    made.write_text(f"{calls}\n")


@dataclass(eq=False)
class _Maker:
    connection: Connection
    key: SigningKey
    asked: Callable[[int], bool]
    _choice: random.Random = field(default_factory=lambda: random.Random(3))
    frontier: Frontier = field(default_factory=Frontier)
    _leaves: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    _rows: dict[Table, list[Row]] = field(default_factory=dict[Table, list[Row]])
    _hashes: list[bytes] = field(default_factory=list[bytes])

    @property
    def position(self) -> int:
        return self.frontier.size + len(self._hashes)

    def make(self, calls: int) -> None:
        choice = random.Random(1)
        people = [_Person(self, choice, number) for number in range(_PEOPLE)]
        for number in range(calls):
            at = BEGIN + number * (END - BEGIN) // calls
            # The first people are the busiest.
            people[min(int(choice.expovariate(0.15)), _PEOPLE - 1)].call(at, number)
            if (number + 1) % _UNDER_A_CHECKPOINT == 0:
                self._sign()
            if (number + 1) % _IN_A_COMMIT == 0:
                self._flush()
            if (number + 1) % _TOLD == 0:
                say(f"made {number + 1} calls, {self.position} records")
        for person in people:
            person.end_turn(END)
        self._sign()
        self._flush()

    def add(self, table: Table, row: Row) -> None:
        self._rows.setdefault(table, []).append(row)

    def record(self, form: str, said: Row, asked: QuestionText | None = None, *, packed: bool = False) -> QuestionText:
        """Its place and text. `asked`: the question that it is packed with."""
        body = form % {**said, "digest": self._choice.randbytes(32).hex()}
        hashed = leaf_hash(body.encode())
        place = self.position
        self._hashes.append(hashed)
        kept = pack(body, place, asked) if packed else body
        self._leaves.append((place, hashed, kept, None, None))
        return QuestionText(place, body.encode())

    def _sign(self) -> None:
        if self._hashes:
            self.frontier = grow(self.frontier, self._hashes)
            self._hashes = []
            note = self.key.sign(self.frontier.size, self.frontier.root())
            self.add(t.checkpoints, {"size": self.frontier.size, "note": note})

    def _flush(self) -> None:
        with self.connection.begin():
            self._insert(t.leaves, self._leaves)
            for table, rows in self._rows.items():
                names = [column.name for column in table.c]
                self._insert(table, [tuple(map(row.get, names)) for row in rows])
        self._leaves.clear()
        self._rows.clear()

    def _insert(self, table: Table, rows: list[tuple[Any, ...]]) -> None:
        cursor: Any = self.connection.connection.cursor()
        cursor.executemany(str(insert(table).compile(dialect=self.connection.dialect)), rows)


class _Person:
    def __init__(self, maker: _Maker, choice: random.Random, number: int) -> None:
        self._maker = maker
        self._choice = choice
        self._id = identify_person(number)
        self._session = _identify("ses_", BEGIN, choice)
        self._console = _identify("cse_", BEGIN, choice)
        self._tools = choice.sample(range(_TOOLS), 6)
        self._said: Row = {
            "person": self._id,
            "session": self._session,
            "console": self._console,
            "model": f"model-{number % 3}",
            "turn": "",
            "index": -1,
        }
        maker.add(t.principals, {"id": self._id, "name": f"Person {number}", "profile": "operator", "enrolled_at": BEGIN})

    def end_turn(self, at: int) -> None:
        if self._said["turn"]:
            self._said["at"] = at
            self._maker.record(_TURN_ENDED, self._said)

    def _begin_turn(self, at: int) -> None:
        self.end_turn(at)
        maker, choice, said = self._maker, self._choice, self._said
        said |= {"at": at, "until": at + 600_000, "policy": _version(at)}
        if not said["turn"] or choice.random() < 0.2:
            said |= {"conversation": _identify("cnv_", at, choice), "index": -1}
            maker.record(_CONVERSATION_OPENED, said)
            row = {"id": said["conversation"], "principal_id": self._id, "title": "", "created_at": at, "updated_at": at}
            maker.add(t.conversations, {**row, "taint": 0, "label": 0, "turn_count": 1, "message_count": 0})
        said["turn"] = _identify("trn_", at, choice)
        said["snapshot"] = hashlib.sha256(said["turn"].encode()).hexdigest()
        said["index"] += 1
        maker.record(_TURN_BEGUN, said)
        row = {"id": said["turn"], "conversation_id": said["conversation"], "session_id": self._session}
        maker.add(t.turns, {**row, "position": said["index"], "model_id": said["model"]})

    def call(self, at: int, number: int) -> None:
        choice, maker, said = self._choice, self._maker, self._said
        if not said["turn"] or choice.random() < 0.3:
            self._begin_turn(at)
        tool = self._tools[min(int(choice.expovariate(0.7)), 5)]
        said |= {
            "at": at, "answered": at + 4_000, "closed": at + 30, "until": at + 600_000, "policy": _version(at),
            "call": f"call_{number:010}", "tool": f"tool_{tool:02}", "definition": _digest("tool", tool),
            "statement": _digest("statement", number), "request": _digest("request", number),
            "approval": _identify("apr_", at, choice), "outcome": choice.choice(_OUTCOMES),
            "receipt": _identify("rcp_", at, choice),
        }  # fmt: skip
        asked = maker.asked(tool)
        forms = _ASKED if asked else _UNASKED
        first = maker.record(forms[0], said, packed=asked)
        last = [maker.record(form, said, first, packed=asked) for form in forms[1:]][-1]
        row = {
            "conversation_id": said["conversation"], "call_id": said["call"], "turn_id": said["turn"],
            "principal_id": self._id, "session_id": self._session, "tool": said["tool"], "request_digest": said["request"],
            "state": "closed", "approval_id": said["approval"] if asked else None, "received_at": at,
            "closed_at": at + 30, "request_leaf": first.position, "closing_leaf": last.position, "intended": True,
        }  # fmt: skip
        maker.add(t.calls, row)
        if asked:
            self._keep_question(row)

    def _keep_question(self, call: Row) -> None:
        """As it is left when its content is erased."""
        at = call["received_at"]
        same = {name: call[name] for name in ("principal_id", "session_id", "conversation_id", "turn_id", "call_id", "tool")}
        empty = {"arguments": b"", "summary": "", "effects": "[]", "needs": "{}", "offers": "[]", "statement": b"", "request": ""}
        kept = {"because": '["workspace.write"]', "statement_digest": self._said["statement"], "patterns": "[]", "approvers": 1}
        times = {"requested_at": at, "expires_at": at + 600_000, "used_at": at + 4_000, "leaf": call["request_leaf"]}
        about = {"id": call["approval_id"], "kind": "consent", "status": "approved"}
        self._maker.add(t.approvals, {**about, **same, **empty, **kept, **times})


def _identify(prefix: str, at: int, choice: random.Random) -> str:
    """As a gateway makes ids."""
    return prefix + ordered_name(at, choice.randbytes(RANDOM_OCTETS))


def identify_person(number: int) -> str:
    """The same in each log that is made. No id repeats a digit or another: what packs records would pack it away."""
    return "usr_" + ordered_name(BEGIN, hashlib.sha256(number.to_bytes(4)).digest()[:RANDOM_OCTETS])


def _digest(kind: str, number: int) -> str:
    return hashlib.sha256(f"{kind} {number}".encode()).hexdigest()


def _version(at: int) -> str:
    """A policy for each ten days."""
    return _digest("policy", (at - BEGIN) // (10 * 86_400_000))


def _form(event: str, at: str, **members: Json) -> str:
    """A leaf of that kind, to be filled: `<name>` is a text, `<#name>` a number. To write each anew takes ten times as long."""
    body = seal(Leaf({**header(event, 0, "<person>"), "at": at, **members}), b"").decode()
    return re.sub(r"<(\w+)>", r"%(\1)s", re.sub(r'"<#(\w+)>"', r"%(\1)d", body))


_OF_CONVERSATION: Final[Row] = {"conversationId": "<conversation>"}
_OF_TURN: Final[Row] = {**_OF_CONVERSATION, "turnId": "<turn>"}
_OF_CALL: Final[Row] = {**_OF_TURN, "callId": "<call>"}
_SNAPSHOT: Final[Row] = {"snapshotDigest": "<snapshot>", "policyVersion": "<policy>"}
_PLACE: Final[Row] = {"sessionId": "<session>", "turnIndex": "<#index>", "modelId": "<model>"}
_SEALED: Final[Row] = {"payloads": "<digest>"}
"""As long as the digest of a payload, and none: who has one must have the payload too, or be erased on record."""

_CONVERSATION_OPENED: Final = _form("conversation:opened", "<#at>", **_OF_CONVERSATION, parentId=None, forkAt=None)
_TURN_BEGUN: Final = _form("turn:begun", "<#at>", **_OF_TURN, **_SNAPSHOT, **_PLACE, expiresAt="<#until>")
_TURN_ENDED: Final = _form("turn:ended", "<#at>", **_OF_TURN, reason="ended")


def _forms(*, asked: bool) -> Iterator[str]:
    """What is recorded of a call, in order."""
    approval = "<approval>" if asked else None
    decision = "consented" if asked else "auto"
    about: Row = {
        **_OF_CALL, **_SNAPSHOT, **_PLACE, **_SEALED, "runner": "browser-agent-ui", "tool": "<tool>",
        "descriptorDigest": "<definition>",
        "permission": "consent" if asked else "auto", "because": ["workspace.write" if asked else "workspace.read"],
    }  # fmt: skip
    if asked:
        question: Row = {"kind": "consent", "presence": False, "statementDigest": "<statement>", "expiresAt": "<#until>"}
        yield _form("approval:requested", "<#at>", **about, **question, approvalId=approval)
        answer: Row = {"status": "approved", "consoleSessionId": "<console>", "credentialId": None}
        yield _form("approval:resolved", "<#answered>", **_OF_CALL, **_SEALED, **answer, approvalId=approval)
    yield _form("call:intended", "<#at>", **about, decision=decision, approvalId=approval, grantId=None)
    outcome: Row = {"outcome": "<outcome>", "reason": None, "receiptId": "<receipt>", "truncated": False, "redactions": 0}
    done: Row = {**outcome, "trust": "untrusted", "durationMs": 30, "executed": True, "tool": "<tool>", "decision": decision}
    yield _form("call:closed", "<#closed>", **_OF_CALL, **_SEALED, **done, sessionId="<session>")


_ASKED: Final = tuple(_forms(asked=True))
_UNASKED: Final = tuple(_forms(asked=False))
