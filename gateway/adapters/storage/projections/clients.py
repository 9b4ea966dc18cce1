"""Clients that people let act for them, as the tables keep them: nothing but hashes of their secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from sqlalchemy import bindparam, delete, select, update

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import Change, Statement, given, insertion
from gateway.core.ledger.clients import (
    ClientEntry,
    ClientGranted,
    ClientTokenMinted,
    ClientTokenRefused,
    ClientTokenRevoked,
)
from gateway.runtime.ports import StoredClientGrant

# ── writing ──

ADD_GRANT = insertion(t.client_grants)
SPEND: Final = insertion(t.client_spent_secrets)
REPLACE_TOKENS = Statement(
    update(t.client_grants)
    .where(t.client_grants.c.id == given("id"), t.client_grants.c.refresh_hash == given("spent"))
    .values(access_hash=bindparam("access_hash"), access_until=bindparam("access_until"), refresh_hash=bindparam("refresh_hash")),
    refusal="this token was used already, or its grant has ended",
)
END_GRANT = Statement(delete(t.client_grants).where(t.client_grants.c.id == given("id")))
FORGET_SPENT = Statement(delete(t.client_spent_secrets).where(t.client_spent_secrets.c.grant_id == given("id")))
_of_session = select(t.client_grants.c.id).where(t.client_grants.c.session_id == given("session_id"))
FORGET_SPENT_OF_SESSION = Statement(
    delete(t.client_spent_secrets).where(t.client_spent_secrets.c.grant_id.in_(_of_session.scalar_subquery()))
)
END_GRANTS_OF_SESSION = Statement(delete(t.client_grants).where(t.client_grants.c.session_id == given("session_id")))


def change_clients(entry: ClientEntry) -> Sequence[Change]:
    """What an entry about clients changes, in order."""
    match entry:
        case ClientGranted():
            row = {
                "id": entry.grant_id,
                "session_id": entry.session_id,
                "client_id": entry.client_id,
                "client": entry.client,
                "resource": entry.resource,
                "granted_at": entry.at,
                "access_hash": "",
                "access_until": 0,
                "refresh_hash": "",
            }
            return (Change(ADD_GRANT, row), _spend(entry.grant_id, entry.code_hash))
        case ClientTokenMinted():
            values = {
                "of_id": entry.grant_id,
                "of_spent": entry.spent_hash,
                "access_hash": entry.access_hash,
                "access_until": entry.expires_at,
                "refresh_hash": entry.refresh_hash,
            }
            spent = (_spend(entry.grant_id, entry.spent_hash),) if entry.spent_hash else ()
            return (Change(REPLACE_TOKENS, values), *spent)
        case ClientTokenRevoked():
            of_grant = {"of_id": entry.grant_id}
            return (Change(FORGET_SPENT, of_grant), Change(END_GRANT, of_grant))
        case ClientTokenRefused():
            return ()
        case _:
            assert_never(entry)


def end_grants_of(session_id: str) -> Sequence[Change]:
    """What the end of a session makes of the grants that act in it."""
    of_session = {"of_session_id": session_id}
    return (Change(FORGET_SPENT_OF_SESSION, of_session), Change(END_GRANTS_OF_SESSION, of_session))


def _spend(grant_id: str, secret_hash: str) -> Change:
    return Change(SPEND, {"grant_id": grant_id, "secret_hash": secret_hash})


# ── reading ──


@stored("client", "id")
def _read_grant(row: ARow) -> StoredClientGrant:
    return StoredClientGrant(
        id=row.id,
        session_id=row.session_id,
        client_id=row.client_id,
        client=row.client,
        resource=row.resource,
        granted_at=row.granted_at,
        access_hash=row.access_hash,
        access_until=row.access_until,
        refresh_hash=row.refresh_hash,
    )


@stored("spent secret of a client", "grant_id")
def _read_spent(row: ARow) -> tuple[str, str]:
    return row.grant_id, row.secret_hash


class ClientReader(Reader):
    """Clients that act for people."""

    async def client_grants(self) -> Sequence[StoredClientGrant]:
        return await self._list(select(t.client_grants).order_by(t.client_grants.c.granted_at, t.client_grants.c.id), _read_grant)

    async def spent_client_secrets(self) -> Sequence[tuple[str, str]]:
        spent = select(t.client_spent_secrets)
        return await self._list(
            spent.order_by(t.client_spent_secrets.c.grant_id, t.client_spent_secrets.c.secret_hash), _read_spent
        )
