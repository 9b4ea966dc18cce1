"""Noes in a row of a session, through restarts; and the place of each question in the log.

Sessions that are there already begin at none; questions get the place of their call's first entry.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

PLACE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("agent_sessions", sa.Column("denials", sa.Integer(), nullable=False, server_default=sa.text("0")))
    op.add_column("approvals", sa.Column("leaf", PLACE, nullable=False, server_default=sa.text("0")))
    op.execute(
        "UPDATE approvals SET leaf = COALESCE((SELECT calls.request_leaf FROM calls"
        " WHERE calls.conversation_id = approvals.conversation_id AND calls.call_id = approvals.call_id), 0)"
    )
    op.drop_index(op.f("ix_approvals_principal_id_requested_at"), table_name="approvals")
    op.create_index(op.f("ix_approvals_principal_id_leaf"), "approvals", ["principal_id", "leaf"])


def downgrade() -> None:
    op.drop_index(op.f("ix_approvals_principal_id_leaf"), table_name="approvals")
    op.create_index(op.f("ix_approvals_principal_id_requested_at"), "approvals", ["principal_id", "requested_at"])
    op.drop_column("approvals", "leaf")
    op.drop_column("agent_sessions", "denials")
