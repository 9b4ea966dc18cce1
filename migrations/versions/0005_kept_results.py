"""Whole texts of results that were longer than what was handed out of them.

Nothing was kept before.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "kept_results",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("page_bytes", sa.Integer(), nullable=False),
        sa.Column("redacted", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], name=op.f("fk_kept_results_conversation_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_kept_results")),
    )
    op.create_index(op.f("ix_kept_results_conversation_id"), "kept_results", ["conversation_id", "call_id"])


def downgrade() -> None:
    op.drop_index(op.f("ix_kept_results_conversation_id"), table_name="kept_results")
    op.drop_table("kept_results")
