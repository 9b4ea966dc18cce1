"""The client of the conformance suite: `conformance_client.py URL` opens the server there and calls each of its tools once.

Where the server asks the person something, they send the form as the server filled it in.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from gateway.core.canonical import Json
from gateway.core.elicitation import ElicitationAction, ElicitationAnswer, ElicitationRefusal, read_form
from tests.adapters.tools.conftest import make_context
from tests.adapters.tools.mcp.servers import make_driven

_VALUES: Final[dict[str, Json]] = {"number": 5, "integer": 5, "string": "text", "boolean": True}


async def fill_in(message: str, schema: Json) -> ElicitationAnswer | ElicitationRefusal:
    """As on the console: every field begins with its default."""
    form = read_form(message, schema)
    if isinstance(form, ElicitationRefusal):
        return form
    filled = {each.name: each.default for each in form.fields if each.default is not None}
    return ElicitationAnswer(ElicitationAction.ACCEPT, filled)


async def main(url: str) -> None:
    context = replace(make_context(), elicit=fill_in)
    with tempfile.TemporaryDirectory() as folder:
        driven = make_driven({"url": url, "elicitation": "ask"}, Path(folder))
        try:
            for tool in (await driven.open()).tools:
                properties: dict[str, dict[str, Json]] = tool.param_schema.get("properties", {})
                arguments = {name: _VALUES[schema["type"]] for name, schema in properties.items()}
                await driven.call(tool.name, context, **arguments)
        finally:
            await driven.driver.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
