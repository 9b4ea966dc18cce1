"""Signing in, lending sessions and ending them, through fakes of every port."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pytest

from gateway.core.errors import LedgerUnavailable, NotFound, Refused
from gateway.core.ledger import (
    AgentSessionEnded,
    ConsoleSessionEnded,
    ConsoleSessionRenewed,
    ConsoleSessionStarted,
    Entry,
    LocalOperatorAdded,
    PasskeyAdded,
    PasskeyRemoved,
    PasskeyUsed,
    PrincipalEnrolled,
    SignInRefused,
)
from gateway.core.model import Principal
from gateway.core.vocabulary import Profile
from gateway.runtime.ceremonies import BROWSERS
from gateway.runtime.connections import Hub
from gateway.runtime.passkeys import ANONYMOUS_REFUSALS_PER_MINUTE, PASSKEYS_PER_PERSON, PasskeyDesk
from gateway.runtime.ports import ConsoleSession
from gateway.runtime.sessions import CODES_PER_CONSOLE, SessionDesk, SignedIn
from tests.authenticator import Forgery
from tests.fakes.clock import FakeClock
from tests.fakes.entropy import FakeEntropy
from tests.fakes.ledger import MemoryLedger
from tests.fakes.passkeys import PlainAuthenticator, PlainVerifier
from tests.fakes.policy import TablePolicy

RP_ID = "console.localhost"
ORIGIN = "http://console.localhost:8765"
BROWSER = "browser-of-ada"
STATE = "state-of-a-shell"

_AnyEntry = TypeVar("_AnyEntry", bound=Entry)


@dataclass
class House:
    """The two desks over fakes, and an authenticator in a browser."""

    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    clock: FakeClock = field(default_factory=FakeClock)
    hub: Hub = field(default_factory=Hub)
    policy: TablePolicy = field(default_factory=TablePolicy)
    authenticator: PlainAuthenticator = field(default_factory=lambda: PlainAuthenticator(ORIGIN))

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """A new process over the same ledger."""
        entropy = FakeEntropy(seed=f"run {self.clock.monotonic()}")
        self.hub = Hub()
        self.sessions = SessionDesk(
            ledger=self.ledger,
            records=self.ledger,
            hub=self.hub,
            policy=self.policy,
            clock=self.clock,
            entropy=entropy,
        )
        self.passkeys = PasskeyDesk(
            sessions=self.sessions,
            verifier=PlainVerifier(rp_id=RP_ID, origin=ORIGIN),
            ledger=self.ledger,
            records=self.ledger,
            clock=self.clock,
            entropy=entropy,
        )

    async def enrol(self, name: str = "ada", profile: Profile = Profile.OPERATOR, browser: str = BROWSER) -> SignedIn:
        token = await self.passkeys.offer(name, profile)
        return await self.passkeys.enrol(browser, token, await self.registration(token, browser), None, None)

    async def registration(self, token: str, browser: str = BROWSER, forgery: Forgery = Forgery()) -> dict[str, Any]:  # noqa: B008 frozen
        return self.authenticator.create(await self.passkeys.enrolment_options(browser, token), forgery)

    def assertion(self, browser: str = BROWSER, forgery: Forgery = Forgery()) -> dict[str, Any]:  # noqa: B008 frozen
        return self.authenticator.get(self.passkeys.sign_in_options(browser), forgery)

    async def sign_in(self, current: ConsoleSession | None = None, browser: str = BROWSER) -> SignedIn:
        return await self.passkeys.sign_in(browser, self.assertion(browser), current)

    def recorded(self, kind: type[_AnyEntry]) -> list[_AnyEntry]:
        return [entry for entry in self.ledger.entries if isinstance(entry, kind)]


@pytest.fixture
def house() -> House:
    return House()


# ── enrolment ──


async def test_an_enrolment_link_makes_a_person_a_passkey_and_a_console_session_in_one_step(house: House) -> None:
    signed_in = await house.enrol("ada")
    assert (signed_in.session.principal.name, signed_in.session.principal.profile) == ("ada", Profile.OPERATOR)
    assert [type(entry) for entry in house.ledger.entries[-2:]] == [PrincipalEnrolled, ConsoleSessionStarted]
    assert await house.sessions.console(signed_in.secret) == signed_in.session


async def test_the_ledger_holds_no_secret_only_its_hash(house: House) -> None:
    token = await house.passkeys.offer("ada", Profile.OPERATOR)
    signed_in = await house.passkeys.enrol(BROWSER, token, await house.registration(token), None, None)
    written = repr(house.ledger.entries)
    assert token not in written
    assert signed_in.secret not in written


async def test_an_enrolment_link_works_once(house: House) -> None:
    token = await house.passkeys.offer("ada", Profile.OPERATOR)
    await house.passkeys.enrol(BROWSER, token, await house.registration(token), None, None)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.enrolment_options(BROWSER, token)
    assert (refusal.value.reason, refusal.value.status) == ("enrolment", 410)


async def test_two_browsers_with_one_link_make_one_person(house: House) -> None:
    token = await house.passkeys.offer("ada", Profile.OPERATOR)
    first = await house.registration(token, "one")
    second = await house.registration(token, "two")
    outcomes = await asyncio.gather(
        house.passkeys.enrol("one", token, first, None, None),
        house.passkeys.enrol("two", token, second, None, None),
        return_exceptions=True,
    )
    assert [isinstance(outcome, SignedIn) for outcome in outcomes].count(True) == 1
    assert [outcome.reason for outcome in outcomes if isinstance(outcome, Refused)] == ["enrolment"]
    assert len(await house.ledger.principals()) == 1


async def test_an_enrolment_link_runs_out_also_between_options_and_answer(house: House) -> None:
    token = await house.passkeys.offer("ada", Profile.OPERATOR, seconds=60)
    registration = await house.registration(token)
    house.clock.advance(60)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.enrol(BROWSER, token, registration, None, None)
    assert refusal.value.reason == "enrolment"
    assert not await house.ledger.principals()


async def test_the_first_person_must_be_an_operator(house: House) -> None:
    with pytest.raises(Refused) as refusal:
        await house.passkeys.offer("eve", Profile.GUEST)
    assert refusal.value.reason == "operatorFirst"
    await house.enrol("ada")
    guest = await house.enrol("bob", Profile.GUEST)
    assert guest.session.principal.profile is Profile.GUEST


async def local_operator(house: House) -> Principal:
    """Somebody who worked at the terminal before anybody was enrolled."""
    principal = Principal("usr_local", "Operator", Profile.OPERATOR)
    await house.sessions.start_terminal(principal, LocalOperatorAdded(house.clock.now(), principal))
    return principal


async def test_the_first_person_to_enrol_is_the_one_who_worked_at_the_terminal(house: House) -> None:
    local = await local_operator(house)
    assert not await house.passkeys.is_anyone_enrolled()
    with pytest.raises(Refused, match="the first person must be an operator"):
        await house.passkeys.offer("eve", Profile.GUEST)
    ada = await house.enrol("ada")
    assert ada.session.principal == Principal(local.id, "ada", Profile.OPERATOR)
    assert await house.passkeys.is_anyone_enrolled()
    bob = await house.enrol("bob")
    assert bob.session.principal.id != local.id


async def test_of_two_links_only_one_makes_the_person_at_the_terminal(house: House) -> None:
    local = await local_operator(house)
    tokens = [await house.passkeys.offer(name, Profile.OPERATOR) for name in ("ada", "eve")]
    registrations = [await house.registration(token, token) for token in tokens]
    outcomes = await asyncio.gather(
        *(house.passkeys.enrol(token, token, made, None, None) for token, made in zip(tokens, registrations, strict=True)),
    )
    assert [outcome.session.principal.id == local.id for outcome in outcomes].count(True) == 1
    assert len(await house.ledger.principals()) == 2


async def test_a_terminal_is_never_fresh_and_its_session_has_no_way_back(house: House) -> None:
    await local_operator(house)
    principal = (await house.ledger.principals())[0]
    terminal = await house.sessions.start_terminal(principal)
    started = house.ledger.entries[-1]
    assert isinstance(started, ConsoleSessionStarted)
    assert started.terminal
    with pytest.raises(Refused) as refusal:
        house.sessions.require_fresh(terminal)
    assert refusal.value.reason == "stepUpRequired"


async def test_a_challenge_for_one_link_answers_no_other(house: House) -> None:
    token = await house.passkeys.offer("ada", Profile.OPERATOR)
    other = await house.passkeys.offer("eve", Profile.OPERATOR)
    registration = await house.registration(other)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.enrol(BROWSER, token, registration, None, None)
    assert refusal.value.reason == "challenge"


async def test_enrolling_in_a_browser_where_somebody_is_signed_in_ends_their_session(house: House) -> None:
    ada = await house.enrol("ada")
    token = await house.passkeys.offer("bob", Profile.GUEST)
    await house.passkeys.enrol(BROWSER, token, await house.registration(token), None, ada.session)
    assert await house.sessions.console(ada.secret) is None


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "a\nb", "a\u202eb", "a\x00b"])
async def test_a_name_that_cannot_be_shown_plainly_is_refused(house: House, name: str) -> None:
    with pytest.raises(Refused) as refusal:
        await house.passkeys.offer(name, Profile.OPERATOR)
    assert refusal.value.reason == "name"


# ── sign-in ──


async def test_sign_in_gives_a_new_session_and_records_the_passkey_use(house: House) -> None:
    enrolled = await house.enrol()
    signed_in = await house.sign_in()
    assert signed_in.session.principal == enrolled.session.principal
    assert signed_in.session.id != enrolled.session.id
    assert signed_in.secret != enrolled.secret
    assert house.recorded(PasskeyUsed)[-1].sign_count == 1


async def test_sign_in_where_one_is_signed_in_changes_the_secret_and_keeps_what_was_lent(house: House) -> None:
    """security.md section 7 case 41: no cookie from before a sign-in or step-up is good after it."""
    enrolled = await house.enrol()
    lent = await house.sessions.redeem(house.sessions.authorize(enrolled.session, STATE), STATE)
    again = await house.sign_in(enrolled.session)
    assert await house.sessions.console(enrolled.secret) is None
    assert await house.sessions.console(again.secret) == again.session
    assert await house.sessions.agent(lent.secret) == lent.session
    assert house.recorded(ConsoleSessionRenewed)[-1].id == enrolled.session.id


async def test_sign_in_as_somebody_else_ends_the_session_that_was_there(house: House) -> None:
    await house.enrol("ada")
    bob = PlainAuthenticator(ORIGIN)
    house.authenticator, ada = bob, house.authenticator
    signed_in = await house.enrol("bob", Profile.GUEST, "browser-of-bob")
    house.authenticator = ada
    taken_over = await house.sign_in(signed_in.session, "browser-of-bob")
    assert taken_over.session.principal.name == "ada"
    assert await house.sessions.console(signed_in.secret) is None


async def test_a_challenge_is_answered_once(house: House) -> None:
    await house.enrol()
    assertion = house.assertion()
    await house.passkeys.sign_in(BROWSER, assertion, None)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.sign_in(BROWSER, assertion, None)
    assert refusal.value.reason == "challenge"


async def test_a_challenge_is_used_up_by_a_wrong_answer(house: House) -> None:
    await house.enrol()
    options = house.passkeys.sign_in_options(BROWSER)
    with pytest.raises(Refused, match="signed"):
        await house.passkeys.sign_in(BROWSER, house.authenticator.get(options, Forgery(corrupt_signature=True)), None)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.sign_in(BROWSER, house.authenticator.get(options), None)
    assert refusal.value.reason == "challenge"


async def test_a_challenge_from_another_browser_is_worth_nothing(house: House) -> None:
    await house.enrol()
    with pytest.raises(Refused) as refusal:
        await house.passkeys.sign_in("another browser", house.assertion(BROWSER), None)
    assert refusal.value.reason == "challenge"


async def test_a_challenge_runs_out_whatever_the_wall_clock_says(house: House) -> None:
    await house.enrol()
    assertion = house.assertion()
    house.clock.advance(120)
    house.clock.set_wall(house.clock.now() - 3_600_000)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.sign_in(BROWSER, assertion, None)
    assert refusal.value.reason == "challenge"


async def test_a_sign_in_challenge_enrols_nobody(house: House) -> None:
    token = await house.passkeys.offer("ada", Profile.OPERATOR)
    house.passkeys.sign_in_options(BROWSER)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.enrol(BROWSER, token, {}, None, None)
    assert refusal.value.reason == "challenge"


async def test_a_passkey_nobody_knows_is_refused_and_recorded_without_a_name(house: House) -> None:
    await house.enrol()
    options = house.passkeys.sign_in_options(BROWSER)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.sign_in(BROWSER, house.authenticator.get(options, Forgery(credential_id=b"nobody")), None)
    assert refusal.value.reason == "credential"
    assert house.recorded(SignInRefused)[-1].principal_id is None


async def test_a_failed_answer_is_recorded_against_the_person_it_was_meant_for(house: House) -> None:
    enrolled = await house.enrol()
    with pytest.raises(Refused):
        await house.passkeys.sign_in(BROWSER, house.assertion(forgery=Forgery(user_verified=False)), None)
    refused = house.recorded(SignInRefused)[-1]
    assert (refused.purpose, refused.reason) == ("signIn", "userVerification")
    assert refused.principal_id == enrolled.session.principal.id


async def test_five_failures_send_a_browser_back_to_the_start_and_nobody_else(house: House) -> None:
    await house.enrol()
    for attempt in range(5):
        with pytest.raises(Refused) as refusal:
            await house.passkeys.sign_in(BROWSER, house.assertion(forgery=Forgery(corrupt_signature=True)), None)
        assert refusal.value.reason == ("tooManyFailures" if attempt == 4 else "signature")
    assert (await house.sign_in(browser="another browser")).session.principal.name == "ada"
    assert (await house.sign_in()).session.principal.name == "ada"


async def test_a_flood_of_unknown_passkeys_does_not_fill_the_ledger(house: House) -> None:
    await house.enrol()
    for number in range(ANONYMOUS_REFUSALS_PER_MINUTE + 20):
        browser = f"browser {number}"
        forged = house.assertion(browser, Forgery(credential_id=b"nobody"))
        with pytest.raises(Refused):
            await house.passkeys.sign_in(browser, forged, None)
    assert len(house.recorded(SignInRefused)) == ANONYMOUS_REFUSALS_PER_MINUTE
    with pytest.raises(Refused):
        await house.passkeys.sign_in(BROWSER, house.assertion(forgery=Forgery(corrupt_signature=True)), None)
    assert len(house.recorded(SignInRefused)) == ANONYMOUS_REFUSALS_PER_MINUTE + 1
    house.clock.advance(61)
    with pytest.raises(Refused):
        await house.passkeys.sign_in("x", house.assertion("x", Forgery(credential_id=b"nobody")), None)
    assert len(house.recorded(SignInRefused)) == ANONYMOUS_REFUSALS_PER_MINUTE + 2


async def test_a_flood_of_questions_forgets_the_oldest_and_keeps_memory_bounded(house: House) -> None:
    await house.enrol()
    first = house.assertion("first")
    for number in range(BROWSERS):
        house.passkeys.sign_in_options(f"browser {number}")
    with pytest.raises(Refused) as refusal:
        await house.passkeys.sign_in("first", first, None)
    assert refusal.value.reason == "challenge"


async def test_nobody_is_signed_in_when_the_ledger_cannot_write(house: House) -> None:
    await house.enrol()
    assertion = house.assertion()
    house.ledger.failure = LedgerUnavailable("disk full")
    with pytest.raises(LedgerUnavailable):
        await house.passkeys.sign_in(BROWSER, assertion, None)
    house.ledger.failure = None
    assert len(house.recorded(ConsoleSessionStarted)) == 1


# ── sessions ──


async def test_a_session_outlives_the_process_and_its_freshness_does_not(house: House) -> None:
    signed_in = await house.enrol()
    house.restart()
    assert await house.sessions.console(signed_in.secret) == signed_in.session
    with pytest.raises(Refused) as refusal:
        house.sessions.require_fresh(signed_in.session)
    assert refusal.value.reason == "stepUpRequired"


async def test_an_unknown_secret_is_nobody(house: House) -> None:
    assert await house.sessions.console("guess") is None
    assert await house.sessions.agent("guess") is None


async def test_a_session_runs_out_and_is_recorded_as_expired_once(house: House) -> None:
    house.policy.allowance = replace(house.policy.allowance, session_seconds=600.0)
    signed_in = await house.enrol()
    house.clock.advance(600)
    assert await house.sessions.console(signed_in.secret) is None
    assert await house.sessions.console(signed_in.secret) is None
    assert [entry.reason for entry in house.recorded(ConsoleSessionEnded)] == ["expired"]


async def test_setting_the_wall_clock_back_makes_no_session_longer(house: House) -> None:
    house.policy.allowance = replace(house.policy.allowance, session_seconds=600.0)
    signed_in = await house.enrol()
    house.clock.advance(600)
    house.clock.set_wall(house.clock.now() - 3_600_000)
    assert await house.sessions.console(signed_in.secret) is None


async def test_sessions_whose_time_is_over_are_ended_without_being_asked_for(house: House) -> None:
    house.policy.allowance = replace(house.policy.allowance, session_seconds=600.0)
    signed_in = await house.enrol()
    lent = await house.sessions.redeem(house.sessions.authorize(signed_in.session, STATE), STATE)
    connection = house.hub.attach(lent.session, "con_1")
    await house.sessions.end_expired()
    assert connection.outbox.closing is None
    house.clock.advance(600)
    await house.sessions.end_expired()
    assert connection.outbox.closing == (4401, "expired")
    assert [entry.id for entry in house.recorded(AgentSessionEnded)] == [lent.session.id]


async def test_a_session_that_ends_while_it_is_being_read_is_not_kept_as_live(house: House) -> None:
    signed_in = await house.enrol()
    house.restart()
    reading, ended = asyncio.Event(), asyncio.Event()
    read = house.ledger.console_session

    async def read_slowly(secret_hash: str) -> ConsoleSession | None:
        session = await read(secret_hash)
        reading.set()
        await ended.wait()
        return session

    house.ledger.console_session = read_slowly  # type: ignore[method-assign]
    async with asyncio.timeout(5):
        found = asyncio.ensure_future(house.sessions.console(signed_in.secret))
        await reading.wait()
        await house.sessions.end_console(signed_in.session, "signedOut")
        ended.set()
        assert await found is None
    assert await house.sessions.console(signed_in.secret) is None


# ── lending ──


async def test_a_code_makes_an_agent_session_of_the_same_person_that_ends_no_later(house: House) -> None:
    signed_in = await house.enrol()
    house.clock.advance(100)
    lent = await house.sessions.redeem(house.sessions.authorize(signed_in.session, STATE), STATE)
    assert lent.session.principal == signed_in.session.principal
    assert lent.session.console_session_id == signed_in.session.id
    assert lent.session.expires_at == signed_in.session.expires_at
    assert await house.sessions.agent(lent.secret) == lent.session
    assert await house.sessions.console(lent.secret) is None


async def test_a_code_is_redeemed_once(house: House) -> None:
    signed_in = await house.enrol()
    code = house.sessions.authorize(signed_in.session, STATE)
    await house.sessions.redeem(code, STATE)
    with pytest.raises(Refused) as refusal:
        await house.sessions.redeem(code, STATE)
    assert refusal.value.reason == "code"


async def test_a_code_is_gone_after_a_minute(house: House) -> None:
    signed_in = await house.enrol()
    code = house.sessions.authorize(signed_in.session, STATE)
    house.clock.advance(60)
    with pytest.raises(Refused):
        await house.sessions.redeem(code, STATE)


async def test_a_code_in_another_browser_is_refused_and_used_up(house: House) -> None:
    signed_in = await house.enrol()
    code = house.sessions.authorize(signed_in.session, STATE)
    with pytest.raises(Refused):
        await house.sessions.redeem(code, "state of another shell")
    with pytest.raises(Refused):
        await house.sessions.redeem(code, STATE)


async def test_codes_do_not_pile_up(house: House) -> None:
    signed_in = await house.enrol()
    for _ in range(CODES_PER_CONSOLE):
        house.sessions.authorize(signed_in.session, STATE)
    with pytest.raises(Refused) as refusal:
        house.sessions.authorize(signed_in.session, STATE)
    assert refusal.value.status == 429
    house.clock.advance(60)
    house.sessions.authorize(signed_in.session, STATE)


async def test_a_code_of_a_console_session_that_ended_is_worth_nothing(house: House) -> None:
    signed_in = await house.enrol()
    code = house.sessions.authorize(signed_in.session, STATE)
    await house.sessions.end_console(signed_in.session, "signedOut")
    with pytest.raises(Refused):
        await house.sessions.redeem(code, STATE)


async def test_signing_out_ends_what_was_lent_and_closes_its_sockets(house: House) -> None:
    """protocol.md section 1; security.md section 7 case 46."""
    signed_in = await house.enrol()
    lent = await house.sessions.redeem(house.sessions.authorize(signed_in.session, STATE), STATE)
    agent = house.hub.attach(lent.session, "con_1")
    console = house.hub.attach_console(signed_in.session.principal.id, signed_in.session.id, "con_2")
    await house.sessions.end_console(signed_in.session, "signedOut")
    assert await house.sessions.console(signed_in.secret) is None
    assert await house.sessions.agent(lent.secret) is None
    assert agent.outbox.closing == (4403, "signedOut")
    assert console.outbox.closing == (4403, "signedOut")
    house.restart()
    assert await house.sessions.agent(lent.secret) is None


async def test_signing_out_and_lending_at_once_leaves_nothing_lent(house: House) -> None:
    signed_in = await house.enrol()
    code = house.sessions.authorize(signed_in.session, STATE)
    lending = asyncio.ensure_future(house.sessions.redeem(code, STATE))
    ending = asyncio.ensure_future(house.sessions.end_console(signed_in.session, "signedOut"))
    async with asyncio.timeout(5):
        lent, _ = await asyncio.gather(lending, ending)
    assert await house.sessions.agent(lent.secret) is None


async def test_logging_the_shell_out_leaves_the_console_signed_in(house: House) -> None:
    signed_in = await house.enrol()
    lent = await house.sessions.redeem(house.sessions.authorize(signed_in.session, STATE), STATE)
    await house.sessions.end_agent(lent.session, "signedOut")
    assert await house.sessions.agent(lent.secret) is None
    assert await house.sessions.console(signed_in.secret) == signed_in.session


async def test_a_sign_out_that_cannot_be_recorded_is_not_claimed(house: House) -> None:
    signed_in = await house.enrol()
    house.ledger.failure = LedgerUnavailable("disk full")
    with pytest.raises(LedgerUnavailable):
        await house.sessions.end_console(signed_in.session, "signedOut")


# ── a person's own passkeys ──


async def test_a_further_passkey_signs_the_same_person_in(house: House) -> None:
    enrolled = await house.enrol()
    options = await house.passkeys.addition_options(BROWSER, enrolled.session)
    added = await house.passkeys.add(BROWSER, enrolled.session, house.authenticator.create(options), "phone")
    assert [passkey.name for passkey in await house.passkeys.passkeys(enrolled.session)] == ["First passkey", "phone"]
    assert house.recorded(PasskeyAdded)[-1].passkey == added
    assert (await house.sign_in()).session.principal == enrolled.session.principal


async def test_a_further_passkey_needs_an_answer_within_five_minutes(house: House) -> None:
    """security.md section 7 case 38: a hijacked session registers nothing."""
    enrolled = await house.enrol()
    house.clock.advance(301)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.addition_options(BROWSER, enrolled.session)
    assert refusal.value.reason == "stepUpRequired"
    renewed = await house.sign_in(enrolled.session)
    options = await house.passkeys.addition_options(BROWSER, renewed.session)
    registration = house.authenticator.create(options)
    house.clock.advance(301)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.add(BROWSER, renewed.session, registration, None)
    assert refusal.value.reason == "stepUpRequired"


async def test_a_further_passkeys_challenge_is_no_other_sessions(house: House) -> None:
    ada = await house.enrol("ada")
    bob = await house.enrol("bob", Profile.GUEST)
    options = await house.passkeys.addition_options(BROWSER, ada.session)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.add(BROWSER, bob.session, house.authenticator.create(options), None)
    assert refusal.value.reason == "challenge"


async def test_a_passkey_that_is_registered_already_is_refused(house: House) -> None:
    enrolled = await house.enrol()
    known = house.authenticator.credentials[0].id
    options = await house.passkeys.addition_options(BROWSER, enrolled.session)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.add(
            BROWSER, enrolled.session, house.authenticator.create(options, Forgery(credential_id=known)), None
        )
    assert refusal.value.reason == "credential"


async def test_a_person_has_no_more_than_twenty_passkeys(house: House) -> None:
    enrolled = await house.enrol()
    for _ in range(PASSKEYS_PER_PERSON - 1):
        options = await house.passkeys.addition_options(BROWSER, enrolled.session)
        await house.passkeys.add(BROWSER, enrolled.session, house.authenticator.create(options), None)
    options = await house.passkeys.addition_options(BROWSER, enrolled.session)
    with pytest.raises(Refused) as refusal:
        await house.passkeys.add(BROWSER, enrolled.session, house.authenticator.create(options), None)
    assert refusal.value.reason == "tooManyPasskeys"


async def test_a_removed_passkey_answers_nothing(house: House) -> None:
    enrolled = await house.enrol()
    first = house.authenticator.credentials[0]
    options = await house.passkeys.addition_options(BROWSER, enrolled.session)
    await house.passkeys.add(BROWSER, enrolled.session, house.authenticator.create(options), None)
    await house.passkeys.remove(enrolled.session, first.id)
    assert house.recorded(PasskeyRemoved)[-1].credential_id == first.id
    house.authenticator.credentials = [first]
    with pytest.raises(Refused) as refusal:
        await house.sign_in()
    assert refusal.value.reason == "credential"


async def test_the_last_passkey_stays_also_when_two_are_removed_at_once(house: House) -> None:
    enrolled = await house.enrol()
    options = await house.passkeys.addition_options(BROWSER, enrolled.session)
    await house.passkeys.add(BROWSER, enrolled.session, house.authenticator.create(options), None)
    one, two = (credential.id for credential in house.authenticator.credentials)
    outcomes = await asyncio.gather(
        house.passkeys.remove(enrolled.session, one), house.passkeys.remove(enrolled.session, two), return_exceptions=True
    )
    assert [outcome.reason for outcome in outcomes if isinstance(outcome, Refused)] == ["lastPasskey"]
    assert len(await house.passkeys.passkeys(enrolled.session)) == 1


async def test_a_passkey_is_renamed_by_its_owner_alone(house: House) -> None:
    ada = await house.enrol("ada")
    hers = house.authenticator.credentials[0].id
    bob = await house.enrol("bob", Profile.GUEST)
    await house.passkeys.rename(ada.session, hers, "laptop")
    assert [passkey.name for passkey in await house.passkeys.passkeys(ada.session)] == ["laptop"]
    with pytest.raises(NotFound):
        await house.passkeys.rename(bob.session, hers, "mine")
    with pytest.raises(NotFound):
        await house.passkeys.remove(bob.session, hers)
