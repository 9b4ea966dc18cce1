"""Devices that are told of questions while no page is open, with a push service of our own; docs/SECURITY.md cases 165 to 168."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from gateway.adapters.push.vapid import make_key_file
from tests.harness.person import Person, Turn
from tests.harness.push_service import PushService, Subscription, claims_of, origin_of
from tests.harness.socket import RpcError, Socket, refused
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import finish, stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOST = "console.localhost"
SECRET = "a-secret-in-the-arguments"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service() -> AsyncIterator[PushService]:
    async with PushService().there() as there:
        yield there


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory, service: PushService) -> AsyncIterator[Scene]:
    home = tmp_path_factory.mktemp("push")
    make_key_file(home / "push.key")
    settings = {
        "COUNTERSIGN_PUSH_KEY": str(home / "push.key"),
        "COUNTERSIGN_PUSH_CONTACT": "mailto:ada@example.org",
        "COUNTERSIGN_PUSH_ALLOW_HOSTS": f'["{service.host}"]',
    }
    async with stage(home, **settings) as scene:
        yield scene


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def start_without_devices(scene: Scene, service: PushService) -> None:
    for device in (await listed(scene.console))["devices"]:
        await scene.console.call("push/remove", {"device": device["id"]})
    service.answers.clear()
    while not service.came.empty():
        service.came.get_nowait()


async def listed(console: Socket) -> Any:
    return await console.call("push/list")


async def add(console: Socket, subscription: Subscription, name: str = "Phone") -> Any:
    """The device."""
    state = await console.call("push/add", subscription.params(name))
    return state["devices"][-1]


async def ask(scene: Scene, call_id: str) -> tuple[asyncio.Future[Any], str]:
    """A call that waits for Ada, and the id of its question."""
    turn = await scene.begin()
    call = await turn.start("note", {"what": SECRET}, call_id)
    return call, await scene.asked(call_id)


async def answer(scene: Scene, call: asyncio.Future[Any], approval_id: str) -> None:
    await scene.ada.answer(scene.console, approval_id)
    assert (await finish(call))["outcome"] == "ok"


async def records(console: Socket, event: str) -> list[Any]:
    return [each["body"] for each in (await console.call("audit/list", {"filter": {"event": event}}))["entries"]]


async def test_a_question_reaches_a_device_as_the_standards_say_and_tells_nothing_but_that_it_waits(
    scene: Scene, service: PushService
) -> None:
    key = (await listed(scene.console))["key"]
    phone = service.subscribe()
    device = await add(scene.console, phone)
    assert (device["name"], device["service"]) == ("Phone", "127.0.0.1")
    call, approval_id = await ask(scene, "told")
    pushed = await service.next()
    told = phone.read(pushed)
    assert told == {"host": f"{HOST}:{scene.gateway.port}", "approval": approval_id}
    claims = claims_of(pushed, key)
    assert (claims["aud"], claims["sub"]) == (origin_of(phone), "mailto:ada@example.org")
    headers = {name.lower(): value for name, value in pushed.headers.items()}
    assert (headers["content-encoding"], headers["urgency"]) == ("aes128gcm", "high")
    assert 0 < int(headers["ttl"]) <= 120
    assert len(headers["topic"]) == 32
    assert "cookie" not in headers
    assert "referer" not in headers
    outside = f"{pushed.path} {pushed.headers}"
    assert approval_id not in outside
    assert SECRET not in outside
    assert SECRET.encode() not in pushed.body
    await answer(scene, call, approval_id)


async def test_a_test_message_goes_to_ones_own_device_says_nothing_else_and_not_often(scene: Scene, service: PushService) -> None:
    phone = service.subscribe()
    device = {"device": (await add(scene.console, phone))["id"]}
    assert await scene.console.call("push/test", device) == {}
    pushed = await service.next()
    assert phone.read(pushed) == {"host": f"{HOST}:{scene.gateway.port}", "test": True}
    assert int({name.lower(): value for name, value in pushed.headers.items()}["ttl"]) == 60
    path = phone.endpoint.removeprefix(origin_of(phone))

    def answer_with(status: int) -> None:
        async def respond(_request: web.Request) -> web.StreamResponse:
            return web.Response(status=status)

        service.answers[path] = respond

    for status, left in ((500, 1), (410, 0)):
        answer_with(status)
        assert await refused(scene.console, "push/test", device) == "pushNotTaken"
        await service.next()
        assert len((await listed(scene.console))["devices"]) == left
    again = {"device": (await add(scene.console, phone))["id"]}
    assert await refused(scene.console, "push/test", again) == "tooManyTests"
    assert service.came.empty()


async def test_the_console_alone_may_start_the_worker(scene: Scene) -> None:
    for origin, policies in ((scene.gateway.console_origin, "push-worker"), (scene.gateway.agent_origin, "'none'")):
        reply = await scene.ada.browser.get(f"{origin}/")
        assert f"trusted-types {policies};" in reply.headers["Content-Security-Policy"]


async def test_case_168_a_device_is_on_record_and_its_address_and_keys_are_only_where_they_are_sealed(
    scene: Scene, service: PushService
) -> None:
    phone = service.subscribe("the-secret-address-of-a-phone")
    device = await add(scene.console, phone, "Pixel")
    await scene.console.call("push/remove", {"device": device["id"]})
    again = await add(scene.console, phone, "Pixel")
    added, removed = await records(scene.console, "push-device:added"), await records(scene.console, "push-device:removed")
    assert {device["id"], again["id"]} <= {each["deviceId"] for each in added}
    assert {"deviceId": device["id"], "end": "person"}.items() <= removed[0].items()
    files = [path for path in scene.gateway.state.iterdir() if path.is_file()]
    secrets = (phone.endpoint, "the-secret-address", phone.params()["auth"], phone.params()["publicKey"])
    assert not [(path.name, secret) for path in files for secret in secrets if secret.encode() in path.read_bytes()]
    with sqlite3.connect(f"file:{scene.gateway.state / 'ledger.db'}?mode=ro", uri=True) as database:
        assert database.execute("SELECT COUNT(*) FROM push_devices").fetchone() == (1,)
    report = await scene.console.call("audit/verify")
    assert report["verified"], report


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "https://[::ffff:127.0.0.1]/x",
        "https://2130706433/x",
        "https://10.0.0.1/x",
        "https://169.254.169.254/latest/meta-data",
        "https://192.168.0.1:443/x",
        "https://example.org:22/x",
        "https://example.org:8443/x",
        "http://example.org/x",
        "http://127.0.0.1:1/x",
        "https://user:secret@example.org/x",
        "https://example.org\\@127.0.0.1/x",
        "ftp://example.org/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "//example.org/x",
        "nonsense",
        "https://example.org/\r\nX-Injected: 1",
    ],
)
async def test_case_165_an_address_that_leads_inside_or_is_not_https_is_refused_when_it_is_given(
    scene: Scene, endpoint: str
) -> None:
    assert await refused(scene.console, "push/add", Subscription(endpoint).params()) in ("pushAddress", "invalid_params")
    assert (await listed(scene.console))["devices"] == []


async def test_case_165_a_redirect_is_not_followed_and_a_name_that_leads_inside_is_not_asked(
    scene: Scene, service: PushService
) -> None:
    """A name is looked up for every message, since it may lead elsewhere by then."""

    async def redirect(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": f"http://{service.host}/elsewhere"})

    hostile, honest = service.subscribe("redirecting"), service.subscribe()
    service.answers["/redirecting"] = redirect
    inside = Subscription("https://localhost/x")
    await add(scene.console, hostile)
    await add(scene.console, inside)
    await add(scene.console, honest)
    call, approval_id = await ask(scene, "redirected")
    assert {(await service.next()).path for _ in range(2)} == {"/redirecting", honest.endpoint.removeprefix(origin_of(honest))}
    await answer(scene, call, approval_id)
    call, approval_id = await ask(scene, "redirected-2")
    assert "/elsewhere" not in {(await service.next()).path for _ in range(2)}
    await answer(scene, call, approval_id)
    assert len((await listed(scene.console))["devices"]) == 3


async def test_case_166_ten_thousand_devices_are_ten_and_the_eleventh_is_refused(scene: Scene, service: PushService) -> None:
    codes: list[str] = []
    for _ in range(200):
        batch = (scene.console.call("push/add", service.subscribe().params()) for _ in range(50))
        outcomes = await asyncio.gather(*batch, return_exceptions=True)
        codes += [each.error["data"]["code"] if isinstance(each, RpcError) else "added" for each in outcomes]
    # Fifty at once are more than one connection may ask, and are refused before anything looks at them.
    assert (len(codes), codes.count("added")) == (10_000, 10)
    assert set(codes) == {"added", "tooManyDevices", "too_many_requests"}
    call, approval_id = await ask(scene, "ten")
    assert len({(await service.next()).path for _ in range(10)}) == 10
    await answer(scene, call, approval_id)


async def test_case_166_somebody_elses_device_can_be_neither_seen_nor_removed(scene: Scene, service: PushService) -> None:
    phone = service.subscribe()
    device = await add(scene.console, phone)
    mallory = await scene.another("Mallory", "guest")
    console = await mallory.console()
    assert (await listed(console))["devices"] == []
    assert await refused(console, "push/remove", {"device": device["id"]}) == "not_found"
    assert await refused(console, "push/test", {"device": device["id"]}) == "not_found"
    # Who knows the address alone takes nothing from anybody: with keys of one's own it is another device.
    stolen = Subscription(phone.endpoint)
    await add(console, stolen)
    assert await refused(console, "push/test", {"device": device["id"]}) == "not_found"
    assert [each["id"] for each in (await listed(scene.console))["devices"]] == [device["id"]]
    call, approval_id = await ask(scene, "not-theirs")
    assert phone.read(await service.next())["approval"] == approval_id
    await answer(scene, call, approval_id)
    # The agent's origin has no such methods.
    assert await refused(scene.shell, "push/list") == "unknown_method"
    await mallory.leave()


async def test_a_browser_that_another_person_adds_is_theirs_from_then_on(scene: Scene, service: PushService) -> None:
    shared = service.subscribe()
    first = await add(scene.console, shared)
    bob = await scene.another("Bob", "guest")
    console = await bob.console()
    await add(console, shared)
    assert (await listed(scene.console))["devices"] == []
    ends = [(each["deviceId"], each["end"]) for each in await records(scene.console, "push-device:removed")]
    assert ends[0] == (first["id"], "addedAgain")
    await bob.leave()


async def test_case_167_services_that_hang_or_answer_without_end_hold_up_no_question_and_no_other_device(
    scene: Scene, service: PushService
) -> None:
    released = asyncio.Event()

    async def hang(_request: web.Request) -> web.StreamResponse:
        await released.wait()
        return web.Response(status=201)

    async def pour(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=201)
        await response.prepare(request)
        try:
            for _ in range(1 << 20):
                await response.write(bytes(1 << 16))
        except ConnectionError:
            released.set()
        return response

    service.answers |= {"/hang": hang, "/pour": pour}
    honest = service.subscribe()
    for each in (service.subscribe("hang"), service.subscribe("pour"), honest):
        await add(scene.console, each)
    loop = asyncio.get_running_loop()
    began = loop.time()
    call, approval_id = await ask(scene, "slow")
    assert {(await service.next()).path for _ in range(3)} == {"/hang", "/pour", honest.endpoint.removeprefix(origin_of(honest))}
    await answer(scene, call, approval_id)
    assert loop.time() - began < 5, "an answer of a person waits for no push service"
    async with asyncio.timeout(20):
        await released.wait()
    assert len((await listed(scene.console))["devices"]) == 3


async def test_case_167_a_flood_of_questions_is_one_message_after_another(scene: Scene, service: PushService) -> None:
    gate = asyncio.Event()

    async def hold(_request: web.Request) -> web.StreamResponse:
        await gate.wait()
        return web.Response(status=201)

    service.answers["/held"] = hold
    phone = service.subscribe("held")
    await add(scene.console, phone)
    asked = [await ask(scene, f"flood-{number}") for number in range(4)]
    told = [phone.read(await service.next())["approval"]]
    assert (told, service.came.empty()) == ([asked[0][1]], True)
    gate.set()
    while told[-1] != asked[-1][1]:
        told.append(phone.read(await service.next())["approval"])
    # What the gateway had not yet looked at when the first message was through may be one more.
    assert len(told) <= 3
    for call, approval_id in asked:
        await answer(scene, call, approval_id)
    assert service.came.empty()


@pytest.mark.parametrize("status", [404, 410])
async def test_a_device_that_its_service_knows_no_longer_is_removed(scene: Scene, service: PushService, status: int) -> None:
    async def gone(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=status)

    service.answers["/gone"] = gone
    device, honest = await add(scene.console, service.subscribe("gone")), service.subscribe()
    await add(scene.console, honest)
    call, approval_id = await ask(scene, f"gone-{status}")
    async with asyncio.timeout(20):
        while len((await listed(scene.console))["devices"]) == 2:
            await asyncio.sleep(0.05)
    assert {"deviceId": device["id"], "end": "gone"}.items() <= (await records(scene.console, "push-device:removed"))[0].items()
    await answer(scene, call, approval_id)


async def test_a_service_that_fails_keeps_its_device(scene: Scene, service: PushService) -> None:
    async def fail(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=503)

    service.answers["/failing"] = fail
    phone = service.subscribe("failing")
    await add(scene.console, phone)
    for number in range(2):
        call, approval_id = await ask(scene, f"failing-{number}")
        assert phone.read(await service.next())["approval"] == approval_id
        await answer(scene, call, approval_id)
    assert len((await listed(scene.console))["devices"]) == 1


async def wait_told(subscription: Subscription, service: PushService) -> str:
    return str(subscription.read(await service.next())["approval"])


async def test_case_168_somebody_who_is_suspended_or_was_removed_is_told_nothing(scene: Scene, service: PushService) -> None:
    """Ada's own device is told in each case, after which nothing else is under way."""
    bob = await scene.another("Ben", "guest")
    console, shell = await bob.console(), await bob.agent()
    theirs, own = service.subscribe(), service.subscribe()
    await add(console, theirs)
    person = next(each for each in (await scene.console.call("people/list"))["people"] if each["name"] == "Ben")
    turn = await Turn.begin(shell)
    call = await turn.start("note", {"what": "x"}, "before")
    assert await wait_told(theirs, service)
    await scene.console.call("people/suspend", {"principal": person["id"]})
    await asyncio.gather(call, return_exceptions=True)
    with sqlite3.connect(f"file:{scene.gateway.state / 'ledger.db'}?mode=ro", uri=True) as database:
        kept = "SELECT COUNT(*) FROM push_devices WHERE principal_id = ?"
        assert database.execute(kept, (person["id"],)).fetchone() == (1,)
    await add(scene.console, own)
    asked, approval_id = await ask(scene, "while-suspended")
    assert await wait_told(own, service) == approval_id
    await answer(scene, asked, approval_id)
    assert service.came.empty()
    assert (await scene.ada.sign_in()).status == 204
    scene.console, scene.shell = await scene.ada.console(), await scene.ada.agent()
    await scene.console.call("people/remove", {"principal": person["id"]})
    with sqlite3.connect(f"file:{scene.gateway.state / 'ledger.db'}?mode=ro", uri=True) as database:
        assert database.execute(kept, (person["id"],)).fetchone() == (0,)
    await bob.leave()


async def test_an_auditor_has_no_devices(scene: Scene, service: PushService) -> None:
    vera = Person.at(scene.gateway)
    assert (await vera.enrol(await scene.offer("Vera", "auditor"), "Vera")).status == 204
    console = await vera.console()
    assert await refused(console, "push/list") == "auditorReadsOnly"
    assert await refused(console, "push/add", service.subscribe().params()) == "auditorReadsOnly"
    await vera.leave()


async def test_a_device_outlives_a_restart_and_hears_of_what_still_waits(scene: Scene, service: PushService) -> None:
    phone = service.subscribe()
    await add(scene.console, phone)
    await scene.ada.leave()
    await scene.gateway.kill()
    await scene.gateway.start()
    scene.console, scene.shell = await scene.ada.console(), await scene.ada.agent()
    call, approval_id = await ask(scene, "restarted")
    assert phone.read(await service.next())["approval"] == approval_id
    await answer(scene, call, approval_id)
