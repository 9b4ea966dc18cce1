"""Everything that holds for SQLite only: how it is opened, and where its SQL is not that of other databases.

One writer that begins with the lock, readers that cannot write, every commit on the disk. Every other module of the storage
says what it wants in SQLAlchemy's terms, which PostgreSQL can run too.

Debian's and most other SQLite libraries before 3.51.3 can corrupt a WAL database when two connections write and checkpoint at
the same time (the WAL-reset bug), so the library is checked, not assumed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import URL, BigInteger, Connection, Engine, Executable, Integer, Table, Text, create_engine, event, text
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from gateway.adapters.storage.record_texts import register_functions
from gateway.core.errors import Misconfigured

DATABASE: Final = "ledger.db"
LOCK: Final = "ledger.db.lock"
WAL: Final = "ledger.db-wal"

OLDEST_SAFE_SQLITE: Final = (3, 51, 3)
"""The first release without the WAL-reset bug (2026-03-13)."""

SQLITE_BUSY: Final = 5
SQLITE_READONLY: Final = 8
SQLITE_CORRUPT: Final = 11
SQLITE_FULL: Final = 13
SQLITE_NOTADB: Final = 26

BUSY_MILLISECONDS: Final = 5_000
"""How long a statement waits for another process, such as a backup, before it fails."""

PAGES_IN_LOG: Final = 4_000
"""When the write-ahead log is copied into the database: at 16 MB. Under load the same pages are written again and again, so
SQLite's own 1,000 would copy most of them four times (measured: a fifth of the ledger's rate)."""

LOG_RESERVE: Final = 17 * 1024 * 1024
"""Bytes that the write-ahead log is given at once: a little more than those pages with their headers. A commit that makes the
file longer has its length to write as well, at another place of the disk, and takes up to twice the time (measured)."""

ROOM_FOR_RESERVE: Final = 8 * LOG_RESERVE
"""Below this much free room nothing is set aside: the database may need it more."""

LARGEST_COPIED_WHOLE: Final = 64 * 1024 * 1024
"""Bytes of a database that is copied as a whole after an erasure, in memory and in less than a second. Nothing is recorded
meanwhile."""

Place: Final = BigInteger().with_variant(Integer, "sqlite")
"""A leaf's position. SQLite gives a table its row id for a key of type INTEGER only, and an INTEGER there has 64 bits."""


STATEMENTS_KEPT: Final = 1_024
"""Statements that a connection keeps prepared: more than there are. Once it has as many as it keeps, the driver gives up the
newest for the next, not the oldest: of its usual 128 a migration takes most, and from then on each commit had all of its
statements parsed and planned anew."""


PAGES_AT_ONCE: Final = 2_048
"""Pages copied between two reports of progress: 8 MB."""


def partial_index(condition: str) -> dict[str, Any]:
    """An index over the rows for which that SQL condition holds."""
    # Not `postgresql_where` as well: naming it imports that whole dialect (3 MB), which the migration does when it runs.
    return {"sqlite_where": text(condition)}


class JsonMember(FunctionElement[str]):
    """`JsonMember(document, name)`: the text of a member of a JSON object that is kept as text."""

    type = Text()
    inherit_cache = True


@compiles(JsonMember)
def _cast_document(element: JsonMember, compiler: SQLCompiler, **how: Any) -> str:  # pyright: ignore[reportUnusedFunction] - called by the compiler
    document, name = (compiler.process(clause, **how) for clause in element.clauses)
    return f"(CAST({document} AS JSON) ->> {name})"


@compiles(JsonMember, "sqlite")
def _extract_member(element: JsonMember, compiler: SQLCompiler, **how: Any) -> str:  # pyright: ignore[reportUnusedFunction] - likewise
    document, name = (compiler.process(clause, **how) for clause in element.clauses)
    return f"json_extract({document}, '$.' || {name})"


RARE_EVENTS: Final = ("approval:break-glass", "policy:loaded", "policy:published")
"""Events of the log that pages ask for by name. They are few among millions of others, so they have an index of their own."""


class RareEvent(FunctionElement[str]):
    """`RareEvent(body)`: that one of `RARE_EVENTS` whose name stands in a leaf's body as its event, else NULL.

    It is found in the canonical text, without reading the JSON: each leaf passes here when it is written, and a damaged one too.
    """

    type = Text()
    inherit_cache = True


@compiles(RareEvent)
def _find_rare_event(element: RareEvent, compiler: SQLCompiler, **how: Any) -> str:  # pyright: ignore[reportUnusedFunction] - likewise
    body = compiler.process(element.clauses, **how)
    return _choose_event(f"position({{}} in {body}) > 0")


@compiles(RareEvent, "sqlite")
def _look_for_rare_event(element: RareEvent, compiler: SQLCompiler, **how: Any) -> str:  # pyright: ignore[reportUnusedFunction] - likewise
    body = compiler.process(element.clauses, **how)
    return _choose_event(f"instr({body}, {{}}) > 0")


def _choose_event(stands: str) -> str:
    # The names are in the text and no parameters: SQLite takes an index on an expression only for a query with the same text.
    cases = " ".join(f"WHEN {stands.format(_member(event))} THEN '{event}'" for event in RARE_EVENTS)
    return f"(CASE {cases} END)"


def _member(event: str) -> str:
    return f"""'"event":"{event}"'"""


def require_database(folder: Path) -> Path:
    """The database of a state folder. Raises Misconfigured where there is none."""
    path = folder / DATABASE
    if not path.is_file():
        raise Misconfigured(f"there is no `{DATABASE}` in `{folder}`; name the gateway's state folder with --state")
    return path


FileId = tuple[int, int] | None
"""Which file it is, whatever its name; None where there is none."""


def identify_file(path: Path) -> FileId:
    """Another one where the file was replaced while somebody had it open."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def choose_driver() -> ModuleType:
    """The sqlite3 module to use: the wheel that brings its own SQLite, or Python's where that is new enough.

    Raises Misconfigured when neither is.
    """
    try:
        module = import_module("pysqlite3.dbapi2")
    except ImportError:
        # No wheel for this platform (macOS): Homebrew's and python.org's Pythons carry a current SQLite.
        module = import_module("sqlite3.dbapi2")
    version: tuple[int, ...] = module.sqlite_version_info
    if version < OLDEST_SAFE_SQLITE:
        raise Misconfigured(
            f"SQLite {module.sqlite_version} can corrupt the ledger; install `pysqlite3` 0.6.1 or a Python built with"
            f" SQLite {'.'.join(map(str, OLDEST_SAFE_SQLITE))} or newer"
        )
    return module


def _create_engine(path: Path, mode: str | None = None) -> Engine:
    """An engine over the file of exactly that name, whatever `?`, `#` or `%` in it would mean in a URL."""
    # A whole path, because one that begins with `file:` would be read as a URL.
    whole = path.absolute()
    if mode is None:
        url = URL.create("sqlite+pysqlite", database=str(whole))
    else:
        url = URL.create("sqlite+pysqlite", database=f"file:{quote(os.fsencode(whole))}", query={"mode": mode, "uri": "true"})
    return create_engine(url, module=choose_driver(), connect_args={"cached_statements": STATEMENTS_KEPT})


def open_for_writing(path: Path) -> Engine:
    """The one engine that may write. Every transaction takes the write lock as it begins.

    A deferred BEGIN that reads and then writes fails with SQLITE_BUSY at once, whatever the timeout: measured, 1,400 of 1,600
    transactions did.
    """
    engine = _create_engine(path)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # pyright: ignore[reportUnusedFunction] - called by the event
        _set_pragmas(
            connection,
            "journal_mode = WAL",
            # FULL, not NORMAL: an intent must survive a power cut before its tool runs.
            "synchronous = FULL",
            "foreign_keys = ON",
            f"wal_autocheckpoint = {PAGES_IN_LOG}",
            # What is deleted or erased is overwritten, free pages too, and not only unlinked.
            "secure_delete = ON",
            # What `scrub` copies never lies in a file outside the state folder.
            "temp_store = MEMORY",
        )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction] - called by the event
        # Straight to the driver: SQLAlchemy's execution would cost every commit another 20 µs.
        connection.connection.cursor().execute("BEGIN IMMEDIATE")

    return engine


@contextmanager
def write_at_once(connection: Connection) -> Generator[Any]:
    """A transaction that takes the write lock as it begins, and the driver's cursor in it. By the driver alone: SQLAlchemy's
    takes each batch longer, and has the driver prepare its COMMIT anew."""
    cursor = connection.connection.cursor()
    cursor.execute("BEGIN IMMEDIATE")
    try:
        yield cursor
        cursor.execute("COMMIT")
    except BaseException:
        # A full disk may have ended it already.
        if connection.connection.in_transaction:
            cursor.execute("ROLLBACK")
        raise


def reserve_log(path: Path) -> None:
    """Give an existing write-ahead log its full length, where the disk has room. Nobody may be writing to it.

    What is added reads as zeros, which SQLite takes for what is left of an earlier round of the log: it stops reading at the
    first page whose salt is not the log's. A log that stays short only costs time.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            size, disk = os.fstat(handle).st_size, os.fstatvfs(handle)
            if size < LOG_RESERVE and disk.f_bavail * disk.f_frsize >= ROOM_FOR_RESERVE:
                os.posix_fallocate(handle, size, LOG_RESERVE - size)
        finally:
            os.close(handle)


def scrub(connection: Connection, path: Path, *, copy: bool) -> bool:
    """Leave no copy of what was erased in the database's own files. Outside a transaction of the writer; False where somebody
    reads an older moment of the database, so that its log had to stay.

    Erased cells and pages are zeros already. What is left are earlier pages in the write-ahead log, and what moved from page to
    page as the trees grew, which only a whole `copy` is rid of.
    """
    cursor = connection.connection.cursor()
    if copy and path.stat().st_size <= LARGEST_COPIED_WHOLE:
        cursor.execute("VACUUM")
    busy, _, _ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or (1, 0, 0)
    cursor.close()
    reserve_log(path.with_name(WAL))
    return not busy


def open_for_reading(path: Path) -> Engine:
    """An engine that cannot write. Outside an explicit BEGIN every statement sees the latest commit."""
    # Opened with mode=rw, not ro: reading a WAL database may have to create its shared-memory index.
    engine = _create_engine(path, mode="rw")

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # pyright: ignore[reportUnusedFunction] - called by the event
        _set_pragmas(connection, "query_only = ON")

    return engine


def open_for_checking(path: Path) -> Engine:
    """An engine that leaves the files as they are, also when its last connection is closed."""
    engine = _create_engine(path, mode="ro")

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # pyright: ignore[reportUnusedFunction] - called by the event
        _set_pragmas(connection)

    return engine


def open_history(path: Path) -> Engine:
    """An engine for what is made again where it is lost: a power cut may take the newest commits."""
    engine = _create_engine(path)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # pyright: ignore[reportUnusedFunction] - called by the event
        _set_pragmas(connection, "journal_mode = WAL", "synchronous = NORMAL", "temp_store = MEMORY")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction] - called by the event
        connection.connection.cursor().execute("BEGIN")

    return engine


def adding_to(table: Table) -> Executable:
    """Rows of counts: what is there already under their key grows by them."""
    rows = insert(table)
    key = [column.name for column in table.primary_key]
    grown = {column.name: column + rows.excluded[column.name] for column in table.c if column.name not in key}
    return rows.on_conflict_do_update(index_elements=key, set_=grown)


@contextmanager
def dispose(engine: Engine) -> Generator[Engine]:
    """An engine, until its connections are closed."""
    try:
        yield engine
    finally:
        engine.dispose()


def table_names(connection: Connection) -> set[str]:
    """Of the database that it is to."""
    return set(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars())


def find_fault(connection: Connection) -> str | None:
    """The first thing that is wrong with the database's pages and indices; None when nothing is."""
    (found,) = connection.exec_driver_sql("PRAGMA quick_check(1)").one()
    return None if found == "ok" else str(found).replace("\n", " ")


def is_busy(error: Exception) -> bool:
    """Whether a statement of the driver failed because another process held the lock until the time-out."""
    # The low byte is the result code, whatever the extended one says (https://sqlite.org/rescode.html).
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == SQLITE_BUSY


def is_full(error: Exception) -> bool:
    """Whether a statement of the driver found no room on the disk."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == SQLITE_FULL


def is_read_only(error: Exception) -> bool:
    """Whether a statement of the driver found a file that may not be written."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == SQLITE_READONLY


def is_damaged(error: BaseException) -> bool:
    """Whether a statement of the driver failed because of what is in the file."""
    code = getattr(error, "sqlite_errorcode", None)
    # A text that is no UTF-8 is found by the driver itself, which has no code for it.
    return "decode to UTF-8" in str(error) if code is None else code & 0xFF in (SQLITE_CORRUPT, SQLITE_NOTADB)


def describe(error: BaseException | None) -> str:
    """What the driver says, without the text that it could not read: that may be a whole record, and is not for a terminal."""
    return str(error).partition(" with text ")[0]


def hold_snapshot(connection: Connection) -> None:
    """Let the connection see one moment of the database until it is closed, whatever is written meanwhile."""
    connection.exec_driver_sql("BEGIN")


def copy_online(source: Path, target: Path, on_progress: Callable[[int, int], None]) -> None:
    """Copy a database that may be written to meanwhile, as it is now, into an empty file. `on_progress` hears of the pages that
    are copied, and of all."""

    def tell(_status: int, left: int, total: int) -> None:
        on_progress(total - left, total)

    with dispose(open_for_reading(source)) as engine, engine.connect() as reading:
        hold_snapshot(reading)
        # The snapshot begins with the first read; a gateway that goes on writing does not start the copy anew.
        reading.exec_driver_sql("SELECT count(*) FROM sqlite_master")
        writing: Any = choose_driver().connect(target, isolation_level=None)
        try:
            reading.connection.driver_connection.backup(  # pyright: ignore[reportOptionalMemberAccess] - it is connected
                writing, pages=PAGES_AT_ONCE, progress=tell
            )
            writing.execute("PRAGMA journal_mode = DELETE")
        finally:
            writing.close()


def _set_pragmas(connection: Any, *pragmas: str) -> None:
    # None: the driver opens no transactions of its own; SQLAlchemy's events do.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (f"busy_timeout = {BUSY_MILLISECONDS}", "trusted_schema = OFF", *pragmas):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
    register_functions(connection)
