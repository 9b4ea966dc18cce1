"""Whether a database can be read by this version, and in one line what it is that cannot be."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.migration import HEAD
from gateway.adapters.storage.reader import RECOVER
from gateway.adapters.storage.sqlite import DATABASE, describe, is_damaged, require_database, table_names
from gateway.core.errors import LedgerDamaged, LedgerUnavailable, Misconfigured

_REVISION = text("SELECT version_num FROM alembic_version")


def require_some_database(folder: Path) -> Path:
    """The database of a state folder. Raises Misconfigured where there is none, LedgerDamaged for an empty file."""
    path = require_database(folder)
    if path.stat().st_size == 0:
        raise LedgerDamaged(f"`{DATABASE}` is empty; {RECOVER}")
    return path


def require_readable(connection: Connection) -> None:
    """Raises Misconfigured for a schema that this version does not know, LedgerDamaged for a database that lacks a table."""
    found = table_names(connection)
    if "alembic_version" not in found:
        raise LedgerDamaged(f"`{DATABASE}` has no tables of this gateway; {RECOVER}")
    require_known(revision := str(connection.execute(_REVISION).scalar()))
    missing = set(t.metadata.tables).difference(found)
    if missing and revision == HEAD:
        raise LedgerDamaged(f"`{DATABASE}` lacks the table `{min(missing)}`; {RECOVER}")
    if missing:
        raise Misconfigured(
            f"the database has schema `{revision}` of an older version; start the gateway once, which brings it up to `{HEAD}`"
        )


def require_known(revision: str) -> None:
    """Raises Misconfigured for a schema from the future."""
    if revision > HEAD:
        raise Misconfigured(f"the database has schema `{revision}`, which this version does not know; use a newer version")


def explain(error: Exception) -> LedgerUnavailable:
    """What a statement failed of: damage, with what to do about it, or something that may pass."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if "malformed JSON" in str(cause):
        return LedgerDamaged(f"a stored record is no JSON any more; `countersign audit verify` names it; {RECOVER}")
    if is_damaged(cause):
        return LedgerDamaged(f"`{DATABASE}` is damaged or no database of this gateway: {describe(cause)}; {RECOVER}")
    return LedgerUnavailable(f"the database cannot be read: {describe(cause)}")
