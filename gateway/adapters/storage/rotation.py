"""Handing the log's key over to a new one, while no gateway runs.

The record of it is the last thing that the old key vouches for, and the first that the new one signs. A kill on the way leaves
the new key in `audit.key.next`: the next start takes it where the record is there, and removes it where it is not.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage.beginning import unwritable
from gateway.adapters.storage.checks import check_state, checking
from gateway.adapters.storage.commits import Committer, prepare
from gateway.adapters.storage.identity import begin_epoch, identify
from gateway.adapters.storage.keys import (
    NEXT,
    load_or_make_key,
    read_rotations,
    take_next_key,
    write_once,
    write_rotations,
)
from gateway.adapters.storage.mark import MarkFile
from gateway.adapters.storage.migration import migrate
from gateway.adapters.storage.readable import explain, require_readable
from gateway.adapters.storage.sqlite import DATABASE, dispose, open_for_writing
from gateway.core.checkpoint import KEY_SIZE, SigningKey, VerificationKey
from gateway.core.errors import GatewayError, Misconfigured
from gateway.core.key_rotation import rotate
from gateway.core.ledger import AuditKeyRotated


@dataclass(frozen=True, slots=True)
class Rotated:
    """Which key was handed over to which, and the index of the record that says so."""

    before: VerificationKey
    after: VerificationKey
    index: int


def rotate_key(folder: Path, at: int) -> Rotated:
    """Make a new key for the log of a state folder that is held, and have the old one hand over to it. `at` is the time now.

    The log is checked as before a start. Raises GatewayError; the old key stays then.
    """
    path = folder / DATABASE
    if path.is_file() and path.stat().st_size:
        with checking(folder) as connection:
            # Of a newer version nothing is read that a record could be counted by.
            require_readable(connection)
    frontier = check_state(folder, "")
    if frontier.size == 0:
        raise Misconfigured("nothing is on record yet, so there is no key to change")
    before = load_or_make_key(folder, "", fresh=False)
    after = SigningKey(before.verification_key.name, os.urandom(KEY_SIZE))
    rotation = rotate(before, after)
    try:
        write_rotations(folder, (*read_rotations(folder, before.verification_key), rotation))
        write_once(folder / NEXT, after.line(), 0o600)
        with dispose(open_for_writing(folder / DATABASE)) as engine:
            with engine.begin() as connection:
                migrate(connection)
                identity = identify(connection)
                epoch = begin_epoch(connection)
            committer = Committer(engine, after, frontier, epoch)
            with engine.connect() as connection:
                (outcome,) = committer.commit(connection, [[prepare(AuditKeyRotated(at, rotation))]])
            if isinstance(outcome, GatewayError):
                raise outcome
        if committer.note is not None:
            MarkFile(folder, after, identity.id, committer.note).close()
        take_next_key(folder, after)
    except DBAPIError as error:
        raise explain(error) from None
    except OSError as error:
        raise unwritable(error) from None
    return Rotated(before.verification_key, after.verification_key, frontier.size)
