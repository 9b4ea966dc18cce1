"""What each subject's reads are built on, whatever executes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final, TypeVar

from sqlalchemy import Executable, Row

from gateway.core.errors import LedgerDamaged

RECOVER: Final = "restore a backup with `countersign restore`, or see what is lost with `countersign recover`"
"""What an operator can do about damage."""

Value = TypeVar("Value")
ARow = Row[*tuple[Any, ...]]


def stored(kind: str, *names: str) -> Callable[[Callable[[ARow], Value]], Callable[[ARow], Value]]:
    """For a function that reads a row: what it cannot read is damage to that `kind` of record, which the columns name."""

    def guard(read: Callable[[ARow], Value]) -> Callable[[ARow], Value]:
        @wraps(read)
        def read_or_say(row: ARow) -> Value:
            try:
                return read(row)
            except (ValueError, TypeError, LookupError, AttributeError):
                named = "/".join(str(getattr(row, name)) for name in names)
                raise LedgerDamaged(f"the stored {kind} `{named}` is damaged; {RECOVER}") from None

        return read_or_say

    return guard


class Reader(ABC):
    """Executes reads. Every one sees all that was committed before it began.

    Raises LedgerUnavailable, and LedgerDamaged for a record that is not what was written.
    """

    @abstractmethod
    def _find(self, query: Executable, read: Callable[[ARow], Value], **parameters: Any) -> Value | None:
        """The first row, at once: for a look-up by key. A query that is made once and given its parameters each time takes a
        seventh of one that is made for each look-up."""

    @abstractmethod
    async def _list(self, query: Executable, read: Callable[[ARow], Value]) -> Sequence[Value]:
        """Every row."""

    async def _count(self, query: Executable) -> int:
        (count,) = await self._list(query, lambda row: int(row[0]))
        return count
