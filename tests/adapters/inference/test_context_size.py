"""How long a context may become follows from training, memory and settings; how much a request needs, from what it holds."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.inference.context_size import ContextPlan, plan_context, reply_tokens, tokens_needed, tokens_refused
from gateway.adapters.inference.gguf import GgufHead

HALF_BILLION = GgufHead("qwen2", "Half", "Q4_K_M", "apache-2.0", context_tokens=32768, layers=24, cache_bytes=12_288)
WEIGHTS = 491_400_064
GIB = 1 << 30


def plan(available: int | None = 8 * GIB, wanted: int | None = None, head: GgufHead | None = HALF_BILLION) -> ContextPlan:
    return plan_context(head, WEIGHTS, wanted=wanted, trained=32768, available=available, preallocate=False)


def test_with_memory_to_spare_a_context_may_become_what_the_model_was_trained_for() -> None:
    assert plan() == ContextPlan(4096, 32768, 12_288)


def test_a_quarter_of_the_memory_beside_the_weights_may_become_cache() -> None:
    room = plan(GIB)
    assert room.largest == 11 * 1024
    assert room.largest * 12_288 <= (GIB - WEIGHTS) // 4 < (room.largest + 1024) * 12_288


@pytest.mark.parametrize("available", [0, WEIGHTS, None])
def test_a_machine_that_is_full_or_does_not_say_gets_what_every_model_has(available: int | None) -> None:
    assert plan(available).largest == 4096


def test_what_is_set_holds_up_to_what_the_model_was_trained_for_whatever_the_memory() -> None:
    assert plan(0, wanted=16384) == ContextPlan(4096, 16384, None)
    assert plan(wanted=100_000).largest == 32768
    assert plan(wanted=1024) == ContextPlan(1024, 1024, None)


def test_a_file_that_says_nothing_gets_what_every_model_has() -> None:
    assert plan(head=None).largest == 4096
    unknown = plan_context(None, 0, wanted=None, trained=None, available=GIB, preallocate=False)
    assert unknown == ContextPlan(4096, 4096, None)
    short = plan_context(None, 0, wanted=None, trained=2048, available=GIB, preallocate=False)
    assert (short.start, short.largest) == (2048, 2048)


def test_all_of_it_at_the_start_is_a_choice() -> None:
    taken = plan_context(HALF_BILLION, WEIGHTS, wanted=None, trained=32768, available=8 * GIB, preallocate=True)
    assert (taken.start, taken.largest) == (32768, 32768)


@given(needed=st.integers(0, 1 << 20), start=st.integers(512, 8192), largest=st.integers(8192, 1 << 18))
def test_a_context_grows_by_doubling_as_far_as_it_has_to_and_may(needed: int, start: int, largest: int) -> None:
    size = ContextPlan(start, largest).next_size(needed, start)
    assert start <= size <= largest
    assert size == largest or size >= needed
    assert size in (start, largest) or size // 2 < needed


def body(text: str, **more: object) -> bytes:
    return orjson.dumps({"messages": [{"role": "user", "content": text}], **more})


def test_a_request_needs_its_prompt_its_tools_and_its_reply() -> None:
    bare = tokens_needed(body("hello", max_tokens=100))
    assert 100 < bare < 140
    assert tokens_needed(body("hello", max_tokens=300)) == bare + 200
    assert tokens_needed(body("hello", max_tokens=100, tools=[{"name": "x" * 3000}])) > bare + 1000
    assert tokens_needed(body("x" * 12_000, max_tokens=100)) > 4096


def test_a_reply_without_a_limit_gets_a_usual_one() -> None:
    assert [reply_tokens(each) for each in (body("x"), body("x", max_tokens=0), body("x", max_tokens="7"))] == [1024] * 3


@pytest.mark.parametrize("asked", [b"", b"{", b"[]", b"{}", b'{"messages": 3}', b'{"messages": []}'])
def test_what_is_no_chat_request_needs_nothing(asked: bytes) -> None:
    assert tokens_needed(asked) == 0


def test_a_refusal_for_length_tells_how_long_the_prompt_is() -> None:
    refusal = {"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 5003, "n_ctx": 4096}}
    assert tokens_refused(orjson.dumps(refusal)) == 5003


@pytest.mark.parametrize("answer", [b"", b"{}", b'{"error": "x"}', b'{"error": {"type": "other", "n_prompt_tokens": 3}}'])
def test_another_refusal_tells_nothing(answer: bytes) -> None:
    assert tokens_refused(answer) is None
