"""A second browser of the same person, by a one-time link: what a phone does with the QR code."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.appearance import check_appearance
from tests.e2e.person import PHONE, Person

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.requirement("002-32", "a person registers a second device by a one-time link")
async def test_a_second_device_is_registered_by_a_link_that_nobody_can_open_again(browser: Browser, person: Person) -> None:
    page = person.console
    await page.goto(f"{person.gateway.console_origin}/passkeys")
    offer = page.get_by_role("region", name="Add a phone")
    make = offer.get_by_role("button", name="ake a link")
    await make.click()
    link = offer.get_by_text("#t=")
    await expect(link.or_(offer.get_by_role("alert"))).to_be_visible()
    if await offer.get_by_role("alert").count():
        await make.click()
    address = (await link.inner_text()).strip()

    phone = await Person.with_new_browser(browser, person.gateway)
    await phone.console.set_viewport_size(PHONE)
    await phone.console.emulate_media(color_scheme="dark")
    await phone.console.goto(address)
    await expect(phone.console.get_by_role("heading", name="Register this device")).to_be_visible()
    await check_appearance(phone.console, "phone-dark-console-device")
    await expect(offer.get_by_text("A device opened the link")).to_be_visible()

    thief = await Person.with_new_browser(browser, person.gateway)
    await thief.console.goto(address)
    await expect(thief.console.get_by_role("heading", name="This link registers nothing")).to_be_visible()
    await thief.context.close()

    await phone.console.get_by_label("Name of this device").fill("phone")
    await phone.console.get_by_role("button", name="Register a passkey").click()
    await expect(phone.console.get_by_role("heading", name="Hello, Operator")).to_be_visible()
    await expect(offer.get_by_text("The device has its passkey")).to_be_visible()
    await expect(page.get_by_role("heading", name="phone", exact=True)).to_be_visible()
    await check_appearance(page, "desktop-light-console-device-registered")
    assert phone.monitor.foreign_requests == []
    await phone.context.close()
