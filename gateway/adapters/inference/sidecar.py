"""The supervisor of llama.cpp's server: starts it, watches it, starts it again, gives up, stops it.

One task, `_supervise`, runs it from start to stop; everything else reads the state that this task sets. The sidecar is not
trusted: it gets a scrubbed environment and a key of this run, and one that answers without the key is refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias, cast

from gateway.adapters.inference.confinement import ConfinedProcess, PinnedSocket, confined_job
from gateway.adapters.inference.engine import SLEEP_IDLE_SECONDS, Engine, Launch, scrubbed_environment
from gateway.adapters.inference.openai_api import Upstream
from gateway.adapters.inference.sidecar_plan import ServerFacts, SidecarPlan, SupervisionTimeouts
from gateway.adapters.inference.sidecar_process import LAUNCHER, BoundedLog, SidecarProcess
from gateway.adapters.inference.warm_prefix import PrefixState, PrefixStore, WarmPrefix
from gateway.core.canonical import Json
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import Clock, InferenceStream, ModelPhase, ModelState
from gateway.sandbox.job import Sandbox

LOG_FILE: Final = "sidecar.log"

CONFINED_FOLDER: Final = "run"
"""The only folder that a confined server writes to; log and digests of weights are beside it, out of its reach."""

SOCKET_FILE: Final = "sidecar.sock"

SOCKET_PATH_BYTES: Final = 100
"""`sun_path` holds 104 bytes on macOS, 108 on Linux; a longer path means loopback TCP instead."""

CARRIED_FILE: Final = "carried.state"
"""What a server had evaluated, for the one that is started in its place."""

FACTS_SECONDS: Final = 10.0

_Process: TypeAlias = SidecarProcess | ConfinedProcess

_LOG = logging.getLogger(__name__)

_GUARDED: Final = "/props"
"""Where llama.cpp's server wants its key; `/health` is open."""


class Sidecar:
    """One supervised model server. `start`, `warm`, `ask` and `stop` belong to one event loop."""

    def __init__(
        self,
        plan: SidecarPlan,
        engine: Engine,
        *,
        clock: Clock,
        timeouts: SupervisionTimeouts | None = None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        launcher: Sequence[str] = LAUNCHER,
        sandbox: Sandbox | None = None,
    ) -> None:
        """With a `sandbox` it runs confined; otherwise `launcher` starts it as this process's user."""
        self._plan = plan
        self._engine = engine
        self._clock = clock
        self._timeouts = timeouts or SupervisionTimeouts()
        self._pause = pause
        self._launcher = launcher
        self._sandbox = sandbox
        self._log = BoundedLog(plan.folder / LOG_FILE)
        self._state = ModelState(ModelPhase.STOPPED, "the model server has not been started")
        self._settled = asyncio.Event()
        self._life: asyncio.Task[None] | None = None
        self._upstream: Upstream | None = None
        self._prefix: WarmPrefix | None = None
        self._used_at = 0.0
        self._is_carrying = False

    @property
    def context_tokens(self) -> int:
        """What the server was started with, or is to be."""
        return self._plan.context_tokens

    def state(self) -> ModelState:
        """The state now."""
        return self._state

    async def start(self) -> None:
        """Begin; returns at once, `settle` waits for the outcome."""
        if self._life is None:
            self._move(ModelPhase.STARTING, "the model is being loaded")
            self._life = asyncio.create_task(self._supervise(), name="sidecar")
            self._life.add_done_callback(self._admit)

    async def settle(self) -> ModelState:
        """Wait until it is ready, given up, or stopped."""
        await self._settled.wait()
        return self._state

    async def stop(self) -> None:
        """End the server and its process group. Safe to call twice."""
        life, self._life = self._life, None
        if life is not None:
            life.cancel()
            await asyncio.wait({life})
        self._move(ModelPhase.STOPPED, "the model server is stopped", final=True)

    async def warm(self, messages: Sequence[Mapping[str, Json]], store: PrefixStore | None = None) -> PrefixState:
        """Keep this beginning of a conversation evaluated: now, after a restart, and after the server's sleep.

        Raises ModelUnavailable when the server is not there; the beginning is then warmed as soon as it is.
        """
        plan = self._plan
        belongs_to = (plan.weights_id, self._engine.build, str(plan.context_tokens), *filter(None, [plan.template]))
        self._prefix = WarmPrefix(messages, slots=self._slots, belongs_to=belongs_to, store=store)
        return await self._prefix.warm(self._ready())

    async def grow(self, context_tokens: int) -> bool:
        """Start the server again with so much context; what it has evaluated comes along. False where it does not start so, and
        then it runs as before.

        Raises ModelUnavailable when there is no server.
        """
        before = self._plan
        saved = await self._ready().post_json("/slots/0?action=save", {"filename": CARRIED_FILE})
        self._is_carrying = saved[0] == 200
        try:
            if await self._start_with(replace(before, context_tokens=context_tokens)):
                return True
            await self._start_with(before)
            return False
        finally:
            self._is_carrying = False
            with contextlib.suppress(OSError):
                (self._slots / CARRIED_FILE).unlink(missing_ok=True)

    async def _start_with(self, plan: SidecarPlan) -> bool:
        if self._life is not None:
            self._move(ModelPhase.STARTING, "the model gets a longer context")
            self._life.cancel()
            await asyncio.wait({self._life})
            self._life = None
        self._plan = plan
        await self.start()
        if (await self.settle()).phase is not ModelPhase.READY:
            return False
        if self._is_carrying:
            await self._ready().post_json("/slots/0?action=restore", {"filename": CARRIED_FILE})
        return True

    @property
    def _slots(self) -> Path:
        return self._plan.folder / (CONFINED_FOLDER if self._sandbox is not None else "slots")

    async def facts(self) -> ServerFacts:
        """What the server says about itself and the weights. Raises ModelUnavailable."""
        upstream = self._ready()
        properties, listed = await asyncio.gather(
            *(upstream.read_json(path, seconds=FACTS_SECONDS) for path in ("/props", "/v1/models"))
        )
        match properties, listed:
            case {"build_info": str(build)}, {"data": [{"meta": {"n_vocab": int(vocab)}}, *_]}:
                return ServerFacts(f"{self._engine.build} {build}", vocab)
            case _:
                raise ModelUnavailable("the model server does not say which it is", ModelPhase.READY)

    async def render(self, messages: Sequence[Mapping[str, Json]]) -> str:
        """The prompt that its chat template makes of these. Raises ModelUnavailable."""
        match await self._ready().post_json("/apply-template", {"messages": messages}):
            case 200, {"prompt": str(prompt)}:
                return prompt
            case _:
                raise ModelUnavailable("the model server does not render prompts", ModelPhase.READY)

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        """POST to the server; leaving stops its generation. Raises ModelUnavailable."""
        upstream = self._ready()
        slept = self._clock.monotonic() - self._used_at > SLEEP_IDLE_SECONDS
        self._used_at = self._clock.monotonic()
        if slept and self._prefix is not None:
            await self._prefix.restore(upstream)
        try:
            async with upstream.ask(path, body) as answer:
                yield answer
        finally:
            self._used_at = self._clock.monotonic()

    async def post_json(self, path: str, body: Json) -> tuple[int, Json]:
        """Status and JSON of a whole answer. Raises ModelUnavailable."""
        return await self._ready().post_json(path, body)

    async def tokenise(self, prompt: str) -> tuple[int, ...]:
        """The ids that the server makes of a prompt its chat template has rendered. Raises ModelUnavailable."""
        # As its chat endpoint does: the vocabulary's own first token if it wants one, and template markers as what they are.
        asked = {"content": prompt, "add_special": True, "parse_special": True}
        match await self._ready().post_json("/tokenize", asked):
            case 200, {"tokens": [*ids]} if all(type(each) is int for each in cast("list[object]", ids)):
                return tuple(cast("list[int]", ids))
            case _:
                raise ModelUnavailable("the model server does not report token ids", ModelPhase.READY)

    def _ready(self) -> Upstream:
        if self._upstream is None or self._state.phase is not ModelPhase.READY:
            raise ModelUnavailable(self._state.detail, self._state.phase)
        return self._upstream

    def _move(self, phase: ModelPhase, detail: str, *, final: bool = False) -> None:
        self._state = ModelState(phase, detail)
        if final or phase is ModelPhase.READY:
            self._settled.set()
        else:
            self._settled.clear()

    def _admit(self, life: asyncio.Task[None]) -> None:
        """A supervisor that broke must not look like one that is still trying."""
        if not life.cancelled() and (error := life.exception()) is not None:
            _LOG.error("the supervisor of the model server broke", exc_info=error)
            self._move(ModelPhase.CRASHED, "the model server is no longer supervised; restart the gateway", final=True)

    async def _supervise(self) -> None:
        timeouts, failures = self._timeouts, 0
        while True:
            began = self._clock.monotonic()
            cause = await self._run()
            failures = 1 if self._clock.monotonic() - began > timeouts.steady else failures + 1
            if failures >= timeouts.attempts:
                self._move(
                    ModelPhase.CRASHED,
                    f"the model server {cause}, {failures} times in a row; it is not started again. "
                    f"Look into {LOG_FILE} in the state folder, run `countersign doctor`, then restart the gateway",
                    final=True,
                )
                return
            wait = min(timeouts.longest_pause, timeouts.first_pause * 2 ** (failures - 1))
            self._move(ModelPhase.CRASHED, f"the model server {cause}; it is started again in {wait:g} s")
            await self._pause(wait)
            self._move(ModelPhase.STARTING, "the model is being loaded again")

    async def _run(self) -> str:
        """One run from start to end; says how it ended, in words that follow `the model server`."""
        with contextlib.ExitStack() as held:
            try:
                launch = self._prepare()
                child = self._make_child(launch)
                pinned = None if self._sandbox is None else held.enter_context(PinnedSocket(launch.folder / SOCKET_FILE))
            except OSError as error:
                return f"cannot be started: {error.strerror}"
            base = "http://sidecar" if launch.port is None else f"http://127.0.0.1:{launch.port}"
            upstream = Upstream(base, key=launch.key, socket=launch.socket if pinned is None else pinned.path)
            await upstream.open()
            try:
                child.start()
                return await self._come_up(child, upstream, pinned) or await self._serve(child, upstream)
            finally:
                self._upstream = None
                # Shielded: a stop that arrives while this run ends must not leave the process behind.
                await asyncio.shield(self._end(child, upstream, launch))

    def _make_child(self, launch: Launch) -> _Process:
        order = self._engine.order(launch)
        if self._sandbox is not None:
            return ConfinedProcess(confined_job(order, launch, self._log), self._sandbox)
        environment = scrubbed_environment(launch.home)
        return SidecarProcess(order, environment=environment, folder=launch.folder, log=self._log, command=self._launcher)

    def _prepare(self) -> Launch:
        plan, is_confined = self._plan, self._sandbox is not None
        folder = Path(os.path.realpath(plan.folder))
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        if is_confined:
            folder /= CONFINED_FOLDER
            folder.mkdir(exist_ok=True)
        path = folder / SOCKET_FILE
        fits = is_confined or len(str(path).encode()) <= SOCKET_PATH_BYTES
        launch = Launch(
            weights=Path(os.path.realpath(plan.weights)),
            alias=plan.weights_id,
            folder=folder,
            key=secrets.token_urlsafe(32),
            socket=path if fits else None,
            port=None if fits else _free_port(),
            context_tokens=plan.context_tokens,
            threads=plan.threads,
            repack=plan.repack,
            origins=plan.origins,
            confined=is_confined,
            embeds=plan.embeds,
            template=plan.template,
        )
        for inner in () if is_confined else (launch.slots, launch.home):
            inner.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        return launch

    async def _come_up(self, child: _Process, upstream: Upstream, pinned: PinnedSocket | None) -> str | None:
        """Wait for the weights to be loaded; None when all is well."""
        try:
            async with asyncio.timeout(self._timeouts.start):
                while await upstream.probe("/health", seconds=self._timeouts.probe) != 200:
                    await asyncio.wait({child.exited}, timeout=self._timeouts.poll)
                    if pinned is not None:
                        pinned.pin()
                    if child.exited.done():
                        return f"{_ending(child.exited.result())} while it was loading the model"
                if await self._status_of_guarded(upstream, with_key=False) != 401:
                    return "does not ask for its key"
                if await self._status_of_guarded(upstream, with_key=True) != 200:
                    return "does not take its key"
        except TimeoutError:
            return f"was not ready after {self._timeouts.start:g} s"
        return None

    async def _status_of_guarded(self, upstream: Upstream, *, with_key: bool) -> int:
        """No answer proves nothing on a busy machine, so ask until there is one."""
        while True:
            status = await upstream.probe(_GUARDED, seconds=self._timeouts.probe, with_key=with_key)
            if status is not None:
                return status
            await asyncio.sleep(self._timeouts.poll)

    async def _serve(self, child: _Process, upstream: Upstream) -> str:
        """Be ready until the process ends or no longer answers."""
        self._upstream = upstream
        self._used_at = self._clock.monotonic()
        self._move(ModelPhase.READY, "")
        # In the one slot, what is carried over would be lost to it.
        warming = asyncio.create_task(_rewarm(None if self._is_carrying else self._prefix, upstream))
        try:
            misses = 0
            while misses < self._timeouts.misses:
                await asyncio.wait({child.exited}, timeout=self._timeouts.watch)
                if child.exited.done():
                    return _ending(child.exited.result())
                answered = await upstream.probe("/health", seconds=self._timeouts.probe) is not None
                misses = 0 if answered else misses + 1
            return "does not answer any more"
        finally:
            warming.cancel()

    async def _end(self, child: _Process, upstream: Upstream, launch: Launch) -> None:
        await upstream.close()
        await child.stop()
        for leftover in (launch.key_file, launch.socket):
            if leftover is not None:
                with contextlib.suppress(OSError):
                    leftover.unlink(missing_ok=True)


async def _rewarm(prefix: WarmPrefix | None, upstream: Upstream) -> None:
    # Only a loss of time: without it the next turn evaluates the prompt itself.
    with contextlib.suppress(ModelUnavailable):
        if prefix is not None:
            await prefix.warm(upstream)


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
