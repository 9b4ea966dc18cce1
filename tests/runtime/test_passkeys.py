"""A person's own passkeys: adding, renaming and removing them; through fakes of every port."""

from __future__ import annotations

import asyncio

import pytest

from gateway.core.errors import NotFound, Refused
from gateway.core.ledger import Entry, PasskeyAdded, PasskeyRemoved, PrincipalRemoved
from gateway.core.vocabulary import Profile
from gateway.runtime.passkeys import PASSKEYS_PER_PERSON
from tests.authenticator import Forgery
from tests.runtime.accounts import BROWSER, Accounts


async def test_a_further_passkey_signs_the_same_person_in(people: Accounts) -> None:
    enrolled = await people.enrol()
    people.clock.advance(1)
    options = await people.passkeys.addition_options(BROWSER, enrolled.session)
    added = await people.passkeys.add(BROWSER, enrolled.session, people.authenticator.create(options), "phone")
    assert [passkey.name for passkey in await people.passkeys.passkeys(enrolled.session)] == ["First passkey", "phone"]
    assert people.recorded(PasskeyAdded)[-1].passkey == added
    assert (await people.sign_in()).session.principal == enrolled.session.principal


async def test_a_further_passkey_needs_an_answer_within_five_minutes(people: Accounts) -> None:
    """docs/SECURITY.md case 38: a hijacked session registers nothing."""
    enrolled = await people.enrol()
    people.clock.advance(301)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.addition_options(BROWSER, enrolled.session)
    assert refusal.value.reason == "stepUpRequired"
    renewed = await people.sign_in(enrolled.session)
    options = await people.passkeys.addition_options(BROWSER, renewed.session)
    registration = people.authenticator.create(options)
    people.clock.advance(301)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.add(BROWSER, renewed.session, registration, None)
    assert refusal.value.reason == "stepUpRequired"


async def test_case_274_a_person_who_is_removed_while_they_add_a_passkey_has_none(
    people: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await people.enrol()
    registration = people.authenticator.create(await people.passkeys.addition_options(BROWSER, ada.session))
    append = people.ledger.append

    async def remove_them_first(*entries: Entry) -> tuple[int | None, ...]:
        if isinstance(entries[0], PasskeyAdded):
            await append(PrincipalRemoved(people.clock.now(), ada.session.principal.id, None))
        return await append(*entries)

    monkeypatch.setattr(people.ledger, "append", remove_them_first)
    with pytest.raises(Refused):
        await people.passkeys.add(BROWSER, ada.session, registration, None)
    assert await people.passkeys.passkeys(ada.session) == ()


async def test_a_further_passkeys_challenge_is_no_other_sessions(people: Accounts) -> None:
    ada = await people.enrol("ada")
    bob = await people.enrol("bob", Profile.GUEST)
    options = await people.passkeys.addition_options(BROWSER, ada.session)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.add(BROWSER, bob.session, people.authenticator.create(options), None)
    assert refusal.value.reason == "challenge"


async def test_a_passkey_that_is_registered_already_is_refused(people: Accounts) -> None:
    enrolled = await people.enrol()
    known = people.authenticator.credentials[0].id
    options = await people.passkeys.addition_options(BROWSER, enrolled.session)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.add(
            BROWSER, enrolled.session, people.authenticator.create(options, Forgery(credential_id=known)), None
        )
    assert refusal.value.reason == "credential"


async def test_a_person_has_no_more_than_twenty_passkeys(people: Accounts) -> None:
    enrolled = await people.enrol()
    for _ in range(PASSKEYS_PER_PERSON - 1):
        options = await people.passkeys.addition_options(BROWSER, enrolled.session)
        await people.passkeys.add(BROWSER, enrolled.session, people.authenticator.create(options), None)
    options = await people.passkeys.addition_options(BROWSER, enrolled.session)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.add(BROWSER, enrolled.session, people.authenticator.create(options), None)
    assert refusal.value.reason == "tooManyPasskeys"


async def test_a_removed_passkey_answers_nothing(people: Accounts) -> None:
    enrolled = await people.enrol()
    first = people.authenticator.credentials[0]
    options = await people.passkeys.addition_options(BROWSER, enrolled.session)
    await people.passkeys.add(BROWSER, enrolled.session, people.authenticator.create(options), None)
    await people.passkeys.remove(enrolled.session, first.id)
    assert people.recorded(PasskeyRemoved)[-1].credential_id == first.id
    people.authenticator.credentials = [first]
    with pytest.raises(Refused) as refusal:
        await people.sign_in()
    assert refusal.value.reason == "credential"


async def test_the_last_passkey_stays_also_when_two_are_removed_at_once(people: Accounts) -> None:
    enrolled = await people.enrol()
    options = await people.passkeys.addition_options(BROWSER, enrolled.session)
    await people.passkeys.add(BROWSER, enrolled.session, people.authenticator.create(options), None)
    one, two = (credential.id for credential in people.authenticator.credentials)
    outcomes = await asyncio.gather(
        people.passkeys.remove(enrolled.session, one), people.passkeys.remove(enrolled.session, two), return_exceptions=True
    )
    assert [outcome.reason for outcome in outcomes if isinstance(outcome, Refused)] == ["lastPasskey"]
    assert len(await people.passkeys.passkeys(enrolled.session)) == 1


async def test_a_passkey_is_renamed_by_its_owner_alone(people: Accounts) -> None:
    ada = await people.enrol("ada")
    hers = people.authenticator.credentials[0].id
    bob = await people.enrol("bob", Profile.GUEST)
    await people.passkeys.rename(ada.session, hers, "laptop")
    assert [passkey.name for passkey in await people.passkeys.passkeys(ada.session)] == ["laptop"]
    with pytest.raises(NotFound):
        await people.passkeys.rename(bob.session, hers, "mine")
    with pytest.raises(NotFound):
        await people.passkeys.remove(bob.session, hers)
