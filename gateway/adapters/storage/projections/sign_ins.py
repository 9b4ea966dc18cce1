"""Sign-ins to sources: the sealed tokens of each, as the tables keep them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from sqlalchemy import bindparam, delete, select, update

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import Change, Statement, given, insertion
from gateway.core.ledger.sign_ins import (
    SignInEntry,
    SourceSignedIn,
    SourceSignedOut,
    SourceSignInFailed,
    SourceSignInStarted,
    SourceTokensRenewed,
)
from gateway.runtime.ports import StoredSignIn

# ── writing ──

_of_source = t.source_sign_ins.c.source == given("source")

FORGET_SIGN_IN = Statement(delete(t.source_sign_ins).where(_of_source))
ADD_SIGN_IN = insertion(t.source_sign_ins)
RENEW_SIGN_IN = Statement(
    update(t.source_sign_ins).where(_of_source).values(sealed=bindparam("sealed")), refusal="nobody is signed in to that source"
)


def change_sign_ins(entry: SignInEntry) -> Sequence[Change]:
    """What an entry about a sign-in changes, in order."""
    match entry:
        case SourceSignInStarted() | SourceSignInFailed():
            return ()
        case SourceSignedIn():
            row = {
                "source": entry.source,
                "sealed": entry.sealed,
                "server": entry.server,
                "principal_id": entry.principal_id,
                "signed_in_at": entry.at,
            }
            return (forget_sign_in(entry.source), Change(ADD_SIGN_IN, row))
        case SourceTokensRenewed():
            return (Change(RENEW_SIGN_IN, {"of_source": entry.source, "sealed": entry.sealed}),)
        case SourceSignedOut():
            return (forget_sign_in(entry.source),)
        case _:
            assert_never(entry)


def forget_sign_in(source: str) -> Change:
    """Remove what is there, if anything is."""
    return Change(FORGET_SIGN_IN, {"of_source": source})


# ── reading ──


@stored("sign-in", "source")
def _read_sign_in(row: ARow) -> tuple[str, StoredSignIn]:
    return row.source, StoredSignIn(bytes(row.sealed), row.server, row.principal_id, row.signed_in_at)


class SignInReader(Reader):
    """Sign-ins to sources."""

    async def source_sign_ins(self) -> dict[str, StoredSignIn]:
        return dict(await self._list(select(t.source_sign_ins).order_by(t.source_sign_ins.c.source), _read_sign_in))
