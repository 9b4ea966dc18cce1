"""The table of the tree's right edge, now and then."""

from __future__ import annotations

from sqlalchemy import Column, LargeBinary, MetaData, Table

from gateway.adapters.storage.sqlite import Place


def frontiers_table(metadata: MetaData) -> Table:
    """The roots of the full subtrees over so many leaves, largest first and end to end. A start hashes the log from one of them
    on, to a root that is signed; by itself it proves nothing."""
    return Table(
        "frontiers",
        metadata,
        Column("size", Place, primary_key=True, autoincrement=False),
        Column("nodes", LargeBinary, nullable=False),
    )
