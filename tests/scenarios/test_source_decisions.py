"""Sources on the running gateway: what is proposed can be decided about as it is, and what was mistyped is added anew."""

from __future__ import annotations

import json

import pytest

from tests.harness.process import GatewayProcess
from tests.scenarios.conftest import Scene, ada, gateway, scene
from tests.scenarios.test_sources import add, serve, sources

__all__ = ["ada", "gateway", "scene"]

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_what_is_decided_as_it_is_proposed_can_be_called_where_it_reaches_the_network_too(
    gateway: GatewayProcess, scene: Scene
) -> None:
    await add(scene, "wide", network=True)
    document = {"openapi": "3.1.0", "info": {"title": "Near", "version": "1"}, "servers": [{"url": "http://127.0.0.1:9"}]}
    answered = {"responses": {"200": {"description": "ok"}}}
    paths = {"/it": {"get": {"operationId": "see", **answered}, "delete": {"operationId": "drop", **answered}}}
    (gateway.home / "near.json").write_text(json.dumps({**document, "paths": paths}))
    await sources(gateway, "import", "near.json")
    for name in ("wide", "near"):
        await sources(gateway, "pin", name, "--proposed", "--yes")
    modes = {tool["name"]: tool["permission"] for tool in (await scene.begin()).snapshot["tools"]}
    names = ("wide__look", "wide__keep", "near__see", "near__drop")
    assert [modes[name] for name in names] == ["consent", "stepUp", "consent", "stepUp"]


async def test_a_reading_that_may_reach_the_network_is_said_not_to_run(gateway: GatewayProcess, scene: Scene) -> None:
    await add(scene, "far", network=True)
    assert "`network` asks first" in await sources(gateway, "pin", "far", "look", "read")
    modes = {tool["name"]: tool["permission"] for tool in (await scene.begin()).snapshot["tools"]}
    assert modes["far__look"] == "forbidden"
    assert "`network` asks first" not in await sources(gateway, "pin", "far", "look", "network")


async def test_a_source_that_could_not_be_reached_is_said_to_be_kept_and_added_anew_with_one_word(
    gateway: GatewayProcess,
) -> None:
    assert "no program acts" in (await gateway.run("mcp", "clients", "list"))[1].lower()
    away = await sources(gateway, "add", "mistyped", "--", "/nonexistent/server", fails=True)
    assert "`countersign sources add mistyped --replace …` adds it anew" in away
    command = serve(gateway.home, "mistyped")
    assert "already" in await sources(gateway, "add", "mistyped", "--", *command, fails=True)
    added = await sources(gateway, "add", "mistyped", "--replace", "--writable", str(gateway.home / "mistyped"), "--", *command)
    assert "? mistyped__look" in added
