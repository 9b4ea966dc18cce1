"""One running gateway per module of scenarios, and people who use it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
import pytest_asyncio

from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.harness.socket import Socket

SETTINGS = {"COUNTERSIGN_TOOLS_MODULES": '["tests.harness.effect_tools"]'}


@dataclass
class Scene:
    """Ada, an operator who is signed in, her shell and her console, and the external ledger of effects."""

    gateway: GatewayProcess
    ada: Person
    shell: Socket
    console: Socket

    def effects(self, conversation_id: str) -> list[str]:
        """What the tools really did in a conversation, oldest first: `call-id what`."""
        path = self.gateway.home / "effects"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.removeprefix(f"{conversation_id} ") for line in lines if line.startswith(f"{conversation_id} ")]

    async def begin(self) -> Turn:
        """A fresh conversation with an open turn."""
        return await Turn.begin(self.shell)

    async def asked(self, call_id: str) -> str:
        """The id of the approval that was requested for a call, as the shell is told."""
        return await self.shell.approval_requested(call_id)

    async def closings(self, conversation_id: str) -> list[dict[str, Any]]:
        """The closing audit entries of a conversation, newest first."""
        listed = await self.console.call("audit/list", {"filter": {"conversationId": conversation_id}, "limit": 200})
        return [entry for entry in listed["entries"] if "outcome" in entry["body"]]

    async def another(self, name: str, profile: str) -> Person:
        """Somebody else, enrolled from the command line and signed in at their own browser."""
        return await Person.at(self.gateway).arrive(await self.offer(name, profile))

    async def offer(self, name: str, profile: str) -> str:
        """The token of an enrolment link."""
        code, output = await self.gateway.run("enrol", name, "--profile", profile)
        assert code == 0, output
        found = re.search(r"#t=(\S+)", output)
        assert found is not None, output
        return found.group(1)


def make_gateway(home: Path, **settings: str) -> GatewayProcess:
    """A gateway with the effect tools, not started."""
    home.mkdir(parents=True, exist_ok=True)
    return GatewayProcess(home, settings={**SETTINGS, "EFFECTS": str(home / "effects"), **settings})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    process = make_gateway(tmp_path_factory.mktemp("gateway"))
    await process.start()
    yield process
    code = await process.stop()
    assert code == 0, process.output
    # Only the tool that fails on purpose may leave one, and only in the operator's own log.
    assert process.output.count("Traceback") == process.output.count("tool crash failed"), process.output


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ada(gateway: GatewayProcess) -> AsyncIterator[Person]:
    person = await Person.at(gateway).arrive()
    yield person
    await person.leave()


@pytest_asyncio.fixture(loop_scope="module")
async def scene(gateway: GatewayProcess, ada: Person) -> AsyncIterator[Scene]:
    shell, console = await ada.agent(), await ada.console()
    yield Scene(gateway, ada, shell, console)
    await shell.close()
    await console.close()


def text_of(value: object) -> str:
    """Any JSON as text, to look for what must not be in it."""
    return orjson.dumps(value).decode()
