"""SQLite as an engine: one process for each statement."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

from gateway.adapters.tools.sql.dialects import SQLITE_FUNCTIONS
from gateway.adapters.tools.sql.engine import (
    MAX_CELL,
    NO_ANSWER,
    SHOWN_ROWS,
    ChangedRow,
    SqlAway,
    SqlCaps,
    SqlChanged,
    SqlFailed,
    SqlRows,
    SqlWork,
)
from gateway.adapters.tools.sql.schema import Reach, SqlColumn, SqlTable, fold
from gateway.adapters.tools.sql.statements import SqlStatement, StatementKind
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured
from gateway.sandbox.machine_paths import lies_in

_PROGRAM: Final = Path(__file__).with_name("sqlite_process.py")

_SPARE: Final = 3.0
"""Seconds that the process gets beyond its own limit, to start and to say that time is up."""

LOCK_WAIT: Final = 1.0
"""Seconds that a statement waits for somebody else's lock."""

_Value = TypeVar("_Value")


class SqliteEngine:
    """A SqlEngine over one file. `private` are files and folders that never are a source."""

    def __init__(self, path: Path, private: Sequence[Path], find_reach: Callable[[], Reach]) -> None:
        self._path = path
        self._real = path
        """Where that led when the source connected. Whoever puts a link in its place later makes it no other database."""
        self._private = tuple(private)
        self._find_reach = find_reach

    @property
    def identity(self) -> str:
        """See SqlEngine."""
        return f"sqlite {self._real}"

    def look(self, seconds: float) -> SqlWork[Sequence[SqlTable]]:
        """See SqlEngine."""
        return self._ask({"task": "look"}, seconds, _read_tables)

    def query(self, statement: SqlStatement, values: Mapping[str, Json], caps: SqlCaps) -> SqlWork[SqlRows]:
        """See SqlEngine."""
        order = {"task": "query", "rows": caps.rows, "bytes": caps.bytes, **self._allowed(statement, values)}
        return self._ask(order, caps.seconds, partial(_read_rows, caps=caps))

    def change(
        self, statement: SqlStatement, values: Mapping[str, Json], caps: SqlCaps, *, keep: bool, expected: int | None = None
    ) -> SqlWork[SqlChanged]:
        """See SqlEngine."""
        target = statement.target
        assert target is not None, "a change has a table"
        keys = ", ".join(f"`{name}`" for name in target.keys)
        columns = ", ".join(f"`{name}`" for name in (*target.keys, *statement.changed))
        after = None
        if statement.before is not None and statement.kind is StatementKind.UPDATE:
            after = f"SELECT {columns} FROM `main`.`{target.name}` WHERE ({keys}) = ({', '.join('?' * len(target.keys))})"  # noqa: S608 # names of the schema, none of which holds a backtick
        order = {
            "task": "change",
            "target": target.name,
            "rows": caps.rows,
            "keep": keep,
            "expected": expected,
            "before": statement.before.text if statement.before else None,
            "after": after,
            "keys": len(target.keys),
            "sample": SHOWN_ROWS,
            "returns": statement.returns,
            "bytes": caps.bytes,
            **self._allowed(statement, values),
        }
        return self._ask(order, caps.seconds, partial(_read_change, statement=statement, caps=caps))

    def _allowed(self, statement: SqlStatement, values: Mapping[str, Json]) -> dict[str, Json]:
        reach = self._find_reach()
        tables = reach.tables
        return {
            "sql": statement.sent.text,
            "values": dict(values),
            "cell": MAX_CELL,
            "tables": {
                fold(table.name): [fold(column.name) for column in table.columns] if table.hidden else None for table in tables
            },
            "views": [fold(table.name) for table in tables if table.view],
            "functions": sorted(SQLITE_FUNCTIONS | _WRITTEN_AS_OPERATORS | reach.functions),
        }

    def _ask(self, order: dict[str, Any], seconds: float, read: Callable[[Any], _Value]) -> SqlWork[_Value]:
        """Work that starts a process for this order. Where it is stopped before it began, nothing is started."""
        lock, stopped = threading.Lock(), threading.Event()
        started: list[subprocess.Popen[bytes]] = []

        def run() -> _Value:
            facts = self._check_file(connects=order["task"] == "look")
            with lock:
                if stopped.is_set():
                    raise SqlFailed("it was stopped before it began", late=True)
                process = subprocess.Popen(  # noqa: S603 # this interpreter and this program
                    [sys.executable, "-I", "-S", str(_PROGRAM)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={},
                    cwd="/",
                )
                started.append(process)
            given = {
                **order,
                "path": str(self._path),
                "file": [facts.st_dev, facts.st_ino],
                "seconds": seconds,
                "wait": min(LOCK_WAIT, seconds),
                "packages": _find_packages(),
            }
            keeps = bool(order.get("keep"))
            try:
                answer, _ = process.communicate(json.dumps(given).encode(), timeout=seconds + _SPARE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise SqlFailed(NO_ANSWER.format(seconds=seconds), late=True, unknown=keeps) from None
            return read(_read_answer(answer, seconds, stopped=stopped.is_set(), keeps=keeps))

        def stop() -> None:
            with lock:
                stopped.set()
                for process in started:
                    process.kill()

        return SqlWork(run, stop)

    def _check_file(self, *, connects: bool) -> os.stat_result:
        """The file as it is now. Raises SqlAway for another one than that of the connection, and Misconfigured for one that is
        the gateway's own, by whatever name."""
        try:
            real = self._path.resolve(strict=True)
            facts = real.stat()
        except OSError as error:
            raise SqlAway(f"the database file cannot be opened ({error.strerror})") from None
        if not real.is_file():
            raise Misconfigured("`url` names something that is no file")
        if any(is_within(real, facts, private) for private in self._private):
            raise Misconfigured("`url` names a file that is the gateway's own; no source may read it")
        if connects:
            self._real = real
        elif real != self._real:
            raise SqlAway("the path of the database leads to another file than when the source connected")
        return facts


_WRITTEN_AS_OPERATORS: Final = frozenset({"->", "->>", "current_date", "current_time", "current_timestamp"})
"""How SQLite names what is no call in SQL, when it asks whether a function may be called."""


def is_within(path: Path, facts: os.stat_result, private: Path) -> bool:
    """Whether a file is `private`, in that folder, or another name of a file in it."""
    hidden = private.resolve()
    if lies_in(path, hidden):
        return True
    if facts.st_nlink < 2:
        return False
    files = [hidden] if hidden.is_file() else (Path(folder, name) for folder, _, names in os.walk(hidden) for name in names)
    return any(_is_same(file, facts) for file in files)


def _is_same(file: Path, facts: os.stat_result) -> bool:
    try:
        return os.path.samestat(file.stat(), facts)
    except OSError:
        return False


def _find_packages() -> list[str]:
    """Where the SQLite of the gateway is installed: the process starts without any folder of packages."""
    found = find_spec("pysqlite3")
    return [] if found is None or found.origin is None else [str(Path(found.origin).parents[1])]


def _read_answer(answer: bytes, seconds: float, *, stopped: bool, keeps: bool) -> Any:
    try:
        read = json.loads(answer)
    except ValueError:
        if stopped:
            raise SqlFailed(NO_ANSWER.format(seconds=seconds), late=True, unknown=keeps) from None
        # Killed by its own limits: nothing was written, or SQLite puts it back when the file is opened next.
        raise SqlFailed("this statement needs more memory or time than it may have", unknown=keeps) from None
    match read:
        case {"value": value}:
            return value
        case {"kind": "away", "error": str(message)}:
            raise SqlAway(message)
        case {"kind": "late"}:
            raise SqlFailed(NO_ANSWER.format(seconds=seconds), late=True)
        case {"kind": "locked", "error": str(message)}:
            raise SqlFailed(message, late=True)
        case _:
            raise SqlFailed(str(read.get("error")))


def _read_tables(found: Any) -> Sequence[SqlTable]:
    return [
        SqlTable(
            "main",
            table["name"],
            tuple(SqlColumn(name, kind, nullable=not required, key=bool(key)) for name, kind, required, key in table["columns"]),
            view=table["view"],
        )
        for table in found
    ]


def _read_rows(found: Any, caps: SqlCaps) -> SqlRows:
    cut = {"rows": f"only the first {caps.rows} rows", "bytes": f"only the rows of the first {caps.bytes} bytes", "": ""}
    return SqlRows(tuple(found["columns"]), found["rows"], cut[found["cut"]], found["cut_cells"])


def _read_change(found: Any, statement: SqlStatement, caps: SqlCaps) -> SqlChanged:
    assert statement.target is not None, "a change has a table"
    names = (*statement.target.keys, *statement.changed)

    def by_name(row: list[Json] | None) -> dict[str, Json] | None:
        return None if row is None else dict(zip(names, row, strict=True))

    shown = tuple(
        ChangedRow(by_name(before), by_name(after)) for before, after in zip(found["before"], found["after"], strict=True)
    )
    returned = None if found["returned"] is None else _read_rows(found["returned"], caps)
    return SqlChanged(found["rows"], {"": found["elsewhere"]} if found["elsewhere"] else {}, shown, returned)
