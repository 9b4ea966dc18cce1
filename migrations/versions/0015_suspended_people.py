"""Who is suspended, and since when. Nobody was before this upgrade."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("principals", sa.Column("suspended_at", sa.BigInteger()))


def downgrade() -> None:
    op.drop_column("principals", "suspended_at")
