"""People and their passkeys, as the tables keep them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from sqlalchemy import and_, bindparam, delete, exists, or_, select, update

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.projections.answers import void_answers_of
from gateway.adapters.storage.projections.push import remove_devices_of
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import Change, Statement, given, insertion
from gateway.adapters.storage.stored import texts
from gateway.core.ledger.people import (
    EnrolmentOffered,
    LocalOperatorAdded,
    Passkey,
    PasskeyAdded,
    PasskeyRemoved,
    PasskeyRenamed,
    PasskeyUsed,
    PeopleEntry,
    PrincipalEnrolled,
    PrincipalProfileChanged,
    PrincipalRemoved,
    PrincipalResumed,
    PrincipalSuspended,
    SignInRefused,
)
from gateway.core.model import Principal
from gateway.core.vocabulary import Profile
from gateway.runtime.ports import EnrolmentOffer

# ── writing ──

OFFER_ENROLMENT = insertion(t.enrolments)
USE_ENROLMENT = Statement(
    update(t.enrolments)
    .where(t.enrolments.c.token_hash == given("token_hash"), t.enrolments.c.used_at.is_(None))
    .values(used_at=bindparam("used_at")),
    refusal="the enrolment link was used already",
)
# Used up by nobody: a link that is void looks to its holder like one that somebody has used.
VOID_ENROLMENTS = Statement(update(t.enrolments).where(t.enrolments.c.used_at.is_(None)).values(used_at=bindparam("used_at")))
ENROL = insertion(t.principals, without=("suspended_at",))
_without_passkey = ~exists().where(t.passkeys.c.principal_id == t.principals.c.id)
ENROL_KNOWN = Statement(
    update(t.principals).where(t.principals.c.id == given("id"), _without_passkey).values(name=bindparam("name")),
    refusal="somebody else enrolled in the meantime",
)
CHANGE_PROFILE = Statement(
    update(t.principals).where(t.principals.c.id == given("id")).values(profile=bindparam("profile")),
    refusal="there is no such person",
)
SUSPEND = Statement(
    update(t.principals)
    .where(t.principals.c.id == given("id"), t.principals.c.suspended_at.is_(None))
    .values(suspended_at=bindparam("suspended_at")),
    refusal="there is no such person, or they are suspended already",
)
RESUME = Statement(
    update(t.principals)
    .where(t.principals.c.id == given("id"), t.principals.c.suspended_at.is_not(None))
    .values(suspended_at=bindparam("suspended_at")),
    refusal="nobody of that id is suspended",
)
REMOVE_PASSKEYS = Statement(delete(t.passkeys).where(t.passkeys.c.principal_id == given("principal_id")))
ADD_PASSKEY = insertion(t.passkeys)
# In the same step as the new passkey, for the person may be suspended or removed while another browser registers it.
REQUIRE_OFFERING_SESSION = Statement(
    update(t.console_sessions)
    .where(
        t.console_sessions.c.id == given("id"),
        t.console_sessions.c.principal_id == given("principal_id"),
        t.console_sessions.c.ended_at.is_(None),
        exists().where(t.principals.c.id == t.console_sessions.c.principal_id, t.principals.c.suspended_at.is_(None)),
        exists().where(t.passkeys.c.principal_id == t.console_sessions.c.principal_id),
    )
    .values(expires_at=t.console_sessions.c.expires_at),
    refusal="the session that offered it has ended, or its person is no member any more",
)

_no_counter = and_(t.passkeys.c.sign_count == 0, given("sign_count") == 0)
_own_passkey = and_(t.passkeys.c.credential_id == given("credential_id"), t.passkeys.c.principal_id == given("principal_id"))
_in_use = ~exists().where(t.principals.c.id == t.passkeys.c.principal_id, t.principals.c.suspended_at.is_not(None))
_NOT_OWN = "the passkey is not this principal's"

RENAME_PASSKEY = Statement(update(t.passkeys).where(_own_passkey).values(name=bindparam("name")), refusal=_NOT_OWN)
REMOVE_PASSKEY = Statement(delete(t.passkeys).where(_own_passkey), refusal=_NOT_OWN)
USE_PASSKEY = Statement(
    update(t.passkeys)
    # WebAuthn L3 section 7.2 step 22: a counter that does not rise is a copy of the authenticator, unless it has none.
    .where(_own_passkey, _in_use, or_(t.passkeys.c.sign_count < given("sign_count"), _no_counter))
    .values(sign_count=bindparam("sign_count"), backed_up=bindparam("backed_up"), last_used_at=bindparam("last_used_at")),
    refusal="the passkey is not this principal's, its counter went back, or they are suspended",
)


def change_people(entry: PeopleEntry) -> Sequence[Change]:
    """What an entry about people changes, in order."""
    match entry:
        case EnrolmentOffered():
            values = {
                "token_hash": entry.token_hash,
                "name": entry.name,
                "profile": entry.profile.value,
                "expires_at": entry.expires_at,
                "used_at": None,
            }
            return (Change(OFFER_ENROLMENT, values),)
        case LocalOperatorAdded():
            return (Change(ENROL, _principal_row(entry.principal, entry.at)),)
        case PrincipalEnrolled(principal=person):
            return (
                Change(USE_ENROLMENT, {"of_token_hash": entry.token_hash, "used_at": entry.at}),
                Change(ENROL_KNOWN, {"of_id": person.id, "name": person.name})
                if entry.known
                else Change(ENROL, _principal_row(person, entry.at)),
                Change(ADD_PASSKEY, _passkey_row(entry.passkey)),
            )
        case PrincipalProfileChanged():
            return (
                Change(CHANGE_PROFILE, {"of_id": entry.principal_id, "profile": entry.profile.value}),
                Change(VOID_ENROLMENTS, {"used_at": entry.at}),
                void_answers_of(entry.principal_id),
            )
        case PrincipalSuspended():
            return (
                Change(SUSPEND, {"of_id": entry.principal_id, "suspended_at": entry.at}),
                Change(VOID_ENROLMENTS, {"used_at": entry.at}),
                void_answers_of(entry.principal_id),
            )
        case PrincipalResumed():
            return (Change(RESUME, {"of_id": entry.principal_id, "suspended_at": None}),)
        case PrincipalRemoved():
            return (
                Change(REMOVE_PASSKEYS, {"of_principal_id": entry.principal_id}),
                Change(VOID_ENROLMENTS, {"used_at": entry.at}),
                void_answers_of(entry.principal_id),
                remove_devices_of(entry.principal_id),
            )
        case PasskeyAdded(passkey=passkey, offered_by=session):
            offering = Change(REQUIRE_OFFERING_SESSION, {"of_id": session, "of_principal_id": passkey.principal_id})
            return (*(() if session is None else (offering,)), Change(ADD_PASSKEY, _passkey_row(passkey)))
        case PasskeyRenamed():
            return (Change(RENAME_PASSKEY, {**_of_passkey(entry), "name": entry.name}),)
        case PasskeyRemoved():
            return (Change(REMOVE_PASSKEY, _of_passkey(entry)), void_answers_of(entry.principal_id, entry.credential_id))
        case PasskeyUsed():
            values = {
                **_of_passkey(entry),
                "of_sign_count": entry.sign_count,
                "sign_count": entry.sign_count,
                "backed_up": entry.backed_up,
                "last_used_at": entry.at,
            }
            return (Change(USE_PASSKEY, values),)
        case SignInRefused():
            return ()
        case _:
            assert_never(entry)


def _principal_row(principal: Principal, at: int) -> dict[str, Any]:
    return {"id": principal.id, "name": principal.name, "profile": principal.profile.value, "enrolled_at": at}


def _of_passkey(entry: PasskeyRenamed | PasskeyRemoved | PasskeyUsed) -> dict[str, Any]:
    return {"of_credential_id": entry.credential_id, "of_principal_id": entry.principal_id}


def _passkey_row(passkey: Passkey) -> dict[str, Any]:
    return {
        "credential_id": passkey.id,
        "principal_id": passkey.principal_id,
        "public_key": passkey.public_key,
        "sign_count": passkey.sign_count,
        "backup_eligible": passkey.backup_eligible,
        "backed_up": passkey.backed_up,
        "user_handle": passkey.user_handle,
        "transports": texts.write(passkey.transports),
        "name": passkey.name,
        "created_at": passkey.created_at,
        "last_used_at": passkey.last_used_at,
    }


# ── reading ──

PRINCIPAL_COLUMNS = (
    t.principals.c.id.label("principal_id"),
    t.principals.c.name.label("principal_name"),
    t.principals.c.profile,
    t.principals.c.suspended_at,
)
"""What `read_principal` reads, for every query whose rows are about a person."""

_principals = select(*PRINCIPAL_COLUMNS)


@stored("person", "principal_id")
def read_principal(row: ARow) -> Principal:
    """The person of a row that has PRINCIPAL_COLUMNS."""
    return Principal(row.principal_id, row.principal_name, Profile(row.profile), row.suspended_at is not None)


@stored("enrolment", "name")
def _read_enrolment(row: ARow) -> EnrolmentOffer:
    return EnrolmentOffer(row.name, Profile(row.profile), row.expires_at)


@stored("passkey", "name")
def _read_passkey(row: ARow) -> Passkey:
    return Passkey(
        id=row.credential_id,
        principal_id=row.principal_id,
        public_key=row.public_key,
        sign_count=row.sign_count,
        backup_eligible=row.backup_eligible,
        backed_up=row.backed_up,
        user_handle=row.user_handle,
        transports=texts.read(row.transports),
        name=row.name,
        created_at=row.created_at,
        last_used_at=row.last_used_at,
    )


class PeopleReader(Reader):
    """People and their passkeys."""

    async def principals(self) -> Sequence[Principal]:
        return await self._list(_principals.order_by(t.principals.c.enrolled_at, t.principals.c.id), read_principal)

    async def principal(self, principal_id: str) -> Principal | None:
        return self._find(_principals.where(t.principals.c.id == principal_id), read_principal)

    async def principal_of_handle(self, user_handle: bytes) -> Principal | None:
        owner = _principals.join(t.passkeys, t.passkeys.c.principal_id == t.principals.c.id)
        return self._find(owner.where(t.passkeys.c.user_handle == user_handle).limit(1), read_principal)

    async def passkeys(self, principal_id: str) -> Sequence[Passkey]:
        own = select(t.passkeys).where(t.passkeys.c.principal_id == principal_id)
        return await self._list(own.order_by(t.passkeys.c.created_at, t.passkeys.c.credential_id), _read_passkey)

    async def passkey(self, credential_id: bytes) -> Passkey | None:
        return self._find(select(t.passkeys).where(t.passkeys.c.credential_id == credential_id), _read_passkey)

    async def enrolment(self, token_hash: str) -> EnrolmentOffer | None:
        unused = select(t.enrolments).where(t.enrolments.c.token_hash == token_hash, t.enrolments.c.used_at.is_(None))
        return self._find(unused, _read_enrolment)
