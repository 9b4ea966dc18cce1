"""Handing the log's key over to a new one, while no gateway runs.

The record of it is the last thing that the old key vouches for, and the first that the new one signs. A kill on the way leaves
the new key in `audit.key.next`: the next start, or the same command again, takes it where the record is there, and removes it
where it is not. A change that fails does so by itself.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

import orjson
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage.beginning import unwritable
from gateway.adapters.storage.checks import check_state, checking, settle_key
from gateway.adapters.storage.commits import Committer, prepare
from gateway.adapters.storage.identity import begin_epoch, identify
from gateway.adapters.storage.keys import (
    NEXT,
    load_or_make_key,
    read_next_key,
    read_rotations,
    take_next_key,
    write_once,
    write_rotations,
)
from gateway.adapters.storage.log import read_rotations as recorded_rotations
from gateway.adapters.storage.mark import MarkFile
from gateway.adapters.storage.migration import migrate
from gateway.adapters.storage.readable import explain, require_readable
from gateway.adapters.storage.sqlite import DATABASE, dispose, open_for_writing
from gateway.core.checkpoint import KEY_SIZE, SigningKey, VerificationKey, read_verification_key
from gateway.core.errors import GatewayError, Misconfigured
from gateway.core.key_rotation import rotate
from gateway.core.ledger import AuditKeyRotated
from gateway.core.merkle import Frontier


class CutOff(Enum):
    """What became of an earlier change that was cut off."""

    FINISHED = auto()
    """It was on record, so it is the change that was asked for."""
    TAKEN_BACK = auto()


@dataclass(frozen=True, slots=True)
class Rotated:
    """Which key was handed over to which, and the index of the record that says so."""

    before: VerificationKey
    after: VerificationKey
    index: int
    earlier: CutOff | None = None


def rotate_key(folder: Path, at: int) -> Rotated:
    """Make a new key for the log of a state folder that is held, and have the old one hand over to it. `at` is the time now.

    The log is checked as before a start. A change that was cut off after its record is finished, and no other one made. Raises
    GatewayError, which says which key the log has then.
    """
    path = folder / DATABASE
    if path.is_file() and path.stat().st_size:
        with checking(folder) as connection:
            # Of a newer version nothing is read that a record could be counted by.
            require_readable(connection)
    left = read_next_key(folder)
    frontier = check_state(folder, "")
    if frontier.size == 0:
        raise Misconfigured("nothing is on record yet, so there is no key to change")
    before = load_or_make_key(folder, "", fresh=False)
    if left is not None and left.line() == before.line():
        return _read_newest(folder)
    after = SigningKey(before.verification_key.name, os.urandom(KEY_SIZE))
    try:
        _hand_over(folder, before, after, frontier, at)
    except DBAPIError as error:
        raise _settled(folder, explain(error), before) from None
    except OSError as error:
        raise _settled(folder, unwritable(error), before) from None
    except GatewayError as error:
        raise _settled(folder, error, before) from None
    earlier = None if left is None else CutOff.TAKEN_BACK
    return Rotated(before.verification_key, after.verification_key, frontier.size, earlier)


def _hand_over(folder: Path, before: SigningKey, after: SigningKey, frontier: Frontier, at: int) -> None:
    rotation = rotate(before, after)
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


def _read_newest(folder: Path) -> Rotated:
    """The change that is on record last."""
    with checking(folder) as connection:
        *_, leaf = recorded_rotations(connection)
    body = orjson.loads(leaf.body)
    return Rotated(
        read_verification_key(body["fromKey"]), read_verification_key(body["toKey"]), leaf.index, earlier=CutOff.FINISHED
    )


def _settled(folder: Path, error: GatewayError, before: SigningKey) -> GatewayError:
    """The same error, with what holds: whatever was begun is finished where it is on record, and taken back where it is not."""
    try:
        with checking(folder) as connection:
            settle_key(connection, folder)
        is_old = load_or_make_key(folder, "", fresh=False).line() == before.line()
        stands = "the key was not changed" if is_old else "the new key is on record and signs from now on"
    except (GatewayError, OSError):
        lies = f": `{NEXT}` lies there, and is taken or removed then" if os.path.exists(folder / NEXT) else ""
        stands = f"run it again, or start the gateway{lies}"
    return type(error)(f"{error.message}; {stands}")
