"""Acts about calls and questions, turns, conversations and grants."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

from tests.authenticator import Forgery
from tests.harness.person import Turn
from tests.harness.socket import refused
from tests.scenarios.staging import finish
from tests.scenarios.test_several_approvers import act_alone
from tests.scenarios.unrecorded.acts import Attempt, NotDone, Office, act, nothing, require_recorded, require_reply

_number = count(1)


def call_id() -> str:
    return f"act-{next(_number)}"


async def invoke(turn: Turn, tool: str, **arguments: Any) -> Any:
    return require_recorded(await finish(await turn.start(tool, arguments, call_id())))


async def ask(office: Office, turn: Turn, tool: str = "note") -> tuple[asyncio.Future[Any], str]:
    """A call that waits for a person, and its question."""
    name = call_id()
    more = {"before": "/", "after": "/"} if tool == "inscribe" else {}
    call = await turn.start(tool, {"what": name, **more}, name)
    asked = asyncio.ensure_future(office.asked(name))
    await asyncio.wait({call, asked}, return_when=asyncio.FIRST_COMPLETED)
    if call.done():
        asked.cancel()
        require_recorded(call.result())
    return call, await asked


async def open_turn(office: Office) -> tuple[Turn, dict[str, str]]:
    turn = await office.begin()
    return turn, {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}


async def talk(office: Office, conversation: str) -> Any:
    """What is there of a conversation."""
    opened = await office.shell.call("conversations/open", {"conversationId": conversation})
    return opened["messages"], opened["openTurn"]["turnId"] if "openTurn" in opened else None


def effects(office: Office, turn: Turn) -> Any:
    async def look() -> object:
        return office.effects(turn.conversation_id)

    return look


async def yes(office: Office, turn: Turn, tool: str = "note", **more: Any) -> Any:
    """Ask, and approve it; the result."""
    call, approval = await ask(office, turn, tool)
    try:
        await office.ada.answer(office.console, approval, **more)
    finally:
        result = await finish(call)
    return require_recorded(result)


@act("call:intended", "shell tools/invoke")
async def _(office: Office) -> Attempt:
    turn = await office.begin()
    return Attempt(lambda: invoke(turn, "peek", what="a"), effects(office, turn))


@act("call:intended", "console approvals/decide")
@act("approval:resolved", "console approvals/decide")
@act("passkey:used", "console approvals/decide")
async def _(office: Office) -> Attempt:
    turn = await office.begin()
    return Attempt(lambda: yes(office, turn, "erase"), effects(office, turn))


@act("approval:requested", "shell tools/invoke")
async def _(office: Office) -> Attempt:
    turn = await office.begin()

    async def look() -> object:
        return (await office.console.call("approvals/list", {"status": "pending"}))["approvals"]

    return Attempt(lambda: ask(office, turn), look)


@act("grant:issued", "console approvals/decide")
async def _(office: Office) -> Attempt:
    turn = await office.begin()

    async def look() -> object:
        return (await office.console.call("grants/list"))["grants"]

    return Attempt(lambda: yes(office, turn, scope="session"), look)


@act("approval:given", "console approvals/decide")
@act("passkey:used", "console approvals/decide, the first of two")
async def _(office: Office) -> Attempt:
    turn = await office.begin()
    _call, approval = await ask(office, turn, "inscribe")

    async def look() -> object:
        opened = await office.console.call("approvals/get", {"approvalId": approval})
        return opened["standing"], opened["approval"]["given"]

    return Attempt(lambda: office.ada.answer(office.console, approval), look)


@act("approval:break-glass", "console approvals/decide")
async def _(office: Office) -> Attempt:
    turn = await office.begin()

    async def go() -> object:
        call, approval = await ask(office, turn, "inscribe")
        opened = await office.console.call("approvals/get", {"approvalId": approval})
        try:
            await office.console.call("approvals/decide", act_alone(office.ada, opened))
        finally:
            result = await finish(call)
        return require_recorded(result)

    return Attempt(go, effects(office, turn))


@act("assertion:refused", "console approvals/decide")
async def _(office: Office) -> Attempt:
    turn = await office.begin()

    async def go() -> object:
        call, approval = await ask(office, turn, "erase")
        opened = await office.console.call("approvals/get", {"approvalId": approval})
        wrong = office.ada.decision(opened, forgery=Forgery(user_verified=False))
        code = await refused(office.console, "approvals/decide", wrong)
        result = await finish(call)
        if code == "ledger_unavailable":
            assert result["reason"] == "ledgerUnavailable", result
            raise NotDone(code, str(result.get("error")))
        return result

    return Attempt(go, effects(office, turn), stays=True)


@act("call:closed", "shell tools/invoke")
async def _(office: Office) -> Attempt:
    turn = await office.begin()
    return Attempt(lambda: invoke(turn, "peek", what="a"), effects(office, turn), undoable="outcomeUnknown")


@act("call:closed", "shell tools/invoke, of what is refused")
async def _(office: Office) -> Attempt:
    turn = await office.begin()
    return Attempt(lambda: invoke(turn, "no_such_tool", what="a"), effects(office, turn), stays=True)


@act("call:refused", "shell tools/invoke")
async def _(office: Office) -> Attempt:
    turn = await office.begin()
    used = call_id()
    await turn.invoke("peek", {"what": "a"}, used)

    async def go() -> object:
        return require_recorded(await turn.invoke("peek", {"what": "another"}, used))

    return Attempt(go, effects(office, turn), stays=True)


@act("agent-session:label-raised", "shell tools/invoke")
@act("conversation:tainted", "shell tools/invoke")
async def _(office: Office) -> Attempt:
    person = await office.another(call_id(), "operator")
    turn = await Turn.begin(await person.agent())
    return Attempt(lambda: invoke(turn, "confide"), effects(office, turn), undoable="outcomeUnknown")


@act("conversation:opened", "shell conversations/open")
async def _(office: Office) -> Attempt:
    return Attempt(lambda: office.shell.call("conversations/open"), lambda: listed(office))


@act("conversation:opened", "shell conversations/fork")
@act("message:appended", "shell conversations/fork")
async def _(office: Office) -> Attempt:
    turn, place = await open_turn(office)
    await append(office, place, "before")
    params = {"conversationId": turn.conversation_id, "fromTurn": 1}
    return Attempt(lambda: office.shell.call("conversations/fork", params), lambda: listed(office))


@act("conversation:opened", "POST /conversations/import")
@act("conversation:tainted", "POST /conversations/import")
@act("message:appended", "POST /conversations/import")
async def _(office: Office) -> Attempt:
    said = {"role": "user", "content": "from elsewhere", "at": "2024-02-03T10:00:00.000Z"}
    body = {"source": "chatgpt", "title": "Old", "messages": [said]}

    async def go() -> object:
        return require_reply(await office.ada.browser.post(f"{office.gateway.agent_origin}/conversations/import", body))

    return Attempt(go, lambda: listed(office))


async def listed(office: Office) -> object:
    """Every conversation of Ada's."""
    return (await office.shell.call("conversations/list"))["conversations"]


async def append(office: Office, place: dict[str, str], content: str) -> object:
    return await office.shell.call("messages/append", {**place, "message": {"role": "user", "content": content}})


@act("message:appended", "shell messages/append")
async def _(office: Office) -> Attempt:
    turn, place = await open_turn(office)
    return Attempt(lambda: append(office, place, "said"), lambda: talk(office, turn.conversation_id))


@act("conversation:deleted", "shell conversations/delete")
async def _(office: Office) -> Attempt:
    turn, place = await open_turn(office)
    await office.shell.call("turns/end", place)
    params = {"conversationId": turn.conversation_id}
    return Attempt(lambda: office.shell.call("conversations/delete", params), lambda: listed(office))


@act("turn:begun", "shell turns/begin")
@act("message:appended", "shell turns/begin")
async def _(office: Office) -> Attempt:
    opened = (await office.shell.call("conversations/open"))["conversation"]["id"]
    params = {"conversationId": opened, "message": {"role": "user", "content": "hello"}}
    return Attempt(lambda: office.shell.call("turns/begin", params), lambda: talk(office, opened))


@act("turn:ended", "shell turns/begin")
async def _(office: Office) -> Attempt:
    turn, _place = await open_turn(office)
    params = {"conversationId": turn.conversation_id, "message": {"role": "user", "content": "hello"}}
    return Attempt(lambda: office.shell.call("turns/begin", params), lambda: messages(office, turn))


async def messages(office: Office, turn: Turn) -> object:
    return (await talk(office, turn.conversation_id))[0]


@act("turn:ended", "shell turns/end")
async def _(office: Office) -> Attempt:
    # It has ended all the same, for that takes authority away; the second time it is on record.
    _turn, place = await open_turn(office)
    return Attempt(lambda: office.shell.call("turns/end", place), nothing, stays=True)


@act("turn:ended", "shell turns/cancel")
async def _(office: Office) -> Attempt:
    _turn, place = await open_turn(office)
    return Attempt(lambda: office.shell.call("turns/cancel", place), nothing, stays=True)


@act("snapshot:issued", "shell turns/refresh")
async def _(office: Office) -> Attempt:
    turn, place = await open_turn(office)

    async def look() -> object:
        opened = await office.shell.call("conversations/open", {"conversationId": turn.conversation_id})
        return opened["openTurn"]["snapshot"]["id"]

    return Attempt(lambda: office.shell.call("turns/refresh", place), look)


@act("snapshot:issued", "shell conversations/open")
async def _(office: Office) -> Attempt:
    turn, _place = await open_turn(office)
    other = await office.ada.agent()
    params = {"conversationId": turn.conversation_id, "takeOver": True}

    async def look() -> object:
        opened = await office.shell.call("conversations/open", {"conversationId": turn.conversation_id})
        return opened["openTurn"].get("snapshot")

    return Attempt(lambda: other.call("conversations/open", params), look)


@act("turn:questions-allowed", "console turns/allow-questions")
async def _(office: Office) -> Attempt:
    _turn, place = await open_turn(office)
    params = {"turnId": place["turnId"]}
    return Attempt(lambda: office.console.call("turns/allow-questions", params), nothing, stays=True)


@act("agent-session:questions-allowed", "console sessions/allow-questions")
async def _(office: Office) -> Attempt:
    session = (await office.shell.call("session/describe"))["session"]["id"]
    params = {"sessionId": session}
    return Attempt(lambda: office.console.call("sessions/allow-questions", params), nothing, stays=True)


async def grants(office: Office) -> Any:
    """Those that cover something, as the console and the shell see them."""
    seen = [(await socket.call("grants/list"))["grants"] for socket in (office.console, office.shell)]
    return [[each["id"] for each in listed] for listed in seen]


async def granted(office: Office, tool: str = "note") -> tuple[Turn, str]:
    """A turn, and a grant for its session that was given in it."""
    turn = await office.begin()
    before = {each for listed in await grants(office) for each in listed}
    await yes(office, turn, tool, scope="session")
    (given,) = {each for listed in await grants(office) for each in listed} - before
    return turn, given


@act("grant:revoked", "console grants/revoke")
async def _(office: Office) -> Attempt:
    _turn, given = await granted(office)
    return Attempt(lambda: office.console.call("grants/revoke", {"grantId": given}), lambda: grants(office))


@act("grant:revoked", "shell grants/revoke")
async def _(office: Office) -> Attempt:
    _turn, given = await granted(office)
    return Attempt(lambda: office.shell.call("grants/revoke", {"grantId": given}), lambda: grants(office))
