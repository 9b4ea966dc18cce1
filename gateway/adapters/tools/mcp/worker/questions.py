"""What a server asks the person during a call (elicitation), passed to the gateway one at a time; its time is not the call's."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import mcp_types as types

from gateway.adapters.tools.mcp.wire import MAX_FORM, MAX_WHY, standing_still
from gateway.adapters.tools.mcp.worker.dialects import require_visible
from gateway.adapters.tools.mcp.worker.inert import inert_description
from gateway.adapters.tools.mcp.worker.lines import GatewayLines
from gateway.core.canonical import canonical_bytes
from gateway.core.errors import MalformedJson, Misconfigured

MOST_QUESTIONS: Final = 10
"""Of one call that the gateway is told of; it bounds them by itself, too."""

MAX_MESSAGE: Final = 1_000
"""Characters."""

CALL_ENDED: Final = "the call has ended"


class QuestionRefused(Exception):
    """Nobody answered, and nobody will. `why` is in the gateway's words."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class CallQuestions:
    """The questions of one call. `box` is the call's time, which stands still while a person is asked."""

    def __init__(self, gateway: GatewayLines, number: int, box: asyncio.Timeout) -> None:
        self._gateway = gateway
        self._number = number
        self._box = box
        self._turn = asyncio.Lock()
        self._count = self._asking = 0
        self._answer: asyncio.Future[dict[str, Any]] | None = None
        self._is_over = False

    async def ask(self, params: types.ElicitRequestParams) -> types.ElicitResult:
        """What the person did. Raises QuestionRefused."""
        if not isinstance(params, types.ElicitRequestFormParams):
            # An address is opened by nobody here, however the server words it.
            raise QuestionRefused("it wants an address to be opened, and only forms are shown")
        self._count += 1
        if self._count > MOST_QUESTIONS:
            raise QuestionRefused("this call asks too much")
        question = self._count
        schema = _read_schema(params.requested_schema)
        async with self._turn:
            if self._is_over:
                raise QuestionRefused(CALL_ENDED)
            self._asking, self._answer = question, asyncio.get_running_loop().create_future()
            message = inert_description(params.message, MAX_MESSAGE)
            if not self._gateway.tell(tell="ask", id=self._number, question=question, message=message, schema=schema):
                raise QuestionRefused("its form is too large")
            try:
                with standing_still(self._box):
                    answer = await self._answer
            except asyncio.CancelledError:
                self._gateway.tell(tell="withdrawn", id=self._number, question=question)
                raise
        if "refused" in answer:
            raise QuestionRefused(str(answer["refused"])[:MAX_WHY])
        if answer["action"] != "accept":
            return types.ElicitResult(action=answer["action"])
        return types.ElicitResult(action="accept", content=answer["values"])

    def end(self) -> None:
        """The call is over: nobody answers what is still asked."""
        self._is_over = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_result({"refused": CALL_ENDED})

    def take(self, order: dict[str, Any]) -> None:
        """The gateway's answer to the question that is open."""
        if self._answer is not None and not self._answer.done() and order["question"] == self._asking:
            self._answer.set_result(order)


def _read_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as it is passed on: small, and without a text that hides something. Whether it is a form the gateway says."""
    try:
        if len(canonical_bytes(schema)) > MAX_FORM:
            raise QuestionRefused(f"the schema of its form is larger than {MAX_FORM >> 10} KB")
        require_visible(schema)
    except (MalformedJson, RecursionError):
        raise QuestionRefused("the schema of its form is not JSON, or is nested too deep") from None
    except Misconfigured as error:
        raise QuestionRefused(error.message) from None
    return schema
