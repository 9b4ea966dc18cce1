"""What a server asks the person while a call runs: told to whoever can ask, answered to that server, and bounded."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import pytest
import pytest_asyncio

from gateway.core.canonical import Json
from gateway.core.elicitation import ElicitationAction, ElicitationAnswer, ElicitationForm, ElicitationRefusal, read_form
from gateway.runtime.ports import ToolContext
from tests.adapters.tools.conftest import make_context
from tests.adapters.tools.mcp.servers import PATIENCE, Driven, make_driven, rogue_server

pytestmark = pytest.mark.asyncio(loop_scope="module")

FORM: dict[str, Json] = {
    "type": "object",
    "properties": {"branch": {"type": "string", "title": "Branch"}, "force": {"type": "boolean", "default": False}},
    "required": ["branch"],
}
VALUES: dict[str, Json] = {"branch": "main", "force": False}


@dataclass
class Asked:
    """A person who is asked: what they were shown, and what they do."""

    answer: ElicitationAnswer = field(default_factory=lambda: ElicitationAnswer(ElicitationAction.ACCEPT, VALUES))
    forms: list[ElicitationForm] = field(default_factory=list[ElicitationForm])
    shown: asyncio.Event = field(default_factory=asyncio.Event)
    withdrawn: int = 0
    waits: bool = False

    async def elicit(self, message: str, schema: Json) -> ElicitationAnswer | ElicitationRefusal:
        form = read_form(message, schema)
        if isinstance(form, ElicitationRefusal):
            return form
        self.forms.append(form)
        self.shown.set()
        if self.waits:
            try:
                await asyncio.Event().wait()
            finally:
                self.withdrawn += 1
        return self.answer

    @property
    def context(self) -> ToolContext:
        return replace(make_context(), elicit=self.elicit)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def rogue(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Driven]:
    folder = tmp_path_factory.mktemp("rogue").resolve()
    driven = make_driven(rogue_server(timeout=5.0, elicitation="ask"), folder / "source")
    await driven.open()
    yield driven
    await driven.driver.close()


async def said(rogue: Driven, name: str, person: Asked, **arguments: Json) -> Json:
    return json.loads((await rogue.call(name, person.context, **arguments)).text)


async def test_a_form_is_asked_and_the_answer_goes_to_the_server_that_asked(rogue: Driven) -> None:
    person = Asked()

    answered = await said(rogue, "asks_form", person, message="Which branch?", requestedSchema=FORM)

    assert answered == {"action": "accept", "content": VALUES}
    assert [(each.name, each.kind.value, each.required) for each in person.forms[0].fields] == [
        ("branch", "text", True),
        ("force", "boolean", False),
    ]


@pytest.mark.parametrize("action", [ElicitationAction.DECLINE, ElicitationAction.CANCEL])
async def test_a_person_who_does_not_answer_sends_nothing(rogue: Driven, action: ElicitationAction) -> None:
    person = Asked(ElicitationAnswer(action, VALUES))

    assert await said(rogue, "asks_form", person, message="Which?", requestedSchema=FORM) == {"action": action.value}


async def test_an_offer_says_that_its_server_may_ask(rogue: Driven) -> None:
    assert "May ask you something on the console while it runs" in rogue.tool("asks_form").effects


async def test_what_acts_or_hides_in_a_message_is_taken_out(rogue: Driven) -> None:
    person = Asked()

    await said(
        rogue,
        "asks_form",
        person,
        message="\x1b[2JApprove\u202e tnemyap\x00\u200b?\r\n\r\n\r\n\r\n" + "x" * 5000,
        requestedSchema=FORM,
    )

    message = person.forms[0].message
    assert message.startswith("Approve tnemyap?\n\nxxx")
    assert len(message) == 1000


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (
            {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}},
            "`a` of its form is more than a plain field",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "(a+)+$"}}},
            "`a` of its form is more than a plain field",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string", "title": "x" * 400}}},
            "`a` of its form is no text of at most 300 characters",
        ),
        ({"type": "object", "properties": {f"a{n}": {"type": "string"} for n in range(13)}}, "its form has more than 12 fields"),
        (
            {"type": "object", "properties": {"a": {"type": "string", "title": "x" * 20_000}}},
            "the schema of its form is larger than 16 KB",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string", "title": "a\u202eb"}}},
            "its schema has a value with characters that cannot be seen",
        ),
        (
            {"type": "object", "properties": {"userPassword": {"type": "string"}}},
            "its form asks for a password, a key or another secret, which no form may",
        ),
    ],
    ids=["nested", "pattern", "long title", "many fields", "giant", "hidden", "password"],
)
async def test_a_form_that_is_none_is_shown_to_nobody(rogue: Driven, schema: Json, why: str) -> None:
    person = Asked()

    assert await said(rogue, "asks_form", person, message="Tell me", requestedSchema=schema) == why
    assert person.forms == []


async def test_an_address_is_never_opened_and_shown_to_nobody(rogue: Driven) -> None:
    person = Asked()

    assert await said(rogue, "asks_for_an_address", person) == "it wants an address to be opened, and only forms are shown"
    assert person.forms == []


async def test_of_a_thousand_questions_of_one_call_a_person_sees_a_handful_one_after_the_other(rogue: Driven) -> None:
    person = Asked()

    answered = await said(rogue, "asks_a_thousand_times", person, message="Approve payment", requestedSchema=FORM)

    assert answered == {"accept": 10, "error": 990}
    assert len(person.forms) == 10


async def test_the_end_of_a_call_withdraws_its_question(rogue: Driven) -> None:
    person = Asked(waits=True)

    text = (await rogue.call("asks_and_answers_at_once", person.context, message="Which?", requestedSchema=FORM)).text

    assert text == "done already"
    assert person.withdrawn == len(person.forms)


async def test_a_question_that_the_server_takes_back_is_withdrawn_and_the_call_goes_on(rogue: Driven) -> None:
    person = Asked(waits=True)
    arguments: dict[str, Json] = {"message": "Which?", "requestedSchema": FORM}
    calling = asyncio.create_task(rogue.call("takes_its_question_back", person.context, **arguments))
    async with asyncio.timeout(PATIENCE):
        await person.shown.wait()
    (rogue.folder / "home/shown").touch()

    assert (await calling).text == "taken back"
    assert person.withdrawn == 1


async def test_a_cancelled_call_withdraws_its_question(rogue: Driven) -> None:
    person = Asked(waits=True)
    calling = asyncio.create_task(rogue.call("asks_form", person.context, message="Which?", requestedSchema=FORM))
    async with asyncio.timeout(PATIENCE):
        await person.shown.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert person.withdrawn == 1
    assert (await rogue.call("chatter")).text == "after chatter"


async def test_a_question_outside_of_a_call_reaches_nobody(rogue: Driven, caplog: pytest.LogCaptureFixture) -> None:
    person = Asked()
    await rogue.call("asks_after_its_call", person.context, message="Which?", requestedSchema=FORM)

    async with asyncio.timeout(PATIENCE):
        while await said(rogue, "tells_what_it_was_answered_last", person) != "no call is under way":
            pass
    assert person.forms == []


async def test_where_two_calls_are_under_way_nobody_is_asked_for_either(rogue: Driven) -> None:
    hanging = asyncio.create_task(rogue.call("hang", Asked().context))
    # Once it has begun, and is the first of the two.
    await asyncio.sleep(0)
    person = Asked()

    answered = await said(rogue, "asks_form", person, message="?", requestedSchema=FORM)

    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert answered == "several calls are under way, and nobody knows which of them asks"
    assert person.forms == []


async def test_where_the_operator_did_not_allow_it_a_server_is_not_even_told_that_it_could_ask(
    tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path_factory.mktemp("refusing").resolve()
    driven = make_driven(rogue_server(), folder / "source")
    person = Asked()
    try:
        await driven.open()
        with caplog.at_level(logging.WARNING):
            answered = await said(driven, "asks_form", person, message="Which?", requestedSchema=FORM)
    finally:
        await driven.driver.close()

    assert answered == "Elicitation not supported"
    assert person.forms == []
    assert "May ask you something on the console while it runs" not in driven.tool("asks_form").effects
