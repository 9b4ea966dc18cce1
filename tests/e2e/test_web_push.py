"""A device that is told of questions, in the browser: enrolled on the console, told by the real worker, taken off the list.

Chromium subscribes at its vendor's service, which no test can reach, and without a desktop it shows nothing. So `PushManager` is
a stand-in that gives an address at a push service of our own; what the gateway sends there is decrypted and handed to the real
worker through DevTools, and what that would show and open is noted down.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
import pytest_asyncio
from playwright.async_api import Page, Worker, expect

from gateway.adapters.push.vapid import make_key_file
from tests.e2e.appearance import check_appearance
from tests.e2e.conftest import make_gateway
from tests.e2e.person import PHONE, Person, approval_dock
from tests.harness.process import GatewayProcess
from tests.harness.push_service import PushService, Subscription

pytestmark = pytest.mark.asyncio(loop_scope="session")

STAND_IN = """given => {
  let there = null;
  PushManager.prototype.getSubscription = async () => there;
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    if (!userVisibleOnly || applicationServerKey.length !== 65) throw new DOMException("wrong options", "AbortError");
    const toJSON = () => ({ endpoint: given.endpoint, keys: { p256dh: given.publicKey, auth: given.auth } });
    const unsubscribe = async () => { there = null; return true; };
    there = { toJSON, unsubscribe, options: { userVisibleOnly, applicationServerKey: applicationServerKey.buffer } };
    return there;
  };
}"""

NOTED = """() => {
  self.shown = [];
  self.opened = [];
  registration.showNotification = async (title, rest) => void self.shown.push({ title, ...rest });
  clients.openWindow = async (url) => void self.opened.push(url);
}"""

CLICKED = """async data => {
  const event = new Event("notificationclick");
  const works = [];
  Object.assign(event, { notification: { data, close: () => works.push("closed") }, waitUntil: (work) => works.push(work) });
  self.dispatchEvent(event);
  return [(await Promise.all(works))[0], self.opened.splice(0)];
}"""


CHANGED = """async () => {
  const event = new Event("pushsubscriptionchange");
  let work;
  event.waitUntil = (given) => { work = given; };
  self.dispatchEvent(event);
  await work;
}"""

ENDPOINT = """async () => {
  const registration = await navigator.serviceWorker.getRegistration("/");
  return (await registration.pushManager.getSubscription())?.toJSON().endpoint ?? "";
}"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def service() -> AsyncIterator[PushService]:
    async with PushService().there() as there:
        yield there


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(service: PushService, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp("gateway")
    make_key_file(home / "push.key")
    process = make_gateway(
        home,
        COUNTERSIGN_PUSH_KEY=str(home / "push.key"),
        COUNTERSIGN_PUSH_ALLOW_HOSTS=f'["{service.host}"]',
    )
    await process.start()
    yield process
    assert await process.stop() == 0, process.output


async def deliver(page: Page, origin: str, data: Any) -> None:
    """Hand a message to the worker, as the browser does when its push service sent one."""
    cdp: Any = await page.context.new_cdp_session(page)
    registrations: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def note(event: Any) -> None:
        found = [each["registrationId"] for each in event["registrations"] if not each["isDeleted"]]
        if found and not registrations.done():
            registrations.set_result(found[0])

    cdp.on("ServiceWorker.workerRegistrationUpdated", note)
    await cdp.send("ServiceWorker.enable")
    async with asyncio.timeout(60):
        registration = await registrations
    message = {"origin": origin, "registrationId": registration, "data": orjson.dumps(data).decode()}
    await cdp.send("ServiceWorker.deliverPushMessage", message)
    await cdp.detach()


async def shown_by(worker: Worker, count: int) -> list[dict[str, str]]:
    async with asyncio.timeout(60):
        while len(shown := await worker.evaluate("self.shown")) < count:
            await asyncio.sleep(0.05)
    return shown


async def test_a_device_is_enrolled_told_and_taken_off_the_list(person: Person, service: PushService) -> None:
    phone: Subscription = service.subscribe()
    origin = person.gateway.console_origin
    await person.context.grant_permissions(["notifications"], origin=origin)
    page = await person.context.new_page()
    await page.add_init_script(f"({STAND_IN})({orjson.dumps(phone.params()).decode()})")
    await page.goto(f"{origin}/passkeys")
    card = page.get_by_role("region", name="Told when a question waits")
    await card.get_by_role("button", name="Tell me on this device").click()
    await expect(card.get_by_text("this device", exact=True)).to_be_visible()
    for name, size in (("desktop", None), ("phone", PHONE)):
        if size is not None:
            await page.set_viewport_size(size)
        await check_appearance(page, f"{name}-light-console-told-here")

    shell = await person.open_shell()
    await shell.get_by_label("Message").fill('/call note {"what": "a secret of mine"}')
    await shell.keyboard.press("Enter")
    await expect(approval_dock(shell)).to_be_visible()
    told = phone.read(await service.next())
    (worker,) = person.context.service_workers
    assert worker.url == f"{origin}/push-worker.js?en"
    await worker.evaluate(NOTED)
    await deliver(page, origin, told)
    (shown,) = await shown_by(worker, 1)
    host = origin.removeprefix("http://")
    assert shown == {"title": "A question waits", "body": host, "tag": told["approval"], "data": told["approval"]}
    # What is no message of ours, or names another place, says the same and leads to the list.
    for data in ("nonsense", {"host": "evil.example", "approval": told["approval"]}, {"host": host, "approval": "../../x"}):
        await deliver(page, origin, data)
    others = (await shown_by(worker, 4))[1:]
    assert others == [{"title": "A question waits", "body": host, "tag": "approvals", "data": ""}] * 3
    for data, address in ((told["approval"], f"/approvals/{told['approval']}"), ("", "/approvals")):
        assert await worker.evaluate(CLICKED, data) == ["closed", [f"{origin}{address}"]]
    await card.get_by_role("button", name="Send a test message").click()
    await expect(card.get_by_text("A notification should appear on this device")).to_be_visible()
    await deliver(page, origin, phone.read(await service.next()))
    test = (await shown_by(worker, 5))[4]
    assert test == {"title": "Test message: this device is told of questions", "body": host, "tag": "test", "data": ""}
    assert len(await page.evaluate("async () => await caches.keys()")) == 0

    # The browser takes another subscription by itself: the worker says so, and the page puts it in the old one's place.
    moved = service.subscribe()
    # That page has the browser's own `PushManager`.
    await person.console.goto("about:blank")
    await page.evaluate(f"({STAND_IN})({orjson.dumps(moved.params()).decode()})")
    await worker.evaluate(CHANGED)
    async with asyncio.timeout(60):
        while moved.endpoint not in await page.evaluate(ENDPOINT):
            await asyncio.sleep(0.05)
    await expect(card.get_by_text("this device", exact=True)).to_be_visible()
    await card.get_by_role("button", name="Send a test message").click()
    assert moved.read(await service.next()) == {"host": host, "test": True}

    await card.get_by_role("button", name="Remove Chrome, Linux").click()
    await expect(card.get_by_role("button", name="Tell me on this device")).to_be_visible()
    await person.check_no_violations()
    await shell.close()
    await page.close()
