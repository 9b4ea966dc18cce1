"""Settings that were changed while the gateway ran, which a restart must not forget.

None was changed before.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "setting_changes",
        sa.Column("leaf", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("leaf", name=op.f("pk_setting_changes")),
    )


def downgrade() -> None:
    op.drop_table("setting_changes")
