"""A second browser of the same person, by a one-time link: what a phone does with the QR code."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.e2e.appearance import check_appearance
from tests.e2e.conftest import make_gateway
from tests.e2e.person import PHONE, Person, approval_dock, call_card, call_tool, decide, expect_idle
from tests.harness.log_receiver import certify
from tests.harness.process import GatewayProcess, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _offer_device(person: Person, button: str) -> str:
    """The address of the code that the page of passkeys makes."""
    page = person.console
    await page.goto(f"{person.gateway.console_origin}/passkeys")
    offer = page.get_by_role("region", name="Add a phone")
    make = offer.get_by_role("button", name=button)
    await make.click()
    link = offer.get_by_text("#t=")
    await expect(link.or_(offer.get_by_role("alert"))).to_be_visible()
    if await offer.get_by_role("alert").count():
        await make.click()
    return (await link.inner_text()).strip()


@pytest.mark.requirement("002-32", "a person registers a second device by a one-time link")
async def test_a_second_device_is_registered_by_a_link_that_nobody_can_open_again(browser: Browser, person: Person) -> None:
    page = person.console
    offer = page.get_by_role("region", name="Add a phone")
    address = await _offer_device(person, "ake a link")

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


@dataclass
class ProxiedGateway(GatewayProcess):
    """A gateway behind a proxy that has the certificate, as docs/PHONE.md has it."""

    public_port: int = field(default_factory=free_port)

    @property
    def agent_origin(self) -> str:
        return f"https://agent.localhost:{self.public_port}"

    @property
    def console_origin(self) -> str:
        return f"https://console.localhost:{self.public_port}"

    def environment(self) -> dict[str, str]:
        origins = {"COUNTERSIGN_AGENT_ORIGIN": self.agent_origin, "COUNTERSIGN_CONSOLE_ORIGIN": self.console_origin}
        return {**super().environment(), **origins}

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """What came over TLS, to the gateway, and its answers back, until both have hung up."""
        from_gateway, to_gateway = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.gather(_copy(reader, to_gateway), _copy(from_gateway, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except (ConnectionError, ssl.SSLError):
        pass  # A browser that leaves a page hangs up as it likes.
    finally:
        writer.close()


@pytest_asyncio.fixture(loop_scope="session")
async def proxied(tmp_path: Path) -> AsyncIterator[GatewayProcess]:
    plain = make_gateway(tmp_path)
    gateway = ProxiedGateway(tmp_path, port=plain.port, settings=plain.settings)
    context = certify(tmp_path / "proxy.pem", names=("agent.localhost", "console.localhost")).context()
    await gateway.start()
    async with await asyncio.start_server(gateway.pass_on, "127.0.0.1", gateway.public_port, ssl=context):
        yield gateway
    assert await gateway.stop() == 0, gateway.output


@pytest.mark.requirement("002-32", "a phone over https is enrolled by the code and approves while the tab waits")
async def test_a_phone_over_https_is_enrolled_by_the_code_and_approves_while_the_tab_waits(
    browser: Browser, proxied: GatewayProcess
) -> None:
    person = await Person.with_new_browser(browser, proxied, ignore_https_errors=True)
    await person.enrol()
    shell = await person.sign_in_to_shell()
    address = await _offer_device(person, "ake a code")
    assert address.startswith(f"{proxied.console_origin}/device#t=")
    phone = await Person.with_new_browser(
        browser, proxied, ignore_https_errors=True, viewport=PHONE, is_mobile=True, has_touch=True
    )
    page = phone.console
    await page.goto(address)
    await page.get_by_label("Name of this device").fill("phone")
    await page.get_by_role("button", name="Register a passkey").click()
    await expect(page.get_by_role("heading", name="Hello, Operator")).to_be_visible()

    await call_tool(shell, "delete_file", path="notes/old.txt")
    await expect(approval_dock(shell)).to_contain_text("Delete notes/old.txt")
    await expect(page).to_have_title("(1) Home · Countersign console")
    await _approve(page)
    await expect(call_card(shell, "delete_file", "Done")).to_be_visible()
    await expect_idle(shell)
    assert not person.has_file("notes/old.txt")
    (deleted,) = await person.closed_calls("delete_file")
    assert deleted["outcome"] == "ok"
    for each in (person, phone):
        await each.check_no_violations()
        await each.context.close()


async def _approve(page: Page) -> None:
    await page.get_by_role("link", name="Review it").click()
    await expect(page.get_by_role("button", name="Approve with passkey")).to_be_visible()
    await check_appearance(page, "phone-https-approval")
    await decide(page, "Approve with passkey")
    await expect(page.get_by_text("Approved", exact=True)).to_be_visible()
    await expect(page.get_by_role("main")).to_contain_text("Passkeyphone")
