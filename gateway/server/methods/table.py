"""The shape of a method table: who may call what, what it leaves in the log, and that no row is missing or too many."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

from gateway.core.errors import Refused
from gateway.core.model import Principal
from gateway.core.vocabulary import Profile
from gateway.protocol.frames import Dialect
from gateway.protocol.wire import Wire


class Concurrency(Enum):
    """How a method's requests on one connection relate to each other."""

    AT_ONCE = auto()
    """Concurrent: it only reads, or it stops something and must not wait for what it stops."""

    IN_ORDER = auto()
    """In order of arrival: it changes state that the next one reads."""

    WAITING = auto()
    """Concurrent, for as long as a person takes; the wait for it ends when the connection closes."""


class MethodPermission(Enum):
    """Who may call a method, among those who hold a session of its origin."""

    ANY_SESSION = auto()
    """Everybody but auditors, over what is their own."""

    ANY_READER = auto()
    """Everybody: it reads what is their own, or for operators and auditors everybody's."""

    READS_ALL = auto()
    """Operators and auditors: it reads what concerns everybody."""

    OPERATOR = auto()
    """Operators only: it shows or does what concerns everybody."""

    def require(self, principal: Principal) -> None:
        """Raises Refused `operatorOnly`, and `auditorReadsOnly` for all that an auditor may not."""
        match self:
            case MethodPermission.ANY_READER:
                return
            case MethodPermission.READS_ALL:
                if not principal.profile.reads_all:
                    raise Refused("operatorOnly", "this is for operators")
            case MethodPermission.ANY_SESSION:
                refuse_auditor(principal)
            case MethodPermission.OPERATOR:
                refuse_auditor(principal)
                if principal.profile is not Profile.OPERATOR:
                    raise Refused("operatorOnly", "this is for operators")


def refuse_auditor(principal: Principal) -> None:
    """Raises Refused `auditorReadsOnly` for somebody who may read the audit log and do nothing else."""
    if principal.profile is Profile.AUDITOR:
        raise Refused("auditorReadsOnly", "an auditor reads the audit log and can do nothing else")


class HasPrincipal(Protocol):
    """Somebody whose person is known."""

    @property
    def principal(self) -> Principal: ...


Caller = TypeVar("Caller", bound=HasPrincipal)


@dataclass(frozen=True, slots=True)
class MethodRow(Generic[Caller]):
    """What the table says of one method beside its shape.

    `audit` names the events that it may leave in the log by itself; a method that only reads has none. One that `reads_much`
    reads as much as a person has stored, or asks the policy about everything, and is answered one at a time for each of them.
    """

    answer: Callable[[Caller, Any], Awaitable[Wire]]
    concurrency: Concurrency
    permission: MethodPermission
    audit: tuple[str, ...] = ()
    reads_much: bool = False


@dataclass(frozen=True, slots=True)
class Method(Generic[Caller]):
    """One method of a socket: the type of its parameters, and its row."""

    params: type[Wire]
    row: MethodRow[Caller]

    async def answer(self, caller: Caller, params: Wire) -> Wire:
        """Ask the handler, once it is known that this caller may. Raises only errors of the tree."""
        self.row.permission.require(caller.principal)
        return await self.row.answer(caller, params)


def tabulate(dialect: Dialect, rows: Mapping[str, MethodRow[Caller]]) -> Mapping[str, Method[Caller]]:
    """The table of a dialect. Every method of the contract has its row, and there is no other."""
    assert rows.keys() == dialect.methods.keys(), f"not in both: {rows.keys() ^ dialect.methods.keys()}"
    return MappingProxyType({name: Method(shape.params, rows[name]) for name, shape in dialect.methods.items()})
