"""Who calls a method of the console."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.core.model import Principal
from gateway.runtime.connections import ConsoleConnection
from gateway.runtime.ports import ConsoleSession


@dataclass(frozen=True, slots=True)
class ConsoleCaller:
    """The caller on a console socket."""

    connection: ConsoleConnection
    session: ConsoleSession

    @property
    def principal(self) -> Principal:
        """The person."""
        return self.session.principal
