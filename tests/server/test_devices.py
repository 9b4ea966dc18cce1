"""A further device by a one-time link over real HTTP, with software passkeys, and the attacks on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from gateway.core.ledger import PasskeyAdded, PrincipalEnrolled, PrincipalSuspended
from gateway.core.vocabulary import Profile
from tests.authenticator import Authenticator
from tests.harness.http import Browser, Reply
from tests.server.conftest import Running


@dataclass
class Device:
    """Another browser with an authenticator of its own."""

    running: Running
    browser: Browser
    authenticator: Authenticator

    async def open(self, token: str) -> Reply:
        """Show the link."""
        return await self.browser.post(f"{self.running.console}/devices/options", {"token": token})

    async def register(self, token: str, options: Reply) -> Reply:
        """Answer what showing it asked for."""
        body = {"token": token, "credential": self.authenticator.create(options.json), "name": "phone"}
        return await self.browser.post(f"{self.running.console}/devices/verify", body)


@pytest.fixture
async def phone(running: Running) -> Device:
    """A phone, while somebody is enrolled at the first browser."""
    assert (await running.enrol()).status == 204
    return Device(running, running.another_browser(), Authenticator(running.console))


async def offer(running: Running) -> str:
    """The token of a new link."""
    reply = await running.browser.post(f"{running.console}/devices/offer")
    assert reply.status == 200, reply.body
    link: str = reply.json["link"]
    start = f"{running.console}/device#t="
    assert link.startswith(start)
    return link.removeprefix(start)


async def state(running: Running) -> str:
    """What has become of it, as the first browser is told."""
    found: str = (await running.browser.post(f"{running.console}/devices/look")).json["state"]
    return found


def reason(reply: Reply) -> tuple[int, str]:
    """Status and word of a refusal."""
    return reply.status, reply.json["error"]["reason"]


def passkeys_added(running: Running) -> list[PasskeyAdded]:
    """Those on record."""
    return [entry for entry in running.ledger.entries if isinstance(entry, PasskeyAdded)]


async def test_a_phone_gets_a_passkey_by_a_link_and_is_signed_in_as_the_same_person(running: Running, phone: Device) -> None:
    token = await offer(running)
    assert await state(running) == "waiting"
    options = await phone.open(token)
    assert options.json["user"]["name"] == "Ada"
    assert len(options.json["excludeCredentials"]) == 1
    assert await state(running) == "opened"
    assert (await phone.register(token, options)).status == 204
    assert await state(running) == "registered"
    (added,) = passkeys_added(running)
    assert (added.passkey.name, added.leaf().body["offeredBy"]) == ("phone", added.offered_by)
    # It is signed in, and both browsers can go on.
    for browser in (phone.browser, running.browser):
        assert (await browser.post(f"{running.console}/authorize", {"state": "s"})).status == 200


async def test_the_code_is_that_of_the_link_in_square_rows(running: Running, phone: Device) -> None:
    offered: dict[str, Any] = (await running.browser.post(f"{running.console}/devices/offer")).json
    rows: list[str] = offered["qr"]
    assert {len(row) for row in rows} == {len(rows)}
    assert {*"".join(rows)} == {"0", "1"}
    # The three corners that a camera looks for.
    assert rows[0][:8] == "11111110" == rows[0][-8:][::-1] == rows[-1][:8]


async def test_case_143_whoever_opens_the_link_second_finds_it_used(running: Running, phone: Device) -> None:
    token = await offer(running)
    options = await phone.open(token)
    thief = Device(running, running.another_browser(), Authenticator(running.console))
    assert reason(await thief.open(token)) == (410, "deviceLink")
    # A stolen answer is none either: the question belongs to the phone's browser.
    body = {"token": token, "credential": thief.authenticator.create(options.json)}
    assert reason(await thief.browser.post(f"{running.console}/devices/verify", body)) == (403, "challenge")
    assert (await phone.register(token, options)).status == 204
    assert reason(await phone.open(token)) == (410, "deviceLink")
    assert len(passkeys_added(running)) == 1


async def test_the_same_browser_may_try_again_after_the_person_cancelled(running: Running, phone: Device) -> None:
    token = await offer(running)
    await phone.open(token)
    assert (await phone.register(token, await phone.open(token))).status == 204


async def test_a_link_works_for_five_minutes_and_a_newer_one_ends_it(running: Running, phone: Device) -> None:
    older, token = await offer(running), await offer(running)
    assert reason(await phone.open(older)) == (410, "deviceLink")
    options = await phone.open(token)
    running.clock.advance(300)
    assert reason(await phone.register(token, options))[1] in ("deviceLink", "challenge")
    assert await state(running) == "gone"
    assert passkeys_added(running) == []


async def test_a_link_takes_a_passkey_that_answered_a_moment_ago(running: Running, phone: Device) -> None:
    """docs/SECURITY.md case 143: a hijacked session makes none."""
    running.clock.advance(301)
    assert reason(await running.browser.post(f"{running.console}/devices/offer")) == (403, "stepUpRequired")
    assert (await phone.browser.post(f"{running.console}/devices/offer")).status == 401


@pytest.mark.parametrize("ending", ["signed out", "suspended"])
async def test_case_143_a_link_ends_with_the_session_that_made_it_and_with_its_person(
    running: Running, phone: Device, ending: str
) -> None:
    token = await offer(running)
    options = await phone.open(token)
    if ending == "signed out":
        assert (await running.browser.post(f"{running.console}/signout")).status == 204
    else:
        # As it is on record an instant before the person's sessions end.
        person = next(entry.principal.id for entry in running.ledger.entries if isinstance(entry, PrincipalEnrolled))
        await running.ledger.append(PrincipalSuspended(running.clock.now(), person))
    assert reason(await phone.register(token, options)) == (410, "deviceLink")
    assert passkeys_added(running) == []


async def test_the_link_of_one_person_registers_nothing_for_another(running: Running, phone: Device) -> None:
    token = await offer(running)
    options = await phone.open(token)
    other = await running.passkeys.offer("Bob", Profile.GUEST)
    body = {"token": other, "credential": phone.authenticator.create(options.json)}
    assert reason(await phone.browser.post(f"{running.console}/enrol/verify", body)) == (403, "challenge")
    assert reason(await phone.browser.post(f"{running.console}/devices/verify", body)) == (403, "challenge")
