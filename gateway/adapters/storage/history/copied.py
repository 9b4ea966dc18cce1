"""The calls of a stored log for a command: the history beside it is copied and read on, and nothing in the state is written."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage.history.places import HISTORY
from gateway.adapters.storage.history.stored import StoredHistory
from gateway.adapters.storage.sqlite import (
    choose_driver,
    copy_online,
    describe,
    dispose,
    open_for_reading,
    open_history,
    require_database,
)
from gateway.core.errors import LedgerUnavailable


@contextmanager
def open_copied_history(directory: Path) -> Generator[StoredHistory]:
    """Every call of the log of a state folder, also where no gateway ever made its history. The copy takes as much room for
    temporary files as the history has. Raises Misconfigured where there is no log, LedgerUnavailable if unreadable."""
    path = require_database(directory)
    with tempfile.TemporaryDirectory(prefix="countersign-") as folder:
        copy = Path(folder) / HISTORY
        if not _copy(directory / HISTORY, copy):
            copy.unlink(missing_ok=True)
        with dispose(open_for_reading(path)) as log_engine, dispose(open_history(copy)) as engine:
            history = StoredHistory(engine, log_engine, lambda: copy.unlink(missing_ok=True))
            try:
                history.read_all()
                yield history
            except DBAPIError as error:
                raise LedgerUnavailable(f"the log cannot be read: {describe(error.orig)}") from None
            finally:
                history.close()


def _copy(source: Path, target: Path) -> bool:
    """Whether there was a history to copy. One that cannot be read is made again from the log."""
    if not source.is_file():
        return False
    try:
        copy_online(source, target, lambda _done, _all: None)
    except (DBAPIError, choose_driver().Error):
        return False
    return True
