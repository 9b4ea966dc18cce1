"""A backup that an operator has made on the console: after a fresh answer of a passkey, where the settings say, nowhere else."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.harness.socket import RpcError, Socket
from tests.scenarios.staging import stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def refusal(console: Socket) -> Mapping[str, Any]:
    with pytest.raises(RpcError) as refused:
        await console.call("backups/make")
    return refused.value.error


async def test_an_operator_with_a_fresh_passkey_has_a_backup_made_and_nobody_else(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    async with stage(tmp_path / "home", COUNTERSIGN_BACKUPS=str(folder)) as scene:
        guest = await scene.another("Gil", "guest")
        assert "operatorOnly" in str(await refusal(await guest.console()))
        # What a passkey answered before a restart is not fresh after it.
        await scene.gateway.stop()
        await scene.gateway.start()
        console = await scene.ada.console()
        assert "stepUpRequired" in str(await refusal(console))
        assert not folder.exists()
        assert (await scene.ada.sign_in()).status == 204
        console = await scene.ada.console()
        made = await console.call("backups/make")
        file = folder / made["backup"]["file"]
        assert (file.stat().st_size, file.stat().st_mode & 0o777) == (made["backup"]["size"], 0o600)
        with tarfile.open(file) as archive:
            assert {"ledger.db", "audit.key", "audit.vkey"} <= set(archive.getnames())
        assert await console.call("backups/list") == {"folder": str(folder), "backups": [made["backup"]]}
        assert made["records"] > 0
        # It lies where no address of the console leads.
        for place in ("", "backups/", "assets/"):
            assert (await scene.ada.browser.get(f"{scene.gateway.console_origin}/{place}{file.name}")).status == 404
