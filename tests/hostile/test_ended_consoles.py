"""What a console session had sent, or was waiting for, when it ended, at the running gateway."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.harness.oauth_site import OAuthSite, serve_oauth
from tests.scenarios.conftest import Scene

PATIENCE = 60.0
"""Seconds for a worker to start on a busy machine; a bound, not a measurement."""

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def find_id(scene: Scene, name: str) -> str:
    (found,) = [each["id"] for each in (await scene.console.call("people/list"))["people"] if each["name"] == name]
    return found


async def done_since_the_end(scene: Scene, principal: str) -> list[str]:
    """What is on record as this person's doing since their console session ended."""
    done: list[str] = []
    for each in (await scene.console.call("audit/list", {"limit": 200}))["entries"]:
        event, body = each["body"]["event"], each["body"]
        if event == "console-session:ended" and body["principalId"] == principal:
            return done
        if principal in (body.get("by"), body.get("principalId")) and event != "agent-session:ended":
            done.append(event)
    raise AssertionError("no session of theirs has ended")


async def test_case_271_what_waits_behind_other_requests_is_not_done_once_the_session_has_ended(scene: Scene) -> None:
    eve = await scene.another("Eve with a queue", "operator")
    eve_id, console = await find_id(scene, "Eve with a queue"), await eve.console()
    for number in range(32):
        await console.send("secrets/store", {"name": f"late-{number}", "value": "x"})
    await scene.console.call("people/suspend", {"principal": eve_id})
    await console.wait_closed()
    # As many of somebody else's as there could be of hers, so that all of hers would have had their turn.
    for number in range(32):
        await scene.console.call("secrets/store", {"name": f"own-{number}", "value": "x"})
    # One may be on its way to the record already.
    assert len(await done_since_the_end(scene, eve_id)) <= 1


async def test_case_272_tokens_of_a_source_that_come_once_the_session_has_ended_are_not_kept(scene: Scene) -> None:
    eve = await scene.another("Eve who signs in", "operator")
    eve_id, console = await find_id(scene, "Eve who signs in"), await eve.console()
    asked, released, voided = asyncio.Event(), asyncio.Event(), asyncio.Event()
    async with serve_oauth(OAuthSite()) as site:

        async def void(request: Request) -> Response:
            del site.answers["/revoke"]
            answered = await site.handle(request)
            voided.set()
            return answered

        site.answers["/revoke"] = void

        async def hold(request: Request) -> Response:
            asked.set()
            await released.wait()
            del site.answers["/token"]
            return await site.handle(request)

        site.answers["/token"] = hold
        await console.call("sources/add", {"name": "remote", "kind": "mcp", "settings": {"url": site.url}})
        await console.call("sources/test", {"name": "remote"}, patience=PATIENCE)
        back = await site.agree((await console.call("sources/sign-in", {"name": "remote"}))["location"])
        answer = {"name": "remote", "state": back["state"], "code": back["code"], "issuer": back["iss"]}
        await console.send("sources/finish-sign-in", answer)
        async with asyncio.timeout(PATIENCE):
            await asked.wait()
        await scene.console.call("people/suspend", {"principal": eve_id})
        await console.wait_closed()
        released.set()
        # Behind the lock that hers would take, so that what she began is over by then.
        await scene.console.call("sources/test", {"name": "remote"}, patience=PATIENCE)
        await scene.console.call("secrets/store", {"name": "afterwards", "value": "x"})
        assert await done_since_the_end(scene, eve_id) == []
        (source,) = [each for each in (await scene.console.call("sources/list", {}))["sources"] if each["name"] == "remote"]
        assert source["signIn"] == {}
        # Nor are they good for anybody who saw them on the way.
        async with asyncio.timeout(PATIENCE):
            await voided.wait()
        assert (site.refresh, site.access) == (set(), set())
