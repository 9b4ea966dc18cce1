"""What is looked at before a gateway writes to a state folder: is it whole, and is it where it was?

Everything here reads through connections that cannot write. Closing the last connection that can copies the write-ahead log
into the database and removes it; of a torn one the rest would be gone, before anybody could look at it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Final

import orjson
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, OperationalError

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.history.places import open_places
from gateway.adapters.storage.identity import Identity, read_identity
from gateway.adapters.storage.keys import NEXT, SECRET, known_keys, load_or_make_key, read_next_key, take_next_key
from gateway.adapters.storage.log import (
    check_stretch,
    grow_checked,
    is_empty,
    kept_frontier,
    last_position,
    newest_note,
    read_rotations,
)
from gateway.adapters.storage.mark import MARK, read_mark
from gateway.adapters.storage.migration import HEAD, IDENTIFIED, current_revision
from gateway.adapters.storage.readable import require_readable
from gateway.adapters.storage.reader import RECOVER
from gateway.adapters.storage.sqlite import DATABASE, describe, find_fault, is_damaged, open_for_checking, table_names
from gateway.core.checkpoint import Checkpoint, VerificationKey, open_note
from gateway.core.errors import LedgerDamaged, LedgerUnavailable, Misconfigured
from gateway.core.merkle import Frontier, grow

LARGEST_CHECKED_AT_ONCE: Final = 64 * 2**20
"""Bytes of database whose pages and records are checked before a start; a larger one is checked while the gateway runs. This many
hold some 90,000 records, of which a core reads 80,000 a second (measured), so a start waits for about a second at most. The
records of a larger one are read meanwhile where what is kept of their tree leads to the root that is signed."""

NEWEST: Final = 20_000
"""Records of a large log that are read before a start: a crash harms the end."""

AT_ONCE: Final = 2_000
"""Records that are read in one step of a check beside the gateway, in some ten milliseconds."""

REST_SECONDS: Final = 0.03
"""Between two such steps: others need the interpreter too."""

QUIET_SECONDS: Final = 0.25
"""Since the last commit: then nobody's call waits for a step."""

BUSY_REST_SECONDS: Final = 0.3
"""Between two steps while there are calls. Beside fifty callers the shorter rest took a third of their rate (bench/README.md)."""


def check_state(folder: Path, origin: str) -> Frontier:
    """Look at a whole state folder, and give the frontier to continue its log from. `origin` names the key of a new log.

    Raises LedgerDamaged, Misconfigured, LedgerUnavailable. Writes nothing but the key of a log that has no record yet.
    """
    require_database(folder)
    path = folder / DATABASE
    if path.is_dir():
        raise Misconfigured(f"`{path}` is a folder and no database; {RECOVER}")
    if not path.exists() or path.stat().st_size == 0:
        return Frontier()
    large = path.stat().st_size > LARGEST_CHECKED_AT_ONCE
    with checking(folder) as connection:
        if not large:
            require_whole_pages(connection)
        revision = require_tables(connection, folder)
        if revision == HEAD:
            require_readable(connection)
        if revision is None or revision > HEAD:
            # New, or of a newer version, which the migration refuses.
            return Frontier()
        settle_key(connection, folder)
        key = load_or_make_key(folder, origin, fresh=is_empty(connection)).verification_key
        return resume(connection, folder, key, identity_of(connection, revision), large=large)


def settle_key(connection: Connection, folder: Path) -> None:
    """Finish a handing over of the log's key that was cut off: the new key counts where the record of it is there."""
    following = read_next_key(folder)
    if following is None:
        return
    recorded = [orjson.loads(leaf.body)["toKey"] for leaf in read_rotations(connection)]
    if following.verification_key.line() in recorded[-1:]:
        take_next_key(folder, following)
    else:
        (folder / NEXT).unlink()


def require_database(folder: Path) -> None:
    """Raises LedgerDamaged where there was a database and is none: a new one would forget everybody and everything."""
    path = folder / DATABASE
    left = [name for name in (SECRET, MARK) if (folder / name).exists()]
    if left and (not path.exists() or path.stat().st_size == 0):
        state = "is empty" if path.exists() else "is gone"
        raise LedgerDamaged(f"`{DATABASE}` {state}, but `{left[0]}` beside it shows that there was one; {RECOVER}")


@contextmanager
def checking(folder: Path) -> Generator[Connection]:
    """The database, for looking at it. Raises LedgerDamaged for what SQLite cannot read."""
    engine = open_for_checking(folder / DATABASE)
    try:
        with engine.connect() as connection:
            yield connection
    except (DBAPIError, UnicodeDecodeError) as error:
        cause = describe(error.orig) if isinstance(error, DBAPIError) else "text that is no text"
        if isinstance(error, OperationalError) and not is_damaged(error.orig or error):
            raise LedgerUnavailable(f"the database cannot be opened: {cause}") from None
        raise LedgerDamaged(f"`{DATABASE}` is damaged or no database of this gateway: {cause}; {RECOVER}") from None
    finally:
        engine.dispose()


def require_whole_pages(connection: Connection) -> None:
    """Raises LedgerDamaged when a page or an index of the database is not what SQLite wrote."""
    fault = find_fault(connection)
    if fault is not None:
        raise LedgerDamaged(f"`{DATABASE}` is damaged: {fault}; {RECOVER}")


def require_tables(connection: Connection, folder: Path) -> str | None:
    """The schema's revision, None for a new database. Raises LedgerDamaged for one without tables beside a key or a mark."""
    revision = current_revision(connection)
    if revision is None and any((folder / name).exists() for name in (SECRET, MARK)):
        raise LedgerDamaged(f"`{DATABASE}` has no tables, but the files beside it show that it had; {RECOVER}")
    return revision


def identity_of(connection: Connection, revision: str | None) -> Identity | None:
    """The identity of a database, None for one from before there were any."""
    return read_identity(connection) if revision is not None and revision >= IDENTIFIED else None


def check_meanwhile(connection: Connection, frontier: Frontier, stop: Event, quiet_seconds: Callable[[], float]) -> None:
    """Check the pages of a large database and the records that it had at its start, until told to stop. `quiet_seconds`: since
    when the ledger has had nothing to do. Raises LedgerDamaged."""
    require_whole_pages(connection)
    grown = Frontier()
    try:
        while grown.size < frontier.size:
            count = min(AT_ONCE, frontier.size - grown.size)
            grown = grow(grown, check_stretch(connection, grown.size, count))
            if stop.wait(REST_SECONDS if quiet_seconds() >= QUIET_SECONDS else BUSY_REST_SECONDS):
                return
    except Misconfigured as error:
        raise LedgerDamaged(error.message) from None
    if grown != frontier:
        raise LedgerDamaged(f"the audit log is not what its last checkpoint signed; {RECOVER}")


def resume(
    connection: Connection, folder: Path, key: VerificationKey, identity: Identity | None, *, large: bool = False
) -> Frontier:
    """The frontier to continue from: of a log that adds up, and that the mark is not ahead of.

    Raises Misconfigured for a log that was edited, LedgerDamaged for one that lost what the mark says it had.
    """
    try:
        mark = read_mark(folder, known_keys(folder, key))
    except LedgerDamaged:
        # Where the key fits neither mark nor log, the log says more.
        grow_checked(connection, (key,))
        raise
    size = None if mark is None else mark.checkpoint.size
    kept = (_grow_from_kept(connection, key, size) or _grow_by_tiles(connection, folder, key, size)) if large else None
    frontier, at_mark = kept or grow_checked(connection, (key,), size)
    if mark is None:
        if identity is not None and identity.epoch:
            raise LedgerDamaged(f"`{MARK}` is gone, so nothing says whether the log is whole; {RECOVER}")
        return frontier
    if identity is not None and identity.id != mark.database:
        raise LedgerDamaged(f"`{DATABASE}` is not the database that `{MARK}` was written for; {RECOVER}")
    if at_mark is None:
        lost = mark.checkpoint.size - frontier.size
        raise LedgerDamaged(
            f"the log ends after {frontier.size} records, and `{MARK}` says that it had {mark.checkpoint.size}: {lost} are lost"
            f" (an older copy of the database, or a damaged write-ahead log); {RECOVER}"
        )
    if at_mark != mark.checkpoint.root:
        raise LedgerDamaged(f"the first {mark.checkpoint.size} records are not those of `{MARK}`; {RECOVER}")
    return frontier


def _grow_from_kept(connection: Connection, key: VerificationKey, place: int | None) -> tuple[Frontier, bytes | None] | None:
    """What `grow_checked` gives, of a log that leads to the root that its newest checkpoint signed from a frontier that was kept.
    Only the records after it and the newest are read. None where there is no such frontier."""
    checkpoint = _newest_checkpoint(connection, key)
    if checkpoint is None or t.frontiers.name not in table_names(connection):
        return None
    frontier = kept_frontier(connection, checkpoint.size if place is None else min(place, checkpoint.size))
    if frontier is None:
        return None
    begin = max(min(checkpoint.size - NEWEST, frontier.size), 0)
    hashes = check_stretch(connection, begin, checkpoint.size - begin)
    deque(islice(hashes, frontier.size - begin), maxlen=0)
    at_place = None
    if place is not None and place <= checkpoint.size:
        frontier = grow(frontier, islice(hashes, place - frontier.size))
        at_place = frontier.root()
    frontier = grow(frontier, hashes)
    return (frontier, at_place) if frontier.root() == checkpoint.root else None


def _newest_checkpoint(connection: Connection, key: VerificationKey) -> Checkpoint | None:
    """Where it is signed and over every record."""
    note = newest_note(connection)
    checkpoint = None if note is None else open_note(note, key)
    if not isinstance(checkpoint, Checkpoint) or last_position(connection) != checkpoint.size - 1:
        return None
    return checkpoint


def _grow_by_tiles(
    connection: Connection, folder: Path, key: VerificationKey, place: int | None
) -> tuple[Frontier, bytes | None] | None:
    """What `grow_checked` gives, of a log whose kept tiles lead to the root that its newest checkpoint signed. Only its newest
    records are read, and those that nobody has written about yet: there are many where a gateway was busy until it ended. None
    where there are no such tiles: then every record is read, which also says what is wrong."""
    checkpoint = _newest_checkpoint(connection, key)
    if checkpoint is None:
        return None
    with open_places(folder, connection) as places:
        tree = places.kept_tree(checkpoint.size, checkpoint.root)
        if tree is None:
            return None
        begin = max(min(checkpoint.size - NEWEST, places.written), 0)
        deque(check_stretch(connection, begin, checkpoint.size - begin), maxlen=0)
        return tree.frontier(), None if place is None or place > tree.size else tree.root(0, place)
