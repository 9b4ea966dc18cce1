"""Acts about people, their passkeys and their sessions, and about clients that act for them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tests.authenticator import Authenticator, Forgery
from tests.harness.http import Browser
from tests.harness.mcp_web import FORM, WebPeer, request_of
from tests.harness.person import Person
from tests.scenarios.unrecorded.acts import Attempt, Office, act, nothing, require_reply, run
from tests.scenarios.unrecorded.call_acts import call_id

Look = Any


def people(office: Office) -> Look:
    async def look() -> object:
        listed = (await office.console.call("people/list"))["people"]
        # When somebody's passkey was used last, and how many sessions they have, changes by itself.
        return [(each["id"], each["name"], each["profile"], each["suspended"], each["passkeys"]) for each in listed]

    return look


def sessions(office: Office) -> Look:
    async def look() -> object:
        return [(each["id"], each["label"]) for each in (await office.console.call("sessions/list"))["sessions"]]

    return look


async def somebody(office: Office, profile: str = "guest") -> tuple[Person, str, str]:
    """A new person, their name and their id."""
    name = f"Nia {call_id()}"
    person = await office.another(name, profile)
    (known,) = [each["id"] for each in (await office.console.call("people/list"))["people"] if each["name"] == name]
    return person, name, known


@act("enrolment:offered", "console people/invite")
async def _(office: Office) -> Attempt:
    params = {"name": "Nia", "profile": "guest"}
    return Attempt(lambda: office.console.call("people/invite", params), nothing, stays=True)


@act("enrolment:offered", "countersign enrol")
async def _(office: Office) -> Attempt:
    return Attempt(lambda: run(office, "enrol", "Nia", "--profile", "guest"), nothing, stays=True)


@act("principal:enrolled", "POST /enrol/verify")
@act("console-session:started", "POST /enrol/verify")
async def _(office: Office) -> Attempt:
    token = await office.offer(f"Nia {call_id()}", "guest")
    person = Person.at(office.gateway)

    async def go() -> object:
        return require_reply(await person.enrol(token))

    return Attempt(go, people(office))


def elsewhere(office: Office, person: Person) -> Person:
    """The same person at another browser."""
    return Person(office.gateway, Browser(office.gateway.port), person.authenticator)


def signed_in(office: Office, person: Person) -> Look:
    async def look() -> object:
        return (await person.browser.post(f"{office.gateway.console_origin}/passkeys/options")).status

    return look


@act("console-session:started", "POST /signin/verify")
@act("passkey:used", "POST /signin/verify")
async def _(office: Office) -> Attempt:
    person = elsewhere(office, (await somebody(office))[0])

    async def go() -> object:
        return require_reply(await person.sign_in())

    return Attempt(go, signed_in(office, person))


@act("console-session:renewed", "POST /signin/verify")
async def _(office: Office) -> Attempt:
    person, *_ = await somebody(office)

    async def go() -> object:
        return require_reply(await person.sign_in())

    return Attempt(go, lambda: cookies(person))


async def cookies(person: Person) -> object:
    """What this browser's sessions are known by."""
    jars = {name: value for jar in person.browser.cookies.values() for name, value in jar.items()}
    return jars.get("countersign_console"), jars.get("countersign_agent")


@act("sign-in:refused", "POST /signin/verify")
async def _(office: Office) -> Attempt:
    person = elsewhere(office, (await somebody(office))[0])

    async def go() -> object:
        reply = await person.sign_in(Forgery(user_verified=False, origin="http://evil.test"))
        return reply if reply.status == 403 else require_reply(reply)

    return Attempt(go, signed_in(office, person), stays=True)


@act("console-session:ended", "POST /signout")
@act("agent-session:ended", "POST /signout")
async def _(office: Office) -> Attempt:
    person, *_ = await somebody(office)

    async def go() -> object:
        return require_reply(await person.sign_out())

    return Attempt(go, signed_in(office, person))


@act("agent-session:started", "GET /callback")
async def _(office: Office) -> Attempt:
    person, *_ = await somebody(office)

    async def go() -> object:
        return require_reply(await person.open_shell())

    return Attempt(go, lambda: cookies(person))


@act("agent-session:ended", "POST /logout")
async def _(office: Office) -> Attempt:
    person, *_ = await somebody(office)
    await person.agent()

    async def go() -> object:
        return require_reply(await person.browser.post(f"{office.gateway.agent_origin}/logout"))

    return Attempt(go, sessions(office))


async def live_session(office: Office) -> str:
    """A session of somebody else."""
    person, *_ = await somebody(office)
    shell = await person.agent()
    return str((await shell.call("session/describe"))["session"]["id"])


@act("agent-session:ended", "console sessions/end")
async def _(office: Office) -> Attempt:
    params = {"sessionId": await live_session(office)}
    return Attempt(lambda: office.console.call("sessions/end", params), sessions(office))


@act("agent-session:label-raised", "console sessions/restrict")
async def _(office: Office) -> Attempt:
    params = {"sessionId": await live_session(office), "label": "high"}
    # It holds before it is on record: where it cannot be recorded that is the safe side.
    return Attempt(lambda: office.console.call("sessions/restrict", params), nothing, stays=True)


@act("agent-session:label-raised", "countersign session downgrade")
async def _(office: Office) -> Attempt:
    session = await live_session(office)
    return Attempt(lambda: run(office, "session", "downgrade", session, "high"), nothing, stays=True)


def _change(event: str, method: str, **more: str) -> None:
    """The console's method about a person, and the command of the same name."""

    async def prepare(office: Office) -> tuple[str, str]:
        _person, name, known = await somebody(office)
        if method == "resume":
            await office.console.call("people/suspend", {"principal": known})
        return name, known

    @act(event, f"console people/{method}")
    async def _(office: Office) -> Attempt:
        _name, known = await prepare(office)
        params = {"principal": known, **more}
        return Attempt(lambda: office.console.call(f"people/{method}", params), people(office))

    @act(event, f"countersign people {method}")
    async def _(office: Office) -> Attempt:
        name, _known = await prepare(office)
        command = "profile" if method == "set-profile" else method
        return Attempt(lambda: run(office, "people", command, name, *more.values()), people(office))


for _event, _method, _more in (
    ("principal:profile-changed", "set-profile", {"profile": "auditor"}),
    ("principal:suspended", "suspend", {}),
    ("principal:resumed", "resume", {}),
    ("principal:removed", "remove", {}),
    ("console-session:ended", "remove", {}),
    ("agent-session:ended", "suspend", {}),
):
    _change(_event, _method, **_more)


async def add_passkey(office: Office, person: Person) -> object:
    console = office.gateway.console_origin
    options = require_reply(await person.browser.post(f"{console}/passkeys/options"))
    credential = Authenticator(origin=console).create(options.json)
    body = {"credential": credential, "name": "phone"}
    return require_reply(await person.browser.post(f"{console}/passkeys/verify", body))


@act("passkey:added", "POST /passkeys/verify")
async def _(office: Office) -> Attempt:
    person, *_ = await somebody(office)
    return Attempt(lambda: add_passkey(office, person), people(office))


@act("passkey:added", "POST /devices/verify")
@act("console-session:started", "POST /devices/verify")
async def _(office: Office) -> Attempt:
    person, *_ = await somebody(office)
    console, phone = office.gateway.console_origin, Browser(office.gateway.port)
    link = require_reply(await person.browser.post(f"{console}/devices/offer")).json["link"]
    token = link.partition("#t=")[2]

    async def go() -> object:
        options = require_reply(await phone.post(f"{console}/devices/options", {"token": token}))
        credential = Authenticator(origin=console).create(options.json)
        return require_reply(await phone.post(f"{console}/devices/verify", {"token": token, "credential": credential}))

    return Attempt(go, people(office))


@act("passkey:removed", "console passkeys/remove")
async def _(office: Office) -> Attempt:
    person, *_ = await somebody(office)
    await add_passkey(office, person)
    console = await person.console()
    first = (await console.call("passkeys/list"))["passkeys"][0]
    params = {"passkeyId": first["id"]}
    return Attempt(lambda: console.call("passkeys/remove", params), people(office))


# ── clients ──


async def clients(office: Office) -> object:
    return [each["clientId"] for each in (await office.console.call("clients/list"))["clients"]]


@act("client:granted", "POST /token")
@act("client-token:minted", "POST /token")
@act("agent-session:started", "POST /token")
async def _(office: Office) -> Attempt:
    peer = WebPeer(office.ada)
    code = await peer.code()

    async def go() -> object:
        return require_reply(await peer.redeem(code=code))

    return Attempt(go, lambda: clients(office))


@act("client-token:minted", "POST /token, a renewal")
async def _(office: Office) -> Attempt:
    peer = await WebPeer(office.ada).come_in()

    async def go() -> object:
        return require_reply(await peer.redeem(grant_type="refresh_token", refresh_token=peer.tokens["refresh_token"]))

    async def look() -> object:
        return dict(peer.tokens)

    return Attempt(go, look)


@act("client-token:refused", "POST /connect/decide")
async def _(office: Office) -> Attempt:
    peer = WebPeer(office.ada)
    assert (await peer.register()).status == 201
    request = await request_of(office.ada.browser, peer.authorization())

    async def go() -> object:
        url = f"{office.gateway.console_origin}/connect/decide"
        return require_reply(await office.ada.browser.post(url, {"request": request, "decision": "deny"}))

    return Attempt(go, lambda: clients(office), stays=True)


@act("client-token:revoked", "console clients/disconnect")
@act("agent-session:ended", "console clients/disconnect")
async def _(office: Office) -> Attempt:
    await WebPeer(office.ada).come_in()
    params = {"clientId": (await office.console.call("clients/list"))["clients"][-1]["clientId"]}
    return Attempt(lambda: office.console.call("clients/disconnect", params), lambda: clients(office))


@act("client-token:revoked", "POST /revoke")
async def _(office: Office) -> Attempt:
    peer = await WebPeer(office.ada).come_in()
    form = urlencode({"token": peer.tokens["refresh_token"], "client_id": peer.client_id}).encode()

    async def go() -> object:
        return require_reply(
            await Browser(office.gateway.port).post(f"{peer.origin}/revoke", raw=form, headers=FORM, origin=None)
        )

    return Attempt(go, lambda: clients(office))
