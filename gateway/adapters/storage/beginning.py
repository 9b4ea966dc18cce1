"""Beginning a state folder, and taking that back where what it was begun for fails."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import orjson
from sqlalchemy import inspect, select
from sqlalchemy.exc import SQLAlchemyError

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.keys import SECRET
from gateway.adapters.storage.mark import MARK
from gateway.adapters.storage.sqlite import DATABASE, LOCK, WAL, dispose, open_for_checking
from gateway.core.errors import LedgerUnavailable
from gateway.core.ledger import (
    AgentSessionEnded,
    AgentSessionStarted,
    ConsoleSessionEnded,
    ConsoleSessionStarted,
    GatewayStarted,
    LocalOperatorAdded,
    PolicyLoaded,
)

OF_A_START: Final = frozenset(
    event.EVENT
    for event in (
        GatewayStarted,
        PolicyLoaded,
        LocalOperatorAdded,
        AgentSessionStarted,
        AgentSessionEnded,
        ConsoleSessionStarted,
        ConsoleSessionEnded,
    )
)
"""What a start records of itself, before anybody asked for anything. Nobody signs in before an `enrolment:offered`, except the
person at the terminal."""

RECORDS_OF_A_START: Final = 32
"""More than that was no start, and is not looked through."""


OWN_FILES: Final = frozenset({DATABASE, LOCK, MARK, WAL, SECRET})
"""Files that a start writes, each of which may be one that may not be written while the folder may."""


def make_directory(directory: Path) -> tuple[Path, ...]:
    """The state directory, for its owner only. Gives what had to be made, outermost first; nothing where it was there.

    Raises LedgerUnavailable.
    """
    missing = [each for each in (directory, *directory.parents) if not each.exists()]
    try:
        directory.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        if directory.is_dir():
            return ()
        raise LedgerUnavailable(f"the state directory cannot be written: `{directory.name}` is a file") from None
    except OSError as error:
        raise unwritable(error) from None
    return tuple(reversed(missing))


@contextmanager
def undone_by_failure(made: tuple[Path, ...]) -> Generator[None]:
    """Remove the folders again when the context fails, if nothing is on record in the last of them but a start. It is held by
    this process while the context lasts, so nobody else writes there."""
    try:
        yield
    except BaseException:
        # What cannot be looked through or removed stays, and the first failure is the one that is told.
        with suppress(OSError, SQLAlchemyError, ValueError):
            if made and _is_unused(made[-1]):
                shutil.rmtree(made[-1])
                for folder in reversed(made[:-1]):
                    folder.rmdir()
        raise


def unwritable(error: OSError) -> LedgerUnavailable:
    """The error for what the system says about the folder, or about one file in it, which is named."""
    file = "" if error.filename is None else Path(os.fsdecode(error.filename)).name
    named = f"`{file}` in the state directory" if file in OWN_FILES else "the state directory"
    return LedgerUnavailable(f"{named} cannot be written: {error.strerror}")


def _is_unused(folder: Path) -> bool:
    if not (folder / DATABASE).exists():
        return os.listdir(folder) == [LOCK]
    with dispose(open_for_checking(folder / DATABASE)) as engine, engine.connect() as connection:
        if not inspect(connection).has_table(t.leaves.name):
            return True
        bodies = connection.execute(select(t.leaves.c.body).limit(RECORDS_OF_A_START + 1)).scalars().all()
    return len(bodies) <= RECORDS_OF_A_START and all(orjson.loads(body)["event"] in OF_A_START for body in bodies)
