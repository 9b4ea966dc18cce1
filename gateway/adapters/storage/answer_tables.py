"""The table of who approved what takes several people."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, LargeBinary, MetaData, Table, Text


def answers_table(metadata: MetaData) -> Table:
    """One row for each passkey that approved: of a question that waits, those whose approval still counts."""
    return Table(
        "approval_answers",
        metadata,
        Column("approval_id", Text, ForeignKey("approvals.id"), primary_key=True),
        Column("principal_id", Text, primary_key=True),
        Column("credential_id", LargeBinary, nullable=False),
        Column("at", BigInteger, nullable=False),
        Index(None, "principal_id"),
        sqlite_with_rowid=False,
    )
