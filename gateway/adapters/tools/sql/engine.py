"""What an engine does: one database of one kind, asked one thing at a time in a thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

from gateway.adapters.tools.sql.schema import SqlTable
from gateway.adapters.tools.sql.statements import SqlStatement
from gateway.core.canonical import Json

Value_co = TypeVar("Value_co", covariant=True)

MAX_CELL: Final = 16 * 1024
"""Characters of one value. What a cell holds beyond that is a document, and better read another way."""

SHOWN_ROWS: Final = 5
"""Rows whose values before and after a change are shown to a person."""

TOO_MUCH_RETURNED: Final = "nothing was changed: RETURNING gives more than may be read; name fewer columns, or leave it out"

NO_ANSWER: Final = "the database did not answer within {seconds:g} seconds, and the statement was stopped"


@dataclass(frozen=True, slots=True)
class SqlCaps:
    """What one statement may use. `seconds` for all of it, `bytes` of all values together."""

    rows: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class SqlRows:
    """Rows of JSON values. `cut` says in words why there are no more, and is empty where these are all; `cut_cells` is how
    many values were shortened."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Json]]
    cut: str = ""
    cut_cells: int = 0


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """One row of a change, by the values of its key; None for values where there is no row."""

    before: Mapping[str, Json] | None
    after: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True)
class SqlChanged:
    """What a change did, or would do. `rows` of its table; `elsewhere` counts the rows that triggers and foreign keys change
    beside them, by table where the database tells (the empty name otherwise); `returned` is what its RETURNING gave."""

    rows: int
    elsewhere: Mapping[str, int] = field(default_factory=dict[str, int])
    shown: tuple[ChangedRow, ...] = ()
    returned: SqlRows | None = None


@dataclass(frozen=True, slots=True)
class SqlWork(Generic[Value_co]):
    """One thing to do. `run` blocks; `stop` may be called from any thread at any time, does not block, and ends `run` soon."""

    run: Callable[[], Value_co]
    stop: Callable[[], None]


class SqlAway(Exception):
    """The database cannot be reached, and nothing ran. `message` is one sentence for the operator."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class SqlFailed(Exception):
    """The statement failed. `message` is one sentence for who wrote it; `late` where it ran out of time, `unknown` where
    nobody knows whether a change was kept, `silent` where the database said nothing at all."""

    def __init__(self, message: str, *, late: bool = False, unknown: bool = False, silent: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.late = late
        self.unknown = unknown
        self.silent = silent


class SqlEngine(Protocol):
    """One database. Every `run` raises SqlAway, SqlFailed and, before anything ran, Misconfigured."""

    @property
    def identity(self) -> str:
        """What database this is, without secrets."""
        ...

    def look(self, seconds: float) -> SqlWork[Sequence[SqlTable]]:
        """The tables and columns that the user may read, without system schemas."""
        ...

    def query(self, statement: SqlStatement, values: Mapping[str, Json], caps: SqlCaps) -> SqlWork[SqlRows]:
        """Run a reading statement; the database itself would refuse any other."""
        ...

    def change(
        self, statement: SqlStatement, values: Mapping[str, Json], caps: SqlCaps, *, keep: bool, expected: int | None = None
    ) -> SqlWork[SqlChanged]:
        """Run a change in one transaction, and keep it or roll it back. Fails, keeping nothing, where more than `caps.rows`
        rows of its table or not the `expected` number would change."""
        ...
