"""`countersign models check`: measure a model on this machine, and keep what was found for the gateway."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from gateway.core.effects import escape
from gateway.core.errors import Misconfigured, ModelUnavailable
from gateway.core.times import rfc3339
from gateway.core.vocabulary import Tier
from gateway.settings import Settings
from gateway.settings_reading import load_settings

if TYPE_CHECKING:
    from gateway.adapters.inference.factory import ModelChoice
    from gateway.adapters.inference.profiles import CaseOutcome, ModelProfile, ProfileStore
    from gateway.adapters.inference.tiered import StartedBackend
    from gateway.runtime.ports import Clock, ModelInfo

TEMPLATE: Final = click.Path(path_type=Path, dir_okay=False)
QUICK: Final = 2
"""Cases of every kind, one of either half."""

OUTCOMES_SUFFIX: Final = ".outcomes.jsonl"
_MIB: Final = 1 << 20


@click.command()
@click.argument("model")
@click.option("--quick", is_flag=True, help=f"{QUICK} cases of every kind instead of all, always the same: minutes, not an hour.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="N cases of every kind, half of them hold-out ones.")
@click.option("--again", is_flag=True, help="Measure anew what an earlier run has found out.")
@click.option("--json", "as_json", is_flag=True, help="Print the profile as JSON, and nothing else.")
@click.option("--model-name", metavar="NAME", help="Model to ask for, where MODEL is a URL.")
@click.option("--chat-template", "model_template", type=TEMPLATE, metavar="FILE", help="Chat template for a local model.")
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="State folder of the gateway that will use it.")
def check(model: str, *, quick: bool, sample: int | None, again: bool, as_json: bool, **options: object) -> None:
    """Measure how well MODEL works here: which loop it carries, how many of the cases it completes, speed and memory.

    MODEL is a GGUF file, a name of the catalogue, a model of a server with a name (`ollama/NAME`) or the URL of an
    OpenAI-compatible server. A catalogue model that is not here is fetched first. Nothing that the model asks for leaves the
    process: its tools work on a folder that is made for each case and then removed.

    The loop is the one of COUNTERSIGN_MODEL_TIER or of the catalogue, else the one that a trial finds. What was found is kept in
    `models/` of the state folder, by the digest of the weights, else by name and server; the gateway on that folder gives the
    model that loop. The same command goes on where it was interrupted. A provider that
    charges for requests charges for these: some 2 for each case, and at most 24 to find the loop.

    Exit status: 0 measured, 1 the model does not start or answer, 2 wrong usage or settings, 130 interrupted.

    \b
    countersign models check default --quick
    countersign models check ./mine.gguf
    countersign models check ollama/qwen3:4b --sample 6
    countersign models check http://127.0.0.1:8080/v1 --model-name mine --json
    """
    from gateway.adapters.inference.factory import STUB_MODEL
    from gateway.cli.agent import model_options
    from gateway.cli.serve import bring_model

    if quick and sample is not None:
        raise click.UsageError("--quick and --sample are two sizes; choose one.")
    if model == STUB_MODEL:
        raise Misconfigured("the stub follows fixed rules; there is nothing to measure")
    settings = load_settings(**model_options(model), **options).model_copy(update={"other_models": ()})
    try:
        bring_model(settings)
        profile, path = asyncio.run(check_model(settings, QUICK if quick else sample or 0, again=again))
    except KeyboardInterrupt:
        _say("interrupted; the same command goes on from here")
        sys.exit(130)
    except ModelUnavailable as error:
        _say(f"countersign: {error.message}")
        sys.exit(1)
    if as_json:
        click.echo(profile.model_dump_json(exclude_none=True, indent=2))
        return
    for line in describe_profile(profile):
        click.echo(line)
    _say(f"kept in {path}; the gateway on {settings.state} gives this model that loop")


async def check_model(settings: Settings, sample: int, *, again: bool) -> tuple[ModelProfile, Path]:
    """Measure the first model of the settings, on `sample` cases of every kind, or on all: its profile, and where that is kept.

    Raises ModelUnavailable, Misconfigured.
    """
    from gateway.adapter_settings import model_choice
    from gateway.adapters.inference.factory import profiles_of
    from gateway.adapters.inference.machine_memory import peak_of_largest_child
    from gateway.adapters.inference.speed import measure_speed
    from gateway.adapters.system.clock import SystemClock
    from gateway.cli.evaluation import load_case_player
    from gateway.server.access import Origins

    play_cases, clock = load_case_player(), SystemClock()
    agent, console = settings.origins(settings.port)
    choice = model_choice(settings, Origins(agent=agent, console=console))
    store = profiles_of(choice)
    with tempfile.TemporaryDirectory(prefix="countersign-check-") as folder:
        # A folder of its own: a gateway that runs on the state folder keeps its model server there.
        async with _serving(replace(choice, state=Path(folder)), clock) as backend:
            model = (await backend.models())[0]
            path = store.path(model.id)
            outcomes = path.with_suffix(OUTCOMES_SUFFIX)
            if again:
                path.unlink(missing_ok=True)
                outcomes.unlink(missing_ok=True)
            _say(f"{escape(model.display_name)} answers; measuring its speed")
            speed = await measure_speed(backend, model, clock)
            profile = await _find_tier(settings, backend, model, store, clock)
            found = await play_cases(
                backend,
                model=path.stem,
                tier=profile.tier,
                context_tokens=model.context_tokens,
                is_local=model.local,
                sample=sample,
                outcomes=outcomes,
                report=_report_cases(),
            )
            profile = profile.model_copy(
                update={
                    **_summarise(found),
                    "sample": sample or None,
                    "on": rfc3339(clock.now())[:10],
                    "context_tokens": model.context_tokens,
                    "prompt_rate": speed.prompt_rate,
                    "decode_rate": speed.decode_rate,
                    "memory": peak_of_largest_child(os.getpid()) if model.local else None,
                }
            )
            store.write(profile)
    return profile, path


@asynccontextmanager
async def _serving(choice: ModelChoice, clock: Clock) -> AsyncGenerator[StartedBackend]:
    """The model's backend, ready. Raises ModelUnavailable with what is in the way."""
    from gateway.adapters.inference.factory import build_backend
    from gateway.adapters.inference.tiered import TriableBackend
    from gateway.runtime.ports import ModelPhase

    backend = build_backend(choice, clock)
    assert isinstance(backend, TriableBackend), "rules in place of weights were refused"
    _say("waiting for the model to be ready")
    await backend.start()
    try:
        reached = await backend.settle()
        if reached.phase is not ModelPhase.READY:
            raise ModelUnavailable(reached.detail, reached.phase)
        yield backend
    finally:
        await backend.stop()


async def _find_tier(
    settings: Settings, backend: StartedBackend, model: ModelInfo, store: ProfileStore, clock: Clock
) -> ModelProfile:
    """The profile so far: the loop that the settings say, an earlier run has found or the catalogue names, else that of a trial
    now, which is kept at once."""
    from gateway.adapters.inference.profiles import ModelProfile
    from gateway.adapters.inference.tiered import try_model
    from gateway.agent.ports import ChatFailure
    from gateway.runtime.ports import ModelPhase

    known = store.read(model.id)
    named = model.tier if settings.model_tier == "auto" else Tier(settings.model_tier)
    if settings.model_tier == "auto" and known is not None:
        _say(f"its loop is `{known.tier}`, found on {known.on}")
        return known
    if named is not None:
        _say(f"its loop is `{named}`, as {'the catalogue' if settings.model_tier == 'auto' else 'the setting'} says")
        day = rfc3339(clock.now())[:10]
        unknown = ModelProfile(id=model.id, title=model.display_name, tier=named, requests=0, on=day)
        return (known or unknown).model_copy(update={"tier": named})

    def report(tier: Tier, made: int, most: int) -> None:
        _say(f"trying the loop `{tier}`: {made} of at most {most} requests")

    try:
        profile = await try_model(backend, model, clock, report)
    except ChatFailure as failure:
        raise ModelUnavailable(f"{model.display_name} cannot be tried: {failure.message}", ModelPhase.READY) from None
    store.write(profile)
    _say(f"its loop is `{profile.tier}`, after {profile.requests} requests")
    return profile


def _summarise(found: Sequence[CaseOutcome]) -> dict[str, object]:
    """Of a profile, what the cases say."""
    kinds = {
        kind: (sum(each.complete for each in found if each.kind == kind), sum(each.kind == kind for each in found))
        for kind in dict.fromkeys(each.kind for each in found)
    }
    held_out = [each.complete for each in found if each.held_out]
    return {
        "rank": _percent(sum(held_out), len(held_out)),
        "complete": _percent(sum(each.complete for each in found), len(found)),
        "cases": len(found),
        "kinds": kinds,
    }


def _percent(part: int, whole: int) -> int:
    """Of a hundred, rounded; 0 of none."""
    return round(100 * part / whole) if whole else 0


def describe_profile(profile: ModelProfile) -> list[str]:
    """A profile for people, a line for each thing."""
    tried = [
        "not tried" if done is None else f"{done} of 5 tasks done"
        for done in (profile.native, profile.chained)
        if profile.requests
    ]
    how = f" (native {tried[0]}, chained {tried[1]})" if tried else ""
    rates = (("reads", profile.prompt_rate), ("writes", profile.decode_rate))
    speed = ", ".join(f"{verb} {rate:g} tokens a second" for verb, rate in rates if rate is not None)
    memory = "not known" if profile.memory is None else f"{profile.memory // _MIB} MiB at most"
    width = max(map(len, profile.kinds), default=0)
    size = f" ({profile.sample} of every kind)" if profile.sample else ""
    return [
        escape(profile.title),
        f"  loop      {profile.tier}{how}",
        f"  complete  {profile.rank} % of the hold-out cases, {profile.complete} % of all {profile.cases}{size}",
        f"  speed     {speed or 'the server counts no tokens'}",
        f"  memory    {memory}, with {profile.context_tokens or 0:,} tokens of context",
        *(f"  {kind:<{width}}  {done} of {cases}" for kind, (done, cases) in profile.kinds.items()),
    ]


def _report_cases() -> Callable[[int, int, CaseOutcome, bool], None]:
    """A line on standard error for each case that was played now, with how long the rest will take at this pace."""
    began, played = time.monotonic(), 0

    def report(place: int, cases: int, outcome: CaseOutcome, is_new: bool) -> None:
        nonlocal played
        played += is_new
        if is_new:
            left = (time.monotonic() - began) / played * (cases - place)
            mark = "complete" if outcome.complete else "not complete"
            _say(f"{place} of {cases}, {left // 60:.0f} min {left % 60:02.0f} s left: {outcome.kind}, {mark}")

    return report


def _say(line: str) -> None:
    click.echo(line, err=True)
