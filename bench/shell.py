"""The web shell in a real browser: what a key takes until the next picture, and what moves while an answer is streamed, in a
conversation of two thousand messages and beside it in an empty one."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
from aiohttp import web
from playwright.async_api import BrowserContext, Page, expect

from bench.figures import Pace, percentile, report, report_pairs, say
from bench.servers import Gateway, start_gateway, work_folder
from tests.e2e.chromium import chromium
from tests.e2e.conftest import built_web
from tests.harness.person import Turn
from tests.harness.process import free_port
from tests.harness.socket import Socket

MESSAGES: Final = 2_000
TOKENS_A_SECOND: Final = 200
ANSWERED_FOR: Final = 5.0
"""Seconds of an answer under way."""

TYPED: Final = "what do the notes say of the plants on the balcony"
PATIENCE_MS: Final = 60_000
MODEL: Final = "bench"

_WATCH: Final = """() => {
  window.seen = { keys: [], shift: 0 };
  const { seen } = window;
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) if (each.name === "keydown") seen.keys.push(each.duration);
  }).observe({ type: "event", durationThreshold: 16 });
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) seen.shift += each.value;
  }).observe({ type: "layout-shift" });
}"""
"""Event Timing gives what took one picture (16 ms) or longer, in steps of 8 ms; the others count as that."""


@dataclass(frozen=True)
class Seen:
    """What a person waited for: milliseconds of each key until the next picture, and the layout shift, which has no unit."""

    keys: list[float]
    shift: float


async def measure(pace: Pace) -> None:
    """Opening, typing, and typing while an answer comes; the empty conversation is the limit."""
    async with _streaming() as url, chromium() as browser:
        with work_folder() as home:
            settings = {"COUNTERSIGN_MODEL_URL": url, "COUNTERSIGN_MODEL_TIER": "native", "COUNTERSIGN_WEB": str(built_web())}
            async with start_gateway(home, **settings) as gateway:
                long = await _make_conversation(gateway, MESSAGES)
                context = await browser.new_context(viewport={"width": 1280, "height": 800})
                context.set_default_timeout(PATIENCE_MS)
                await sign_in(context, gateway)
                pairs: dict[str, list[tuple[float, float]]] = {}
                shifts: list[float] = []
                for number in range(pace.rounds):
                    say(f"shell: round {number + 1} of {pace.rounds}")
                    full = await _use(context, gateway, long)
                    empty = await _use(context, gateway, await _make_conversation(gateway, 2))
                    for name in full:
                        pairs.setdefault(name, []).append((full[name], empty[name]))
                    shifts += [full.pop("shift"), empty.pop("shift")]
                for name, measured in pairs.items():
                    if name != "shift":
                        report_pairs(f"shell/{name}", "ms", measured)
                report("shell/layout-shift", max(shifts), "")


async def _use(context: BrowserContext, gateway: Gateway, conversation: str) -> dict[str, float]:
    page = await context.new_page()
    began = time.perf_counter()
    await page.goto(f"{gateway.process.agent_origin}/c/{conversation}")
    await expect(page.get_by_role("article").last).to_be_visible()
    box = page.get_by_label("Message")
    await expect(box).to_be_enabled()
    opened = (time.perf_counter() - began) * 1e3
    still = await _type(page)
    await box.fill("tell me much")
    await page.evaluate(_WATCH)
    await box.press("Enter")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    under_way = await _type(page)
    await expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    shift = float(await page.evaluate("() => window.seen.shift"))
    await page.close()
    return {
        "open": opened,
        "key/p95": percentile(still.keys, 0.95),
        "key/worst": max(still.keys),
        "key-while-streaming/p95": percentile(under_way.keys, 0.95),
        "key-while-streaming/worst": max(under_way.keys),
        "shift": shift,
    }


async def _type(page: Page) -> Seen:
    await page.evaluate(_WATCH)
    box = page.get_by_label("Message")
    await box.focus()
    for letter in TYPED:
        await page.keyboard.press(letter if letter != " " else "Space")
        await asyncio.sleep(0.03)
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))")
    seen: dict[str, Any] = await page.evaluate("() => window.seen")
    slow = [float(each) for each in seen["keys"]]
    return Seen([*slow, *[16.0] * (len(TYPED) - len(slow))], float(seen["shift"]))


async def _make_conversation(gateway: Gateway, messages: int) -> str:
    shell = await Socket.open(gateway.person.browser, gateway.process.agent_origin)
    try:
        turn = await Turn.begin(shell)
        conversation = turn.conversation_id
        for number in range(0, messages, 2):
            place = {"conversationId": conversation, "turnId": turn.snapshot["turnId"]}
            said = ({"role": "user", "content": f"question {number} about the plants"}, {"role": "assistant", "content": _ANSWER})
            for message in said:
                await shell.call("messages/append", {**place, "message": message})
            await shell.call("turns/end", place)
            if number + 2 < messages:
                turn = await Turn.begin(shell, conversation)
        return conversation
    finally:
        await shell.close()


async def sign_in(context: BrowserContext, gateway: Gateway) -> None:
    """With the cookies of a gateway's person, who has a passkey without a browser."""
    for origin in (gateway.process.agent_origin, gateway.process.console_origin):
        jar = gateway.person.browser.cookies.get(urlsplit(origin).hostname or "", {})
        for name, value in jar.items():
            await context.add_cookies([{"name": name, "value": value, "url": origin}])


@contextlib.asynccontextmanager
async def _streaming() -> AsyncGenerator[str]:
    """A model that writes Markdown at an even pace for some seconds."""
    app = web.Application()
    app.router.add_get("/v1/models", _list)
    app.router.add_post("/v1/chat/completions", _complete)
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        await runner.cleanup()


async def _list(_request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model"}]})


async def _complete(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    began, pieces = time.perf_counter(), int(TOKENS_A_SECOND * ANSWERED_FOR)
    for number in range(pieces):
        await asyncio.sleep(max(0.0, began + number / TOKENS_A_SECOND - time.perf_counter()))
        delta = {"content": _PIECES[number % len(_PIECES)]}
        await response.write(_event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}))
    await response.write(_event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    await response.write(b"data: [DONE]\n\n")
    return response


def _event(members: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % orjson.dumps({"id": "b", "object": "chat.completion.chunk", "created": 0, "model": MODEL, **members})


_ANSWER: Final = """Water **the plants** twice a week:

1. the ferns
2. the *tomatoes*

| plant | litres |
|---|---:|
| fern | 2 |
"""
_PIECES: Final = ("water ", "the ", "plants ", "on ", "the ", "balcony ", "twice ", "a week ", "and ", "**ferns** ", "\n\n")
