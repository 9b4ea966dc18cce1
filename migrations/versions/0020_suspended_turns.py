"""Since when an open turn waits to be bound again, which another restart must not forget.

Those that wait now are counted from the next start.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("turns", sa.Column("suspended_at", sa.BigInteger()))


def downgrade() -> None:
    op.drop_column("turns", "suspended_at")
