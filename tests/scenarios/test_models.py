"""Several models in the running gateway: which may be asked, and which one the record names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.fakes.openai_server import CHAT
from tests.harness.person import Turn
from tests.harness.remote_model import RemoteModel
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import PATIENCE, stage

STUB = "stub:1"
OTHER = {"COUNTERSIGN_OTHER_MODELS": '["stub"]', "COUNTERSIGN_MODEL_TIER": "native"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def remote() -> AsyncIterator[RemoteModel]:
    async with RemoteModel.serving() as model:
        yield model


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def several(remote: RemoteModel, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    async with stage(tmp_path_factory.mktemp("several"), **OTHER, COUNTERSIGN_MODEL_URL=remote.url) as scene:
        yield scene


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def mint(turn: Turn, model: str) -> str:
    """A token for a model in this turn."""
    params = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"], "modelId": model}
    return str((await turn.socket.call("inference/token", params))["token"])


async def ask(scene: Scene, token: str, path: str = CHAT, **members: Any) -> Any:
    """A whole request through the gateway."""
    body = {"messages": [{"role": "user", "content": "list notes/"}], **members}
    return await scene.ada.browser.post(f"{scene.gateway.agent_origin}{path}", body, headers={"Authorization": f"Bearer {token}"})


async def events(scene: Scene, event: str) -> list[dict[str, Any]]:
    """The log's entries of one kind, newest first."""
    listed = await scene.console.call("audit/list", {"filter": {"event": event}, "limit": 100})
    return [entry["body"] for entry in listed["entries"]]


@pytest.mark.requirement("002-48", "a session is told of every model that it may use, local and remote")
async def test_all_models_are_offered_the_first_one_first(several: Scene, remote: RemoteModel) -> None:
    described = await several.shell.call("session/describe")
    assert [(model["id"], model["local"]) for model in described["models"]] == [(remote.id, False), (STUB, True)]


@pytest.mark.requirement("002-51", "a token for another model goes to that model, and the record names it")
async def test_the_model_of_the_token_answers_and_is_on_record(several: Scene, remote: RemoteModel) -> None:
    turn = await several.begin()
    token = await mint(turn, STUB)
    answered = await ask(several, token)
    assert answered.status == 200
    assert answered.json["model"] == STUB
    assert remote.asked == []
    # The record follows the answer.
    async with asyncio.timeout(PATIENCE):
        while not (finished := await events(several, "inference:finished")):
            await asyncio.sleep(0.05)
    assert [(each["modelId"], each["turnId"]) for each in finished] == [(STUB, turn.snapshot["turnId"])]


async def test_a_token_for_one_model_asks_no_other(several: Scene, remote: RemoteModel) -> None:
    turn = await several.begin()
    token = await mint(turn, STUB)
    refused = await ask(several, token, model=remote.id)
    assert (refused.status, refused.json["error"]["code"]) == (400, "model_not_in_token")
    assert remote.asked == []


@pytest.mark.parametrize("model", ["stub", "stub:2", "remote:elsewhere.invalid:x", "default", "STUB:1"])
async def test_a_model_that_is_not_configured_gets_no_token(several: Scene, model: str) -> None:
    turn = await several.begin()
    with pytest.raises(RpcError):
        await mint(turn, model)
    (newest, *_) = await events(several, "inference:refused")
    assert newest["reason"] == "model"


@pytest.mark.requirement("002-70", "at label high the models elsewhere are gone, and those on this machine remain")
async def test_at_label_high_only_the_models_on_this_machine_remain(tmp_path: Path, remote: RemoteModel) -> None:
    async with stage(tmp_path, **OTHER, COUNTERSIGN_MODEL_URL=remote.url) as scene:
        await scene.ada.open_shell(label="high")
        shell = await scene.ada.agent()
        assert [model["id"] for model in (await shell.call("session/describe"))["models"]] == [STUB]
        turn = await Turn.begin(shell)
        with pytest.raises(RpcError):
            await mint(turn, remote.id)
        assert (await ask(scene, await mint(turn, STUB))).status == 200
        assert remote.asked == []


async def test_a_guest_is_offered_the_models_on_this_machine_only(several: Scene, remote: RemoteModel) -> None:
    eve = await several.another("Eve", "guest")
    shell = await eve.agent()
    assert [model["id"] for model in (await shell.call("session/describe"))["models"]] == [STUB]
    with pytest.raises(RpcError):
        await mint(await Turn.begin(shell), remote.id)
    await eve.leave()
