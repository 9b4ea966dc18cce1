"""The table of devices that are told of questions."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, LargeBinary, MetaData, Table, Text


def push_devices_table(metadata: MetaData) -> Table:
    """One row for each device. `digest` is of what is sealed, and no two rows have the same."""
    return Table(
        "push_devices",
        metadata,
        Column("id", Text, primary_key=True),
        Column("principal_id", Text, ForeignKey("principals.id"), nullable=False, index=True),
        Column("name", Text, nullable=False),
        Column("service", Text, nullable=False),
        Column("digest", Text, nullable=False, unique=True),
        Column("sealed", LargeBinary, nullable=False),
        Column("added_at", BigInteger, nullable=False),
    )
