"""What holds for every source of tools, tried on a real one of each kind.

A new kind of source joins by one more entry of `KINDS`. Each offers the same tools in its own way: `echo` gives back its text,
`fail` fails in its own words where the kind has such words, `wait` works until it is told to stop and says that it was.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.adapters.tools.builtin.source import builtin_source
from gateway.adapters.tools.declaration import AnyTool, tool
from gateway.adapters.tools.functions import read_function, tool_threads
from gateway.adapters.tools.local import LocalSource
from gateway.adapters.tools.python_module.source import module_source
from gateway.adapters.tools.source import ToolSource
from gateway.adapters.tools.sources import ToolsConfig, no_audit, nothing_kept
from gateway.adapters.tools.tool_file.document import ToolFileSettings
from gateway.adapters.tools.tool_file.programs import ProgramRunner
from gateway.adapters.tools.tool_file.source import tool_file_source
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured, ToolFailed
from gateway.core.model import ToolOutput, ToolSpec
from gateway.core.vocabulary import Reason, Recovery
from gateway.runtime.ports import ToolContext
from gateway.sandbox.job import SandboxUnavailable
from tests.adapters.tools.conftest import make_context

PATIENCE = 20.0

MODULE = '''
from pathlib import Path
from gateway.adapters.tools import ToolContext, ToolFailed, tool

HERE = Path({here!r})

@tool(category="read", recovery="pure")
def echo(text: str) -> str:
    """Give back the text."""
    return text

@tool(category="read")
def fail() -> str:
    """Fail."""
    raise ToolFailed("there is no such order")

def work(context):
    context.progress("begun", 0.5)
    (HERE / "begun").touch()
    context.cancelled.wait({patience})
    (HERE / "stopped").touch()
    return "stopped"

@tool(category="execute")
def wait(context: ToolContext) -> str:
    """Work until told to stop."""
    return work(context)

@tool(category="execute", timeout=0.2)
def hurry(context: ToolContext) -> str:
    """Work for too long."""
    return work(context)
'''


def programs_of(here: Path) -> list[dict[str, Json]]:
    """The tools as programs. Where they work stands in the command, for `is_working` to find the process by."""
    work = f"touch begun; while :; do sleep 0.02; done # {here}"
    return [
        {
            "name": "echo",
            "description": "Give back the text.",
            "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
            "_argv": ["printf", "%s", "{text}"],
            "_recovery": "pure",
        },
        {"name": "wait", "description": "Work until told to stop.", "_exec": work},
        {"name": "hurry", "description": "Work for too long.", "_exec": work, "_timeout": 0.2},
    ]


def functions_of(here: Path) -> list[AnyTool]:
    """What stands in for the built-in tools where these have nothing that waits or fails."""

    @tool(category="read")
    def fail() -> str:
        """Fail."""
        raise ToolFailed("there is no such order")

    async def work(context: ToolContext) -> str:
        context.progress("begun", 0.5)
        (here / "begun").touch()
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            (here / "stopped").touch()
        return "waited"

    @tool(category="execute")
    async def wait(context: ToolContext) -> str:
        """Work until told to stop."""
        return await work(context)

    @tool(category="execute", timeout=0.2)
    async def hurry(context: ToolContext) -> str:
        """Work for too long."""
        return await work(context)

    @tool(category="read", recovery="pure")
    def echo(text: str) -> str:
        """Give back the text."""
        return text

    return [echo, fail, wait, hurry]


def make_functions(here: Path) -> ToolSource:
    threads = tool_threads()
    return LocalSource("functions", lambda: [read_function(each, "functions", threads) for each in functions_of(here)])


def make_module(here: Path) -> ToolSource:
    name = f"contract_{here.name.replace('-', '_')}"
    (here / f"{name}.py").write_text(MODULE.format(here=str(here), patience=PATIENCE))
    return module_source(name, tool_threads())


def make_tool_file(here: Path) -> ToolSource:
    home = here.parent / f"{here.name}-home"
    home.mkdir(mode=0o755, exist_ok=True)
    (home / "tools.json").write_text(json.dumps(programs_of(here)))
    config = ToolsConfig(here, home / "state")
    return tool_file_source(home / "tools.json", ProgramRunner(config.chosen_sandbox), ToolFileSettings(here))


KINDS: dict[str, Callable[[Path], ToolSource]] = {
    "functions": make_functions,
    "module": make_module,
    "tool file": make_tool_file,
}

SAYS_FAILURES = {"functions", "module"}
"""Kinds whose tools word their own failures; of a program, an exit code is a result."""

TELLS_PROGRESS = {"functions", "module"}


class Started:
    """A started source of one kind, and the folder in which its tools leave their marks."""

    def __init__(self, kind: str, source: ToolSource, folder: Path) -> None:
        self.kind, self.source, self.folder = kind, source, folder

    def spec(self, name: str) -> ToolSpec:
        return next(spec for spec in self.source.specs() if spec.name == name)

    def call(self, name: str, context: ToolContext | None = None, **arguments: Json) -> Awaitable[ToolOutput]:
        return self.source.call(self.spec(name), arguments, context or make_context())

    async def begin_waiting(self, context: ToolContext) -> asyncio.Task[ToolOutput]:
        """A call of `wait` that has begun its work."""
        waiting = asyncio.ensure_future(self.call("wait", context))
        await self.until("begun")
        return waiting

    async def until(self, mark: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while not (self.folder / mark).exists():
                await asyncio.sleep(0.01)

    def is_working(self) -> bool:
        """Whether the work of a call goes on: for a program, whether a process has it on its command line."""
        if self.kind != "tool file":
            return (self.folder / "begun").exists() and not (self.folder / "stopped").exists()
        return any(f"# {self.folder}".encode() in command for command in read_command_lines())


def read_command_lines() -> Iterator[bytes]:
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            yield Path("/proc", entry, "cmdline").read_bytes()


@pytest.fixture(params=KINDS)
async def started(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Started]:
    monkeypatch.setattr(sys, "path", [str(tmp_path / "work"), *sys.path])
    folder = tmp_path / "work"
    folder.mkdir()
    source = KINDS[request.param](folder)
    await source.start()
    yield Started(request.param, source, folder)
    await source.close()
    sys.modules.pop(f"contract_{folder.name}", None)


async def test_definitions_are_stable_and_carry_a_digest(started: Started) -> None:
    before = started.source.specs()
    assert before == started.source.specs()
    assert [len(spec.digest) for spec in before] == [64] * len(before)
    assert {"echo", "wait"} <= {spec.name for spec in before}
    assert {spec.source for spec in before} == {started.source.name}


async def test_what_may_be_done_after_a_crash_is_the_authors_word_and_unsafe_otherwise(started: Started) -> None:
    assert (started.spec("echo").recovery, started.spec("wait").recovery) == (Recovery.PURE, Recovery.UNSAFE)


async def test_a_call_gives_an_output_whose_text_and_record_can_be_kept(started: Started) -> None:
    output = await started.call("echo", text="an old oak")
    assert isinstance(output, ToolOutput)
    assert "an old oak" in output.text
    assert json.loads(json.dumps(output.structured)) == output.structured


async def test_a_tool_that_fails_says_why_in_its_own_words(started: Started) -> None:
    if started.kind not in SAYS_FAILURES:
        assert "fail" not in {spec.name for spec in started.source.specs()}
        return
    with pytest.raises(ToolFailed, match="there is no such order"):
        await started.call("fail")


async def test_a_tool_of_another_source_or_another_definition_does_not_run(started: Started) -> None:
    echo = started.spec("echo")
    for strange in (replace(echo, name="elsewhere"), replace(echo, description="Another meaning.")):
        with pytest.raises(ToolFailed) as failed:
            await started.source.call(strange, {"text": "x"}, make_context())
        assert failed.value.reason == Reason.SOURCE_UNAVAILABLE
        with pytest.raises(ToolFailed):
            started.source.facts(strange, {"text": "x"})
        with pytest.raises(ToolFailed):
            started.source.find_faults(strange, {"text": "x"})


async def test_a_cancelled_call_stops_its_work_and_the_tool_sees_it(started: Started) -> None:
    context = make_context()
    waiting = await started.begin_waiting(context)
    assert started.is_working()
    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError, ToolFailed):
        await waiting
    assert context.cancelled.is_set()
    assert not started.is_working()


async def test_a_call_beyond_its_time_is_over_and_its_work_stopped(started: Started) -> None:
    """As the runtime waits: until the spec's own time, then it cancels."""
    call = asyncio.ensure_future(started.call("hurry"))
    await asyncio.wait((call,), timeout=started.spec("hurry").timeout)
    call.cancel()
    (outcome,) = await asyncio.gather(call, return_exceptions=True)
    match outcome:
        case ToolFailed():
            assert outcome.reason == Reason.TOOL_TIMEOUT
        case ToolOutput():
            assert outcome.text == "stopped"
        case _:
            assert isinstance(outcome, asyncio.CancelledError)
    assert not started.is_working()


async def test_progress_arrives_while_the_tool_works(started: Started) -> None:
    if started.kind not in TELLS_PROGRESS:
        return
    told: list[tuple[str, float | None]] = []

    def tell(message: str, fraction: float | None) -> None:
        told.append((message, fraction))

    context = replace(make_context(), progress=tell)
    waiting = await started.begin_waiting(context)
    assert told == [("begun", 0.5)]
    waiting.cancel()
    await asyncio.wait((waiting,))


async def test_a_started_source_is_healthy(started: Started) -> None:
    assert (await started.source.health()).unavailable is None


async def test_closing_ends_what_runs_and_may_be_done_again(started: Started) -> None:
    context = make_context()
    waiting = await started.begin_waiting(context)
    await started.source.close()
    assert context.cancelled.is_set()
    assert not started.is_working()
    await asyncio.wait((waiting,), timeout=PATIENCE)
    assert waiting.done()
    with contextlib.suppress(asyncio.CancelledError, ToolFailed):
        waiting.result()
    await started.source.close()


async def test_after_closing_nothing_runs_and_the_health_says_so(started: Started) -> None:
    await started.source.close()
    with pytest.raises(ToolFailed) as failed:
        await started.call("echo", text="x")
    assert failed.value.reason == Reason.SOURCE_UNAVAILABLE
    assert "closed" in ((await started.source.health()).unavailable or "")


# ── what only some kinds can be ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
async def test_a_source_that_was_not_started_says_so_and_offers_nothing(kind: str, tmp_path: Path) -> None:
    source = KINDS[kind](tmp_path)
    assert (await source.health()).unavailable is not None
    assert source.specs() == ()
    await source.close()


async def test_programs_without_a_sandbox_are_offered_as_unavailable_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(programs_of(tmp_path)))
    work = tmp_path / "work"
    work.mkdir()
    runner = ProgramRunner(SandboxUnavailable("no sandbox in this test"))
    source = tool_file_source(tmp_path / "tools.json", runner, ToolFileSettings(work))
    await source.start()
    health = await source.health()
    assert (health.unavailable, health.reason) == ("no sandbox in this test", Reason.SANDBOX_UNAVAILABLE)
    assert {spec.unavailable for spec in source.specs()} == {"no sandbox in this test"}
    with pytest.raises(ToolFailed, match="no sandbox in this test"):
        await source.call(source.specs()[0], {"text": "x"}, make_context())
    assert os.listdir(work) == []


async def test_a_module_that_cannot_be_imported_is_unavailable_with_the_reason() -> None:
    source = module_source("no_such_module_at_all", tool_threads())
    with pytest.raises(Misconfigured):
        await source.start()
    assert "no_such_module_at_all" in ((await source.health()).unavailable or "")


async def test_the_built_in_tools_are_a_source_like_the_others(tmp_path: Path) -> None:
    source: ToolSource = builtin_source(tmp_path, no_audit, nothing_kept, tool_threads())
    await source.start()
    (status,) = [spec for spec in source.specs() if spec.name == "system_status"]
    assert "load" in (await source.call(status, {}, make_context())).text
    await source.close()
    with pytest.raises(ToolFailed):
        await source.call(status, {}, make_context())
