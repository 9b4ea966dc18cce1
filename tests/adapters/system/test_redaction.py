"""Redaction in processes of their own."""

from __future__ import annotations

import asyncio
import random

import pytest

from gateway.adapters.system import redaction
from gateway.adapters.system.redaction import TEXT_IN_A_THREAD, RedactionProcesses
from gateway.core.errors import ToolFailed
from gateway.core.model import ToolOutput
from gateway.core.redaction import RedactionClass
from gateway.core.results import BoundedOutput, redact_output

KEY = "AKIA" + "IOSFODNN7EXAMPLE"
CLASSES = (RedactionClass.SECRETS, RedactionClass.PII)
PIECES = (
    *(f"{KEY} ", "password: correct-horse-9 ", "name,password\nada,Tr0ub4dor&3\nbob,hunter2hunter2\n", "ada@example.com "),
    *(
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
        "\n-----END RSA PRIVATE KEY-----\n",
        "plain words ",
        "\n",
        "pass\u00adword: x9-y8-z7 ",
    ),
    *(
        "postgres://ada:s3cr3t-9@db/x ",
        "é\ud800 ",
        "authorization: Bearer abc123abc123abc123\n",
        '"token": "',
        "4111 1111 1111 1111 ",
    ),
)


def _long(seed: int) -> str:
    chosen = random.Random(seed)
    return "".join(chosen.choices(PIECES, k=TEXT_IN_A_THREAD // 16))


@pytest.mark.parametrize("seed", range(4))
async def test_a_process_finds_what_the_gateway_itself_would_find(seed: int) -> None:
    text = _long(seed)
    assert len(text) > TEXT_IN_A_THREAD
    output = ToolOutput(text, {"a": [text[:50_000], (1, 2.5, None, True)], "password": "x"}, ("label:secret",), attached=(b"x",))
    assert await RedactionProcesses().redact(output, CLASSES, "ada") == redact_output(BoundedOutput(output), CLASSES)


async def test_what_is_no_json_is_looked_through_without_a_process() -> None:
    output = ToolOutput("x" * TEXT_IN_A_THREAD + f" {KEY}", {"odd": object()})
    redacted = await RedactionProcesses().redact(output, CLASSES, "ada")
    assert (redacted.count, redacted.structured) == (2, {"odd": "[redacted:unreadable]"})


async def test_case_311_a_result_that_takes_too_long_is_not_shown_and_the_process_ends() -> None:
    with pytest.raises(ToolFailed, match="took more than 0 seconds"):
        await RedactionProcesses(seconds=0).redact(ToolOutput(_long(1)), CLASSES, "ada")


async def test_case_311_a_result_whose_process_ends_early_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_BOOT", "raise SystemExit(3)")
    with pytest.raises(ToolFailed, match=r"the tool ran, .* ended early"):
        await RedactionProcesses().redact(ToolOutput(_long(1)), CLASSES, "ada")


async def test_case_311_a_process_that_cannot_be_started_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction.sys, "executable", "/nowhere/python")
    with pytest.raises(ToolFailed, match="no process could be started"):
        await RedactionProcesses().redact(ToolOutput(_long(1)), CLASSES, "ada")


async def test_case_311_long_results_of_one_person_leave_a_process_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = list[str](), asyncio.Event()
    processes = RedactionProcesses()

    async def ask(question: bytes) -> bytes:
        begun.append(asyncio.current_task().get_name())  # pyright: ignore[reportOptionalMemberAccess] # it is inside of one
        ready.set()
        await go_on.wait()
        raise ToolFailed("enough")

    monkeypatch.setattr(processes, "_ask", ask)
    tasks = list[asyncio.Task[object]]()
    for name in ("eve", "eve", "eve", "ada"):
        ready = asyncio.Event()
        tasks.append(asyncio.create_task(processes.redact(ToolOutput(_long(1)), CLASSES, name), name=name))
    async with asyncio.timeout(30):
        while len(begun) < 2:
            await ready.wait()
            ready.clear()
    assert begun == ["eve", "ada"]
    go_on.set()
    failed = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(each) for each in failed] == [ToolFailed] * 4
