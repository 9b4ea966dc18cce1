"""Acts about the policy, the settings, what is erased, devices and the model."""

from __future__ import annotations

from typing import Any

from tests.authenticator import Forgery
from tests.harness.person import Turn
from tests.harness.socket import RpcError, Socket
from tests.scenarios.unrecorded.acts import Attempt, NotDone, Office, act, nothing, run
from tests.scenarios.unrecorded.call_acts import call_id, granted, invoke, open_turn

FORGED = Forgery(user_verified=False)


async def texts(console: Socket, added: str) -> tuple[str, list[dict[str, str]]]:
    """The version in force, and its documents with something added."""
    got = await console.call("policy/get")
    documents = [{"name": each["name"], "text": each["text"]} for each in got["documents"]]
    for each in documents:
        if each["name"] == "default.cedar":
            each["text"] += added
    return got["version"], documents


def forbidding(tool: str) -> str:
    """A rule that nobody has written before."""
    name = call_id()
    return (
        f'\n@id("test.{name}")\n@why("Nobody does this")\nforbid (principal, action, resource == Countersign::Tool::"{tool}");\n'
    )


def permitting(tool: str) -> str:
    name = call_id()
    kinds = f'action == Countersign::Action::"invoke", resource == Countersign::Tool::"{tool}"'
    return f'\n@id("test.{name}")\n@why("Anybody does this")\npermit (principal in Countersign::Profile::"operator", {kinds});\n'


async def propose(office: Office, added: str) -> Any:
    base, documents = await texts(office.console, added)
    asked = {"base": base, "reason": "for the test", "documents": documents}
    answer = await office.console.call("policy/propose", asked)
    assert answer["outcome"] in ("proposed", "casesFail"), answer
    return answer["opened"]


def policy(office: Office) -> Any:
    async def look() -> object:
        got = await office.console.call("policy/get")
        waiting = (await office.console.call("policy/proposals"))["proposals"]
        return got["version"], got.get("freeze"), [(each["proposalId"], each["signers"]) for each in waiting]

    return look


def signing(office: Office, opened: Any, forgery: Forgery | None = None) -> dict[str, Any]:
    answer = office.ada.authenticator.get(opened["passkeyOptions"], *(() if forgery is None else (forgery,)))
    return {"proposalId": opened["proposal"]["proposalId"], "assertion": answer}


@act("policy:published", "console policy/sign")
@act("policy:loaded", "console policy/sign")
@act("passkey:used", "console policy/sign")
async def _(office: Office) -> Attempt:
    opened = await propose(office, forbidding("linger"))
    return Attempt(lambda: office.console.call("policy/sign", signing(office, opened)), policy(office))


@act("grant:revoked", "console policy/sign")
async def _(office: Office) -> Attempt:
    await granted(office, "send")
    opened = await propose(office, forbidding("send"))
    return Attempt(lambda: office.console.call("policy/sign", signing(office, opened)), policy(office))


@act("policy:proposed", "console policy/sign, the first of two")
async def _(office: Office) -> Attempt:
    opened = await propose(office, permitting("note"))
    return Attempt(lambda: office.console.call("policy/sign", signing(office, opened)), policy(office))


@act("policy:proposed", "countersign policy publish")
async def _(office: Office) -> Attempt:
    _version, documents = await texts(office.console, forbidding("linger"))
    folder = office.gateway.home / call_id()
    for each in documents:
        path = folder / each["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(each["text"])
    return Attempt(lambda: run(office, "policy", "publish", str(folder), "--reason", "for the test"), policy(office))


@act("policy-signature:refused", "console policy/sign")
async def _(office: Office) -> Attempt:
    opened = await propose(office, forbidding("linger"))
    return Attempt(lambda: refused_as_invalid(office, "policy/sign", signing(office, opened, FORGED)), policy(office), stays=True)


async def refused_as_invalid(office: Office, method: str, params: Any) -> object:
    """A wrong answer of a passkey: it is refused as one once that is on record."""
    try:
        return await office.console.call(method, params)
    except RpcError as refused:
        if refused.error["data"]["code"] != "assertionInvalid":
            raise
        return None


async def thaw(office: Office, forgery: Forgery | None = None) -> object:
    question = await office.console.call("policy/thaw-question")
    answer = office.ada.authenticator.get(question["passkeyOptions"], *(() if forgery is None else (forgery,)))
    return await refused_as_invalid(office, "policy/thaw", {"assertion": answer})


@act("policy:frozen", "console policy/freeze")
async def _(office: Office) -> Attempt:
    # It holds before it is on record: where it cannot be recorded that is the safe side.
    return Attempt(lambda: office.console.call("policy/freeze", {"why": "for the test"}), nothing, stays=True)


@act("policy:frozen", "countersign policy freeze")
async def _(office: Office) -> Attempt:
    return Attempt(lambda: run(office, "policy", "freeze", "for the test"), nothing, stays=True)


@act("grant:revoked", "console policy/freeze")
async def _(office: Office) -> Attempt:
    await granted(office)
    return Attempt(lambda: office.console.call("policy/freeze", {"why": "for the test"}), nothing, stays=True)


@act("policy:thawed", "console policy/thaw")
@act("passkey:used", "console policy/thaw")
async def _(office: Office) -> Attempt:
    await office.console.call("policy/freeze", {"why": "for the test"})
    return Attempt(lambda: thaw(office), policy(office))


@act("policy-signature:refused", "console policy/thaw")
async def _(office: Office) -> Attempt:
    await office.console.call("policy/freeze", {"why": "for the test"})
    return Attempt(lambda: thaw(office, FORGED), policy(office), stays=True)


async def shadow(office: Office) -> object:
    return await office.console.call("policy/shadow")


async def start_shadow(office: Office) -> dict[str, Any]:
    _version, documents = await texts(office.console, forbidding("linger"))
    return {"documents": documents, "why": "for the test"}


@act("policy-shadow:started", "console policy/start-shadow")
async def _(office: Office) -> Attempt:
    params = await start_shadow(office)
    return Attempt(lambda: office.console.call("policy/start-shadow", params), lambda: shadow(office))


@act("policy-shadow:ended", "console policy/stop-shadow")
async def _(office: Office) -> Attempt:
    await office.console.call("policy/start-shadow", await start_shadow(office))
    return Attempt(lambda: office.console.call("policy/stop-shadow"), lambda: shadow(office))


@act("policy-shadow:ended", "countersign policy shadow stop")
async def _(office: Office) -> Attempt:
    await office.console.call("policy/start-shadow", await start_shadow(office))
    return Attempt(lambda: run(office, "policy", "shadow", "stop"), lambda: shadow(office))


# ── settings ──


async def settings(office: Office) -> Any:
    return await office.console.call("settings/list")


async def change(office: Office, forgery: Forgery | None = None) -> object:
    listed = await settings(office)
    now = next(each["value"] for each in listed["settings"] if each["name"] == "approval_seconds")
    wish = {"name": "approval_seconds", "base": listed["version"], "value": int(now) + 1}
    question = await office.console.call("settings/ask", wish)
    answer = office.ada.authenticator.get(question["passkeyOptions"], *(() if forgery is None else (forgery,)))
    return await refused_as_invalid(office, "settings/change", {"assertion": answer})


@act("setting:changed", "console settings/change")
@act("passkey:used", "console settings/change")
async def _(office: Office) -> Attempt:
    return Attempt(lambda: change(office), lambda: settings(office))


@act("setting-change:refused", "console settings/change")
async def _(office: Office) -> Attempt:
    return Attempt(lambda: change(office, FORGED), lambda: settings(office), stays=True)


@act("setting:changed", "countersign settings set")
async def _(office: Office) -> Attempt:
    now = next(each["value"] for each in (await settings(office))["settings"] if each["name"] == "approval_seconds")
    return Attempt(lambda: run(office, "settings", "set", "approval_seconds", str(int(now) + 1)), lambda: settings(office))


# ── erasing ──


async def closed_conversation(office: Office) -> Turn:
    turn, place = await open_turn(office)
    await invoke(turn, "peek", what="to be erased")
    await office.shell.call("turns/end", place)
    return turn


def kept(office: Office, turn: Turn) -> Any:
    async def look() -> object:
        listed = await office.console.call("audit/list", {"filter": {"conversationId": turn.conversation_id}, "limit": 50})
        return [each["body"]["event"] for each in listed["entries"] if each.get("payload") is not None]

    return look


@act("records:erased", "console audit/erase")
@act("conversation:deleted", "console audit/erase")
async def _(office: Office) -> Attempt:
    turn = await closed_conversation(office)
    params = {"conversationId": turn.conversation_id}
    return Attempt(lambda: office.console.call("audit/erase", params), kept(office, turn))


@act("records:erased", "countersign audit erase")
async def _(office: Office) -> Attempt:
    turn = await closed_conversation(office)
    command = ("audit", "erase", "--conversation", turn.conversation_id, "--yes")
    return Attempt(lambda: run(office, *command), kept(office, turn))


# ── devices ──


async def devices(office: Office) -> Any:
    return [each["id"] for each in (await office.console.call("push/list"))["devices"]]


@act("push-device:added", "console push/add")
async def _(office: Office) -> Attempt:
    params = office.devices.subscribe().params("Phone")
    return Attempt(lambda: office.console.call("push/add", params), lambda: devices(office))


@act("push-device:removed", "console push/remove")
async def _(office: Office) -> Attempt:
    await office.console.call("push/add", office.devices.subscribe().params("Phone"))
    params = {"device": (await devices(office))[-1]}
    return Attempt(lambda: office.console.call("push/remove", params), lambda: devices(office))


@act("push-device:removed", "console push/add, the same browser again")
async def _(office: Office) -> Attempt:
    params = office.devices.subscribe().params("Phone")
    await office.console.call("push/add", params)
    return Attempt(lambda: office.console.call("push/add", params), lambda: devices(office))


# ── the model ──


@act("inference-token:minted", "shell inference/token")
async def _(office: Office) -> Attempt:
    _turn, place = await open_turn(office)
    params = {**place, "modelId": office.model.id}
    return Attempt(lambda: office.shell.call("inference/token", params), nothing, stays=True)


@act("inference:refused", "POST /v1/chat/completions")
async def _(office: Office) -> Attempt:
    _turn, place = await open_turn(office)
    token = (await office.shell.call("inference/token", {**place, "modelId": office.model.id}))["token"]
    url = f"{office.gateway.agent_origin}/v1/chat/completions"
    body = {"messages": [{"role": "user", "content": "hello"}], "model": "another"}

    async def go() -> object:
        reply = await office.ada.browser.post(url, body, headers={"Authorization": f"Bearer {token}"})
        if reply.status == 503:
            error = reply.json["error"]
            raise NotDone(error["code"], error["message"])
        return reply

    async def look() -> object:
        return len(office.model.asked)

    return Attempt(go, look, stays=True)
