"""The connection to one MCP server, as a SourceDriver: what it offers, one call, its end.

The server, its texts and its answers are hostile. They are read in the worker process; here come only lines of bounded size
and number. What a call does is said in the gateway's own words, from the operator's settings.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, assert_never
from urllib.parse import urlsplit

from gateway.adapters.tools.mcp.access import ServerAccess, Unauthorized
from gateway.adapters.tools.mcp.asking import Asking
from gateway.adapters.tools.mcp.attached import AttachedBytes
from gateway.adapters.tools.mcp.connection import AnswerLines, ConnectionLost, WorkerConnection
from gateway.adapters.tools.mcp.launching import CagedServer, ServerPipes, server_job, start_worker
from gateway.adapters.tools.mcp.programs import ResolvedCommand, find_missing, resolve_command
from gateway.adapters.tools.mcp.settings import SECRET, ElicitationRule, McpServerSettings, check_header_value
from gateway.adapters.tools.mcp.wire import MAX_TOOLS, RequestFailure
from gateway.adapters.tools.offer import DriverResources, OfferListener, SignInNeeded, SourceAway, SourceOffer, ToolOffer
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured, ToolFailed
from gateway.core.model import CallFacts, ToolOutput
from gateway.core.preview import Preview
from gateway.core.vocabulary import Category, Reason
from gateway.runtime.ports import ArgumentFault, ToolContext
from gateway.sandbox import machine_paths
from gateway.sandbox.job import SandboxUnavailable
from gateway.sandbox.uid_pool import is_closed_to_jobs

GRACE_SECONDS: Final = 3.0
"""How much longer than the worker's own deadline the gateway waits, before it takes the worker for one that hangs."""

END_SECONDS: Final = 1.0
"""Between the end of a server's stdin and SIGTERM; the specification wants the first to be enough."""

_log = logging.getLogger(__name__)


class McpDriver:
    """A SourceDriver for one MCP server."""

    def __init__(self, settings: McpServerSettings, resources: DriverResources) -> None:
        self._settings = settings
        self._resources = resources
        self._listener: OfferListener | None = None
        self._connection: WorkerConnection | None = None
        self._server: CagedServer | None = None
        self._offered: frozenset[str] = frozenset()
        self._hint = ""
        self._may_ask = settings.elicitation is ElicitationRule.ASK
        self._access = ServerAccess(resources.source, resources.tokens)

    async def open(self, listener: OfferListener) -> SourceOffer:
        """Connect where that is not done, and ask what is offered; see SourceDriver."""
        self._listener = listener
        if self._connection is not None and self._connection.lost_because is not None:
            await self.close()
        try:
            try:
                return await self._open()
            except Unauthorized as refused:
                await self._access.renew(refused)
            if self._connection is not None and self._connection.lost_because is not None:
                await self.close()
            try:
                return await self._open()
            except Unauthorized:
                raise SignInNeeded("the server refuses a sign-in that was renewed just now; sign in again") from None
        except BaseException:
            await self.close()
            raise

    def find_faults(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """Nothing: only the server knows more than the schema says."""
        return ()

    def facts(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> CallFacts:
        """The host of a server that has an address. What its tools do with their arguments nobody here knows."""
        return CallFacts(host=urlsplit(self._settings.url).hostname)

    async def preview(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> Preview | None:
        """None: the protocol has no such thing."""
        return None

    async def call(self, tool: ToolOffer, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        """Run the tool once; see SourceDriver."""
        connection = self._connection
        if connection is None or connection.lost_because is not None:
            raise SourceAway(f"the server is not connected{_because(connection)}")
        if tool.name not in self._offered:
            raise SourceAway(f"the server does not offer `{escape(tool.name)}` any more")
        order = {"do": "call", "tool": tool.name, "arguments": dict(arguments)}
        await self._access.refresh(connection)
        try:
            return await self._ask_call(connection, order, context)
        except Unauthorized as refused:
            self._access.require_enough(refused)
            await self._access.renew(refused)
        # The server refused it before it ran anything, so it may be asked once more.
        await self._access.refresh(connection)
        try:
            return await self._ask_call(connection, order, context)
        except Unauthorized:
            raise SignInNeeded("the server refuses a sign-in that was renewed just now; sign in again") from None

    async def _ask_call(self, connection: WorkerConnection, order: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        bearer = self._access.bearer
        try:
            async with asyncio.timeout(self._settings.timeout + GRACE_SECONDS) as box, connection.ask(order) as lines:
                asking = Asking(lines, context, box)
                try:
                    return await self._read_result(lines, context, asking, bearer)
                finally:
                    await asking.end()
        except ConnectionLost as error:
            raise ToolFailed(f"{await self._word_loss(connection, error.why)}; the call may have run") from None
        except TimeoutError:
            connection.kill("its worker did not answer in time")
            late = f"there was no answer within {self._settings.timeout:g} seconds; it may have taken effect"
            raise ToolFailed(late, Reason.TOOL_TIMEOUT) from None

    async def _read_result(self, lines: AnswerLines, context: ToolContext, asking: Asking, bearer: str | None) -> ToolOutput:
        attached = AttachedBytes()
        while True:
            line = await lines.next()
            match line["tell"]:
                case "attached":
                    attached.take(line)
                case "progress":
                    context.progress(str(line["message"]), line["fraction"])
                case "ask" if self._may_ask:
                    asking.begin(line)
                case "withdrawn" if self._may_ask:
                    asking.withdraw(line)
                case "done":
                    return ToolOutput(str(line["text"]), line["structured"], attached=attached.whole())
                case _:
                    raise _failure(line, bearer)

    async def close(self) -> None:
        """End worker and server; once more does nothing."""
        connection, self._connection = self._connection, None
        server, self._server = self._server, None
        self._offered = frozenset()
        closing = [asyncio.create_task(each) for each in (_close(connection), _stop(server))]
        # Also when whoever asked gives up meanwhile: nothing may be left that runs.
        for task in closing:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(task)
        await asyncio.wait(closing)

    # ── what the worker tells by itself ──

    def changed(self) -> None:
        """The server says that its tools changed."""
        if self._listener is not None:
            self._listener.changed()

    def noted(self, why: str) -> None:
        """The server asked for something that it does not get."""
        _log.warning("tool source %s: %s", self._resources.source, why)

    def lost(self, why: str) -> None:
        """The worker is gone; nobody is told of an end that was asked for."""
        if self._connection is not None and self._listener is not None and self._offered:
            self._listener.went_away(why)

    # ── connecting ──

    async def _open(self) -> SourceOffer:
        if self._connection is None:
            await self._connect()
        else:
            await self._access.refresh(self._connection)
        return await self._ask_offer()

    async def _connect(self) -> None:
        secrets: list[str] = []
        settings = self._settings
        common: dict[str, Any] = {
            "timeout": settings.timeout,
            "start_timeout": settings.start_timeout,
            "elicits": self._may_ask,
        }
        if not settings.is_program:
            headers = {name: self._fill(value, secrets) for name, value in settings.headers.items()}
            try:
                for name, value in headers.items():
                    check_header_value(name, value)
            except ValueError as error:
                raise Misconfigured(str(error)) from None
            bearer = await self._access.take()
            secrets += [] if bearer is None else [bearer]
            told = {"url": settings.url, "headers": headers, "bearer": bearer, "secrets": secrets}
            order = {**common, "kind": "http", "private": settings.allow_private, **told}
            await self._start(order, None)
            return
        environment = {name: self._fill(value, secrets) for name, value in settings.env.items()}
        if any("\0" in value for value in environment.values()):
            raise Misconfigured("a secret holds U+0000, which no variable can")
        log = self._resources.folder / "stderr.log"
        order = {**common, "kind": "stdio", "log": str(log), "secrets": secrets}
        pipes = await self._start_server(environment)
        try:
            await self._start(order, pipes)
        except BaseException:
            pipes.server.close()
            raise

    async def _start(self, order: dict[str, Any], pipes: ServerPipes | None) -> None:
        try:
            worker = await asyncio.to_thread(start_worker, order, pipes)
        except OSError as error:
            raise SourceAway(f"its worker cannot be started ({error.strerror})") from None
        self._connection = await WorkerConnection.over(worker, self)
        if self._server is not None:
            self._server.start()

    async def _start_server(self, environment: Mapping[str, str]) -> ServerPipes:
        """Make the server ready to start; it starts with its worker."""
        sandbox = await asyncio.to_thread(self._resources.find_sandbox)
        if isinstance(sandbox, SandboxUnavailable):
            raise Misconfigured(f"servers that are programs run in a sandbox only, and there is none here: {sandbox.reason}")
        command = await asyncio.to_thread(self._resolve)
        home = self._resources.folder / "home"
        await asyncio.to_thread(home.mkdir, mode=0o700, parents=True, exist_ok=True)
        home = home.resolve()
        variables = {"PATH": command.path, "LANG": "C.UTF-8", **environment, "HOME": str(home)}
        grants = ((*command.readable, *_real(self._settings.folders)), _real(self._settings.writable))
        pipes = ServerPipes.make()
        job = server_job(command.words, variables, home, grants, pipes.server, network=self._settings.network)
        self._server = CagedServer(job, sandbox)
        self._hint = _hint(command, (home, *grants[0], *grants[1]), network=self._settings.network)
        return pipes

    def _resolve(self) -> ResolvedCommand:
        settings, private = self._settings, self._resources.private
        for path in (*settings.folders, *settings.writable):
            if not path.exists():
                raise Misconfigured(f"the folder `{escape(str(path))}` is not there")
            if machine_paths.find_overlap((path,), private):
                raise Misconfigured(f"the folder `{escape(str(path))}` would show the server the gateway's own state")
        for path in settings.folders:
            if path not in settings.writable and is_closed_to_jobs(path):
                raise Misconfigured(
                    f"the folder `{escape(str(path))}` lets in nobody but its owner, and a gateway that is root runs servers as"
                    " users of their own; open it (`chmod o+rX`), grant it as `writable`, or run the gateway as its owner"
                )
        command = resolve_command(settings.words, os.defpath if not os.get_exec_path() else ":".join(os.get_exec_path()))
        if machine_paths.find_overlap(command.readable, private):
            raise Misconfigured(
                f"the program `{escape(settings.words[0])}` lies beside the gateway's own state; move one of them"
            )
        return command

    def _fill(self, setting: str, secrets: list[str]) -> str:
        """The setting with its secrets in place; each of them is added to `secrets`."""
        secrets += [self._resources.fill(found.group()) for found in SECRET.finditer(setting)]
        return self._resources.fill(setting)

    # ── the offer ──

    async def _ask_offer(self) -> SourceOffer:
        connection = self._connection
        assert connection is not None
        deadline = 2 * self._settings.start_timeout + GRACE_SECONDS
        try:
            async with asyncio.timeout(deadline), connection.ask({"do": "list"}) as lines:
                offer = await self._read_offer(lines)
        except ConnectionLost as error:
            if connection.challenge is not None:
                raise Unauthorized(connection.challenge, self._access.bearer) from None
            raise SourceAway(await self._word_loss(connection, error.why) + self._hint, connection.detail) from None
        except TimeoutError:
            raise SourceAway(f"the server did not say within {deadline:g} seconds which tools it has") from None
        self._offered = frozenset(tool.name for tool in offer.tools)
        return offer

    async def _read_offer(self, lines: Any) -> SourceOffer:
        tools: list[ToolOffer] = []
        refused: dict[str, str] = {}
        name = version = ""
        while True:
            line: dict[str, Any] = await lines.next()
            match line["tell"]:
                case "server":
                    name, version = str(line["name"]), str(line["version"])
                case "tool" if len(tools) < MAX_TOOLS:
                    tools.append(self._offer(line))
                case "refused" if len(refused) < MAX_TOOLS:
                    refused[str(line["name"])] = str(line["why"])
                case "listed":
                    return SourceOffer(f"{name} at {self._settings.exact_place}", tuple(tools), version, refused)
                case "failed" if line["how"] == RequestFailure.UNAUTHORIZED:
                    raise Unauthorized(str(line["challenge"]), self._access.bearer)
                case "failed":
                    raise SourceAway(str(line["why"]), str(line.get("detail", "")))
                case _:
                    raise SourceAway(f"its worker wrote more than {MAX_TOOLS:,} tools")

    def _offer(self, line: Mapping[str, Any]) -> ToolOffer:
        settings = self._settings
        network = settings.network or not settings.is_program
        proposed, because = Category(line["proposed"]), str(line["because"])
        if network and proposed is Category.READ:
            # A reading runs by itself or not at all, and what reaches the network never runs without asking.
            proposed, because = Category.NETWORK, f"{because}, and it may reach the network"
        return ToolOffer(
            name=str(line["name"]),
            title=line["title"],
            description=str(line["description"]) or f"A tool of {self._resources.source}; it has no description.",
            param_schema=line["paramSchema"],
            output_schema=line["outputSchema"],
            proposed=proposed,
            because=because,
            effects=tuple(map(_as_template, self._effects())),
            network=network,
            timeout=settings.timeout + GRACE_SECONDS,
        )

    def _effects(self) -> tuple[str, ...]:
        settings = self._settings
        asks = ("May ask you something on the console while it runs",) if self._may_ask else ()
        if not settings.is_program:
            return (f"Sends these arguments to {settings.place}", *asks)
        changed = ", ".join(escape(str(path)) for path in settings.writable)
        return (
            "Runs in the server's own process here, which "
            + ("may reach the network" if settings.network else "cannot reach the network"),
            *((f"May change files in {changed}",) if changed else ()),
            *asks,
        )

    async def _word_loss(self, connection: WorkerConnection, why: str) -> str:
        """Why the connection is lost, with how the server ended where it is a program that did so by itself."""
        if self._server is None or not connection.has_ended:
            return why
        await asyncio.wait((self._server.ended,), timeout=END_SECONDS)
        return f"{self._server.ended.result()}: {why}" if self._server.ended.done() else why


def _failure(line: Mapping[str, Any], bearer: str | None) -> Exception:
    how, why = RequestFailure(line["how"]), str(line["why"])
    match how:
        case RequestFailure.UNAUTHORIZED:
            return Unauthorized(str(line["challenge"]), bearer)
        case RequestFailure.NOT_SENT:
            return SourceAway(why, str(line.get("detail", "")))
        case RequestFailure.REFUSED:
            return ToolFailed(why)
        case RequestFailure.LATE:
            return ToolFailed(why, Reason.TOOL_TIMEOUT)
        case RequestFailure.LOST:
            return ToolFailed(f"{why}; the call may have run")
        case _:
            assert_never(how)


def _because(connection: WorkerConnection | None) -> str:
    return f": {connection.lost_because}" if connection is not None else ""


def _real(paths: Sequence[Any]) -> tuple[Any, ...]:
    """Through links once, now: the sandbox follows none."""
    return tuple(path.resolve() for path in paths)


def _hint(command: ResolvedCommand, granted: Sequence[Any], *, network: bool) -> str:
    hints: list[str] = []
    if command.fetches and not network:
        hints.append(f"`{escape(os.path.basename(command.words[0]))}` fetches what it runs, and the server has no `network`")
    if missing := find_missing(command.words[1:], granted):
        hints.append(f"`{escape(missing)}` is in none of its `folders`")
    return "".join(f" ({hint})" for hint in hints)


def _as_template(sentence: str) -> str:
    return sentence.replace("{", "{{").replace("}", "}}")


async def _close(connection: WorkerConnection | None) -> None:
    if connection is not None:
        await connection.close()


async def _stop(server: CagedServer | None) -> None:
    if server is None:
        return
    # Its stdin ends with the worker; that is enough for most.
    await asyncio.wait((server.ended,), timeout=END_SECONDS)
    await server.stop()
