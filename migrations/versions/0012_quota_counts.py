"""What was used of quotas: one row for each meter, window and holder. What was used before is not known."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "quota_counts",
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("span", sa.Text(), nullable=False),
        sa.Column("meter", sa.Text(), nullable=False),
        sa.Column("period", sa.BigInteger(), nullable=False),
        sa.Column("used", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("holder", "span", "meter", name=op.f("pk_quota_counts")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("quota_counts")
