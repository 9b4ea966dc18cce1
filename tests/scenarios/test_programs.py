"""Programs as tools, in their sandbox, at the running gateway (docs/PROTOCOL.md section 7)."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene, make_gateway, text_of
from tests.scenarios.programs import ARGUMENTS, PROGRAMS

pytestmark = pytest.mark.asyncio(loop_scope="module")

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PATIENCE = 20.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp("gateway").resolve()
    (home / "tools.json").write_text(json.dumps({"tools": PROGRAMS}))
    for name in ("apart", "library", "private"):
        (home / name).mkdir()
        (home / name / "word").write_text(f"said in {name}\n")
    files = json.dumps(["tools.json", *(str(EXAMPLES / name) for name in ("echo-tools.json", "debugger-tools.json"))])
    process = make_gateway(home, COUNTERSIGN_TOOL_FILES=files)
    await process.start()
    yield process
    assert await process.stop() == 0, process.output
    assert "Traceback" not in process.output, process.output


async def run(turn: Turn, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """What a program gave, as the structured part of an `ok` result."""
    result = await turn.invoke(tool, arguments)
    assert result["outcome"] == "ok", result
    assert result["trust"] == "untrusted"
    assert json.loads(result["content"]) == result["structured"]
    return dict(result["structured"])


# ── what values can do ──────────────────────────────────────────────────────────────────────────────────────────────────

INJECTIONS = {
    "quotes": 'it\'s "so" `quoted`',
    "a way out of the quotes": "'; touch pwned; '",
    "substitution": "$(touch pwned) `touch pwned` ${PATH} $((1+1)) <(touch pwned)",
    "newlines": "a\ntouch pwned\n\r\ntouch pwned",
    "separators": "; touch pwned && touch pwned | touch pwned & touch pwned",
    "redirections": "> pwned >> pwned < tools.json",
    "a leading dash": "-rf",
    "a long option": "--help",
    "globs": "* ? [a-z]* {a,b} ~ **/*",
    "backslashes": "\\' \\\\ \\n \\",
    "control characters": "".join(map(chr, range(1, 32))) + "\x7f",
    "unicode": "zażółć 🦆 \u202e\u200b\ufeff\u2028 ’‘＇",
    "nothing": "",
    "braces of a template": "{first} {{second}} {third!r} {0}",
    "an assignment": "PATH=. IFS=x BASH_ENV=pwned",
    "very long": "x'y\n" * 8_000,
}


@pytest.mark.requirement("000-23", "sixteen hostile values reach a shell and a direct command unchanged, and no file appears")
@pytest.mark.requirement(
    "000-29", "what a model writes as an argument is never code: quotes, substitutions and options stay text"
)
@pytest.mark.parametrize("value", INJECTIONS.values(), ids=list(INJECTIONS))
async def test_a_value_in_any_place_is_a_value_and_nothing_else(scene: Scene, value: str) -> None:
    turn = await scene.begin()
    before = sorted(scene.gateway.workspace.rglob("*"))
    for name in ARGUMENTS:
        given = dict.fromkeys(ARGUMENTS, "plain") | {name: value}
        shell, direct = await run(turn, "shell", **given), await run(turn, "direct", **given)
        first, second, third = given.values()
        expected = {
            "shell": f"{first}\0{second}\0{third}\0",
            "direct": json.dumps(["x" + first, "--second=" + second, "--", third]) + "\n",
        }
        if len(value) < 8_000:
            assert {"shell": shell["stdout"], "direct": direct["stdout"]} == expected
        for ran, said in ((shell, expected["shell"]), (direct, expected["direct"])):
            assert (ran["stderr"], ran["exit_code"]) == ("", 0)
            assert ran["stdout"].split("…[truncated ")[0] == said[: 8 * 1024] or len(said.encode()) <= 8 * 1024
    assert sorted(scene.gateway.workspace.rglob("*")) == before


@pytest.mark.requirement("000-20", "a value too long for a command is an invalid argument")
@pytest.mark.parametrize("tool", ["shell", "direct"])
async def test_what_is_too_long_for_a_command_is_refused_before_anything_runs(scene: Scene, tool: str) -> None:
    turn = await scene.begin()
    for name in ARGUMENTS:
        result = await turn.invoke(tool, dict.fromkeys(ARGUMENTS, "plain") | {name: "x" * 150_000})
        assert (result["outcome"], result["reason"]) == ("invalidArguments", "schema")
        assert "longer than" in result["error"]


async def test_nul_does_not_even_get_past_the_wire(scene: Scene) -> None:
    turn = await Turn.begin(await scene.ada.agent())
    with pytest.raises(RpcError) as refused:
        await turn.invoke("shell", dict.fromkeys(ARGUMENTS, "a\0b"), "c1")
    assert refused.value.code == -32602
    assert (await turn.socket.call("tools/list-calls", {"conversationId": turn.conversation_id}))["calls"] == []


@pytest.mark.requirement("000-24", "a value that a program would take for an option is refused before it runs")
@pytest.mark.parametrize("value", ["-la", "--help", "-", "--", "-\n"])
async def test_a_value_becomes_no_option(scene: Scene, value: str) -> None:
    turn = await scene.begin()
    result = await turn.invoke("operand", {"value": value})
    assert (result["outcome"], result["reason"]) == ("invalidArguments", "schema")
    assert "would take for an option" in result["error"]


@pytest.mark.requirement("000-24", "an argument that the tool does not declare is refused")
async def test_an_argument_that_no_command_uses_is_refused(scene: Scene) -> None:
    turn = await scene.begin()
    result = await turn.invoke("operand", {"value": ".", "_network": True})
    assert (result["outcome"], result["reason"]) == ("invalidArguments", "schema")


# ── what a program sees ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("000-25", "both kinds of program see HOME, LANG and PATH, and not the gateway's HOME")
@pytest.mark.parametrize("tool", ["shell_environment", "direct_environment"])
async def test_the_environment_is_exactly_three_variables(scene: Scene, tool: str) -> None:
    ran = await run(await scene.begin(), tool)
    variables = dict(line.split("=", 1) for line in ran["stdout"].splitlines())
    assert sorted(variables) == ["HOME", "LANG", "PATH"]
    assert variables["HOME"] != os.environ.get("HOME", "")


async def test_nothing_is_left_of_one_call_for_the_next(scene: Scene) -> None:
    turn = await scene.begin()
    for value in ("first", "second"):
        ran = await run(turn, "remember", value=value)
        assert (ran["stdout"], ran["exit_code"]) == ("nothing\n", 0)
        assert "No such file" in ran["stderr"]


@pytest.mark.requirement("000-31", "a program reads its folder and what it was granted, not the gateway's state")
async def test_a_program_works_in_the_folder_that_its_file_names_and_reads_what_it_was_granted(scene: Scene) -> None:
    turn, home = await scene.begin(), scene.gateway.home
    granted = await run(turn, "elsewhere", value=f"{home}/library/word")
    assert (granted["stdout"], granted["exit_code"]) == (f"{home}/apart\nsaid in library\n", 0)
    assert (home / "apart" / "here").read_text() == "x\n"
    for path in ("private/word", "tools.json", "state/audit.key", "workspace/README.md"):
        assert (home / path).exists()
        refused = await run(turn, "elsewhere", value=f"{home}/{path}")
        assert refused["stdout"] == f"{home}/apart\n"
        assert refused["stderr"]


# ── what comes back ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("000-27", "both streams are cut at 8 KB with the count of missing bytes, beside the exit code")
@pytest.mark.requirement("000-28", "the result says how many seconds the program ran")
async def test_output_is_capped_with_the_count_of_what_is_missing_and_a_failure_is_a_result(scene: Scene) -> None:
    ran = await run(await scene.begin(), "flood")
    assert ran["stdout"] == "x" * 8_192 + f"…[truncated {300_000 - 8_192} bytes]"
    assert ran["stderr"] == "e" * 8_192 + f"…[truncated {20_000 - 8_192} bytes]"
    assert ran["exit_code"] == 3
    assert 0 < ran["duration_sec"] < PATIENCE


async def test_what_is_not_utf_8_is_shown_with_replacements_and_said_so(scene: Scene) -> None:
    ran = await run(await scene.begin(), "bytes")
    assert (ran["stdout"], ran["not_utf8"]) == ("a\ufffdb", ["stdout"])


async def test_a_program_that_is_not_there_or_was_killed_shows_in_its_exit_code(scene: Scene) -> None:
    turn = await scene.begin()
    missing, killed = await run(turn, "missing"), await run(turn, "killed")
    assert missing["exit_code"] == 127
    assert killed["exit_code"] == 137


async def test_a_credential_after_an_escape_of_json_leaves_neither_as_text_nor_as_structure(scene: Scene) -> None:
    result = await (await scene.begin()).invoke("leak", {})
    assert "IOSFODNN7" not in text_of(result)
    assert result["structured"]["stdout"] == "found\n[redacted:aws-key-id]\n"


# ── time ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def traces_of(mark: str) -> list[str]:
    """The command lines of all processes of the machine that hold `mark`."""
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line:
                found.append(line.decode(errors="replace"))
    return found


def written(scene: Scene, mark: str) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in scene.gateway.workspace.glob(f"{mark}.*")}


@pytest.mark.requirement("000-26", "a tree deaf to SIGTERM is gone half a second after its time")
async def test_a_program_beyond_its_time_is_gone_with_everything_it_started_when_the_answer_comes(scene: Scene) -> None:
    turn = await scene.begin()
    mark = f"late-{time.monotonic_ns()}"
    began = time.monotonic()
    result = await turn.invoke("stubborn", {"value": mark})
    took = time.monotonic() - began
    assert (result["outcome"], result["reason"]) == ("timedOut", "toolTimeout")
    assert "1 seconds" in result["error"] or "1 second" in result["error"]
    assert 1.5 <= took < 1.5 + 5
    assert traces_of(mark) == []
    wrote = written(scene, mark)
    assert {name.rpartition(".")[2] for name in wrote} == {"session", "orphan", "deaf"}
    assert written(scene, mark) == wrote


@pytest.mark.requirement("002-19", "cancelling a call ends the program and all that it started")
async def test_a_cancelled_program_is_stopped_at_once_with_everything_it_started(scene: Scene) -> None:
    turn = await scene.begin()
    mark = f"cancelled-{time.monotonic_ns()}"
    call = await turn.start("patient", {"value": mark}, "c1")
    async with asyncio.timeout(PATIENCE):
        while len(written(scene, mark)) < 3:
            await asyncio.sleep(0.02)
    assert traces_of(mark)
    await scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "c1"})
    async with asyncio.timeout(PATIENCE):
        assert (await call)["outcome"] == "cancelled"
        # The answer does not wait for the half second that the program has to end by itself.
        while traces_of(mark):
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("how", ["asked to stop", "killed"])
async def test_no_program_outlives_the_gateway(tmp_path: Path, how: str) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([each for each in PROGRAMS if each["name"] == "patient"]))
    gateway = make_gateway(tmp_path, COUNTERSIGN_TOOL_FILES='["tools.json"]', COUNTERSIGN_DRAIN_SECONDS="0.1")
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    turn = await Turn.begin(await ada.agent())
    mark = f"orphaned-{time.monotonic_ns()}"
    call = await turn.start("patient", {"value": mark}, "c1")
    async with asyncio.timeout(PATIENCE):
        while len(list(gateway.workspace.glob(f"{mark}.*"))) < 3:
            await asyncio.sleep(0.02)
    assert traces_of(mark)
    if how == "killed":
        await gateway.kill()
    else:
        assert await gateway.stop() == 0
        assert "Traceback" not in gateway.output, gateway.output
    with pytest.raises(ConnectionError):
        await call
    async with asyncio.timeout(PATIENCE):
        while traces_of(mark):
            await asyncio.sleep(0.02)


# ── what a person is asked ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("002-04", "the permission stands on the tool's descriptor, and each call is asked about")
@pytest.mark.requirement("002-30", "a program has no effect before the approval of its exact command")
async def test_a_person_is_asked_with_the_exact_command_and_nothing_runs_before_the_approval(scene: Scene) -> None:
    turn = await scene.begin()
    told = scene.gateway.workspace / "told"
    value = "it's\u202e $(touch pwned)\n"
    offered = {tool["name"]: tool for tool in turn.snapshot["tools"]}
    assert (offered["append"]["category"], offered["append"]["permission"]) == ("execute", "consent")
    denied = await turn.start("append", {"value": value}, "c1")
    opened = await scene.console.call("approvals/get", {"approvalId": await scene.asked("c1")})
    assert opened["approval"]["effects"] == ['Runs in a shell: echo "$value" >> told with value="it\'s\\u202e $(touch pwned)\\n"']
    assert opened["approval"]["arguments"] == {"value": value}
    await scene.console.call("approvals/decide", scene.ada.decision(opened, "deny"))
    async with asyncio.timeout(PATIENCE):
        assert (await denied)["outcome"] == "deniedByUser"
    assert not told.exists()
    # Another call: a no stands for the rest of the turn.
    allowed = await turn.start("append", {"value": f"{value}again"}, "c2")
    await scene.ada.answer(scene.console, await scene.asked("c2"))
    async with asyncio.timeout(PATIENCE):
        assert (await allowed)["outcome"] == "ok"
    assert told.read_text() == f"{value}again\n"
    assert not (scene.gateway.workspace / "pwned").exists()


@pytest.mark.requirement("000-37", "echo, show_file and grep_repo of the example files run through the gateway")
async def test_the_example_tools_do_what_they_say(scene: Scene) -> None:
    turn = await scene.begin()
    (scene.gateway.workspace / "notes").mkdir(exist_ok=True)
    (scene.gateway.workspace / "notes" / "loss.py").write_text("def test_xent():\n    assert 1 == 2\n")
    calls: list[tuple[str, dict[str, str], str]] = [
        ("echo", {"text": "as it is: '$(id)' \\n"}, "as it is: '$(id)' \\n"),
        ("show_file", {"path": "notes/loss.py"}, "def test_xent():\n    assert 1 == 2\n"),
        ("grep_repo", {"pattern": "test_[x]ent"}, "./notes/loss.py:1:def test_xent():\n"),
    ]
    for number, (tool, arguments, expected) in enumerate(calls):
        call = await turn.start(tool, arguments, f"c{number}")
        await scene.ada.answer(scene.console, await scene.asked(f"c{number}"))
        async with asyncio.timeout(PATIENCE):
            result = await call
        assert (result["structured"]["stdout"], result["structured"]["exit_code"]) == (expected, 0), result
