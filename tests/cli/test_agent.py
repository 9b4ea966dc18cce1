"""`countersign agent` as people and programs start it."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.inference.scripted import Reply, ScriptedBackend, in_order
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.terminal import PATIENCE, AgentCommand, agent_command, call, lines_of

CALM = "I could not turn that into an action or an answer. Please say it another way."

UNREACHABLE = """[[models]]
name = "far"
title = "Far away"
file = "far.gguf"
bytes = 1000
sha256 = "%s"
licence = "Apache-2.0"
arch = "qwen2"
quantisation = "Q4_K_M"
context_tokens = 4096
output_tokens = 1024
tier = "single"

[[models.sources]]
kind = "publisher"
url = "http://127.0.0.1:9/far.gguf"
""" % ("0" * 64)

CRASHING = """from gateway.adapters.tools import tool

@tool(category="read", summary="Crumble {what}")
def crumble(what: str) -> str:
    \"\"\"Fail with the words of somebody else.\"\"\"
    raise RuntimeError(what)
"""

TELL = {
    "name": "tell",
    "description": "Say it",
    "parameters": {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
    "_argv": ["printf", "%s", "said {what}"],
    "_category": "read",
}


def events_of(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines_of(output)]


@pytest.mark.requirement("000-33", "--single prints one answer and exits")
@pytest.mark.requirement("000-02", "a proposed call runs, and the model answers after its result")
async def test_one_question_prints_the_answer_and_nothing_else(tmp_path: Path) -> None:
    async with agent_command(tmp_path, call("peek", what="the weather"), Reply("It is dry.")) as at:
        code, out, err = await at.run("--single", "how is the weather?")
        assert (code, out) == (0, "It is dry.\n"), err
        assert 'peek(what: "the weather")' in err
        assert at.effects() == ["peek the weather"]


@pytest.mark.requirement("000-34", "--json-out prints user, assistant, tool_call and answer, one object a line")
@pytest.mark.requirement("000-28", "the event of a call has its seconds")
async def test_events_are_one_json_object_a_line_and_nothing_else(tmp_path: Path) -> None:
    async with agent_command(tmp_path, call("peek", what="the weather"), Reply("It is dry.")) as at:
        code, out, err = await at.run("--single", "how is the weather?", "--json-out")
    assert code == 0, err
    events = events_of(out)
    assert events[2].pop("duration_sec") >= 0
    assert events == [
        {"type": "user", "text": "how is the weather?"},
        {"type": "assistant", "step": 0, "raw": '{"name":"peek","arguments":"{\\"what\\":\\"the weather\\"}"}'},
        {
            "type": "tool_call",
            "tool": "peek",
            "arguments": {"what": "the weather"},
            "stdout": "did peek the weather",
            "exit_code": 0,
        },
        {"type": "assistant", "step": 1, "raw": "It is dry."},
        {"type": "answer", "text": "It is dry."},
    ]


@pytest.mark.requirement("000-35", "the transcript has every call with its result, failed ones too")
async def test_a_transcript_holds_every_event_call_and_result_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    async with agent_command(tmp_path, call("peek", what="x"), call("stumble"), Reply("Half of it.")) as at:
        code, out, _ = await at.run("--single", "both", "--transcript", str(path))
    assert (code, out) == (0, "Half of it.\n")
    events = events_of(path.read_text())
    assert [event["type"] for event in events] == [
        *("user", "assistant", "tool_call", "tool_result", "assistant", "tool_call", "tool_result", "assistant", "answer", "end"),
    ]
    results = [event for event in events if event["type"] == "tool_result"]
    assert (results[0]["outcome"], results[0]["content"]) == ("ok", "did peek x")
    assert (results[1]["outcome"], results[1]["error"]) == ("executionError", "there is nothing here")
    assert events[5]["exit_code"] is None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("nonsense", ["", "Sure! First let me think.", '{"tool": "peek", "arguments": {"wh', '{"tool": 3}'])
@pytest.mark.requirement("000-06", "each reply of neither shape is an event as it came, and the answer is calm words instead")
@pytest.mark.requirement(
    "000-38", "nonsense of a small model, with 30 tokens and one step, ends in order, with an exit code that tells"
)
@pytest.mark.requirement("000-01", "agent FILE.gguf runs a model file of one's own")
async def test_nonsense_of_a_small_model_is_logged_as_it_came_and_answered_calmly(tmp_path: Path, nonsense: str) -> None:
    model = ScriptedServer()
    model.will_answer(*[Reply(nonsense)] * 3)
    settings = model.as_small_model(tmp_path)
    async with model.listening():
        at = AgentCommand(tmp_path, settings.pop("COUNTERSIGN_MODEL"), ScriptedBackend(in_order()), extra=settings)
        code, out, err = await at.run("--single", "use the tool", "--max-steps", "1", "--max-tokens", "30", "--json-out")
    assert code == 1, err
    events = events_of(out)
    assert events[-1] == {"type": "answer", "text": CALM}
    raw = [event["raw"] for event in events if event["type"] == "assistant"]
    assert raw == ([nonsense] * 3 if nonsense else [])
    assert at.effects() == []


async def test_silence_of_a_large_model_is_answered_calmly_and_its_words_are_the_answer_as_they_are(tmp_path: Path) -> None:
    async with agent_command(tmp_path, *[Reply("")] * 3) as at:
        code, out, _ = await at.run("--single", "use the tool", "--max-steps", "1", "--json-out")
    assert (code, events_of(out)[-1]) == (1, {"type": "answer", "text": CALM})
    written = '{"name": "peek", "arguments": {"what": "no'
    async with agent_command(tmp_path, Reply(written)) as at:
        code, out, _ = await at.run("--single", "use the tool", "--json-out")
    assert (code, events_of(out)[-1]) == (0, {"type": "answer", "text": written})
    assert {"type": "assistant", "step": 0, "raw": written} in events_of(out)
    assert at.effects() == []


@pytest.mark.requirement("000-33", "a conversation is read from standard input until :quit")
async def test_a_conversation_can_be_piped_in(tmp_path: Path) -> None:
    async with agent_command(tmp_path, Reply("One."), Reply("Two.")) as at:
        code, out, _ = await at.run(given=b"first\n\nsecond\n:quit\nnever\n")
    assert (code, out) == (0, "agent> One.\nagent> Two.\n")


@pytest.mark.requirement("000-07", "--max-steps 2 runs two calls and no third")
async def test_rounds_end_at_the_given_limit(tmp_path: Path) -> None:
    async with agent_command(tmp_path, *(call("peek", what=str(number)) for number in range(5))) as at:
        code, out, _ = await at.run("--single", "go on", "--max-steps", "2")
        assert at.effects() == ["peek 0", "peek 1"]
    assert code == 1
    assert "stopped after several steps" in out


@pytest.mark.requirement("002-24", "the command's agent has a session of its own and is on record as gateway-side")
@pytest.mark.requirement("002-72", "calls of the command's loop are recorded with the runner gateway-side and their model")
async def test_calls_are_on_record_as_the_gateways_own_loop_and_the_persons_terminal(tmp_path: Path) -> None:
    async with agent_command(tmp_path, call("peek", what="x"), Reply("Done.")) as at:
        assert (await at.run("--single", "peek"))[0] == 0
        code, _, err = await at.run("audit", "export", "log.jsonl")
        assert code == 0, err
        assert (await at.run("audit", "verify"))[0] == 0
    leaves = [line["body"] for line in events_of((tmp_path / "log.jsonl").read_text()) if line["type"] == "leaf"]
    leaves = [json.loads(body) if isinstance(body, str) else body for body in leaves]
    assert {leaf["runner"] for leaf in leaves if "runner" in leaf} == {"gateway-side"}
    models = [leaf["modelId"] for leaf in leaves if leaf["event"] == "call:intended"]
    assert [str(model).partition(":127.0.0.1")[0] for model in models] == ["remote"]
    started = [leaf for leaf in leaves if leaf["event"] == "console-session:started"]
    assert [leaf["via"] for leaf in started] == ["terminal"]
    assert [leaf["event"] for leaf in leaves].count("local-operator:added") == 1
    assert [leaf["reason"] for leaf in leaves if leaf["event"] == "agent-session:ended"] == ["signedOut"]


async def test_without_a_terminal_what_needs_approval_does_not_run_and_is_not_recorded_as_denied(tmp_path: Path) -> None:
    async with agent_command(tmp_path, call("note", what="x"), Reply("I did not.")) as at:
        code, out, err = await at.run("--single", "note x", given=b"y\ny\ny\n")
        assert at.effects() == []
        assert (await at.run("audit", "export", "log.jsonl"))[0] == 0
    assert (code, out) == (3, "I did not.\n")
    assert "no terminal to ask at, so it does not run" in err
    assert "You said no" not in err
    log = (tmp_path / "log.jsonl").read_text()
    assert "deniedByUser" not in log
    assert "cancelled" in log


async def test_without_a_terminal_a_passkey_is_not_waited_for_and_no_link_to_one_is_left_in_a_log(tmp_path: Path) -> None:
    async with agent_command(tmp_path, call("erase", what="x"), Reply("I could not.")) as at:
        code, _, err = await at.run("--single", "erase x")
        assert at.effects() == []
    assert code == 3
    assert err.count("you have none yet, so it does not run") == 1
    assert "/enrol" not in err


async def test_a_model_whose_server_is_away_is_said_in_one_line_and_not_asked(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    async with agent_command(tmp_path) as at:
        at.model = "http://127.0.0.1:1/v1"
        code, out, err = await at.run("--single", "hello", "--model-name", "named")
    away = "127.0.0.1:1: the model server does not answer; check that it runs, and its URL"
    assert (code, out, err) == (1, "", f"countersign: there is no model to talk to: {away}\n")


async def test_one_state_folder_serves_one_gateway_and_the_other_says_what_to_do(tmp_path: Path) -> None:
    async with agent_command(tmp_path, call("linger"), Reply("…")) as at:
        first = await at.start("--single", "linger")
        await at.wait_for_effects(1)
        code, out, err = await at.run("--single", "hello")
        first.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE):
            await first.communicate()
    assert (code, out) == (2, "")
    assert "another folder with --state" in err
    assert "Traceback" not in err


@pytest.mark.requirement("002-09", "an interrupt cancels the running tool and ends the turn")
@pytest.mark.requirement("002-19", "an interrupted call is closed as cancelled")
async def test_an_interrupt_stops_the_tool_at_once_and_shows_in_the_exit_code(tmp_path: Path) -> None:
    async with agent_command(tmp_path, call("linger"), Reply("never")) as at:
        process = await at.start("--single", "linger", "--transcript", "log.jsonl")
        await at.wait_for_effects(1)
        async with asyncio.timeout(PATIENCE):
            process.send_signal(signal.SIGINT)
            out, err = await process.communicate()
        assert (process.returncode, out) == (130, b""), err
        assert (await at.run("audit", "export", "audit.jsonl"))[0] == 0
    assert "Traceback" not in err.decode()
    assert events_of((tmp_path / "log.jsonl").read_text())[-1] == {"type": "end", "ending": "stopped"}
    assert '"cancelled"' in (tmp_path / "audit.jsonl").read_text()


@pytest.mark.requirement("000-01", "a model is a GGUF file, a catalogue name or a URL, and nothing else")
async def test_a_model_that_cannot_be_one_is_refused_with_what_to_name_instead(tmp_path: Path) -> None:
    (tmp_path / "model.bin").touch()
    cases = {
        "": "an agent needs a model",
        "none": "an agent needs a model",
        ".": "`.` is a folder",
        "gone.gguf": "there is no file `gone.gguf`",
        "./model.bin": "`./model.bin` is neither a GGUF file nor an http URL",
        "ftp://example.com/v1": "`ftp://example.com/v1` is neither a GGUF file nor an http URL",
    }
    async with agent_command(tmp_path) as at:
        for model, words in cases.items():
            at.model = model
            code, out, err = await at.run("--single", "hello")
            assert (code, out) == (2, ""), (model, err)
            assert err.startswith(f"countersign: {words}; name a GGUF file, a model of `countersign models list`, one of")


async def test_a_model_that_cannot_be_fetched_ends_it_with_the_ways_out(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    (models / "catalog.toml").write_text(UNREACHABLE)
    async with agent_command(tmp_path) as at:
        at.model, at.extra = "far", {"COUNTERSIGN_MODELS": str(models)}
        code, out, err = await at.run("--single", "hello")
    assert (code, out) == (1, ""), err
    assert "Far away could not be fetched" in err
    assert "set COUNTERSIGN_MODEL to the path of a GGUF file" in err
    assert "starting without a model" not in err


@pytest.mark.requirement("000-01", "agent URL --tools tools.json runs a tool of the file")
async def test_programs_read_utf_8_and_events_are_json_where_the_machine_speaks_something_else(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([TELL]))
    async with agent_command(tmp_path, call("tell", what="naïve 日本"), Reply("Told.")) as at:
        at.extra = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        code, out, err = await at.run("--single", "tell", "--tools", "tools.json", "--json-out")
    assert code == 0, err
    (told,) = [event for event in events_of(out) if event["type"] == "tool_call"]
    assert (told["stdout"], told["exit_code"]) == ("said naïve 日本", 0), err


async def test_of_a_long_result_a_person_sees_a_few_rows_and_how_many_more_there_are(tmp_path: Path) -> None:
    async with agent_command(tmp_path, call("peek", what="x" * 7000), Reply("Long.")) as at:
        code, out, err = await at.run("--single", "peek")
    assert (code, out) == (0, "Long.\n")
    rows = err.splitlines()
    shown = [line for line in rows if line.startswith("  │ ")]
    assert len(shown) == 12
    left_out = next(place for place, line in enumerate(rows) if line.startswith("  … "))
    assert [line.startswith("  │ ") for line in rows[left_out - 4 : left_out + 9]] == [True] * 4 + [False] + [True] * 8
    assert all(len(line) <= 80 for line in shown)
    assert re.search(r"^  … \d+ more lines; --transcript FILE keeps all$", err, re.MULTILINE)


async def test_a_tool_that_crashes_is_reported_behind_a_margin_and_cannot_control_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "ours.py").write_text(CRASHING)
    async with agent_command(tmp_path, call("crumble", what="\x1b[2J\ragent> fine"), Reply("It broke.")) as at:
        at.extra = {"COUNTERSIGN_TOOLS_MODULES": '["ours"]', "PYTHONPATH": f"{at.environment()['PYTHONPATH']}:{tmp_path}"}
        code, out, err = await at.run("--single", "crumble")
    assert (code, out) == (0, "It broke.\n")
    assert "\n! tool crumble failed\n  │ Traceback" in err
    assert "\\u001b[2J\\ragent> fine" in err
    assert "\x1b" not in err


async def test_what_is_typed_wrong_is_one_sentence_and_exit_code_two(tmp_path: Path) -> None:
    async with agent_command(tmp_path) as at:
        cases = {
            ("--single", " "): "--single needs something to ask",
            ("--max-steps", "0"): "max-steps",
            ("--as", "nobody", "--single", "x"): "there is no operator `nobody`",
            ("--transcript", "none/log.jsonl", "--single", "x"): "cannot be written",
            ("--tools", "none.json", "--single", "x"): "does not exist",
        }
        for arguments, words in cases.items():
            code, out, err = await at.run(*arguments)
            assert (code, out) == (2, ""), (arguments, err)
            assert words in err
            assert "Traceback" not in err
