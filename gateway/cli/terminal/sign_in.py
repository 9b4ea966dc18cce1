"""Who works at the terminal: an enrolled operator, or the owner of the state folder before anybody is enrolled."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from gateway.application import Application
from gateway.core.errors import Misconfigured
from gateway.core.ledger import Entry, LocalOperatorAdded
from gateway.core.model import Principal
from gateway.core.vocabulary import Profile, Runner
from gateway.runtime.connections import Connection
from gateway.runtime.ports import ConsoleSession

LOCAL_OPERATOR: Final = "Operator"


@dataclass(frozen=True, slots=True)
class TerminalSessions:
    """The person's two sessions, as a browser has them: the console's, which answers questions, and the agent's, which acts."""

    console: ConsoleSession
    connection: Connection


async def find_operator(application: Application, name: str | None) -> tuple[Principal, tuple[Entry, ...]]:
    """The operator of that name, or the only one; with what has to be recorded for one who is new. Raises Misconfigured."""
    people = await application.store.records.principals()
    operators = [person for person in people if person.profile is Profile.OPERATOR and not person.suspended]
    if not people and name is None:
        local = Principal(application.gateway.ports.entropy.identifier("usr_"), LOCAL_OPERATOR, Profile.OPERATOR)
        return local, (LocalOperatorAdded(application.gateway.ports.clock.now(), local),)
    meant = [person for person in operators if name is None or name in (person.name, person.id)]
    match meant:
        case [person]:
            return person, ()
        case []:
            raise Misconfigured(
                f"there is no operator `{name}`" if name else "no operator is enrolled here, and agents act for one"
            )
        case _:
            known = ", ".join(f"`{person.name}` ({person.id})" for person in meant)
            raise Misconfigured(f"several operators are enrolled; say which with --as: {known}")


@asynccontextmanager
async def sign_in(application: Application, person: Principal, because: tuple[Entry, ...]) -> AsyncGenerator[TerminalSessions]:
    """Sign the person in at the terminal, and out again at the end."""
    sessions, entropy = application.sessions, application.gateway.ports.entropy
    console = await sessions.start_terminal(person, *because)
    try:
        state = entropy.secret()
        issued = await sessions.redeem(sessions.authorize(console, state), state)
        connection = application.gateway.connections.attach(issued.session, entropy.identifier("con_"), Runner.GATEWAY)
        try:
            yield TerminalSessions(console, connection)
        finally:
            application.gateway.connections.detach(connection)
    finally:
        await sessions.end_console(console, "signedOut")
