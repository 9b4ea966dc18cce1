"""How Alembic reaches the database: through the gateway's own connection, or for development through `-x database=PATH`."""

from __future__ import annotations

from pathlib import Path

from alembic import context
from sqlalchemy import Connection

from gateway.adapters.storage.sqlite import open_for_writing
from gateway.adapters.storage.tables import metadata


def run(connection: Connection) -> None:
    # SQLite cannot alter most of a table in place; batch mode copies it.
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()


given: Connection | None = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    engine = open_for_writing(Path(context.get_x_argument(as_dictionary=True)["database"]))
    with engine.begin() as own:
        run(own)
