"""The calls that are not closed, by themselves: a start asks for them, and else it reads every call that there ever was."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    where = sa.text("closed_at IS NULL")
    op.create_index("ix_calls_open", "calls", ["request_leaf"], sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    op.drop_index("ix_calls_open", "calls")
