"""Which calls came so far that their tool ran, or may have run.

Of calls that are there already, those have run whose closing entry says so, and those that are still running.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("calls", sa.Column("intended", sa.Boolean(), nullable=False, server_default=sa.false()))
    # The bodies are canonical JSON, in which a text can hold no bare quotation mark. `_` stands for the colon, which would begin
    # a parameter.
    op.execute(
        "UPDATE calls SET intended = TRUE WHERE state = 'running' OR closing_leaf IN (SELECT position FROM leaves"
        """ WHERE body LIKE '%"executed"_true%' OR body LIKE '%"event"_"call_found-unknown"%')"""
    )


def downgrade() -> None:
    op.drop_column("calls", "intended")
