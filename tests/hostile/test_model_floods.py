"""A tab that asks for more of the model at once than a session may have."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from gateway.runtime.inference import LEASES_PER_TURN
from gateway.server.answers import STREAMS_PER_SESSION
from tests.fakes.openai_server import CHAT
from tests.harness.http import Reply
from tests.harness.person import Turn
from tests.harness.remote_model import ASKED, RemoteModel
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import PATIENCE, stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

AT_ONCE = 5 * STREAMS_PER_SESSION
SOCKETS, EACH = 4, 25


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[RemoteModel]:
    async with RemoteModel.serving() as model:
        yield model


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def remote(model: RemoteModel, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    settings = {"COUNTERSIGN_MODEL_URL": model.url, "COUNTERSIGN_MODEL_TIER": "native"}
    async with stage(tmp_path_factory.mktemp("remote"), **settings) as scene:
        yield scene


def wanted(turn: Turn, model: RemoteModel) -> dict[str, str]:
    return {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"], "modelId": model.id}


async def mint(remote: Scene, turn: Turn, model: RemoteModel) -> str:
    return str((await remote.shell.call("inference/token", wanted(turn, model)))["token"])


@pytest.mark.requirement("002-67", "a session has a limit of answers under way")
async def test_case_286_requests_at_once_have_no_more_answers_than_one_after_the_other(remote: Scene, model: RemoteModel) -> None:
    turn = await remote.begin()
    token = await mint(remote, turn, model)
    url, headers = f"{remote.gateway.agent_origin}{CHAT}", {"Authorization": f"Bearer {token}"}
    asking = {asyncio.ensure_future(remote.ada.browser.post(url, ASKED, headers=headers)) for _ in range(AT_ONCE)}
    refused: set[asyncio.Task[Reply]] = set()
    async with asyncio.timeout(PATIENCE):
        while len(refused) < AT_ONCE - STREAMS_PER_SESSION:
            done, asking = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
            refused |= done
    assert {each.result().status for each in refused} == {429}
    assert len(model.asked) <= STREAMS_PER_SESSION
    # The end of the turn ends the others, and leaves room for the next.
    await remote.shell.call("turns/end", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
    assert {(await each).status for each in asking} <= {200, 403}
    turn = await remote.begin()
    async with model.streaming(remote, await mint(remote, turn, model)):
        pass


async def test_case_287_tokens_that_are_asked_for_at_once_are_no_more_than_a_turn_may_have(
    remote: Scene, model: RemoteModel
) -> None:
    turn = await remote.begin()
    sockets = [await remote.ada.agent() for _ in range(SOCKETS)]
    asked = [await socket.send("inference/token", wanted(turn, model)) for _ in range(EACH) for socket in sockets]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    refused = [each for each in answers if isinstance(each, RpcError)]
    assert len(answers) - len(refused) == LEASES_PER_TURN
    assert {each.code for each in refused} == {-32004}


async def test_case_321_a_token_is_worth_nothing_on_other_pages_and_nothing_afterwards(remote: Scene, model: RemoteModel) -> None:
    gateway, browser, asked = remote.gateway, remote.ada.browser, len(model.asked)
    turn, url = await remote.begin(), f"{remote.gateway.agent_origin}{CHAT}"
    bearer = {"Authorization": f"Bearer {await mint(remote, turn, model)}"}
    for origin in (gateway.console_origin, "null", "http://evil.test", f"{gateway.agent_origin}.evil.test", ""):
        assert (await browser.post(url, ASKED, headers=bearer, origin=origin)).status == 403, origin
    assert (await browser.post(url, ASKED, headers={**bearer, "Sec-Fetch-Site": "cross-site"})).status == 403
    # Nothing is inflated here, so a small body stays one.
    bomb, packed = gzip.compress(b" " * 50_000_000), {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    for site in (url, f"{gateway.agent_origin}/logout", f"{gateway.console_origin}/signin/options"):
        assert (await browser.post(site, raw=bomb, headers={**bearer, **packed})).status == 400, site
    assert (await browser.get(f"{gateway.agent_origin}/v1/models", headers=bearer)).status == 200
    place = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
    await remote.shell.call("turns/cancel", place)
    await remote.shell.call("conversations/delete", {"conversationId": turn.conversation_id})
    assert (await browser.post(url, ASKED, headers=bearer)).status == 401
    bearer = {"Authorization": f"Bearer {await mint(remote, await remote.begin(), model)}"}
    await remote.ada.leave()
    assert await gateway.stop() == 0
    await gateway.start()
    assert (await browser.post(url, ASKED, headers=bearer)).status == 401
    assert len(model.asked) == asked
