"""Texts of records may be kept deflated from now on, which an older version of the program could not read.

Nothing changes in what is there: a text that was written before stays one.
"""

from __future__ import annotations

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Only the number: whoever does not know it leaves the database alone."""


def downgrade() -> None:
    # `record_text` is what the storage gives each of its connections.
    op.execute("UPDATE leaves SET body = record_text(body) WHERE typeof(body) = 'blob'")
