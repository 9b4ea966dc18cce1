"""What a run becomes: one JSON object, whatever was written."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from gateway.adapters.tools.tool_file.command import ShellCommand
from gateway.adapters.tools.tool_file.programs import CommandTool, ProgramRunner, make_output, read_stream
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import Reason
from gateway.sandbox.job import OUTPUT_CAP, Job, JobEnd, JobResult, Mechanism, SandboxError
from tests.adapters.tools.conftest import make_context


def finished(
    stdout: bytes = b"", stderr: bytes = b"", *, exit_code: int | None = 0, signal: int | None = None, omitted: int = 0
) -> JobResult:
    return JobResult(exit_code, signal, stdout, stderr, omitted, 0, 0.04321, JobEnd.EXITED)


@pytest.mark.requirement("000-27", "a run is one JSON object of tool, streams and exit code")
@pytest.mark.requirement("000-28", "the object has the seconds of the run")
def test_a_run_is_reported_as_one_json_object() -> None:
    output = make_output("echo", finished(b"out\n", b"err", exit_code=3))
    assert json.loads(output.text) == output.structured
    assert output.text == '{"tool":"echo","stdout":"out\\n","stderr":"err","exit_code":3,"duration_sec":0.043}'


def test_a_program_that_a_signal_ended_has_the_exit_code_of_shells() -> None:
    assert make_output("x", finished(exit_code=None, signal=9)).structured["exit_code"] == 137


def test_what_is_not_utf_8_is_replaced_and_said_so_where_no_program_can_write() -> None:
    told = make_output("x", finished(b"a\xffb", b'"not_utf8"')).structured
    assert (told["stdout"], told["not_utf8"]) == ("a\ufffdb", ["stdout"])
    # A program may write the replacement character itself.
    assert "not_utf8" not in make_output("x", finished("a\ufffdb".encode())).structured


@pytest.mark.parametrize(
    ("raw", "omitted", "text", "readable"),
    [
        (b"", 0, "", True),
        (b"abc", 0, "abc", True),
        (b"abc", 5, "abc…[truncated 5 bytes]", True),
        ("añ".encode(), 5, "añ…[truncated 5 bytes]", True),
        ("añ".encode()[:-1], 5, "a…[truncated 6 bytes]", True),
        ("a🦆".encode()[:-1], 5, "a…[truncated 8 bytes]", True),
        ("a🦆".encode()[:-3], 5, "a…[truncated 6 bytes]", True),
        ("añ".encode()[:-1], 0, "a\ufffd", False),
        (b"a\x80\xbf", 5, "a\ufffd\ufffd…[truncated 5 bytes]", False),
        (b"\xed\xa0\x80", 0, "\ufffd\ufffd\ufffd", False),
        (b"a\x00b\x1b[2J", 0, "a\x00b\x1b[2J", True),
        (b"x" * (OUTPUT_CAP + 3), 4, "x" * OUTPUT_CAP + "…[truncated 7 bytes]", True),
    ],
)
def test_a_stream_is_cut_between_characters_and_counts_every_missing_byte(
    raw: bytes, omitted: int, text: str, readable: bool
) -> None:
    assert read_stream(raw, omitted) == (text, readable)


def test_a_result_at_its_worst_still_passes_the_gateways_cap() -> None:
    output = make_output("x", finished(b"\x01" * OUTPUT_CAP, b"\x01" * OUTPUT_CAP, omitted=10**12))
    assert len(output.text.encode()) < 128 * 1024


class RefusingSandbox:
    mechanism = Mechanism.LANDLOCK

    def run(self, job: Job, cancelled: threading.Event) -> JobResult:
        raise SandboxError("it could not be confined")


def test_a_program_that_could_not_be_confined_is_a_call_that_failed_for_want_of_a_sandbox(tmp_path: Path) -> None:
    tool = CommandTool("x", "X.", {"type": "object"}, ShellCommand("true", ()), tmp_path)

    with pytest.raises(ToolFailed) as failed:
        ProgramRunner(RefusingSandbox()).run(tool, {}, make_context(), {})
    assert (failed.value.message, failed.value.reason) == ("it could not be confined", Reason.SANDBOX_UNAVAILABLE)


class RecordingSandbox:
    mechanism = Mechanism.LANDLOCK

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def run(self, job: Job, cancelled: threading.Event) -> JobResult:
        self.jobs.append(job)
        return finished()


@pytest.mark.parametrize("network", [False, True])
def test_a_program_gets_its_folders_three_variables_and_the_network_only_by_a_grant(tmp_path: Path, network: bool) -> None:
    sandbox, further = RecordingSandbox(), tmp_path / "further"
    tool = CommandTool(
        "x", "X.", {"type": "object"}, ShellCommand("true", ()), tmp_path, network=network, readable=(further,), timeout=7.0
    )

    ProgramRunner(sandbox).run(tool, {}, make_context(), {})
    (job,) = sandbox.jobs
    assert (job.folder, job.readable, job.network, job.timeout_seconds) == (tmp_path, (further,), network, 7.0)
    assert sorted(job.environment) == ["HOME", "LANG", "PATH"]
