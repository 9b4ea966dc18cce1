"""The history of calls over the ledger in memory: the product's own, reading a copy of the log."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, StaticPool, create_engine

from gateway.adapters.storage.history.stored import StoredHistory
from gateway.adapters.storage.record_texts import register_functions
from gateway.adapters.storage.sqlite import choose_driver
from tests.fakes.ledger import MemoryLedger


class MemoryCallHistory(StoredHistory):
    """Answers from what the ledger holds at the moment of the question."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self._ledger = ledger
        self._copied, log_engine = _open_memory()
        super().__init__(_open_memory()[1], log_engine)

    def _read_on(self, stretches: int) -> bool:
        self._ledger.copy_to(self._copied)
        return super()._read_on(stretches)


def _open_memory() -> tuple[Any, Engine]:
    driver: Any = choose_driver()
    connection = driver.connect(":memory:", isolation_level=None, check_same_thread=False)
    register_functions(connection)
    return connection, create_engine("sqlite+pysqlite://", module=driver, creator=lambda: connection, poolclass=StaticPool)
