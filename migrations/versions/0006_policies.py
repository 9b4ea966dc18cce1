"""Which policy came into force when, and the record that holds its texts.

Records that were written before hold no texts, so they get no row.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "policies",
        sa.Column("leaf", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("leaf", name=op.f("pk_policies")),
    )
    op.create_index(op.f("ix_policies_version"), "policies", ["version"])


def downgrade() -> None:
    op.drop_index(op.f("ix_policies_version"), table_name="policies")
    op.drop_table("policies")
