"""No index of calls by person: those of a day are found by the person's sessions, and every call had one more page written."""

from __future__ import annotations

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index(op.f("ix_calls_principal_id_received_at"), table_name="calls")


def downgrade() -> None:
    op.create_index(op.f("ix_calls_principal_id_received_at"), "calls", ["principal_id", "received_at"])
