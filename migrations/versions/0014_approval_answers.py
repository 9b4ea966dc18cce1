"""Who approved what takes several people. Every question of before this upgrade takes one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("approvals", sa.Column("approvers", sa.Integer(), nullable=False, server_default=sa.text("1")))
    op.create_table(
        "approval_answers",
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column("principal_id", sa.Text(), nullable=False),
        sa.Column("credential_id", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("approval_id", "principal_id", name=op.f("pk_approval_answers")),
        sa.ForeignKeyConstraint(["approval_id"], ["approvals.id"], name=op.f("fk_approval_answers_approval_id")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_approval_answers_principal_id"), "approval_answers", ["principal_id"])


def downgrade() -> None:
    op.drop_index(op.f("ix_approval_answers_principal_id"), table_name="approval_answers")
    op.drop_table("approval_answers")
    op.drop_column("approvals", "approvers")
