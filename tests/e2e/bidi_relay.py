"""Firefox as a program that Playwright starts: it passes on what the two say, and takes up what this Firefox does not know yet.

Playwright speaks WebDriver BiDi (W3C) with Debian's own Firefox, and the two are not of one age:

* it sets the colours of each new context by a command that this Firefox does not know, and would open no page at all. The command
  is answered and nothing is done: in Firefox a page has the colours that it has.
* it would fill a field behind the back of React; here the text is inserted as what a person pastes.
* it would hear of no download, for this Firefox gives them no id.

Run as a program, with Firefox first and its arguments after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

LISTENING = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")
UNKNOWN = "emulation.setMediaFeaturesOverride"
FILLS = "(text) => bidiInsertText(window, text)"
PASTES = "(text) => { document.execCommand('insertText', false, text); }"


async def relay(firefox: str, *arguments: str) -> int:
    """Start Firefox and say where to speak to it, as Firefox would; until it ends."""
    process = await asyncio.create_subprocess_exec(firefox, *arguments, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    said = b""
    while (found := LISTENING.search(said)) is None:
        line = await process.stderr.readline()
        if not line:
            sys.stderr.buffer.write(said)
            return await process.wait()
        said += line
    reading = asyncio.create_task(_read_on(process.stderr))
    address = found[1].decode()

    async def pass_on(playwright: ServerConnection) -> None:
        assert playwright.request is not None
        async with connect(f"{address}{playwright.request.path}", max_size=None) as browser:
            back = asyncio.create_task(_copy(browser, playwright))
            async for message in playwright:
                asked = json.loads(message)
                if asked["method"] == UNKNOWN:
                    await playwright.send(json.dumps({"type": "success", "id": asked["id"], "result": {}}))
                else:
                    await browser.send(str(message).replace(FILLS, PASTES))
            # Playwright hangs up once it has told Firefox to end, and Firefox does not listen to somebody who has gone.
            await asyncio.gather(back, browser.wait_closed())

    async with serve(pass_on, "127.0.0.1", 0, max_size=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        sys.stderr.write(f"WebDriver BiDi listening on ws://127.0.0.1:{port}\n")
        sys.stderr.flush()
        ended = await process.wait()
    reading.cancel()
    return ended


async def _copy(browser: ClientConnection, playwright: ServerConnection) -> None:
    with contextlib.suppress(ConnectionClosed):
        async for message in browser:
            await playwright.send(_named(str(message)))


def _named(message: str) -> str:
    """An event of a download with an id, by which Playwright knows it again at its end: its address, which is a blob's own."""
    if not message.startswith('{"type":"event","method":"browsingContext.download'):
        return message
    event = json.loads(message)
    event["params"]["download"] = event["params"]["url"]
    return json.dumps(event)


async def _read_on(stream: asyncio.StreamReader) -> None:
    """So that it is never held up by what it says."""
    while await stream.read(65536):
        pass


if __name__ == "__main__":
    sys.exit(asyncio.run(relay(*sys.argv[1:])))
