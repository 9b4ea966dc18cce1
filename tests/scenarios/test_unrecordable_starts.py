"""What is recorded at a start, or by a command while no gateway runs: without it nothing begins (docs/SECURITY.md case 327)."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.harness.damage import unwritable
from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.scenarios.conftest import make_gateway
from tests.scenarios.staging import POLICY, edit
from tests.scenarios.test_sessions_end import another_clock

WHY = '@why("Reading changes nothing, so it runs without asking")'


async def stopped(home: Path) -> GatewayProcess:
    """A gateway that was used, and has stopped in the middle of a call."""
    shutil.copytree(POLICY, home / "policy")
    gateway = make_gateway(home, COUNTERSIGN_POLICY=str(home / "policy"))
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    turn = await Turn.begin(await ada.agent())
    call = await turn.start("linger", {}, "c1")
    await turn.socket.notification("tools/progress", callId="c1")
    await gateway.kill()
    await asyncio.wait({call})
    return gateway


async def as_it_was(_gateway: GatewayProcess) -> None:
    """Nothing more."""


async def with_another_policy(gateway: GatewayProcess) -> None:
    edit(gateway, "default.cedar", WHY, '@why("Reading is free")')


async def with_an_earlier_clock(gateway: GatewayProcess) -> None:
    gateway.before = another_clock(-24)


Change = Callable[[GatewayProcess], Awaitable[None]]


@pytest.mark.parametrize(
    ("event", "change"),
    [
        ("gateway:started", as_it_was),
        ("call:found-unknown", as_it_was),
        ("policy:loaded", with_another_policy),
        ("clock:set-back", with_an_earlier_clock),
    ],
)
async def test_case_327_a_start_that_cannot_be_recorded_is_none(tmp_path: Path, event: str, change: Change) -> None:
    gateway = await stopped(tmp_path)
    await change(gateway)
    with unwritable(gateway.state, event):
        with pytest.raises(AssertionError, match="did not print"):
            await gateway.start()
        assert await gateway.wait() == 2, gateway.output
        assert gateway.output.splitlines()[-1].startswith("countersign: it cannot be recorded"), gateway.output
        assert "Traceback" not in gateway.output, gateway.output
    await gateway.start()
    assert await gateway.stop() == 0, gateway.output
    gateway.before = ""
    code, output = await gateway.run("audit", "verify")
    assert code == 0, output


async def test_case_327_a_policy_that_was_read_and_is_not_on_record_is_recorded_the_next_time(tmp_path: Path) -> None:
    shutil.copytree(POLICY, tmp_path / "policy")
    gateway = make_gateway(tmp_path, COUNTERSIGN_POLICY=str(tmp_path / "policy"))
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    console = await ada.console()

    async def versions() -> list[str]:
        return [each["version"] for each in (await console.call("policy/history"))["versions"]]

    before = await versions()
    await with_another_policy(gateway)
    with unwritable(gateway.state, "policy:loaded"):
        code, output = await gateway.run("policy", "reload")
        assert (code, "Traceback" in output) == (2, False), output
        # What a person restricts holds at once, and that is said.
        assert "is in force; it cannot be recorded now" in output, output
    assert await versions() == before
    code, output = await gateway.run("policy", "reload")
    assert code == 0, output
    assert await versions() == [(await console.call("policy/get"))["version"], *before]
    await ada.leave()
    assert await gateway.stop() == 0
    assert "Traceback" not in gateway.output, gateway.output
    code, output = await gateway.run("audit", "verify")
    assert code == 0, output


@pytest.mark.parametrize(
    ("event", "command"),
    [
        ("audit-key:rotated", ("audit", "rotate-key", "--yes")),
        ("records:lost", ("recover", "--yes")),
        ("local-operator:added", ("agent", "stub", "--single", "hello")),
    ],
)
async def test_case_327_a_command_that_cannot_be_recorded_changes_nothing(
    tmp_path: Path, event: str, command: tuple[str, ...]
) -> None:
    gateway = make_gateway(tmp_path)
    await gateway.start()
    assert await gateway.stop() == 0
    older = (gateway.state / "ledger.db").read_bytes()
    if event == "records:lost":
        await gateway.start()
        assert await gateway.stop() == 0
        (gateway.state / "ledger.db").write_bytes(older)
    keys = {path.name: path.read_bytes() for path in gateway.state.iterdir() if "key" in path.name}
    with unwritable(gateway.state, event):
        code, output = await gateway.run(*command)
        assert (code, "Traceback" in output) == (2, False), output
        assert "it cannot be recorded" in output, output
    # A key that was made for nothing may lie beside them; it signs nothing.
    assert {name: (gateway.state / name).read_bytes() for name in keys} == keys
    code, output = await gateway.run(*command)
    assert code == 0, output
    await gateway.start()
    assert await gateway.stop() == 0, gateway.output
    code, output = await gateway.run("audit", "verify")
    assert code == 0, output
