"""What leaves the gateway, before programs that share nothing with it: a syslog receiver and a witness written from the
specifications alone, and OpenSSL's time-stamping authority and its verifier."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from base64 import b64decode
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID

from tests.harness.authority import Authority
from tests.harness.log_receiver import Receiver, certify
from tests.harness.witness import Witness
from tests.scenarios.staging import stage
from tests.scenarios.test_anchors import read_key, standings

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 30.0
A_DAY = timedelta(days=1)


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not done():
            await asyncio.sleep(0.02)


@pytest.mark.requirement("002-71", "the log goes to a syslog server over TLS, and to no other one in its place")
async def test_case_295_who_poses_as_the_logs_receiver_gets_no_record(tmp_path: Path) -> None:
    ours, other = certify(tmp_path / "ours.pem", ca=True), certify(tmp_path / "other.pem", ca=True)
    pretenders = {
        "other-authority": certify(tmp_path / "a.pem", other),
        "self-signed": certify(tmp_path / "b.pem"),
        "other-name": certify(tmp_path / "c.pem", ours, names=("elsewhere.example",)),
        "expired": certify(tmp_path / "d.pem", ours, begins=-2 * A_DAY, ends=-A_DAY),
        "not-yet": certify(tmp_path / "e.pem", ours, begins=A_DAY, ends=2 * A_DAY),
        "client": certify(tmp_path / "g.pem", ours, purpose=ExtendedKeyUsageOID.CLIENT_AUTH),
        "no-tls": None,
    }
    mine = certify(tmp_path / "mine.pem", ours, names=("gateway.example",), purpose=ExtendedKeyUsageOID.CLIENT_AUTH)
    receivers = {name: Receiver(identity) for name, identity in pretenders.items()}
    identity = certify(tmp_path / "z.pem", ours)
    right, asking = Receiver(identity), Receiver(identity, client_ca=ours.file)
    async with AsyncExitStack() as held:
        for each in (*receivers.values(), right, asking):
            await held.enter_async_context(each.there())
        table = {"kind": "syslog", "host": "localhost", "ca": str(ours.file)}
        sinks = {name: {**table, "port": each.port} for name, each in {**receivers, "right": right}.items()}
        sinks["asking"] = {**table, "port": asking.port, "certificate": str(mine.file)}
        async with stage(tmp_path / "home", COUNTERSIGN_SINKS=json.dumps(sinks)) as scene:
            turn = await scene.begin()
            assert (await turn.invoke("peek", {"what": "milk"}, "shipped"))["outcome"] == "ok"
            for name in receivers:
                fault = "TLS failed" if name == "no-tls" else "its certificate is not trusted: "
                await scene.gateway.wait_for(re.compile(f"sink `{name}` takes no records: {fault}"))
            for each in (right, asking):
                await until(lambda each=each: any('"shipped"' in message.text for message in each.messages()))
            told = {each["name"]: each for each in (await scene.console.call("audit/sinks"))["sinks"]}
            assert {name for name, each in told.items() if each.get("fault")} == set(receivers)
            assert {told[name]["sent"] for name in receivers} == {0}
        await until(lambda: right.ended + right.cut == right.connections)
    for name, each in receivers.items():
        assert (each.connections > 0, each.frames, each.broken) == (True, [], []), name
        assert b"shipped" not in each.came, name
    for each in (right, asking):
        assert (each.connections, each.ended, each.cut, each.broken) == (1, 1, 0, [])
        bodies = [json.loads(message.text) for message in each.messages()]
        assert [body["index"] for body in bodies] == list(range(len(bodies)))
        assert {message.priority for message in each.messages()} == {13 * 8 + 5}
        for message, body in zip(each.messages(), bodies, strict=True):
            assert message.data == f'[record@32473 index="{body["index"]}" hash="{body["hash"]}"]'


@pytest.mark.requirement("002-71", "a witness and an authority that share no code with the gateway take its checkpoints")
async def test_what_strangers_gave_for_a_checkpoint_is_checked_by_their_own_programs(tmp_path: Path) -> None:
    authority, witness = Authority(tmp_path), Witness()
    await asyncio.to_thread(authority.make)
    # Signatures of keys that the gateway does not know stand before the right one.
    witness.beside = (f"— elsewhere.example {'A' * 3240}", "— witness.example/w1 AAAAAAAAAAAAAAAA")
    table = {"kind": "rfc3161", "url": f"http://127.0.0.1:{authority.port}/tsa", "ca": str(tmp_path / "root.pem")}
    anchors = {
        "stamp": {**table, "minutes": 0.005},
        "w1": {"kind": "cosigner", "url": witness.url, "key": witness.line(), "minutes": 0.003},
    }

    async def openssl(*arguments: str) -> int:
        command = ["openssl", "ts", "-verify", "-in", "kept.tsr", *arguments]
        return (await asyncio.to_thread(subprocess.run, command, check=False, capture_output=True, cwd=tmp_path)).returncode

    async with stage(tmp_path / "home", COUNTERSIGN_ANCHORS=json.dumps(anchors)) as scene:
        gateway = scene.gateway
        witness.log = read_key(scene)
        async with authority.there(), witness.there():
            turn = await scene.begin()
            for number in range(5):
                assert (await turn.invoke("peek", {"what": "milk"}, f"call-{number}"))["outcome"] == "ok"
                await standings(scene)
        # It never had to be asked twice, and refused nothing but what came before it knew the log.
        assert witness.answers[-5:] == [200] * 5
        code, said = await gateway.run("audit", "anchors", "--json")
        # Both are away by now, which is no fault before there is something new for them.
        told = {each["name"]: each for each in map(json.loads, said.splitlines())}
        (tmp_path / "note").write_text(told["stamp"]["note"])
        (tmp_path / "changed").write_text(told["stamp"]["note"].replace("\n", "0\n", 1))
        (tmp_path / "kept.tsr").write_bytes(b64decode(told["stamp"]["proof"]))
        assert await openssl("-data", "note", "-CAfile", "root.pem") == 0
        assert await openssl("-data", "changed", "-CAfile", "root.pem") != 0
        assert await openssl("-data", "note", "-CAfile", "other.pem") != 0
        file = tmp_path / "receipt"
        assert (await gateway.run("audit", "receipt", "call-2", "-o", str(file)))[0] == 0
        trust = ("--cosigner", witness.line(), "--ca", str(tmp_path / "root.pem"))
        code, said = await gateway.run("audit", "verify", str(file), *trust)
        assert (code, "not checked" in said) == (0, False), said
        code, said = await gateway.run("audit", "verify", str(file), "--ca", str(tmp_path / "other.pem"))
        assert (code, "its time stamp does not hold" in said) == (1, True), said
