"""Which database this is, and which start of a gateway may write to it.

The epoch is a fencing token: every start raises it, and each batch of the writer is refused unless it is still the writer's own.
A gateway that lost its lock, or whose state folder was handed to another one, can therefore not write beside its successor.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, insert, select, update

from gateway.adapters.storage import tables as t

ID_SIZE: Final = 16
"""Bytes of a database's random name: two never get the same."""

READ_EPOCH: Final = select(t.identity.c.epoch)


@dataclass(frozen=True, slots=True)
class Identity:
    """A database's name, and how often a gateway was started on it; 0 for one that was not started since it has a name."""

    id: str
    epoch: int


def read_identity(connection: Connection) -> Identity | None:
    """The database's identity; None for one that has none yet."""
    row = connection.execute(select(t.identity)).first()
    return None if row is None else Identity(row.id, row.epoch)


def identify(connection: Connection) -> Identity:
    """The database's identity, made on the way where it has none, in the caller's transaction."""
    known = read_identity(connection)
    if known is None:
        known = Identity(os.urandom(ID_SIZE).hex(), 0)
        connection.execute(insert(t.identity).values(id=known.id, epoch=known.epoch))
    return known


def begin_epoch(connection: Connection) -> int:
    """Begin the next epoch, in the caller's transaction. Every earlier writer is refused from its commit on."""
    epoch = identify(connection).epoch + 1
    connection.execute(update(t.identity).values(epoch=epoch))
    return epoch
