"""Chat completions as servers send them, held to vectors that the tests of `web/src/agent` hold theirs to."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.completion_stream import CompletionStream, read_error_words, read_failure
from gateway.agent.ports import CallDelta, ChatDelta, ChatFailure, CutDelta, TextDelta, Usage
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("streams")


def written(delta: ChatDelta) -> dict[str, Any]:
    match delta:
        case TextDelta(text):
            return {"text": text}
        case CallDelta(index, name, arguments):
            return {"call": index, "name": name, "arguments": arguments}
        case CutDelta(why):
            return {"cut": why.value}
        case Usage(prompt, completion):
            return {"usage": [prompt, completion]}
        case _:
            raise AssertionError(delta)


def failure_as_written(failure: ChatFailure) -> dict[str, Any]:
    return {"kind": failure.fault.value, "message": failure.message, **({"state": failure.state} if failure.state else {})}


def read(body: bytes, size: int) -> dict[str, Any]:
    """All that comes of a body in pieces of `size`."""
    stream, deltas = CompletionStream(), list[dict[str, Any]]()
    try:
        for start in range(0, len(body), size):
            deltas.extend(map(written, stream.feed(body[start : start + size])))
        deltas.extend(map(written, stream.finish()))
    except ChatFailure as failure:
        return {"deltas": deltas, "failure": failure_as_written(failure)}
    return {"deltas": deltas}


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_a_reply_is_read_as_it_was_meant_however_its_bytes_are_cut(case: dict[str, Any]) -> None:
    expected = {key: case[key] for key in ("deltas", "failure") if key in case}
    for size in (1, 7, 100_000):
        assert read(case["body"].encode(), size) == expected


@pytest.mark.parametrize("case", VECTORS["refusals"], ids=name_of)
def test_a_refusal_keeps_the_words_of_the_server(case: dict[str, Any]) -> None:
    assert failure_as_written(read_failure(case["status"], case["body"].encode())) == case["failure"]


@pytest.mark.parametrize("case", VECTORS["refusals"], ids=name_of)
def test_the_words_of_a_refusal_alone_are_not_cut(case: dict[str, Any]) -> None:
    told, words = case["failure"]["message"], read_error_words(case["body"].encode())
    assert words.startswith(told) if words else told == f"status {case['status']}"


@pytest.mark.parametrize("begun", [b"data: ", b'{"a":"', b""])
def test_what_never_ends_is_not_gathered_for_ever(begun: bytes) -> None:
    stream = CompletionStream()
    list(stream.feed(begun))
    with pytest.raises(ChatFailure, match="garbled"):
        list(stream.feed(b" " * (5 << 20)))
