"""What is said of a record that was signed and is none that this version writes, such as one of a newer version: one line that
names it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from gateway.core.errors import LedgerDamaged, MalformedJson


@contextmanager
def reading_record(index: int) -> Generator[None]:
    """Raises LedgerDamaged, which names the record, where what is read of it is not there or is of another kind."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, MalformedJson):
        raise LedgerDamaged(
            f"record {index} has a form that this version does not write; a newer version may know it, and"
            " `countersign audit verify` says whether the log is sound"
        ) from None
