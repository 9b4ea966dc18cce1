"""`--output-schema`: JSON that fits, or a failure that says why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.adapters.inference.output_schema import OutputSchema
from gateway.adapters.inference.scripted import Reply, ScriptedBackend, in_order
from gateway.agent.limits import LIMITS
from gateway.agent.ports import ChatFailure, ChatFailureKind, StopSignal
from gateway.cli.terminal.listeners import LoopListeners
from gateway.cli.terminal.structured_answer import StructuredAnswer, TurnNotes
from gateway.core.errors import Misconfigured
from tests.agent.scripted import COPY, ScriptedChat, ScriptedGateway
from tests.agent.scripted_turns import SMALL
from tests.cli.test_agent_vendors import Vendor, says
from tests.fakes.openai_server import serving
from tests.harness.terminal import AgentCommand, agent_command, call, lines_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer", "minimum": 0}},
    "required": ["city", "people"],
    "additionalProperties": False,
}
ROME = '{"city":"Rome","people":2700000}'


@pytest.fixture
def schema(tmp_path: Path) -> str:
    (tmp_path / "city.json").write_text(json.dumps(SCHEMA))
    return "city.json"


def ask_for(schema: str) -> tuple[str, ...]:
    return ("--single", "how large is Rome?", "--output-schema", schema)


async def test_standard_output_has_the_value_and_nothing_else(tmp_path: Path, schema: str) -> None:
    replies = [call("peek", what="Rome"), Reply("Rome has 2.7 million people."), Reply(ROME)]
    async with agent_command(tmp_path, *replies) as at:
        code, out, err = await at.run(*ask_for(schema))
        assert (await at.run("audit", "verify"))[0] == 0
    assert (code, out) == (0, f"{ROME}\n"), err
    assert "2.7 million" not in err
    asked = at.backend.asked[-1]
    assert asked["response_format"]["json_schema"]["schema"] == SCHEMA
    assert [words in asked["messages"][-1]["content"] for words in ("how large is Rome?", "did peek Rome", "2.7 million")] == [
        True
    ] * 3


@pytest.mark.requirement("002-44", "the terminal checks an answer against the schema that was given for it")
async def test_json_that_does_not_fit_is_repaired_with_the_reason(tmp_path: Path, schema: str) -> None:
    replies = [Reply("2.7 million."), Reply('{"city":"Rome"}'), Reply(f"```json\n{ROME}\n```")]
    async with agent_command(tmp_path, *replies) as at:
        code, out, err = await at.run(*ask_for(schema), "--transcript", "log.jsonl")
    assert (code, out) == (0, f"{ROME}\n"), err
    assert '"people" is a required property' in at.backend.asked[-1]["messages"][-1]["content"]
    kept = [json.loads(line) for line in lines_of((tmp_path / "log.jsonl").read_text())]
    assert [line["type"] for line in kept] == [
        *("user", "assistant", "answer", "end"),
        *("user", "assistant", "fault", "assistant", "answer", "end"),
    ]


async def test_what_never_fits_is_a_failure_that_says_why(tmp_path: Path, schema: str) -> None:
    replies = [Reply("2.7 million."), *[Reply('{"city":"Rome","people":"many\\u001b[31m"}')] * 3]
    async with agent_command(tmp_path, *replies) as at:
        code, out, err = await at.run(*ask_for(schema))
        assert len(at.backend.asked) == 4
    assert (code, out) == (1, "")
    assert "countersign: the answer does not fit `city.json` after 3 tries: /people: is not of type" in err
    assert "\x1b" not in err


async def test_without_an_answer_there_is_no_value(tmp_path: Path, schema: str) -> None:
    async with agent_command(tmp_path, *[Reply("")] * 3) as at:
        code, out, err = await at.run(*ask_for(schema))
    assert (code, out, "no answer to put into JSON" in err) == (1, "", True)


async def test_in_the_event_stream_the_value_is_the_last_answer(tmp_path: Path, schema: str) -> None:
    async with agent_command(tmp_path, Reply("2.7 million."), Reply(ROME)) as at:
        code, out, _ = await at.run(*ask_for(schema), "--json-out")
    assert (code, json.loads(lines_of(out)[-1])) == (0, {"type": "answer", "text": ROME})


async def test_ctrl_c_while_it_is_written_prints_nothing(tmp_path: Path, schema: str) -> None:
    replies = [Reply("2.7 million."), Reply(ROME, stalls_after=1)]
    async with agent_command(tmp_path, *replies) as at, at.open_terminal(*ask_for(schema)) as ada:
        await at.wait_for_requests(2)
        ada.type("\x03")
        assert await ada.wait() == 130
    assert "Rome" not in ada.output


async def test_a_server_that_knows_no_schemas_is_asked_without(tmp_path: Path, schema: str) -> None:
    class Plain(Vendor):
        """Refuses constrained decoding, as some servers do."""

        async def _complete(self, request: Request) -> Response:
            if "response_format" in await request.json():
                self.asked.append({})
                return JSONResponse({"error": {"message": "response_format is not supported"}}, 400)
            return await super()._complete(request)

    vendor = Plain(says("2.7 million.", finish_reason="stop"), says(ROME, finish_reason="stop"))
    async with serving(vendor.app) as url:
        code, out, err = await AgentCommand(tmp_path, url, ScriptedBackend(in_order())).run(*ask_for(schema))
    assert (code, out, len(vendor.asked)) == (0, f"{ROME}\n", 3), err


async def test_a_model_that_is_still_loading_is_waited_for(tmp_path: Path, schema: str) -> None:
    """A question that code can answer is answered before a local model is there."""
    waited: list[float] = []

    async def wait(seconds: float, _stop: StopSignal) -> None:
        waited.append(seconds)

    def give_token(_params: Mapping[str, Any], _stop: StopSignal | None) -> Mapping[str, Any]:
        return {"token": "t"}

    chat = ScriptedChat([ChatFailure(ChatFailureKind.MODEL_UNAVAILABLE, "it is being loaded", "starting"), ROME])
    notes, gateway = TurnNotes(), ScriptedGateway(handlers={"inference/token": give_token})
    listener = LoopListeners([notes])
    made = OutputSchema(tmp_path / schema)
    answer = StructuredAnswer(made, notes, gateway, lambda _: chat, "cnv_1", SMALL, listener, COPY, None, wait)
    assert await answer.write() == json.loads(ROME)
    assert (waited, len(chat.requests)) == ([LIMITS.model_wait_seconds], 2)


WRONG = {
    "no JSON": ("{", "is not JSON"),
    "a list": ("[]", "must be a JSON object"),
    "an unknown type": (
        '{"properties": {"a": {"type": "strng"}}}',
        "is not a JSON Schema: /properties/a/type: is none of array, boolean",
    ),
    "a reference to fetch": ('{"$ref": "http://127.0.0.1:1/schema.json"}', "is not a JSON Schema"),
    "a slow pattern": ('{"pattern": "(?=a)b"}', "is not a JSON Schema"),
    "too large": (json.dumps({"description": "x" * 70_000}), "has more than 64 KiB"),
}


@pytest.mark.parametrize(("written", "words"), WRONG.values(), ids=list(WRONG))
def test_a_file_that_is_no_schema_is_refused(tmp_path: Path, written: str, words: str) -> None:
    (tmp_path / "wrong.json").write_text(written)
    with pytest.raises(Misconfigured, match=f"the output schema `wrong.json` {words}"):
        OutputSchema(tmp_path / "wrong.json")


async def test_what_cannot_be_a_schema_is_refused_before_anything_is_asked(tmp_path: Path, schema: str) -> None:
    (tmp_path / "wrong.json").write_text('{"type": "strng"}')
    async with agent_command(tmp_path) as at:
        code, out, err = await at.run("--single", "hi", "--output-schema", "wrong.json")
        assert (code, out, at.backend.asked) == (2, "", [])
        assert "the output schema `wrong.json` is not a JSON Schema" in err
        assert "Traceback" not in err
        code, _, err = await at.run("--output-schema", schema)
    assert (code, "--output-schema needs --single" in err) == (2, True)
