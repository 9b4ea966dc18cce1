"""Faults around the running gateway: a full disk, a second gateway, an edited log (docs/SECURITY.md cases 59, 60,
66 and 87).
"""

from __future__ import annotations

import asyncio
import json
import resource
import shutil
import subprocess
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.storage.sqlite import choose_driver
from tests.harness.damage import flip
from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess, free_port
from tests.harness.record_texts import unpack_records
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene, make_gateway

PATIENCE = 20.0


@asynccontextmanager
async def stage(gateway: GatewayProcess) -> AsyncGenerator[Scene]:
    """This gateway running, and Ada at it; the log is sound when all is over."""
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    try:
        yield Scene(gateway, ada, await ada.agent(), await ada.console())
    finally:
        await ada.leave()
        assert await gateway.stop() == 0, gateway.output
    assert "Traceback" not in gateway.output, gateway.output
    code, output = await gateway.run("audit", "verify")
    assert code == 0, output


# ── a full disk ──


@contextmanager
def no_file_may_grow(gateway: GatewayProcess) -> Generator[None]:
    """RLIMIT_FSIZE of the running gateway at one byte: every write beyond fails (EFBIG), whoever runs the tests."""
    before = resource.prlimit(gateway.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(gateway.pid, resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        yield
    finally:
        resource.prlimit(gateway.pid, resource.RLIMIT_FSIZE, before)


@contextmanager
def small_disk(folder: Path) -> Generator[None]:
    """A file system of 6 MB."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system takes privileges that this process lacks")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def full(folder: Path) -> Generator[None]:
    """Not a byte left."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        size = 65536
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2
    try:
        yield
    finally:
        ballast.unlink()


async def expect_nothing_runs(scene: Scene, turn: Turn, waiting: asyncio.Future[Any], opened: Any) -> None:
    """Every act that needs a record is refused in words; what needs none continues."""
    before = scene.effects(turn.conversation_id)
    for tool in ("peek", "note"):
        result = await turn.invoke(tool, {"what": "when full"}, f"full-{tool}")
        assert (result["outcome"], result["reason"]) == ("executionError", "ledgerUnavailable"), result
        assert "nothing ran" in (result["error"] or result["content"])
    # The person approved, but there is no record of it. So it does not count, and they are informed.
    with pytest.raises(RpcError) as refused:
        await scene.console.call("approvals/decide", scene.ada.decision(opened, scope="session"))
    assert refused.value.code == -32005
    async with asyncio.timeout(PATIENCE):
        assert (await waiting)["reason"] == "ledgerUnavailable"
    for method in ("conversations/open", "turns/begin"):
        params = {} if method.endswith("open") else {"conversationId": turn.conversation_id}
        with pytest.raises(RpcError) as refused:
            await scene.shell.call(method, params)
        assert (refused.value.code, refused.value.error["data"]["code"]) == (-32005, "ledger_unavailable")
    assert (await scene.ada.sign_out()).status == 503
    assert (await scene.shell.call("session/describe"))["session"]["profile"] == "operator"
    assert scene.effects(turn.conversation_id) == before


async def expect_all_is_well(scene: Scene, turn: Turn) -> None:
    """Space again: work continues, without a restart, and what was granted while full covers nothing."""
    turn = await Turn.begin(scene.shell, turn.conversation_id)
    assert (await turn.invoke("peek", {"what": "again"}, "room-1"))["outcome"] == "ok"
    call = await turn.start("note", {"what": "milk"}, "room-2")
    await scene.ada.answer(scene.console, await scene.asked("room-2"))
    async with asyncio.timeout(PATIENCE):
        assert (await call)["outcome"] == "ok"
    assert scene.effects(turn.conversation_id)[-2:] == ["room-1 peek again", "room-2 note milk 1"]


async def suffer(scene: Scene, filled: Callable[[], Any]) -> None:
    """A question waits, the disk fills, everything is tried, the disk is freed."""
    turn = await scene.begin()
    waiting = await turn.start("note", {"what": "milk"}, "waiting")
    opened = await scene.console.call("approvals/get", {"approvalId": await scene.asked("waiting")})
    with filled():
        await expect_nothing_runs(scene, turn, waiting, opened)
    await expect_all_is_well(scene, turn)


@pytest.mark.requirement("002-11", "no call runs and no approval counts while nothing can be recorded")
async def test_case_59_nothing_runs_while_no_record_can_be_written_and_work_continues_after(tmp_path: Path) -> None:
    async with stage(make_gateway(tmp_path)) as scene:
        await suffer(scene, lambda: no_file_may_grow(scene.gateway))


async def test_case_59_nothing_runs_on_a_full_disk_and_work_continues_when_it_is_freed(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk):
        gateway = make_gateway(tmp_path / "home", COUNTERSIGN_STATE=str(disk / "state"))
        async with stage(gateway) as scene:
            await suffer(scene, lambda: full(disk))


NO_FILE_MAY_GROW = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
"""


async def expect_no_start(gateway: GatewayProcess) -> None:
    """It ends by itself, says why in a line of its own, and nobody is offered to enrol."""
    with pytest.raises(AssertionError, match="did not print"):
        await gateway.start()
    assert await gateway.wait() == 2, gateway.output
    assert gateway.output.splitlines()[-1].startswith("countersign: the "), gateway.output
    assert "Traceback" not in gateway.output, gateway.output
    assert "enrol#t=" not in gateway.output, gateway.output


async def suffer_starts(gateway: GatewayProcess, filled: Callable[[], Any]) -> None:
    """The disk is full at the first start, after a stop and after a kill; whenever it is freed, all that was done is there."""
    with filled():
        await expect_no_start(gateway)
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    turn = await Turn.begin(await ada.agent())
    done = await turn.invoke("peek", {"what": "a"}, "c1")
    assert done["outcome"] == "ok"
    for end in (gateway.stop, gateway.kill):
        await end()
        with filled():
            await expect_no_start(gateway)
        await gateway.start()
        turn = await Turn.begin(await ada.agent(), turn.conversation_id)
        (call,) = (await turn.socket.call("tools/list-calls", {"conversationId": turn.conversation_id}))["calls"]
        assert (call["state"], call["result"]["receiptId"]) == ("closed", done["receiptId"])
    await ada.leave()
    assert await gateway.stop() == 0, gateway.output
    code, output = await gateway.run("audit", "verify")
    assert code == 0, output


async def test_case_59_a_gateway_does_not_start_where_no_file_may_grow_and_starts_when_it_may(tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path)

    @contextmanager
    def filled() -> Generator[None]:
        gateway.before = NO_FILE_MAY_GROW
        try:
            yield
        finally:
            gateway.before = ""

    await suffer_starts(gateway, filled)


async def test_case_59_a_gateway_does_not_start_on_a_full_disk_and_starts_when_it_is_freed(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk):
        await suffer_starts(make_gateway(tmp_path / "home", COUNTERSIGN_STATE=str(disk / "state")), lambda: full(disk))


async def test_case_59_a_gateway_that_cannot_write_says_so_and_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a folder should be")
    code, output = await make_gateway(tmp_path).run("serve")
    assert code == 2, output
    assert "`COUNTERSIGN_STATE` is" in output
    assert "it should be a folder" in output
    assert "Traceback" not in output


# ── two gateways ──


async def test_case_60_a_second_gateway_on_the_same_state_is_turned_away_and_disturbs_nobody(tmp_path: Path) -> None:
    async with stage(make_gateway(tmp_path)) as scene:
        turn = await scene.begin()
        second = make_gateway(tmp_path)
        second.port = free_port()
        code, output = await second.run("serve")
        assert code == 2, output
        assert "another gateway is writing this state directory; stop it first" in output
        assert "Traceback" not in output
        assert (await turn.invoke("peek", {"what": "a"}))["outcome"] == "ok"
        # Its control socket is still the first one's.
        code, output = await scene.gateway.run("enrol", "Rupert", "--profile", "guest")
        assert code == 0, output
        taken = make_gateway(tmp_path / "other")
        taken.port = scene.gateway.port
        code, output = await taken.run("serve")
        assert (code, "Traceback" in output) == (2, False), output
        assert f"cannot listen on 127.0.0.1:{scene.gateway.port}" in output


# ── an edited log ──


def change(state: Path, *statements: str) -> None:
    """Edit the database as somebody who owns the machine could."""
    with closing(choose_driver().connect(state / "ledger.db")) as connection:
        unpack_records(connection)
        for statement in statements:
            connection.execute(statement)
        connection.commit()


LAST = "(select max(position) from leaves)"
AN_INTENT = "(select max(position) from leaves where body like '%call:intended%')"
EDITS = {
    "a body": (f"update leaves set body = replace(body, '\"erase\"', '\"peek\"') where position = {AN_INTENT}",),
    "a time": (f"update leaves set body = replace(body, '\"at\":1', '\"at\":2') where position = {AN_INTENT}",),
    "an argument": (f"update leaves set payload = replace(payload, 'what', 'that') where position = {AN_INTENT}",),
    "a body with its hash": (
        f"update leaves set body = replace(body, 'ok', 'no'), hash = randomblob(32) where position = {LAST} - 1",
    ),
    "a removed row": (f"delete from leaves where position = {AN_INTENT}",),
    "two rows exchanged": (
        f"update leaves set position = -1 where position = {LAST}",
        "update leaves set position = position + 1 where position = (select max(position) from leaves)",
        "update leaves set position = (select max(position) from leaves) - 1 where position = -1",
    ),
    "a cut tail that leaves the checkpoints": (f"delete from leaves where position > {LAST} - 3",),
    "a forged checkpoint": (
        "update checkpoints set note = substr(note, 1, length(note) - 20) || 'AAAAAAAAAA' || substr(note, -10)",
    ),
    "every record gone": ("delete from leaves", "delete from checkpoints"),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state of a gateway that did some work and stopped."""
    home = tmp_path_factory.mktemp("written")

    async def work() -> None:
        async with stage(make_gateway(home)) as scene:
            turn = await scene.begin()
            for number in range(3):
                assert (await turn.invoke("peek", {"what": f"n{number}"}))["outcome"] == "ok"
            call = await turn.start("erase", {"what": "old"}, "c1")
            await scene.ada.answer(scene.console, await scene.asked("c1"))
            await call

    asyncio.run(work())
    return home


def copy(written: Path, home: Path) -> GatewayProcess:
    home.mkdir(exist_ok=True)
    shutil.copytree(written / "state", home / "state")
    return make_gateway(home)


@pytest.mark.parametrize("statements", EDITS.values(), ids=EDITS.keys())
async def test_case_66_an_edited_log_is_found_out(written: Path, tmp_path: Path, statements: tuple[str, ...]) -> None:
    gateway = copy(written, tmp_path)
    _, note = await gateway.run("audit", "checkpoint")
    (tmp_path / "kept").write_text(note)
    change(gateway.state, *statements)
    code, output = await gateway.run("audit", "verify", "--checkpoint", str(tmp_path / "kept"), "--json")
    assert code in (1, 2), output
    assert "Traceback" not in output
    if code == 1:
        assert json.loads(output)["sound"] is False


async def test_case_66_a_tail_cut_off_with_its_checkpoints_is_found_only_by_what_was_kept_elsewhere(
    written: Path, tmp_path: Path
) -> None:
    gateway = copy(written, tmp_path)
    _, note = await gateway.run("audit", "checkpoint")
    (tmp_path / "kept").write_text(note)
    # Back to an earlier checkpoint: by itself the log is whole again, which is why docs/LIMITATIONS.md asks for an anchor.
    change(
        gateway.state,
        "delete from checkpoints where size = (select max(size) from checkpoints)",
        "delete from leaves where position >= (select max(size) from checkpoints)",
    )
    code, output = await gateway.run("audit", "verify", "--checkpoint", str(tmp_path / "kept"))
    assert code == 1, output
    assert "Traceback" not in output


@pytest.mark.requirement("002-11", "the gateway does not start on a log with a record removed")
async def test_case_66_a_log_that_does_not_add_up_is_not_written_on(written: Path, tmp_path: Path) -> None:
    gateway = copy(written, tmp_path)
    change(gateway.state, f"delete from leaves where position = {LAST}")
    code, output = await gateway.run("serve")
    assert code == 2, output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("name", "advice"),
    [("audit.key", "put the key of the audit log in its place, from a backup"), ("cookies.key", "remove it to have a key made")],
)
async def test_a_folder_in_the_place_of_a_key_is_told_with_what_helps(
    written: Path, tmp_path: Path, name: str, advice: str
) -> None:
    gateway = copy(written, tmp_path)
    (gateway.state / name).unlink(missing_ok=True)
    (gateway.state / name).mkdir(mode=0o755)
    code, output = await gateway.run("serve")
    assert code == 2, output
    assert f"`{name}` is a folder; {advice}" in output
    assert "Traceback" not in output


async def test_case_66_an_exported_log_verifies_by_itself_and_not_with_a_changed_byte(written: Path, tmp_path: Path) -> None:
    gateway = copy(written, tmp_path)
    exported = tmp_path / "log.jsonl"
    code, output = await gateway.run("audit", "export", str(exported))
    assert code == 0, output
    code, output = await gateway.run("audit", "verify", "--export", str(exported))
    assert code == 0, output
    whole = exported.read_bytes()
    middle = whole.index(b'"peek"')
    exported.write_bytes(whole[: middle + 1] + b"P" + whole[middle + 2 :])
    code, output = await gateway.run("audit", "verify", "--export", str(exported))
    assert code in (1, 2), output
    assert "Traceback" not in output


# ── a damaged disk ──


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a flipped bit in the write-ahead log": lambda state: flip(state / "ledger.db-wal", 0.6),
    "no write-ahead log": lambda state: (state / "ledger.db-wal").unlink(),
    "no database": lambda state: (state / "ledger.db").unlink(),
    "an empty database": lambda state: (state / "ledger.db").write_bytes(b""),
    "no mark": lambda state: (state / "ledger.mark").unlink(),
}


@pytest.mark.requirement("002-11", "after damage that loses acknowledged records nothing runs and nobody is offered to enrol")
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
async def test_case_87_damage_that_lost_records_keeps_the_gateway_from_starting(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    gateway = make_gateway(tmp_path)
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    turn = await Turn.begin(await ada.agent())
    assert (await turn.invoke("peek", {"what": "a"}, "c1"))["outcome"] == "ok"
    await gateway.kill()
    damage(gateway.state)
    code, output = await gateway.run("serve")
    assert code == 2, output
    (line,) = output.splitlines()
    assert line.startswith("countersign: ")
    assert "`countersign recover`" in line
    code, output = await gateway.run("enrol", "Mallory", "--profile", "operator")
    assert (code, "enrol#t=" in output) == (2, False), output
    assert (gateway.home / "effects").read_text().count("peek") == 1
    await ada.leave()
