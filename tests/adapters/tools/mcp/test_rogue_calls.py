"""What a server can do wrong while it answers, one call each, on one connection that outlives all of it."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import pytest_asyncio

from gateway.adapters.tools.mcp.connection import WorkerConnection
from gateway.core.canonical import Json
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import Reason
from tests.adapters.tools.conftest import make_context
from tests.adapters.tools.mcp.servers import ROOT, Driven, make_driven, rogue_server

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = "sk-live-0123456789"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def rogue(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Driven]:
    folder = tmp_path_factory.mktemp("rogue").resolve()
    private = tmp_path_factory.mktemp("private").resolve()
    (private / "key").write_text("the gateway's own")
    settings = rogue_server(timeout=1.0, env={"TOKEN": "${secret:TOKEN}"})
    driven = make_driven(settings, folder / "source", secrets={"TOKEN": SECRET}, private=(private,))
    await driven.open()
    yield driven
    await driven.driver.close()


@pytest.fixture(autouse=True)
def stays_connected(rogue: Driven) -> None:
    """Each test finds the connection that the ones before it used."""
    assert rogue.listener.losses == []


async def failure_of(rogue: Driven, name: str, /, **arguments: Json) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await rogue.call(name, **arguments)
    return caught.value


@pytest.mark.parametrize("name", ["hang", "wrong_id"])
async def test_a_call_that_nobody_answers_ends_at_its_deadline(rogue: Driven, name: str) -> None:
    failed = await failure_of(rogue, name)

    assert failed.reason == Reason.TOOL_TIMEOUT
    assert failed.message == "it did not answer within 1 seconds; it may have taken effect"


async def test_the_first_of_two_answers_counts_and_the_next_call_gets_its_own(rogue: Driven) -> None:
    assert (await rogue.call("double_answer")).text == "the first"
    assert (await rogue.call("chatter")).text == "after chatter"


@pytest.mark.parametrize("name", ["deep_json", "invalid_utf8"])
async def test_an_answer_that_cannot_be_read_fails_its_call_at_once(rogue: Driven, name: str) -> None:
    failed = await failure_of(rogue, name)

    assert failed.message == "the server sent an answer that cannot be read; the call may have run"
    assert failed.reason != Reason.TOOL_TIMEOUT


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nested_result", "the server gave structured content that is not JSON, or is nested too deep"),
        ("odd_numbers", "the server gave structured content that is not JSON, or is nested too deep"),
        ("misses_schema", "the server gave structured content that misses its own schema, at count"),
        ("forgets_structure", "the server promised structured content and gave none"),
        ("result_of_nonsense", "the result is not as the protocol says, at `content`"),
        ("asks_again", "the result is not as the protocol says, at `content`"),
        ("own_error", "the server refused: nothing ran"),
    ],
)
async def test_a_result_that_is_none_fails_its_call_in_one_line(rogue: Driven, name: str, message: str) -> None:
    assert (await failure_of(rogue, name)).message == message


async def test_text_of_a_result_cannot_move_a_cursor_hide_or_turn_around(rogue: Driven) -> None:
    assert (await rogue.call("nasty_text")).text == "\\u001b[2Jred\\u0000 \\u202eevil\\u202c \\u200bend"


async def test_a_long_result_is_cut_and_says_how_much_is_missing(rogue: Driven) -> None:
    text = (await rogue.call("huge_text")).text

    assert len(text) < 270_000
    assert text.endswith("x\n[cut: 786432 more bytes]")


async def test_bytes_reach_nobody_but_as_their_digest(rogue: Driven) -> None:
    assert (await rogue.call("image")).text.splitlines() == [
        f"[image/png, 6 bytes, sha256 {sha256(b'pixels').hexdigest()}]",
        "[bytes of an unknown type, 2 characters that are no base64]",
        "[resource test://a]",
        f"[application/pdf, 4 bytes, sha256 {sha256(b'page').hexdigest()}]",
    ]


async def test_a_link_is_shown_and_never_followed(rogue: Driven) -> None:
    assert (await rogue.call("links")).text == "[link to file:///etc/passwd, not followed]"


async def test_what_a_server_asks_of_a_client_is_refused_and_told_to_the_operator(
    rogue: Driven, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert (await rogue.call("asks_for_everything")).text == "refused, refused, refused"
        failed = await failure_of(rogue, "fails_after_asking")

    assert failed.message == "I need your password (meanwhile it asked the person for input (elicitation), which is refused)"
    assert sorted(record.getMessage() for record in caplog.records) == [
        "tool source trial: it asked for an answer of the model (sampling), which is refused",
        "tool source trial: it asked for the folders of the client (roots), which is refused",
        "tool source trial: it asked the person for input (elicitation), which is refused",
    ]


async def test_a_storm_of_changes_is_told_once(rogue: Driven) -> None:
    before = rogue.listener.changes

    await rogue.call("list_changed_storm")
    await rogue.call("chatter")

    assert rogue.listener.changes == before + 1


async def test_a_flood_of_progress_reaches_the_caller_as_a_few_lines(rogue: Driven) -> None:
    told: list[tuple[str, float | None]] = []

    def tell(message: str, fraction: float | None) -> None:
        told.append((message, fraction))

    context = replace(make_context(), progress=tell)

    await rogue.call("progress_flood", context)

    assert told[0] == ("step 0", 0.0)
    assert len(told) < 100
    assert all(fraction is not None and 0 <= fraction <= 1 for _, fraction in told)


async def test_a_cancelled_call_is_cancelled_at_the_server_and_the_next_one_runs(rogue: Driven) -> None:
    log = rogue.folder / "stderr.log"
    call = asyncio.create_task(rogue.call("hang"))
    done, _ = await asyncio.wait({call}, timeout=0.1)
    assert not done
    before = log.read_text().count("told to cancel") if log.exists() else 0
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert (await rogue.call("chatter")).text == "after chatter"

    async with asyncio.timeout(10):
        while not log.exists() or log.read_text().count("told to cancel") <= before:
            await asyncio.sleep(0.01)


async def test_a_flood_on_stderr_leaves_a_small_file_and_nothing_that_acts_on_a_screen(rogue: Driven) -> None:
    await rogue.call("stderr_flood")

    async with asyncio.timeout(20):
        while "the end" not in (rogue.folder / "stderr.log").read_text():
            await asyncio.sleep(0.01)
    written = (rogue.folder / "stderr.log").read_text()
    assert "\\u001b[31mthe end\\u202e\n" in written
    assert sum(path.stat().st_size for path in rogue.folder.glob("stderr.log*")) < 1 << 20


async def test_a_fork_bomb_meets_the_limit_of_its_sandbox(tmp_path: Path) -> None:
    # A server of its own with time enough: a thousand processes begin and end before it answers.
    bombing = make_driven(rogue_server(timeout=30.0), tmp_path / "source")
    await bombing.open()

    assert (await bombing.call("fork_bomb")).text == "True BlockingIOError"

    await bombing.driver.close()


async def test_a_server_sees_no_file_that_it_was_not_granted(rogue: Driven, tmp_path: Path) -> None:
    (tmp_path / "note").write_text("kept")

    for path in ("/etc/shadow", str(tmp_path / "note"), str(rogue.folder / "stderr.log")):
        assert (await rogue.call("reads_outside", path=path)).text.startswith("failed")
    # A /tmp of its own is all that it can fill elsewhere.
    for place in (tmp_path / "new", rogue.folder / "new", ROOT / "new"):
        await rogue.call("writes", path=str(place))
        assert not place.exists()
    assert (tmp_path / "note").read_text() == "kept"
    assert (await rogue.call("writes", path=str(rogue.folder / "home/new"))).text == "did it: 1"


async def test_a_server_reaches_no_network_that_it_was_not_granted(rogue: Driven) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert (await rogue.call("connects", port=listening.getsockname()[1])).text.startswith("failed")


async def test_a_secret_reaches_the_server_and_never_comes_back(rogue: Driven) -> None:
    environment = json.loads((await rogue.call("dumps_environment")).text)

    assert environment.pop("TOKEN") == "[secret]"
    assert environment.keys() == {"PATH", "HOME", "LANG"}
    assert environment["HOME"] == str(rogue.folder / "home")
    told = await rogue.call("reads_outside", path="/proc/self/environ")
    assert SECRET not in told.text
    assert "TOKEN=[secret]" in told.text


async def test_however_much_a_server_sends_the_gateway_reads_a_few_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A server for each flood: what the tests before have sent would count against its rate.
    flooding = {
        flood: make_driven(rogue_server(timeout=1.0), tmp_path / flood) for flood in ("list_changed_storm", "progress_flood")
    }
    for driven in flooding.values():
        await driven.open()
    taken: list[int] = []
    take = WorkerConnection.take

    def count(connection: WorkerConnection, line: dict[str, object]) -> bool:
        taken.append(len(json.dumps(line)))
        return take(connection, line)

    monkeypatch.setattr(WorkerConnection, "take", count)
    for flood, driven in flooding.items():
        await driven.call(flood)
    await failure_of(flooding["progress_flood"], "deep_json")

    assert len(taken) < 100
    assert sum(taken) < 10_000
    for driven in flooding.values():
        await driven.driver.close()
