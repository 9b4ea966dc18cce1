"""How fast a model reads and writes is taken from its own counts and the clock; memory from the kernel."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.adapters.inference.machine_memory import peak_of_largest_child
from gateway.adapters.inference.scripted import SCRIPTED, ScriptedBackend, in_order
from gateway.adapters.inference.speed import WRITTEN, ModelSpeed, measure_speed
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import InferenceStream
from tests.fakes.clock import FakeClock


@dataclass(slots=True)
class PacedStream:
    """Events, each after so many seconds of a clock, torn in two."""

    clock: FakeClock
    events: list[tuple[float, Mapping[str, Any]]]
    status: int = 200
    content_type: str = "text/event-stream"

    async def chunks(self) -> AsyncGenerator[bytes]:
        for seconds, event in self.events:
            self.clock.advance(seconds)
            line = orjson.dumps(event) if self.status != 200 else b"data: %b\n\n" % orjson.dumps(event)
            yield line[:9]
            yield line[9:]


@dataclass(slots=True)
class PacedBackend(ScriptedBackend):
    """Answers with one such stream."""

    stream: PacedStream = field(default_factory=lambda: PacedStream(FakeClock(), []))

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        self.asked.append(orjson.loads(body))
        yield self.stream


def piece(**delta: str | None) -> Mapping[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


def usage(fed: int, written: int, **details: Any) -> Mapping[str, Any]:
    return {"choices": [], "usage": {"prompt_tokens": fed, "completion_tokens": written, **details}}


async def measured(*events: tuple[float, Mapping[str, Any]], status: int = 200) -> tuple[ModelSpeed, Mapping[str, Any]]:
    clock = FakeClock()
    backend = PacedBackend(in_order(), stream=PacedStream(clock, list(events), status))
    speed = await measure_speed(backend, SCRIPTED, clock)
    (asked,) = backend.asked
    return speed, asked


WORDS = [(0.5, piece(content="1 "))] * 20


async def test_what_is_read_is_counted_until_the_first_word_and_what_is_written_from_there() -> None:
    speed, asked = await measured(
        (2.0, piece(role="assistant", content=None)), (1.0, piece(content="1")), *WORDS, (0, usage(600, 21))
    )
    assert speed == ModelSpeed(200.0, 2.0)
    assert (asked["max_tokens"], asked["temperature"], asked["stream"]) == (WRITTEN, 0, True)


async def test_a_model_that_thinks_first_is_measured_by_its_thoughts() -> None:
    speed, _ = await measured((3.0, piece(reasoning_content="Hm")), *WORDS, (0, usage(600, 21)))
    assert speed == ModelSpeed(200.0, 2.0)


async def test_what_the_server_had_in_its_cache_was_not_read() -> None:
    speed, _ = await measured(
        (3.0, piece(content="1")), *WORDS, (0, usage(600, 21, prompt_tokens_details={"cached_tokens": 300}))
    )
    assert speed.prompt_rate == 100.0


@pytest.mark.parametrize("said", [{"choices": []}, usage(0, 0), {"usage": {"prompt_tokens": "many"}}, {"usage": None}])
async def test_a_server_that_counts_nothing_has_no_speed(said: Mapping[str, Any]) -> None:
    speed, _ = await measured((3.0, piece(content="1")), (1.0, piece(content="2")), (0, said))
    assert speed == ModelSpeed(None, None)


async def test_an_answer_that_is_too_short_says_nothing_about_writing() -> None:
    speed, _ = await measured((3.0, piece(content="1")), (1.0, piece(content="2")), (0, usage(600, 2)))
    assert speed == ModelSpeed(200.0, None)


async def test_no_question_begins_like_an_earlier_one() -> None:
    clock = FakeClock()
    backend = PacedBackend(in_order(), stream=PacedStream(clock, [(1.0, piece(content="1"))]))
    for _ in range(2):
        await measure_speed(backend, SCRIPTED, clock)
    first, second = (asked["messages"][0]["content"] for asked in backend.asked)
    assert first[:24] != second[:24]


async def test_a_refusal_is_told_in_the_servers_own_words() -> None:
    with pytest.raises(ModelUnavailable, match="no model called `mine`"):
        await measured((0.0, {"error": {"message": "no model called `mine`"}}), status=404)


def a_process(folder: Path, number: int, parent: int, peak: int | None) -> None:
    (folder / str(number)).mkdir()
    peaks = "" if peak is None else f"VmHWM:\t {peak} kB\n"
    (folder / str(number) / "status").write_text(f"Name:\tx\nPPid:\t{parent}\n{peaks}Threads:\t1\n")


def test_the_memory_of_a_server_is_the_peak_of_the_largest_process_below_this_one(tmp_path: Path) -> None:
    for number, parent, peak in ((10, 1, 900), (11, 10, 20), (12, 11, 700), (13, 10, None), (20, 1, 5000)):
        a_process(tmp_path, number, parent, peak)
    assert peak_of_largest_child(10, tmp_path) == 700 * 1024
    assert peak_of_largest_child(12, tmp_path) is None
    assert peak_of_largest_child(10, tmp_path / "nowhere") is None
