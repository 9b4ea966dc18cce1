"""What a server asks the person during one call: put to them while the call's lines go on, and answered to its worker."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from gateway.adapters.tools.mcp.connection import AnswerLines
from gateway.adapters.tools.mcp.wire import standing_still
from gateway.core.canonical import Json
from gateway.core.elicitation import ElicitationRefusal
from gateway.runtime.ports import ToolContext

ONE_AT_A_TIME: Final = "another question of the same call waits already"


class Asking:
    """The questions of one call, one at a time. Their time is not the server's: `box` stands still meanwhile."""

    def __init__(self, lines: AnswerLines, context: ToolContext, box: asyncio.Timeout) -> None:
        self._lines = lines
        self._context = context
        self._box = box
        self._question = 0
        self._task: asyncio.Task[None] | None = None

    def begin(self, line: Mapping[str, Any]) -> None:
        """The server asks something."""
        question = int(line["question"])
        if self._task is not None and not self._task.done():
            self._lines.reply({"question": question, "refused": ONE_AT_A_TIME})
            return
        self._question = question
        self._task = asyncio.create_task(self._ask(question, str(line["message"]), line["schema"]))

    def withdraw(self, line: Mapping[str, Any]) -> None:
        """The server does not want to know it any more."""
        if self._task is not None and int(line["question"]) == self._question:
            self._task.cancel()

    async def end(self) -> None:
        """The call is over."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def _ask(self, question: int, message: str, schema: Json) -> None:
        with standing_still(self._box):
            answer = await self._context.elicit(message, schema)
        if isinstance(answer, ElicitationRefusal):
            self._lines.reply({"question": question, "refused": answer.why})
        else:
            self._lines.reply({"question": question, "action": answer.action.value, "values": dict(answer.values)})
