"""Texts of records may be kept with the text of their question as dictionary, which an older version could not read.

Nothing changes in what is there.
"""

from __future__ import annotations

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Only the number: whoever does not know it leaves the database alone."""


def downgrade() -> None:
    # The functions are what the storage gives each of its connections. A question becomes a text before or after those that rest
    # on it: either is read.
    op.execute(
        "UPDATE leaves SET body = record_text(body, (SELECT CAST(asked.body AS BLOB) FROM leaves AS asked"
        " WHERE asked.position = record_question(leaves.body, leaves.position)))"
        " WHERE typeof(body) = 'blob' AND substr(body, 1, 1) = x'2f'"
    )
