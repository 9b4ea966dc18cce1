"""Tables of settings that were changed while the gateway ran."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, MetaData, Table


def setting_changes_table(metadata: MetaData) -> Table:
    """One row for each change: the leaf whose body has every choice that held from then on."""
    return Table(
        "setting_changes",
        metadata,
        Column("leaf", BigInteger, primary_key=True, autoincrement=False),
        Column("at", BigInteger, nullable=False),
    )
