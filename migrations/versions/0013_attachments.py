"""Bytes that came with results: images, and what else is no text.

Results of before this upgrade have none.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attachments",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], name=op.f("fk_attachments_conversation_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attachments")),
    )
    op.create_index(op.f("ix_attachments_conversation_id"), "attachments", ["conversation_id", "call_id"])


def downgrade() -> None:
    op.drop_index(op.f("ix_attachments_conversation_id"), table_name="attachments")
    op.drop_table("attachments")
