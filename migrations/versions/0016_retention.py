"""Until when the content of a call is kept. What closed before this upgrade is kept until somebody erases it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("calls", sa.Column("erase_at", sa.BigInteger()))
    where = sa.text("erase_at IS NOT NULL")
    op.create_index("ix_calls_erase_at", "calls", ["erase_at"], sqlite_where=where, postgresql_where=where)
    where = sa.text("parent_id IS NOT NULL")
    op.create_index("ix_conversations_parent_id", "conversations", ["parent_id"], sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    op.drop_index("ix_conversations_parent_id", "conversations")
    op.drop_index("ix_calls_erase_at", "calls")
    op.drop_column("calls", "erase_at")
