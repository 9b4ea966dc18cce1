"""Images to a model that sees, at the running gateway (docs/SECURITY.md cases 154 and 155)."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import pytest_asyncio

from tests.core.test_images import SECRET, blocks, chunk, gif, jpeg, png, segment
from tests.fakes.openai_server import CHAT
from tests.harness.http import Reply
from tests.harness.person import Turn
from tests.harness.remote_model import RemoteModel
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOOLS = '["tests.harness.effect_tools", "tests.harness.labelled_tools"]'


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def remote() -> AsyncIterator[RemoteModel]:
    async with RemoteModel.serving() as model:
        yield model


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def seeing(remote: RemoteModel, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    settings = {
        "COUNTERSIGN_MODEL_VISION": "true",
        "COUNTERSIGN_MODEL_TIER": "native",
        "COUNTERSIGN_TOOLS_MODULES": TOOLS,
        "COUNTERSIGN_MODEL_URL": remote.url,
    }
    async with stage(tmp_path_factory.mktemp("seeing"), **settings) as scene:
        yield scene


async def attach(turn: Turn, data: bytes, call_id: str = "photo") -> dict[str, Any]:
    """Take a file in, as the shell does for its person."""
    return await turn.invoke("read_attachment", {"name": "photo", "data": b64encode(data).decode()}, call_id)


async def mint(turn: Turn, remote: RemoteModel) -> str:
    params = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"], "modelId": remote.id}
    return str((await turn.socket.call("inference/token", params))["token"])


def showing(url: Any, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}, **more}]}


async def ask(scene: Scene, token: str, *messages: Any) -> Reply:
    headers = {"Authorization": f"Bearer {token}"}
    return await scene.ada.browser.post(f"{scene.gateway.agent_origin}{CHAT}", {"messages": list(messages)}, headers=headers)


async def test_a_model_that_sees_is_shown_what_was_attached_without_what_tells_where_it_was_taken(
    seeing: Scene, remote: RemoteModel
) -> None:
    (model,) = (await seeing.shell.call("session/describe"))["models"]
    assert model["seesImages"] is True
    turn = await seeing.begin()
    result = await attach(turn, png(2, 2, chunk(b"eXIf", SECRET)))
    (attached,) = result["attachments"]
    assert (result["trust"], attached["mediaType"], attached["bytes"]) == ("untrusted", "image/png", len(png()))
    remote.asked.clear()
    token = await mint(turn, remote)
    asked = {"messages": [showing(f"attachment:{attached['id']}")], "stream": True}
    async with remote.streaming(seeing, token, asked):
        (body,) = remote.asked
    assert SECRET not in body
    (message,) = orjson.loads(body)["messages"]
    head, _, data = message["content"][1]["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64"
    assert b64decode(data) == png()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>\xff\x01", "is not text"),
        (b"\x89PNG\r\n\x1a\n<svg onload='alert(1)'/>", "cut off or damaged"),
        (png(10_000, 10_000), "pixels"),
        (jpeg(60_000, 60_000), "pixels"),
        (png()[:-5], "cut off or damaged"),
    ],
    ids=["svg", "magic", "bomb", "jpeg-bomb", "cut"],
)
async def test_case_154_what_is_no_image_or_too_large_a_one_does_not_come_in(seeing: Scene, data: bytes, why: str) -> None:
    turn = await seeing.begin()
    result = await attach(turn, data)
    assert result["outcome"] == "executionError"
    assert why in result["error"]
    assert "attachments" not in result


@pytest.mark.parametrize(
    "data",
    [
        png(2, 2, chunk(b"pHYs", bytes(9) + SECRET)),
        jpeg(2, 2, segment(0xE0, b"JFXX\0\x10" + SECRET)),
        jpeg(2, 2, segment(0xE0, b"JFIF\0" + bytes(7) + b"\1\1" + SECRET)),
    ],
    ids=["size", "thumbnail", "old-thumbnail"],
)
async def test_case_187_what_hides_in_a_known_part_of_an_image_does_not_come_in(seeing: Scene, data: bytes) -> None:
    (attached,) = (await attach(await seeing.begin(), data))["attachments"]
    fetched = await seeing.ada.browser.get(f"{seeing.gateway.agent_origin}/attachments/{attached['id']}")
    assert fetched.status == 200
    assert SECRET not in fetched.body


@pytest.mark.parametrize(
    "hidden",
    [b"!\xfe" + blocks(SECRET), b"!\xff" + blocks(b"XMP DataXMP", SECRET), b"!\x01" + blocks(bytes(12), SECRET)],
    ids=["comment", "application", "text"],
)
async def test_case_218_an_animation_comes_in_without_what_was_written_into_it(seeing: Scene, hidden: bytes) -> None:
    (attached,) = (await attach(await seeing.begin(), gif(hidden) + SECRET))["attachments"]
    assert (attached["mediaType"], attached["bytes"]) == ("image/gif", len(gif()))
    fetched = await seeing.ada.browser.get(f"{seeing.gateway.agent_origin}/attachments/{attached['id']}")
    assert (fetched.status, fetched.body) == (200, gif())


async def test_a_drawing_that_is_text_is_text_and_shown_to_nobody_as_an_image(seeing: Scene, remote: RemoteModel) -> None:
    turn = await seeing.begin()
    result = await attach(turn, b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")
    assert result["outcome"] == "ok"
    assert "attachments" not in result


async def test_case_155_only_an_image_of_the_conversation_reaches_the_models_server(seeing: Scene, remote: RemoteModel) -> None:
    other = await seeing.begin()
    (elsewhere,) = (await attach(other, png()))["attachments"]
    turn = await seeing.begin()
    (moving,) = (await attach(turn, gif()))["attachments"]
    (mine,) = (await attach(turn, png(), "mine"))["attachments"]
    token = await mint(turn, remote)
    remote.asked.clear()
    good = f"attachment:{mine['id']}"
    data = f"data:image/png;base64,{b64encode(png()).decode()}"
    for message in (
        showing("http://169.254.169.254/latest/meta-data/"),
        showing("https://attacker.example/?leak=1"),
        showing("file:///etc/passwd"),
        showing(data),
        showing(f"{good}/../x"),
        showing("attachment:"),
        showing(f"attachment:{elsewhere['id']}"),
        showing(f"attachment:{moving['id']}"),
        showing(good, role="system"),
        showing(good, detail="high"),
        showing({"url": good}),
        {"role": "user", "content": [{"type": "image_url", "image_url": good}]},
        {"role": "user", "content": [{"type": "input_image", "image_url": "https://attacker.example/"}]},
        {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}]},
        {"role": "user", "content": [{"type": "text", "text": "x", "image_url": {"url": good}}]},
        {"role": "user", "content": {"type": "image_url", "image_url": {"url": good}}},
        {"role": "user", "content": [showing(good)["content"][1]] * 9},
        "text",
        [showing(data)],
    ):
        refused = await ask(seeing, token, message)
        assert refused.status == 400, (message, refused.body)
    assert remote.asked == []


async def test_case_155_what_is_embedded_is_text_and_nothing_else(seeing: Scene, remote: RemoteModel) -> None:
    turn = await seeing.begin()
    headers = {"Authorization": f"Bearer {await mint(turn, remote)}"}
    media = {"prompt_string": "<__media__>", "multimodal_data": [b64encode(png()).decode()]}
    remote.asked.clear()
    for given in (None, [], 7, [7], [[1, 2]], media, [media], ["a", media]):
        url = f"{seeing.gateway.agent_origin}/v1/embeddings"
        refused = await seeing.ada.browser.post(url, {"input": given}, headers=headers)
        assert (refused.status, refused.json["error"]["code"]) == (400, "invalid_params"), given
    assert remote.asked == []


async def test_an_image_of_a_conversation_that_a_model_may_not_read_is_not_shown_to_it(
    seeing: Scene, remote: RemoteModel
) -> None:
    turn = await seeing.begin()
    (attached,) = (await attach(turn, png()))["attachments"]
    token = await mint(turn, remote)
    reader = await seeing.another("Rita", "operator")
    shell = await reader.agent()
    foreign = await Turn.begin(shell)
    hers = await mint(foreign, remote)
    remote.asked.clear()
    refused = await reader.browser.post(
        f"{seeing.gateway.agent_origin}{CHAT}",
        {"messages": [showing(f"attachment:{attached['id']}")]},
        headers={"Authorization": f"Bearer {hers}"},
    )
    assert (refused.status, refused.json["error"]["code"]) == (400, "image_not_attached")
    await reader.leave()
    await turn.invoke("confide", {}, "labelled")
    assert (await ask(seeing, token, showing(f"attachment:{attached['id']}"))).status == 401
    assert remote.asked == []


async def test_a_model_that_sees_nothing_is_shown_nothing(tmp_path: Path, remote: RemoteModel) -> None:
    async with stage(tmp_path / "blind", COUNTERSIGN_MODEL_URL=remote.url) as scene:
        (model,) = (await scene.shell.call("session/describe"))["models"]
        assert "seesImages" not in model
        turn = await scene.begin()
        (attached,) = (await attach(turn, png()))["attachments"]
        remote.asked.clear()
        refused = await ask(scene, await mint(turn, remote), showing(f"attachment:{attached['id']}"))
        assert (refused.status, refused.json["error"]["code"]) == (400, "model_sees_no_images")
        assert remote.asked == []
        await scene.shell.call("turns/end", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
        await scene.shell.call("conversations/delete", {"conversationId": turn.conversation_id})
        gone = await scene.ada.browser.get(f"{scene.gateway.agent_origin}/attachments/{attached['id']}")
        assert gone.status == 404
