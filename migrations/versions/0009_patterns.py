"""Patterns within which a grant lets an argument vary.

Questions of before this upgrade offer none, and grants of before have none.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("approvals", sa.Column("patterns", sa.Text(), nullable=False, server_default=sa.text("'[]'")))
    op.add_column("grants", sa.Column("within", sa.Text()))


def downgrade() -> None:
    op.drop_column("grants", "within")
    op.drop_column("approvals", "patterns")
