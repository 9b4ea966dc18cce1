"""The table of acts: every kind of record, with the ways in which somebody has it written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.harness.http import Reply
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene


@dataclass
class Office(Scene):
    """A gateway at which everything can be done, and what it talks to."""

    site: Any = None
    devices: Any = None
    model: Any = None


class NotDone(Exception):
    """An act was answered with an error: its stable word, and its words for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


@dataclass(frozen=True)
class Attempt:
    """An act that can be tried. `go` does it or raises, `look` gives what can be seen of its effect.

    `stays`: nothing of it is to be seen even when it is done. `undoable` is what is said where it was done already and its
    record is missing; it is put on record by itself then.
    """

    go: Callable[[], Awaitable[object]]
    look: Callable[[], Awaitable[object]]
    stays: bool = False
    undoable: str | None = None


@dataclass(frozen=True)
class Act:
    """`way`: the method with its origin, the route, or the command."""

    event: str
    way: str
    prepare: Callable[[Office], Awaitable[Attempt]]


ACTS: list[Act] = []

Prepare = Callable[[Office], Awaitable[Attempt]]


def act(event: str, way: str) -> Callable[[Prepare], Prepare]:
    """Put an act into the table."""

    def add(prepare: Prepare) -> Prepare:
        ACTS.append(Act(event, way, prepare))
        return prepare

    return add


async def refusal(going: Awaitable[object]) -> NotDone:
    """How an act that must not succeed was refused."""
    try:
        done = await going
    except NotDone as refused:
        return refused
    except RpcError as refused:
        return NotDone(str(refused.error["data"]["code"]), str(refused.error["message"]))
    raise AssertionError(f"it was done all the same: {done}")


def require_reply(reply: Reply) -> Reply:
    """An answer over HTTP that says that it was done. Raises NotDone."""
    if reply.status >= 400:
        error = reply.json["error"]
        # RFC 6749 has its own form, with the words beside it.
        if isinstance(error, str):
            raise NotDone(error, str(reply.json.get("error_description", "")))
        raise NotDone(str(error["code"]), str(error["message"]))
    return reply


def require_recorded(result: Any) -> Any:
    """A result of a call that is on record. Raises NotDone."""
    if result.get("reason") in ("ledgerUnavailable", "outcomeUnknown"):
        raise NotDone(str(result["reason"]), str(result.get("error") or result["content"]))
    return result


async def run(office: Office, *arguments: str) -> str:
    """The output of a command. Raises NotDone."""
    code, output = await office.gateway.run(*arguments)
    assert "Traceback" not in output, output
    if code != 0:
        raise NotDone("command", output)
    return output


async def nothing() -> object:
    """What is seen of an act of which nothing is seen."""
    return None
