"""Bringing a database to this version's schema, with Alembic and without its command line."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, insert, inspect, text

from gateway.adapters.storage.tables import metadata
from gateway.core.errors import Misconfigured
from gateway.installation import installed_folder

HEAD: Final = "0026"
"""The revision this version works on. A database that has it starts without importing Alembic, which takes 0.2 s."""

IDENTIFIED: Final = "0002"
"""From this revision on a database has an identity."""


_VERSION: Final = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""Alembic's own table."""


def migrate(connection: Connection) -> None:
    """Upgrade the database to HEAD, inside the caller's transaction. Raises Misconfigured for one from the future."""
    at = current_revision(connection)
    if at == HEAD:
        return
    if at is None and not inspect(connection).get_table_names():
        # There is nothing to change step by step, and the tables say the same as all steps together.
        metadata.create_all(connection)
        _VERSION.create(connection)
        connection.execute(insert(_VERSION).values(version_num=HEAD))
        return
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(installed_folder("migrations")))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, HEAD)
    except CommandError:
        raise Misconfigured(f"the database has schema `{at}`, which this version does not know; use a newer version") from None


def current_revision(connection: Connection) -> str | None:
    """The revision a database is at; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
