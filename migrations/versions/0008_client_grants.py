"""Clients that people let act for them, with the hashes of their tokens.

Nothing was kept before: every client asks once more after this upgrade.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "client_grants",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("client", sa.Text(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("granted_at", sa.BigInteger(), nullable=False),
        sa.Column("access_hash", sa.Text(), nullable=False),
        sa.Column("access_until", sa.BigInteger(), nullable=False),
        sa.Column("refresh_hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_client_grants")),
    )
    op.create_index(op.f("ix_client_grants_session_id"), "client_grants", ["session_id"])
    op.create_table(
        "client_spent_secrets",
        sa.Column("grant_id", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("grant_id", "secret_hash", name=op.f("pk_client_spent_secrets")),
    )


def downgrade() -> None:
    op.drop_table("client_spent_secrets")
    op.drop_index(op.f("ix_client_grants_session_id"), table_name="client_grants")
    op.drop_table("client_grants")
