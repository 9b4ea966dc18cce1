"""What `countersign doctor` can say about the model: one finding per thing that has to be there."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Final, NamedTuple

from gateway.adapters.inference.chat_template import mentions_tools, read_template_file
from gateway.adapters.inference.confinement import choose_confinement
from gateway.adapters.inference.engine import WheelEngine, find_engine
from gateway.adapters.inference.factory import NO_MODEL, STUB_MODEL, ModelChoice, remote_backend
from gateway.adapters.inference.fetch import SPARE_BYTES, weights_path
from gateway.adapters.inference.gguf import read_head
from gateway.adapters.inference.local import ContextWish, Weights, identify, named_entry
from gateway.adapters.inference.machine_memory import available_memory
from gateway.adapters.inference.memory_pressure import left_memory
from gateway.adapters.inference.presets import preset_of
from gateway.adapters.inference.served_context import ServedContext
from gateway.core.errors import GatewayError
from gateway.runtime.ports import Clock, ModelPhase

_MIB: Final = 1 << 20


class Finding(NamedTuple):
    """One line: what was looked at, whether it is fine, and a sentence that says what to do if not."""

    name: str
    ok: bool
    sentence: str


async def diagnose_model(choice: ModelChoice, clock: Clock) -> list[Finding]:
    """Look at everything that the chosen models need. Starts nothing; reads weights whole if they were never checked."""
    findings = await _diagnose_one(choice, clock)
    seen = {finding.name for finding in findings} - {"model", "disk"}
    for other in choice.others():
        further = [finding for finding in await _diagnose_one(other, clock) if finding.name not in seen]
        findings += [finding._replace(name=f"{finding.name} {other.model}") for finding in further]
    return findings


async def _diagnose_one(choice: ModelChoice, clock: Clock) -> list[Finding]:
    if choice.url or preset_of(choice.model):
        return [await _ask_remote(choice, clock)]
    if choice.model == NO_MODEL:
        return [Finding("model", ok=True, sentence="none, as set; only direct calls of tools will work")]
    if choice.model == STUB_MODEL:
        return [Finding("model", ok=True, sentence="the stub, as set; it follows fixed rules and is no language model")]
    return await asyncio.to_thread(_look_around, choice)


async def _ask_remote(choice: ModelChoice, clock: Clock) -> Finding:
    try:
        backend = remote_backend(choice, clock)
    except GatewayError as error:
        return Finding("model", ok=False, sentence=error.message)
    await backend.start()
    try:
        state, models = backend.state(), await backend.models()
    finally:
        await backend.stop()
    if state.phase is not ModelPhase.READY:
        return Finding("model", ok=False, sentence=state.detail)
    name = models[0].display_name
    return Finding(
        "model",
        ok=True,
        sentence=f"{name} at {models[0].id.removeprefix('remote:').removesuffix(f':{name}')}, "
        f"{models[0].context_tokens:,} tokens of context{_say_source(choice, backend.serves)}",
    )


def _say_source(choice: ModelChoice, context: ServedContext) -> str:
    if choice.context_tokens is not None:
        return "" if context.served is None else f" of the {context.served:,} that the server gives"
    return ", assumed; the server does not say, COUNTERSIGN_MODEL_CONTEXT can" if context.served is None else ""


def _look_around(choice: ModelChoice) -> list[Finding]:
    findings = [_find_server(choice), _find_confinement(choice)]
    try:
        wish = ContextWish(choice.context_tokens, left_memory(), choice.preallocate)
        weights = identify(choice.model, models=choice.models, state=choice.state, context=wish)
    except GatewayError as error:
        return [*findings, Finding("model", ok=False, sentence=error.message), *_find_disk(choice)]
    findings.append(Finding("model", ok=True, sentence=f"{weights.info.display_name}, digest {weights.info.id[:16]}…"))
    return [*findings, *_find_template(choice), _describe_context(weights), *_find_memory(weights)]


def _find_template(choice: ModelChoice) -> list[Finding]:
    """A chat template of the operator's own; no finding for the weights' own."""
    if choice.template is None:
        return []
    try:
        takes = mentions_tools(read_template_file(choice.template))
    except GatewayError as error:
        return [Finding("chat template", ok=False, sentence=error.message)]
    place = "has a place for declared tools" if takes else "has no place for declared tools, so that the native loop is not tried"
    return [Finding("chat template", ok=True, sentence=f"{choice.template.name}, in place of the weights' own; {place}")]


def _describe_context(weights: Weights) -> Finding:
    """How long the context may become, why not longer, and what that costs."""
    plan, trained = weights.context, read_head(weights.path).context_tokens
    size = f"{plan.largest:,} tokens"
    if trained is not None and plan.largest < trained:
        why = "as memory allows" if plan.cache_bytes is not None else "as set"
        size += f" of the {trained:,} that it was trained for, {why}"
    if plan.start < plan.largest:
        size += f"; begins with {plan.start:,} and grows with the conversation"
        if plan.cache_bytes is not None:
            size += f", by {(plan.largest - plan.start) * plan.cache_bytes // _MIB} MiB at most"
    return Finding("context", ok=True, sentence=size)


def _find_server(choice: ModelChoice) -> Finding:
    try:
        engine = find_engine(choice.llama_server, arguments=choice.llama_server_arguments)
    except GatewayError as error:
        return Finding("model server", ok=False, sentence=error.message)
    kind = "the installed wheel" if isinstance(engine, WheelEngine) else "a binary of yours"
    return Finding("model server", ok=True, sentence=f"{engine.name}, {kind}")


def _find_confinement(choice: ModelChoice) -> Finding:
    if choice.sandbox is None:
        return Finding("model sandbox", ok=True, sentence="off, as set; the model server has all the gateway's own rights")
    try:
        return Finding("model sandbox", ok=True, sentence=choose_confinement(choice.sandbox, choice.state).mechanism)
    except GatewayError as error:
        return Finding("model sandbox", ok=False, sentence=error.message)


def _find_disk(choice: ModelChoice) -> list[Finding]:
    """Disk space for a model that is missing; no finding for a named file that does not exist."""
    try:
        entry = named_entry(choice.model, choice.models)
    except GatewayError:
        return []
    if entry is None or weights_path(entry, choice.models).exists():
        return []
    free, needed = free_disk(choice.models), entry.bytes + SPARE_BYTES
    sentence = f"{free // _MIB} MiB free, {needed // _MIB} MiB needed to fetch {entry.title}"
    return [Finding("disk", ok=free >= needed, sentence=sentence)]


def _find_memory(weights: Weights) -> list[Finding]:
    needed, free = weights.info.approx_peak_ram_bytes, available_memory()
    if needed is None or free is None:
        return []
    sentence = f"{free // _MIB} MiB available, about {needed // _MIB} MiB needed"
    if free < needed:
        sentence += "; close something, or choose a smaller model with COUNTERSIGN_MODEL"
    return [Finding("memory", ok=free >= needed, sentence=sentence)]


def free_disk(folder: Path) -> int:
    """Bytes that can be written where `folder` is, or will be."""
    return shutil.disk_usage(_existing(folder)).free


def _existing(folder: Path) -> Path:
    return next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
