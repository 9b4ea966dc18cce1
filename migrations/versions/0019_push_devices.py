"""Devices that are told of questions while no page is open.

There was none before.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "push_devices",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("principal_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("service", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("added_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["principal_id"], ["principals.id"], name=op.f("fk_push_devices_principal_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_push_devices")),
        sa.UniqueConstraint("digest", name=op.f("uq_push_devices_digest")),
    )
    op.create_index(op.f("ix_push_devices_principal_id"), "push_devices", ["principal_id"])


def downgrade() -> None:
    op.drop_index(op.f("ix_push_devices_principal_id"), table_name="push_devices")
    op.drop_table("push_devices")
