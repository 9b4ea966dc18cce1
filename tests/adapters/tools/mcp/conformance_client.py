"""The client of the conformance suite: `conformance_client.py URL` opens the server there and calls each of its tools once."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Final

from gateway.core.canonical import Json
from tests.adapters.tools.mcp.servers import make_driven

_VALUES: Final[dict[str, Json]] = {"number": 5, "integer": 5, "string": "text", "boolean": True}


async def main(url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        driven = make_driven({"url": url}, Path(folder))
        try:
            for tool in (await driven.open()).tools:
                properties: dict[str, dict[str, Json]] = tool.param_schema.get("properties", {})
                await driven.call(tool.name, **{name: _VALUES[schema["type"]] for name, schema in properties.items()})
        finally:
            await driven.driver.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
