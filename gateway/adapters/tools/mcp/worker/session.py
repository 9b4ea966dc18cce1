"""What the gateway asks of a server: its tools, a call, the end of a call."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from typing import Any, Final

import mcp_types as types
from mcp.client import Client
from mcp.client.subscriptions import SubscriptionLost, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types.methods import validate_server_result
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from gateway.adapters.tools.mcp.attached import AttachedAllowance
from gateway.adapters.tools.mcp.wire import ATTACHED_AT_ONCE, MAX_OFFER, MAX_TOOLS, RequestFailure
from gateway.adapters.tools.mcp.worker.dialects import size_of
from gateway.adapters.tools.mcp.worker.http import NOT_ANSWERED, NOT_SENT, REJECTED, UNAUTHORIZED, BearerToken
from gateway.adapters.tools.mcp.worker.inert import inert_description, inert_line
from gateway.adapters.tools.mcp.worker.lines import GatewayLines
from gateway.adapters.tools.mcp.worker.listing import Listing, read_listing
from gateway.adapters.tools.mcp.worker.plain_requests import PlainRequests
from gateway.adapters.tools.mcp.worker.questions import CallQuestions, QuestionRefused
from gateway.adapters.tools.mcp.worker.results import UnusableResult, read_attached, read_result
from gateway.adapters.tools.mcp.worker.watching import ASKED, Watch

MAX_PAGES: Final = 100
MAX_ROUNDS: Final = 10
"""Of a call that the server answers with "ask again" (SEP-2322)."""

ROUND_SECONDS: Final = 0.25

NEVER_SECONDS: Final = 1e6

PROGRESS_SECONDS: Final = 0.1
"""Between two lines of progress of one call; what comes sooner is left out."""

LISTEN_SECONDS: Final = 1.0
LISTEN_SECONDS_MOST: Final = 60.0
"""Between two attempts at listening for changes; doubled each time."""

MAX_SAID: Final = 1_500
"""Characters of a server's own error message."""

_RESULT: Final[TypeAdapter[types.CallToolResult | types.InputRequiredResult]] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)


_OF_RESULT: Final = frozenset({"content", "structuredContent", "isError", "_meta"})
"""The members that the handshake era knows; a later revision gives others a meaning of their own."""


class RequestFailed(Exception):
    """A request has no usable answer."""

    def __init__(self, why: str, how: RequestFailure) -> None:
        super().__init__(why)
        self.why = why
        self.how = how


class ServerSession:
    """One connected server."""

    def __init__(
        self,
        client: Client,
        gateway: GatewayLines,
        watch: Watch,
        bearer: BearerToken,
        timeout: float,
        plain: PlainRequests | None = None,
    ) -> None:
        """`plain` makes the calls of a server that is a program, where it is of the handshake era."""
        self._client = client
        self._gateway = gateway
        self._watch = watch
        self._bearer = bearer
        self._timeout = timeout
        self._plain = plain if client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS else None
        self._listing = Listing()
        self._running: dict[int, asyncio.Task[None]] = {}
        self._noted: set[str] = set()
        self._questions: dict[int, CallQuestions] = {}
        self._attached = AttachedAllowance()
        self._has_told_change = False

    async def obey(self) -> None:
        """Do what the gateway asks until it lets go."""
        listening = asyncio.create_task(self._listen())
        try:
            while (order := await self._gateway.read()) is not None:
                if order["do"] == "bearer":
                    self._gateway.mask(order["token"])
                    self._bearer.token = order["token"]
                    continue
                number = int(order["id"])
                match order["do"]:
                    case "cancel":
                        if (task := self._running.get(number)) is not None:
                            task.cancel()
                    case "answer":
                        if (questions := self._questions.get(number)) is not None:
                            questions.take(order)
                    case "list":
                        self._start(number, self._list(number))
                    case _:
                        self._start(number, self._call(number, order))
        finally:
            for task in (listening, *self._running.values()):
                task.cancel()

    def note_change(self) -> None:
        """Tell that the tools changed, once until they are asked for again."""
        if not self._has_told_change:
            self._has_told_change = True
            self._gateway.tell(tell="changed")

    def _start(self, number: int, work: Any) -> None:
        async def run() -> None:
            try:
                await work
            except RequestFailed as error:
                # An end of the connection is told once for all, with what the server wrote last.
                if error.how is not RequestFailure.LOST or not self._watch.is_over:
                    self._gateway.fail(number, error.why, error.how, self._watch.tell_more(error.how))
            finally:
                self._running.pop(number, None)
                self._note_asked()

        self._running[number] = asyncio.create_task(run())

    def _note_asked(self) -> None:
        for sentence in self._watch.asked.keys() - self._noted:
            self._noted.add(sentence)
            self._gateway.tell(tell="note", why=f"it {sentence}")

    # ── tools ──

    async def _list(self, number: int) -> None:
        self._has_told_change = False
        client = self._client
        self._gateway.tell(
            tell="server",
            id=number,
            name=inert_line(client.server_info.name if client.server_info else "", 100) or "(no name)",
            version=inert_line(client.server_info.version if client.server_info else "", 60),
        )
        self._watch.malformed.clear()
        self._listing = read_listing(await self._read_pages(), self._watch.malformed)
        if sum(map(size_of, self._listing.lines)) > MAX_OFFER:
            raise RequestFailed(f"its tools take more than {MAX_OFFER >> 20} MB to describe", RequestFailure.REFUSED)
        for line in self._listing.lines:
            self._gateway.tell(**line, id=number)
            await self._gateway.drained()
        self._gateway.tell(tell="listed", id=number)

    async def _read_pages(self) -> list[types.Tool]:
        tools: list[types.Tool] = []
        if self._client.server_capabilities.tools is None:
            return tools
        cursor: str | None = None
        seen: set[str] = set()
        with self._worded("the list of its tools"):
            for _ in range(MAX_PAGES):
                page = await self._client.list_tools(cursor=cursor)
                tools += page.tools
                if len(tools) > MAX_TOOLS:
                    raise RequestFailed(f"it lists more than {MAX_TOOLS:,} tools", RequestFailure.REFUSED)
                cursor = page.next_cursor
                if not cursor:
                    return tools
                if cursor in seen:
                    raise RequestFailed("the list of its tools goes in a circle", RequestFailure.REFUSED)
                seen.add(cursor)
        raise RequestFailed(f"the list of its tools has more than {MAX_PAGES} pages", RequestFailure.REFUSED)

    async def _listen(self) -> None:
        """Be told of changes by a server of the newer era, which tells nobody who does not ask."""
        tools = self._client.server_capabilities.tools
        if tools is None or not tools.list_changed or self._client.session.discover_result is None:
            return
        pause = LISTEN_SECONDS
        while True:
            with contextlib.suppress(SubscriptionLost, MCPError, TimeoutError, RuntimeError):
                async with self._client.listen(tools_list_changed=True) as events:
                    pause = LISTEN_SECONDS
                    async for event in events:
                        if isinstance(event, ToolsListChanged):
                            self.note_change()
            await asyncio.sleep(pause)
            pause = min(2 * pause, LISTEN_SECONDS_MOST)

    # ── calls ──

    async def _call(self, number: int, order: dict[str, Any]) -> None:
        if self._watch.is_over:
            raise RequestFailed("the connection to the server has ended", RequestFailure.NOT_SENT)
        before = dict(self._watch.asked)
        name, arguments = order["tool"], order["arguments"]
        try:
            async with asyncio.timeout(self._timeout) as box:
                questions = self._questions[number] = CallQuestions(self._gateway, number, box)
                result = await self._ask(name, arguments, _Progress(self._gateway, number), questions)
        except TimeoutError:
            late = f"it did not answer within {self._timeout:g} seconds; it may have taken effect"
            raise RequestFailed(late, RequestFailure.LATE) from None
        finally:
            if (over := self._questions.pop(number, None)) is not None:
                over.end()
        if result.is_error:
            said, _ = read_result(result, None)
            said = inert_description(said, MAX_SAID) or "the tool failed and did not say why"
            raise RequestFailed(said + self._asked_since(before), RequestFailure.REFUSED)
        try:
            text, structured = read_result(result, self._listing.outputs.get(name))
        except UnusableResult as error:
            raise RequestFailed(error.message, RequestFailure.REFUSED) from None
        for data in self._attached.allow(read_attached(result)):
            for start in range(0, len(data), ATTACHED_AT_ONCE):
                part = base64.b64encode(data[start : start + ATTACHED_AT_ONCE]).decode()
                self._gateway.tell(tell="attached", id=number, data=part, begins=start == 0)
        if not self._gateway.tell(tell="done", id=number, text=text, structured=structured):
            raise RequestFailed("the server gave a result that is too large to be taken", RequestFailure.REFUSED)

    async def _ask(
        self, name: str, arguments: dict[str, Any], progress: _Progress, questions: CallQuestions
    ) -> types.CallToolResult:
        if self._plain is not None:
            with self._worded("the result"):
                answer = await self._plain.call(name, arguments, progress.note)
                validate_server_result("tools/call", self._client.protocol_version, answer)
                return types.CallToolResult.model_validate(
                    {key: answer[key] for key in _OF_RESULT & answer.keys()}, by_name=False
                )
        state: str | None = None
        responses: dict[str, types.InputResponse] | None = None
        for _ in range(MAX_ROUNDS):
            params = types.CallToolRequestParams(name=name, arguments=arguments, request_state=state, input_responses=responses)
            with self._worded("the result"):
                # Not the SDK's own method: it checks results with an engine whose time nothing bounds.
                result = await self._client.session.send_request(
                    types.CallToolRequest(params=params),
                    _RESULT,
                    # The time of the call is kept by who calls this, for it stands still while a person is asked.
                    request_read_timeout_seconds=NEVER_SECONDS,
                    progress_callback=progress.report,
                )
            if isinstance(result, types.CallToolResult):
                return result
            requests = result.input_requests or {}
            responses = {key: await self._give(request, questions) for key, request in requests.items()} or None
            state = result.request_state
            if responses is None:
                await asyncio.sleep(ROUND_SECONDS)
        raise RequestFailed(f"the server asked {MAX_ROUNDS} times to be asked again", RequestFailure.REFUSED)

    # ── what a server asks ──

    async def elicit(self, _context: Any, params: types.ElicitRequestParams) -> types.ElicitResult | types.ErrorData:
        """A request of the server's own (the era before 2026), which says of no call: so one alone has to be under way."""
        running = tuple(self._questions.values())
        why = "several calls are under way, and nobody knows which of them asks" if running else "no call is under way"
        if len(running) == 1:
            try:
                return await running[0].ask(params)
            except QuestionRefused as refused:
                why = refused.why
        self._watch.note_asked(word_refusal(why))
        self._note_asked()
        return types.ErrorData(code=types.INVALID_REQUEST, message=why)

    async def _give(self, request: types.InputRequest, questions: CallQuestions) -> types.InputResponse:
        """What a call waits for (the era since 2026). Raises RequestFailed for what it does not get."""
        if not isinstance(request, types.ElicitRequest) or not self._watch.elicits:
            self._watch.note_request(request.method)
            raise RequestFailed(f"the server {ASKED[request.method]}", RequestFailure.REFUSED)
        try:
            return await questions.ask(request.params)
        except QuestionRefused as refused:
            self._watch.note_asked(word_refusal(refused.why))
            raise RequestFailed(f"the server {word_refusal(refused.why)}", RequestFailure.REFUSED) from None

    def _asked_since(self, before: dict[str, int]) -> str:
        asked = [sentence for sentence, count in self._watch.asked.items() if count > before.get(sentence, 0)]
        return f" (meanwhile it {'; it '.join(asked)})" if asked else ""

    @contextlib.contextmanager
    def _worded(self, what: str) -> Any:
        """Errors of the SDK as RequestFailed."""
        try:
            yield
        except MCPError as error:
            raise RequestFailed(*word_error(error, self._watch, self._timeout)) from None
        except ValidationError as error:
            at = inert_line(".".join(str(step) for step in error.errors()[0]["loc"]), 100)
            raise RequestFailed(f"{what} is not as the protocol says, at `{at}`", RequestFailure.REFUSED) from None
        except (RuntimeError, ValueError) as error:
            raise RequestFailed(f"{what} cannot be used ({type(error).__name__})", RequestFailure.REFUSED) from None


def word_refusal(why: str) -> str:
    """What a server did that asked a person in vain, in words that follow `it`."""
    return inert_line(f"asked the person for input (elicitation), which is refused: {why}", 300)


def word_error(error: MCPError, watch: Watch, timeout: float) -> tuple[str, RequestFailure]:
    """An error of the SDK, or one that a server answered, in words, and how the request failed."""
    is_own = error.error.data == watch.token
    said = inert_line(error.error.message, MAX_SAID)
    match error.error.code:
        case types.REQUEST_TIMEOUT:
            return f"it did not answer within {timeout:g} seconds; it may have taken effect", RequestFailure.LATE
        case types.CONNECTION_CLOSED:
            return watch.why or "the connection ended before there was an answer", RequestFailure.LOST
        case code if is_own and code == NOT_SENT:
            return said, RequestFailure.NOT_SENT
        case code if is_own and code == NOT_ANSWERED:
            return said, RequestFailure.LOST
        case code if is_own and code == REJECTED:
            return said, RequestFailure.REFUSED
        case code if is_own and code == UNAUTHORIZED:
            return said, RequestFailure.UNAUTHORIZED
        case types.PARSE_ERROR:
            return "the server sent an answer that cannot be read", RequestFailure.LOST
        case _:
            return f"the server refused: {said or 'without a word'}", RequestFailure.REFUSED


class _Progress:
    """Passes progress on, some of it."""

    def __init__(self, gateway: GatewayLines, number: int) -> None:
        self._gateway = gateway
        self._number = number
        self._next = 0.0

    async def report(self, progress: float, total: float | None, message: str | None) -> None:
        """One notification of the server's, as the SDK hands it over."""
        self.note(progress, total, message)

    def note(self, progress: float, total: float | None, message: str | None) -> None:
        """One notification of the server's."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + PROGRESS_SECONDS
        fraction = progress / total if total and total > 0 and 0 <= progress <= total else None
        self._gateway.tell(tell="progress", id=self._number, message=inert_line(message or "", 200), fraction=fraction)
