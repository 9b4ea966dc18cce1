"""A request that needs more context than there is waits for it; nobody else notices more than a wait."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import orjson
import pytest

from gateway.adapters.inference import growing
from gateway.adapters.inference.context_size import ContextPlan
from gateway.adapters.inference.growing import GrowingServer
from gateway.adapters.inference.tokens import BufferedStream
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import InferenceStream, ModelPhase

CHAT = "/v1/chat/completions"
PLAN = ContextPlan(4096, 16384, 1000)


@dataclass(slots=True)
class GrowableFake:
    """A server that knows the length of its prompts exactly: one token for each `x`."""

    context_tokens: int = 4096
    grown: list[int] = field(default_factory=list[int])
    asked: list[int] = field(default_factory=list[int])
    may_grow: asyncio.Event = field(default_factory=asyncio.Event)
    starts: bool = True
    is_away: bool = False

    def require(self) -> None:
        if self.is_away:
            raise ModelUnavailable("the model is being loaded", ModelPhase.STARTING)

    async def grow(self, context_tokens: int) -> bool:
        self.require()
        await self.may_grow.wait()
        self.grown.append(context_tokens)
        if self.starts:
            self.context_tokens = context_tokens
        return self.starts

    async def tokenise(self, prompt: str) -> tuple[int, ...]:
        return tuple(prompt.encode())

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        self.require()
        prompt = body.count(b"x")
        self.asked.append(self.context_tokens)
        if prompt > self.context_tokens:
            error = {"type": "exceed_context_size_error", "n_prompt_tokens": prompt, "n_ctx": self.context_tokens}
            yield BufferedStream(400, "application/json", (orjson.dumps({"error": error}),))
        elif b"nonsense" in body:
            yield BufferedStream(400, "application/json", (b'{"error": {"message": "no"}}',))
        else:
            yield BufferedStream(200, "text/event-stream", (b"data: [DONE]",))


def a_chat(tokens: int, *, others: int = 0, **more: object) -> bytes:
    """A prompt of so many tokens, which looks longer by the `others`."""
    content = "x" * tokens + "-" * others
    return orjson.dumps({"messages": [{"role": "user", "content": content}], "max_tokens": 256, **more})


LONG = a_chat(3_000, others=12_000)


def growable(**changes: object) -> GrowableFake:
    fake = GrowableFake(**changes)  # pyright: ignore[reportArgumentType]
    fake.may_grow.set()
    return fake


async def status_of(server: GrowingServer, body: bytes, path: str = CHAT) -> int:
    async with asyncio.timeout(10), server.ask(path, body) as answer:
        assert [chunk async for chunk in answer.chunks()]
        return answer.status


async def test_a_request_that_fits_is_asked_at_once() -> None:
    fake = growable()
    assert await status_of(GrowingServer(fake, PLAN), a_chat(3000)) == 200
    assert (fake.grown, fake.asked) == ([], [4096])


async def test_a_request_that_needs_more_gets_it_before_it_is_asked() -> None:
    fake = growable()
    assert await status_of(GrowingServer(fake, PLAN), LONG) == 200
    assert (fake.grown, fake.asked) == ([8192], [8192])


async def test_a_prompt_that_has_more_tokens_than_it_looked_like_is_asked_again_with_room_for_it() -> None:
    fake = growable()
    server = GrowingServer(fake, PLAN)
    assert await status_of(server, a_chat(9_000)) == 200
    assert (fake.grown, fake.asked) == ([16384], [4096, 16384])


async def test_what_is_too_long_for_the_largest_context_is_refused_as_the_server_does() -> None:
    fake = growable()
    assert await status_of(GrowingServer(fake, PLAN), a_chat(60_000)) == 400
    assert fake.grown == [16384]
    assert await status_of(GrowingServer(fake, PLAN), a_chat(60_000)) == 400
    assert fake.grown == [16384]


async def test_another_refusal_is_passed_on_as_it_is() -> None:
    fake = growable()
    async with GrowingServer(fake, PLAN).ask(CHAT, a_chat(10, tools=["nonsense"])) as answer:
        assert b"".join([chunk async for chunk in answer.chunks()]) == b'{"error": {"message": "no"}}'
    assert fake.grown == []


async def test_only_chats_make_it_grow() -> None:
    fake = growable()
    assert await status_of(GrowingServer(fake, PLAN), a_chat(9_000), "/v1/completions") == 400
    assert fake.grown == []


async def test_answers_under_way_end_first_and_later_requests_wait_their_turn() -> None:
    fake = growable()
    server = GrowingServer(fake, PLAN)
    async with asyncio.timeout(10):
        async with server.ask(CHAT, a_chat(10)):
            long = asyncio.create_task(status_of(server, LONG))
            later = asyncio.create_task(status_of(server, a_chat(10)))
            for _ in range(20):
                await asyncio.sleep(0)
            assert (fake.grown, fake.asked) == ([], [4096])
        assert await asyncio.gather(long, later) == [200, 200]
    assert (fake.grown, fake.asked) == ([8192], [4096, 8192, 8192])


async def test_an_answer_that_never_ends_holds_nobody_up_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "WAIT_SECONDS", 0.01)
    fake = growable()
    server = GrowingServer(fake, PLAN)
    async with server.ask(CHAT, a_chat(10)):
        assert await status_of(server, LONG) == 200
    assert (fake.grown, fake.asked) == ([], [4096, 4096])


async def test_who_gives_up_leaves_no_server_half_way() -> None:
    fake = growable()
    fake.may_grow.clear()
    server = GrowingServer(fake, PLAN)
    asking = asyncio.create_task(status_of(server, LONG))
    for _ in range(20):
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    fake.may_grow.set()
    assert await status_of(server, a_chat(10)) == 200
    assert (fake.grown, fake.asked) == ([8192], [8192])


async def test_closing_ends_the_growing() -> None:
    fake = growable()
    fake.may_grow.clear()
    server = GrowingServer(fake, PLAN)
    asking = asyncio.create_task(status_of(server, LONG))
    for _ in range(20):
        await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await server.close()
    asking.cancel()
    await asyncio.wait({asking})
    assert fake.grown == []


async def test_a_server_that_does_not_start_with_more_is_not_tried_again() -> None:
    fake = growable(starts=False)
    server = GrowingServer(fake, PLAN)
    assert await status_of(server, LONG) == 200
    assert await status_of(server, LONG) == 200
    assert (fake.grown, fake.asked) == ([8192], [4096, 4096])


@pytest.mark.parametrize(("left", "grown"), [(8_000_000, []), (8_192_000, [8192]), (None, [8192])])
async def test_it_takes_no_more_than_half_of_the_memory_that_is_left(left: int | None, grown: list[int]) -> None:
    fake = growable()
    await status_of(GrowingServer(fake, PLAN, memory=lambda: left), LONG)
    assert fake.grown == grown


async def test_a_size_that_the_operator_has_set_is_no_matter_of_memory() -> None:
    fake = growable()
    await status_of(GrowingServer(fake, ContextPlan(4096, 16384), memory=lambda: 0), LONG)
    assert fake.grown == [8192]


async def test_a_server_that_is_away_is_said_to_be_away() -> None:
    fake = growable(is_away=True)
    server = GrowingServer(fake, PLAN)
    with pytest.raises(ModelUnavailable, match="being loaded"):
        await status_of(server, LONG)
    fake.is_away = False
    assert await status_of(server, LONG) == 200
