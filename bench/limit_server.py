"""The limit: the least that a server could do per tool call and still keep the gateway's promise of durability.

A bare Starlette app with the gateway's own transport settings. Per message it does two group commits that are on the disk
(`synchronous=FULL`, one writer thread, SQLAlchemy Core) and one Cedar decision under the shipped policy, and nothing else:
no session, no snapshot, no schema, no digest, no audit log, no redaction. With `--undecided` not even the decision.

    python -m bench.limit_server PORT DIRECTORY [--undecided]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import cedarpy
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from bench.commits import GroupCommits
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


def create_app(directory: Path, decide: Callable[[str], bool]) -> Starlette:
    """The app; every message of its one socket is a call."""
    commits: list[GroupCommits] = []

    async def serve(websocket: WebSocket) -> None:
        if not commits:
            commits.append(GroupCommits(directory / "limit.db"))
        await websocket.accept(subprotocol="countersign.v1")
        try:
            while True:
                await websocket.send_text(await answer(await websocket.receive_text(), commits[0]))
        except WebSocketDisconnect:
            return

    async def answer(text: str, written: GroupCommits) -> str:
        message = orjson.loads(text)
        call = message["params"]["call"]
        assert decide(call["name"]), "the shipped policy lets operators read"
        number = await written.insert(orjson.dumps(call["arguments"]).decode())
        result = {"callId": call["id"], "outcome": "ok", "content": call["arguments"]["text"], "auditSeq": number}
        await written.update(number, orjson.dumps(result).decode())
        return orjson.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).decode()

    return Starlette(routes=[WebSocketRoute("/ws", serve)])


def _allow(_name: str) -> bool:
    return True


def _uid(kind: str, identifier: str) -> dict[str, str]:
    return {"type": f"{NAMESPACE}::{kind}", "id": identifier}


def main() -> None:
    """Serve until killed."""
    port, directory = int(sys.argv[1]), Path(sys.argv[2])
    decide = _allow if "--undecided" in sys.argv else prepare_decision()
    uvicorn.run(
        create_app(directory, decide),
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
