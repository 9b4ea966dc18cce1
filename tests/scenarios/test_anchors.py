"""Anchors and another key for the log, at a running gateway; docs/SECURITY.md cases 144 and 145."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.storage.keys import PUBLIC, SECRET
from gateway.core.checkpoint import SigningKey
from tests.adapters.anchoring.test_anchoring import make_repository
from tests.harness.person import Turn
from tests.harness.witness import Witness
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 30.0
OFTEN = 0.003
"""Minutes."""


def anchors(folder: Path, witness: Witness) -> dict[str, str]:
    """The setting of a file, a repository and a witness."""
    tables = {
        "copy": {"kind": "file", "path": str(folder / "anchored"), "minutes": OFTEN},
        "repository": {"kind": "git", "remote": str(make_repository(folder / "remote.git")), "minutes": OFTEN},
        "w1": {"kind": "cosigner", "url": witness.url, "key": witness.line(), "minutes": OFTEN},
    }
    return {"COUNTERSIGN_ANCHORS": json.dumps(tables)}


async def standings(scene: Scene, *, down: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
    """What the dashboard shows of each anchor, as soon as those that are not down have everything."""
    async with asyncio.timeout(PATIENCE):
        while True:
            told = {each["name"]: each for each in (await scene.console.call("audit/sinks"))["anchors"]}
            if all(bool(each.get("fault")) if name in down else each["unanchored"] == 0 for name, each in told.items()):
                return told
            await asyncio.sleep(0.05)


def read_key(scene: Scene) -> str:
    return (scene.gateway.state / PUBLIC).read_text().strip()


async def put_back(scene: Scene) -> None:
    """Start the gateway again, with sockets of its own."""
    await scene.gateway.start()
    scene.shell, scene.console = await scene.ada.agent(), await scene.ada.console()


async def halt(scene: Scene) -> None:
    await scene.ada.leave()
    assert await scene.gateway.stop() == 0


@pytest.mark.requirement("002-71", "checkpoints are anchored as they come; an anchor that is down slows nothing and catches up")
async def test_case_144_a_log_that_was_cut_or_put_back_is_told_by_its_anchors(tmp_path: Path) -> None:
    witness = Witness()
    async with stage(tmp_path, **anchors(tmp_path, witness)) as scene:
        gateway = scene.gateway
        witness.log = read_key(scene)
        turn = await scene.begin()
        assert (await turn.invoke("peek", {"what": "milk"}, "kept"))["outcome"] == "ok"
        told = await standings(scene, down=("w1",))
        assert (told["w1"]["size"], told["w1"]["fault"]) == (0, "it cannot be reached")
        assert told["w1"]["unanchored"] > 0
        code, said = await gateway.run("audit", "anchors")
        assert (code, "w1: cosigner, 0 records anchored, " in said) == (1, True)
        assert re.search(r"FIX   anchor w1: .*it cannot be reached", (await gateway.run("doctor"))[1])
        async with witness.there():
            await gateway.wait_for(re.compile("anchor `w1` takes checkpoints again"))
            told = await standings(scene)
            assert {each.get("fault") for each in told.values()} == {None}
            code, said = await gateway.run("audit", "anchors")
            assert (code, said.count(", 0 not yet; last anchored ")) == (0, 3)
            # Somebody who has neither this host nor its log, and knows the witness.
            for name, made in (("call", ("receipt", "kept", "-o")), ("log", ("export",))):
                file = tmp_path / name
                assert (await gateway.run("audit", *made, str(file)))[0] == 0
                code, said = await gateway.run("audit", "verify", str(file), "--cosigner", witness.line())
                assert (code, "The cosigner witness.example/w1 signed" in said, "The git commit " in said) == (0, True, True)

            older, state = tmp_path / "older", gateway.state
            await halt(scene)
            shutil.copytree(state, older)
            await put_back(scene)
            turn = await Turn.begin(scene.shell)
            assert (await turn.invoke("peek", {"what": "secret"}, "hidden"))["outcome"] == "ok"
            newest = {name: each["size"] for name, each in (await standings(scene)).items()}
            await halt(scene)
            noted = (state / "anchor-w1.json").read_bytes()
            shutil.rmtree(state)
            shutil.copytree(older, state)
            # Nothing in this folder tells, for all of it is as it was. What an anchor has tells at once.
            assert (await gateway.run("audit", "verify"))[0] == 0
            cut = f"{newest['copy']} records were anchored, the log ends after "
            code, said = await gateway.run("audit", "verify", "--checkpoint", str(tmp_path / "anchored"))
            assert (code, cut in said) == (1, True)
            # Nor is what the gateway noted of its anchors to be forgotten.
            (state / "anchor-w1.json").write_bytes(noted)
            code, said = await gateway.run("audit", "verify")
            assert (code, cut in said) == (1, True)
            shutil.copy(older / "anchor-w1.json", state)
            # It does not start on it, for the calls of what is missing could run twice.
            code, said = await gateway.run("serve")
            assert code == 2, said
            assert re.search(r"ends after \d+ records, and the anchor `\w+` has a checkpoint over \d+: \d+ are lost", said)
            assert "countersign recover" in said
            code, said = await gateway.run("recover", "--yes")
            assert (code, f"to {newest['copy'] - 1} are lost" in said) == (0, True), said
            # On record once, it is no reason any more.
            code, said = await gateway.run("recover", "--yes")
            assert (code, "Nothing is lost" in said) == (0, True), said
            await gateway.start()
            assert (await scene.ada.sign_in()).status == 204
            scene.console = await scene.ada.console()
            told = await standings(scene, down=("copy", "repository", "w1"))
            gone = "it has a checkpoint that this log does not have: the log was cut off, written anew or put back"
            assert (told["copy"]["fault"], told["repository"]["fault"]) == (gone, gone)
            assert re.search("this log is not the one that it signed before|records of this log, which has", told["w1"]["fault"])
            code, said = await gateway.run("audit", "anchors")
            assert (code, said.count("it takes nothing now: it ")) == (1, 3)
            assert (await gateway.run("doctor"))[1].count(gone) == 2


@pytest.mark.requirement("002-11", "another key for the log, at a gateway whose people and anchors go on with it")
async def test_case_145_a_key_that_nobody_handed_over_to_is_refused(tmp_path: Path) -> None:
    witness = Witness()
    async with stage(tmp_path, **anchors(tmp_path, witness)) as scene, witness.there():
        gateway, old = scene.gateway, read_key(scene)
        witness.log = old
        turn = await scene.begin()
        assert (await turn.invoke("peek", {"what": "milk"}, "before"))["outcome"] == "ok"
        await standings(scene)
        await halt(scene)
        stolen = (gateway.state / SECRET).read_bytes()
        assert (await gateway.run("audit", "rotate-key", "--yes"))[0] == 0
        rightful = {name: (gateway.state / name).read_bytes() for name in (SECRET, PUBLIC)}
        stranger = SigningKey(old.partition("+")[0], b"s" * 32)
        # The old secret signs nothing more, nor does somebody else's of the same name.
        for secret, public in ((stolen.decode(), old), (stranger.line(), stranger.verification_key.line())):
            (gateway.state / SECRET).write_text(secret)
            (gateway.state / PUBLIC).write_text(public + "\n")
            code, said = await gateway.run("serve")
            assert (code, "last checkpoint proves nothing: this key did not sign it" in said) == (2, True), said
        for name, raw in rightful.items():
            (gateway.state / name).write_bytes(raw)
        await put_back(scene)
        # The witness was not told of the new key.
        told = await standings(scene, down=("w1",))
        assert told["w1"]["fault"] == "it does not accept the key that signs this log"
        witness.log = read_key(scene)
        await standings(scene)
        file = tmp_path / "receipt"
        assert (await gateway.run("audit", "receipt", "before", "-o", str(file)))[0] == 0
        code, said = await gateway.run("audit", "verify", str(file), "--key", old, "--cosigner", witness.line())
        assert (code, "with the key that was given" in said) == (0, True), said
        code, said = await gateway.run("audit", "verify", str(file), "--key", stranger.verification_key.line())
        assert (code, "signed with another key than the one that was given" in said) == (1, True)
