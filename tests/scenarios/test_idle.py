"""What a gateway that does nothing has loaded: memory is paid for by who uses it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.harness.process import GatewayProcess

WHEN_NEEDED = {
    "aiohttp": "by the first fetched page, or where a model is chosen",
    "alembic": "by the start that makes or changes the database",
    "cryptography.hazmat.primitives.ciphers.aead": "by the first secret of a source",
    "cryptography.hazmat.primitives.serialization": "by the first passkey",
    "difflib": "by the first edit that is shown, or the first setting that is spelt wrong",
    "gateway.agent.lane": "where a model is chosen, or a loop runs here",
    "gateway.core.verification": "by the first check of the whole log",
    "html.entities": "by the first page that is read",
    "playwright": "never",
    "prometheus_client": "by the first scrape of /metrics",
    "sqlalchemy.dialects.postgresql": "by a migration",
    "ssrfguard": "by the first address that is judged",
    "webauthn": "by the first passkey",
    "xllamacpp": "never: the sidecar is a process of its own",
    "yarl": "by the first address that is judged",
}


@pytest.fixture
async def imported(tmp_path: Path) -> set[str]:
    """The modules that the second start of a gateway without a model has imported when it says that it is ready."""
    process = GatewayProcess(tmp_path)
    await process.start()
    await process.stop()
    # One line on standard error for each module that is imported, whoever imports it.
    process.command = (sys.executable, "-X", "importtime", "-m", "gateway", "serve")
    try:
        await process.start()
        return set(re.findall(r"^import time: [^|]*\|[^|]*\| *(\S+)$", process.output, re.MULTILINE))
    finally:
        await process.stop()


async def test_an_idle_gateway_has_not_loaded_what_only_some_requests_need(imported: set[str]) -> None:
    assert "gateway.serving" in imported
    assert "sqlalchemy" in imported
    assert sorted(imported & WHEN_NEEDED.keys()) == []
