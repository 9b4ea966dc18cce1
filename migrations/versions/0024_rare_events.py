"""The events of the log that pages ask for by name, by themselves: else each such page reads the whole log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    sqlite = op.get_context().dialect.name == "sqlite"
    stands = "instr(body, {}) > 0" if sqlite else "position({} in body) > 0"
    rare = ("approval:break-glass", "policy:loaded", "policy:published")
    cases = (f"WHEN {stands.format(_member(name))} THEN '{name}'" for name in rare)
    event = f"(CASE {' '.join(cases)} END)"
    op.create_index("ix_leaves_rare_event", "leaves", [_literal(event)], sqlite_where=_literal(f"{event} IS NOT NULL"))


def downgrade() -> None:
    op.drop_index("ix_leaves_rare_event", "leaves")


def _member(name: str) -> str:
    return f"""'"event":"{name}"'"""


def _literal(sql: str) -> sa.TextClause:
    # A colon would begin a parameter.
    return sa.text(sql.replace(":", "\\:"))
