"""Files that an operator names, where what is behind the name is no file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.scenarios.conftest import Scene, ada, gateway, scene

__all__ = ["ada", "gateway", "scene"]

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_case_174_a_document_that_is_no_file_is_told_and_not_waited_for(scene: Scene, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, place in (("pipe", str(tmp_path / "pipe")), ("endless", "/dev/zero")):
        settings = {"base_url": "https://api.example.com", "document_file": place}
        await scene.console.call("sources/add", {"name": name, "kind": "http", "settings": settings})
        tested = await scene.console.call("sources/test", {"name": name})
        assert tested["state"] == "away"
        assert "no regular file" in tested["why"]
        await scene.console.call("sources/remove", {"name": name})
    for arguments in (
        ("sources", "import", str(tmp_path / "pipe")),
        ("sources", "import", "/dev/zero"),
        ("sources", "add", "x", "--openapi", str(tmp_path / "pipe"), "--base-url", "https://api.example.com"),
        ("restore", str(tmp_path / "pipe"), "--yes"),
    ):
        code, output = await scene.gateway.run(*arguments)
        assert (code, "no regular file" in output, "Traceback" in output) == (2, True, False), output
