"""Tables of what people did to the policy while the gateway ran."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, MetaData, Table, Text


def freezes_table(metadata: MetaData) -> Table:
    """One row for each time that everything was forbidden, whatever the policy said, until a person ended it."""
    return Table(
        "policy_freezes",
        metadata,
        Column("id", Text, primary_key=True),
        Column("at", BigInteger, nullable=False),
        Column("why", Text, nullable=False),
        Column("thawed_at", BigInteger),
    )


def shadows_table(metadata: MetaData) -> Table:
    """One row for each candidate that ran beside the policy in force; its texts are in the payload of its leaf."""
    return Table(
        "policy_shadows",
        metadata,
        Column("id", Text, primary_key=True),
        Column("at", BigInteger, nullable=False),
        Column("version", Text, nullable=False),
        Column("leaf", BigInteger, nullable=False),
        Column("ended_at", BigInteger),
    )
