"""Signing in with a passkey, and what a refused answer leaves behind; through fakes of every port."""

from __future__ import annotations

import pytest

from gateway.core.errors import LedgerUnavailable, Refused
from gateway.core.ledger import (
    ConsoleSessionEnded,
    ConsoleSessionRenewed,
    ConsoleSessionStarted,
    Entry,
    PasskeyUsed,
    PrincipalProfileChanged,
    SignInRefused,
)
from gateway.core.vocabulary import Profile
from gateway.runtime.ceremonies import BROWSERS
from gateway.runtime.passkeys import ANONYMOUS_REFUSALS_PER_MINUTE
from tests.authenticator import Forgery
from tests.fakes.passkeys import PlainAuthenticator
from tests.runtime.accounts import BROWSER, ORIGIN, STATE, Accounts


async def test_sign_in_gives_a_new_session_and_records_the_passkey_use(people: Accounts) -> None:
    enrolled = await people.enrol()
    signed_in = await people.sign_in()
    assert signed_in.session.principal == enrolled.session.principal
    assert signed_in.session.id != enrolled.session.id
    assert signed_in.secret != enrolled.secret
    assert people.recorded(PasskeyUsed)[-1].sign_count == 1


async def test_sign_in_where_one_is_signed_in_changes_the_secret_and_keeps_what_was_lent(people: Accounts) -> None:
    """docs/SECURITY.md case 41: no cookie from before a sign-in or step-up is good after it."""
    enrolled = await people.enrol()
    lent = await people.sessions.redeem(people.sessions.authorize(enrolled.session, STATE), STATE)
    again = await people.sign_in(enrolled.session)
    assert await people.sessions.console(enrolled.secret) is None
    assert await people.sessions.console(again.secret) == again.session
    assert await people.sessions.agent(lent.secret) == lent.session
    assert people.recorded(ConsoleSessionRenewed)[-1].id == enrolled.session.id


async def test_sign_in_as_somebody_else_ends_the_session_that_was_there(people: Accounts) -> None:
    await people.enrol("ada")
    bob = PlainAuthenticator(ORIGIN)
    people.authenticator, ada = bob, people.authenticator
    signed_in = await people.enrol("bob", Profile.GUEST, "browser-of-bob")
    people.authenticator = ada
    taken_over = await people.sign_in(signed_in.session, "browser-of-bob")
    assert taken_over.session.principal.name == "ada"
    assert await people.sessions.console(signed_in.secret) is None


async def test_case_273_a_sign_in_at_the_moment_of_another_profile_is_no_session_of_the_old_one(
    people: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await people.enrol()
    append = people.ledger.append

    async def change_their_profile_first(*entries: Entry) -> tuple[int | None, ...]:
        if isinstance(entries[0], PasskeyUsed):
            await append(PrincipalProfileChanged(people.clock.now(), ada.session.principal.id, Profile.GUEST, None))
        return await append(*entries)

    monkeypatch.setattr(people.ledger, "append", change_their_profile_first)
    with pytest.raises(Refused) as refusal:
        await people.sign_in()
    assert refusal.value.reason == "changed"
    started, ended = people.recorded(ConsoleSessionStarted)[-1], people.recorded(ConsoleSessionEnded)[-1]
    assert (started.id, ended.reason) == (ended.id, "changed")
    assert (await people.sign_in()).session.principal.profile is Profile.GUEST


async def test_a_challenge_is_answered_once(people: Accounts) -> None:
    await people.enrol()
    assertion = people.assertion()
    await people.passkeys.sign_in(BROWSER, assertion, None)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.sign_in(BROWSER, assertion, None)
    assert refusal.value.reason == "challenge"


async def test_a_challenge_is_used_up_by_a_wrong_answer(people: Accounts) -> None:
    await people.enrol()
    options = people.passkeys.sign_in_options(BROWSER)
    with pytest.raises(Refused, match="signed"):
        await people.passkeys.sign_in(BROWSER, people.authenticator.get(options, Forgery(corrupt_signature=True)), None)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.sign_in(BROWSER, people.authenticator.get(options), None)
    assert refusal.value.reason == "challenge"


async def test_a_challenge_from_another_browser_is_worth_nothing(people: Accounts) -> None:
    await people.enrol()
    with pytest.raises(Refused) as refusal:
        await people.passkeys.sign_in("another browser", people.assertion(BROWSER), None)
    assert refusal.value.reason == "challenge"


async def test_a_challenge_runs_out_whatever_the_wall_clock_says(people: Accounts) -> None:
    await people.enrol()
    assertion = people.assertion()
    people.clock.advance(120)
    people.clock.set_wall(people.clock.now() - 3_600_000)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.sign_in(BROWSER, assertion, None)
    assert refusal.value.reason == "challenge"


async def test_a_sign_in_challenge_enrols_nobody(people: Accounts) -> None:
    token = await people.passkeys.offer("ada", Profile.OPERATOR)
    people.passkeys.sign_in_options(BROWSER)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.enrol(BROWSER, token, {}, None, None)
    assert refusal.value.reason == "challenge"


async def test_a_passkey_nobody_knows_is_refused_and_recorded_without_a_name(people: Accounts) -> None:
    await people.enrol()
    options = people.passkeys.sign_in_options(BROWSER)
    with pytest.raises(Refused) as refusal:
        await people.passkeys.sign_in(BROWSER, people.authenticator.get(options, Forgery(credential_id=b"nobody")), None)
    assert refusal.value.reason == "credential"
    assert people.recorded(SignInRefused)[-1].principal_id is None


async def test_a_failed_answer_is_recorded_against_the_person_it_was_meant_for(people: Accounts) -> None:
    enrolled = await people.enrol()
    with pytest.raises(Refused):
        await people.passkeys.sign_in(BROWSER, people.assertion(forgery=Forgery(user_verified=False)), None)
    refused = people.recorded(SignInRefused)[-1]
    assert (refused.purpose, refused.reason) == ("signIn", "userVerification")
    assert refused.principal_id == enrolled.session.principal.id


async def test_five_failures_send_a_browser_back_to_the_start_and_nobody_else(people: Accounts) -> None:
    await people.enrol()
    for attempt in range(5):
        with pytest.raises(Refused) as refusal:
            await people.passkeys.sign_in(BROWSER, people.assertion(forgery=Forgery(corrupt_signature=True)), None)
        assert refusal.value.reason == ("tooManyFailures" if attempt == 4 else "signature")
    assert (await people.sign_in(browser="another browser")).session.principal.name == "ada"
    assert (await people.sign_in()).session.principal.name == "ada"


async def test_a_flood_of_unknown_passkeys_does_not_fill_the_ledger(people: Accounts) -> None:
    await people.enrol()
    for number in range(ANONYMOUS_REFUSALS_PER_MINUTE + 20):
        browser = f"browser {number}"
        forged = people.assertion(browser, Forgery(credential_id=b"nobody"))
        with pytest.raises(Refused):
            await people.passkeys.sign_in(browser, forged, None)
    assert len(people.recorded(SignInRefused)) == ANONYMOUS_REFUSALS_PER_MINUTE
    with pytest.raises(Refused):
        await people.passkeys.sign_in(BROWSER, people.assertion(forgery=Forgery(corrupt_signature=True)), None)
    assert len(people.recorded(SignInRefused)) == ANONYMOUS_REFUSALS_PER_MINUTE + 1
    people.clock.advance(61)
    with pytest.raises(Refused):
        await people.passkeys.sign_in("x", people.assertion("x", Forgery(credential_id=b"nobody")), None)
    assert len(people.recorded(SignInRefused)) == ANONYMOUS_REFUSALS_PER_MINUTE + 2


async def test_a_flood_of_questions_forgets_the_oldest_and_keeps_memory_bounded(people: Accounts) -> None:
    await people.enrol()
    first = people.assertion("first")
    for number in range(BROWSERS):
        people.passkeys.sign_in_options(f"browser {number}")
    with pytest.raises(Refused) as refusal:
        await people.passkeys.sign_in("first", first, None)
    assert refusal.value.reason == "challenge"


async def test_nobody_is_signed_in_when_the_ledger_cannot_write(people: Accounts) -> None:
    await people.enrol()
    assertion = people.assertion()
    people.ledger.failure = LedgerUnavailable("disk full")
    with pytest.raises(LedgerUnavailable):
        await people.passkeys.sign_in(BROWSER, assertion, None)
    people.ledger.failure = None
    assert len(people.recorded(ConsoleSessionStarted)) == 1
