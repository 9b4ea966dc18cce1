"""Enrolment links: who they make, how long they hold, and that each works once; through fakes of every port."""

from __future__ import annotations

import asyncio

import pytest

from gateway.core.errors import Refused
from gateway.core.ledger import ConsoleSessionStarted, LocalOperatorAdded, PrincipalEnrolled
from gateway.core.model import Principal
from gateway.core.vocabulary import Profile
from gateway.runtime.sessions import SignedIn
from tests.runtime.accounts import BROWSER, Accounts


async def test_an_enrolment_link_makes_a_person_a_passkey_and_a_console_session_in_one_step(people: Accounts) -> None:
    signed_in = await people.enrol("ada")
    assert (signed_in.session.principal.name, signed_in.session.principal.profile) == ("ada", Profile.OPERATOR)
    assert [type(entry) for entry in people.ledger.entries[-2:]] == [PrincipalEnrolled, ConsoleSessionStarted]
    assert await people.sessions.console(signed_in.secret) == signed_in.session


async def test_the_ledger_holds_no_secret_only_its_hash(people: Accounts) -> None:
    token = await people.passkeys.offer("ada", Profile.OPERATOR)
    signed_in = await people.passkeys.enrol(BROWSER, token, await people.registration(token), None, None)
    written = repr(people.ledger.entries)
    assert token not in written
    assert signed_in.secret not in written


async def test_an_enrolment_link_works_once(people: Accounts) -> None:
    token = await people.passkeys.offer("ada", Profile.OPERATOR)
    await people.passkeys.enrol(BROWSER, token, await people.registration(token), None, None)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.enrolment_options(BROWSER, token)
    assert (refusal.value.reason, refusal.value.status) == ("enrolment", 410)


async def test_two_browsers_with_one_link_make_one_person(people: Accounts) -> None:
    token = await people.passkeys.offer("ada", Profile.OPERATOR)
    first = await people.registration(token, "one")
    second = await people.registration(token, "two")
    outcomes = await asyncio.gather(
        people.passkeys.enrol("one", token, first, None, None),
        people.passkeys.enrol("two", token, second, None, None),
        return_exceptions=True,
    )
    assert [isinstance(outcome, SignedIn) for outcome in outcomes].count(True) == 1
    assert [outcome.reason for outcome in outcomes if isinstance(outcome, Refused)] == ["enrolment"]
    assert len(await people.ledger.principals()) == 1


async def test_an_enrolment_link_runs_out_also_between_options_and_answer(people: Accounts) -> None:
    token = await people.passkeys.offer("ada", Profile.OPERATOR, seconds=60)
    registration = await people.registration(token)
    people.clock.advance(60)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.enrol(BROWSER, token, registration, None, None)
    assert refusal.value.reason == "enrolment"
    assert not await people.ledger.principals()


async def test_the_first_person_must_be_an_operator(people: Accounts) -> None:
    with pytest.raises(Refused) as refusal:
        await people.passkeys.offer("eve", Profile.GUEST)
    assert refusal.value.reason == "operatorFirst"
    await people.enrol("ada")
    guest = await people.enrol("bob", Profile.GUEST)
    assert guest.session.principal.profile is Profile.GUEST


async def local_operator(people: Accounts) -> Principal:
    """Somebody who worked at the terminal before anybody was enrolled."""
    principal = Principal("usr_local", "Operator", Profile.OPERATOR)
    await people.sessions.start_terminal(principal, LocalOperatorAdded(people.clock.now(), principal))
    return principal


async def test_the_first_person_to_enrol_is_the_one_who_worked_at_the_terminal(people: Accounts) -> None:
    local = await local_operator(people)
    assert not await people.passkeys.is_anyone_enrolled()
    with pytest.raises(Refused, match="the first person must be an operator"):
        await people.passkeys.offer("eve", Profile.GUEST)
    ada = await people.enrol("ada")
    assert ada.session.principal == Principal(local.id, "ada", Profile.OPERATOR)
    assert await people.passkeys.is_anyone_enrolled()
    bob = await people.enrol("bob")
    assert bob.session.principal.id != local.id


async def test_of_two_links_only_one_makes_the_person_at_the_terminal(people: Accounts) -> None:
    local = await local_operator(people)
    tokens = [await people.passkeys.offer(name, Profile.OPERATOR) for name in ("ada", "eve")]
    registrations = [await people.registration(token, token) for token in tokens]
    outcomes = await asyncio.gather(
        *(people.passkeys.enrol(token, token, made, None, None) for token, made in zip(tokens, registrations, strict=True)),
    )
    assert [outcome.session.principal.id == local.id for outcome in outcomes].count(True) == 1
    assert len(await people.ledger.principals()) == 2


async def test_a_terminal_is_never_fresh_and_its_session_has_no_way_back(people: Accounts) -> None:
    await local_operator(people)
    principal = (await people.ledger.principals())[0]
    terminal = await people.sessions.start_terminal(principal)
    started = people.ledger.entries[-1]
    assert isinstance(started, ConsoleSessionStarted)
    assert started.terminal
    with pytest.raises(Refused) as refusal:
        people.sessions.require_fresh(terminal)
    assert refusal.value.reason == "stepUpRequired"


async def test_a_challenge_for_one_link_answers_no_other(people: Accounts) -> None:
    token = await people.passkeys.offer("ada", Profile.OPERATOR)
    other = await people.passkeys.offer("eve", Profile.OPERATOR)
    registration = await people.registration(other)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.enrol(BROWSER, token, registration, None, None)
    assert refusal.value.reason == "challenge"


async def test_enrolling_in_a_browser_where_somebody_is_signed_in_ends_their_session(people: Accounts) -> None:
    ada = await people.enrol("ada")
    token = await people.passkeys.offer("bob", Profile.GUEST)
    await people.passkeys.enrol(BROWSER, token, await people.registration(token), None, ada.session)
    assert await people.sessions.console(ada.secret) is None


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "a\nb", "a\u202eb", "a\x00b"])
async def test_a_name_that_cannot_be_shown_plainly_is_refused(people: Accounts, name: str) -> None:
    with pytest.raises(Refused) as refusal:
        await people.passkeys.offer(name, Profile.OPERATOR)
    assert refusal.value.reason == "name"
