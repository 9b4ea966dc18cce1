"""What a model's server says of an error of its own: hostile text that reaches the person, redacted and cut."""

from __future__ import annotations

import orjson
import pytest
import pytest_asyncio

from gateway.core.errors import ModelUnavailable
from tests.server.conftest import Running, Turn
from tests.server.streamed import ASKED, script


@pytest_asyncio.fixture
async def turn(running: Running) -> Turn:
    await running.arrive()
    return await running.begin_turn()


async def test_an_upstreams_own_error_keeps_its_words_without_secrets_and_without_end(turn: Turn) -> None:
    said = f"CUDA out\nof memory; Authorization: Bearer sk-{'a1B2' * 12} " + "x" * 10_000
    script(turn, orjson.dumps({"error": {"message": said}}), None, status=500, content_type="application/json")
    reply = await turn.ask(ASKED)
    message = reply.json["error"]["message"]
    assert (reply.status, reply.json["error"]["code"]) == (502, "model_error")
    assert message.startswith("the model's server answered with status 500: CUDA out of memory; ")
    assert "a1B2" not in message
    assert "[redacted:" in message
    assert len(message) < 1000


@pytest.mark.parametrize("body", [b"<html>secret</html>", b"{}", b'["secret"]', b'{"error":"' + b"secret" * 20_000])
async def test_an_error_whose_words_cannot_be_read_is_told_by_its_status(turn: Turn, body: bytes) -> None:
    script(turn, body, None, status=500, content_type="application/json")
    assert (await turn.ask(ASKED)).json["error"]["message"] == "the model's server answered with status 500"


async def test_an_error_that_breaks_off_is_told_by_its_status(turn: Turn) -> None:
    script(turn, b'{"error"', ModelUnavailable("reset", "crashed"), status=500, content_type="application/json")
    assert (await turn.ask(ASKED)).json["error"]["message"] == "the model's server answered with status 500"


async def test_attempts_of_a_turn_that_fail_alike_are_one_warning(turn: Turn, caplog: pytest.LogCaptureFixture) -> None:
    for status in (500, 500, 500, 502):
        script(turn, b"{}", None, status=status)
        await turn.ask(ASKED)
    assert [each.getMessage().split()[3] for each in caplog.records if "the model answered" in each.message] == ["500", "502"]
