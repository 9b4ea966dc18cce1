"""The limit: the least that a server could do per tool call and still keep the gateway's promise of durability.

A bare Starlette app with the gateway's own transport settings. Per message it does two group commits that are on the disk
(`synchronous=FULL`, one writer thread, SQLAlchemy Core) and one Cedar decision under the shipped policy, and nothing else:
no session, no snapshot, no schema, no digest, no audit log, no redaction. With `--undecided` not even the decision; with
`--recorded` no decision, and what the contract asks of each call beside its commits (`recorded.py`).

    python -m bench.limit_server PORT DIRECTORY [--undecided | --recorded]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

import cedarpy
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from bench.commits import GroupCommits
from bench.recorded import RecordedCalls
from gateway.adapters.policy.documents import read_documents
from gateway.adapters.policy.rules import NAMESPACE, compile_rules
from gateway.core.canonical import Json

POLICY = Path(__file__).parents[1] / "policy"


def prepare_decision() -> Callable[[str], bool]:
    """Whether an operator may call a read tool of that name: the first of the gateway's three actions, decided anew each time.

    Rules and schema are parsed once. Who asks and for what is the question itself, so its two entities are made each time,
    as the gateway does for a decision that it does not remember.
    """
    rules = compile_rules(read_documents(POLICY))
    person: Json = {
        "uid": _uid("Principal", "prn_bench"),
        "attrs": {"autoHosts": [], "remoteModels": True, "suppressedTools": []},
        "parents": [_uid("Profile", "operator"), _uid("Profile", "enrolled")],
    }
    context: Json = {
        "publishing": False,
        "taint": 0,
        "label": 0,
        "facts": {},
        "callsInTurn": 1,
        "callsInSession": 1,
        "toolsUsed": [],
        "minuteOfDay": 0,
        "weekday": 1,
        "argumentsFromUntrusted": False,
    }

    # The two stubs below have bare dicts in their signatures.
    def decide(name: str) -> bool:
        tool: Json = {
            "uid": _uid("Tool", name),
            "attrs": {"name": name, "source": "bench", "interface": "bench", "trust": "trusted", "network": False},
            "parents": [_uid("Category", "read")],
        }
        entities = cedarpy.Entities.from_json_str(json.dumps([person, tool]), rules.schema)  # pyright: ignore[reportUnknownMemberType]
        asked: Json = {
            "principal": person["uid"],
            "action": _uid("Action", "invoke"),
            "resource": tool["uid"],
            "context": context,
        }
        return cedarpy.is_authorized(asked, rules.policies["invoke"], entities, rules.schema).allowed  # pyright: ignore[reportUnknownMemberType]

    return decide


class Calls(Protocol):
    """What answers the messages."""

    async def answer(self, text: str) -> str:
        """The answer to one message, which is a call."""
        ...


class DecidedCalls:
    """A decision and two commits for each."""

    def __init__(self, path: Path, decide: Callable[[str], bool]) -> None:
        self._commits = GroupCommits(path)
        self._decide = decide

    async def answer(self, text: str) -> str:
        """The result, once both commits are on the disk."""
        message = orjson.loads(text)
        call = message["params"]["call"]
        assert self._decide(call["name"]), "the shipped policy lets operators read"
        number = await self._commits.insert(orjson.dumps(call["arguments"]).decode())
        result = {"callId": call["id"], "outcome": "ok", "content": call["arguments"]["text"], "auditSeq": number}
        await self._commits.update(number, orjson.dumps(result).decode())
        return orjson.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).decode()


def create_app(begin: Callable[[], Calls]) -> Starlette:
    """The app; every message of its one socket is a call. `begin` is called on the loop, by the first connection."""
    calls: list[Calls] = []

    async def serve(websocket: WebSocket) -> None:
        if not calls:
            calls.append(begin())
        await websocket.accept(subprotocol="countersign.v1")
        try:
            while True:
                await websocket.send_text(await calls[0].answer(await websocket.receive_text()))
        except WebSocketDisconnect:
            return

    return Starlette(routes=[WebSocketRoute("/ws", serve)])


def _allow(_name: str) -> bool:
    return True


def _uid(kind: str, identifier: str) -> dict[str, str]:
    return {"type": f"{NAMESPACE}::{kind}", "id": identifier}


def main() -> None:
    """Serve until killed."""
    port, path = int(sys.argv[1]), Path(sys.argv[2]) / "limit.db"
    if "--recorded" in sys.argv:
        begin: Callable[[], Calls] = partial(RecordedCalls, path)
    else:
        begin = partial(DecidedCalls, path, _allow if "--undecided" in sys.argv else prepare_decision())
    uvicorn.run(
        create_app(begin),
        host="127.0.0.1",
        port=port,
        http="httptools",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        loop="uvloop",
        lifespan="off",
        access_log=False,
        log_config=None,
        backlog=1024,
    )


if __name__ == "__main__":
    main()
