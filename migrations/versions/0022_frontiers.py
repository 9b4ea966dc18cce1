"""The tree's right edge, now and then: from there on a start hashes a long log, and not from its beginning.

There is none until the next commit.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    place = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "frontiers",
        sa.Column("size", place, autoincrement=False, nullable=False),
        sa.Column("nodes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("size", name=op.f("pk_frontiers")),
    )


def downgrade() -> None:
    op.drop_table("frontiers")
