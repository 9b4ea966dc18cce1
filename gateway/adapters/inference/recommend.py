"""Which model of the catalogue to use on a machine: the best tool caller that may be used here and fits. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.adapters.inference.catalog import ModelEntry
from gateway.adapters.inference.fetch import SPARE_BYTES
from gateway.adapters.inference.profiles import ModelProfile

BESIDE_BYTES: Final = 1_000_000_000
"""Memory for a browser and the gateway, for models whose entry does not say what machine they need."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What a model has to fit into: all memory, None where the system does not report it, and free disk for weights. Bytes."""

    memory: int | None
    disk: int


class Objection(StrEnum):
    """Why a model is not recommended; the first that holds."""

    LICENCE = "licence"
    """Nobody has said that its licence allows this use."""
    UNMEASURED = "unmeasured"
    """Nobody knows how well it calls tools."""
    MEMORY = "memory"
    DISK = "disk"
    """It is not here, and there is not enough disk to fetch it."""
    WORSE = "worse"
    """Another one fits and calls tools better, or as well with less memory."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """`best` is None when no model will do. `others` are the rest, in the order of the catalogue."""

    best: ModelEntry | None
    others: Sequence[tuple[ModelEntry, Objection]]


def recommend(
    entries: Sequence[ModelEntry], machine: Machine, *, here: Collection[str] = (), commercial: bool = True
) -> Recommendation:
    """Choose among the entries. `here` are the names of those whose weights are on this machine.

    With `commercial` False, licences that allow no business use will do as well.
    """
    objections = {entry.name: _object_to(entry, machine, here=entry.name in here, commercial=commercial) for entry in entries}
    fit = [entry for entry in entries if objections[entry.name] is None]
    best = min(fit, key=_order, default=None)
    others = [(entry, objections[entry.name] or Objection.WORSE) for entry in entries if entry is not best]
    return Recommendation(best, others)


def memory_wanted(entry: ModelEntry) -> int | None:
    """Memory of the smallest machine that should run it; None when neither that nor its peak is known."""
    if entry.min_machine_bytes is not None:
        return entry.min_machine_bytes
    return None if entry.approx_peak_ram_bytes is None else entry.approx_peak_ram_bytes + BESIDE_BYTES


def with_profile(entry: ModelEntry, profile: ModelProfile | None) -> ModelEntry:
    """The entry with what was measured here in place of what the catalogue says, if all cases were run."""
    if profile is None or profile.whole_rank is None:
        return entry
    peak = profile.memory or entry.approx_peak_ram_bytes
    return entry.model_copy(update={"tool_call_rank": profile.whole_rank, "approx_peak_ram_bytes": peak})


def _order(entry: ModelEntry) -> tuple[int, int]:
    """Best first: more right calls, then less memory."""
    return -(entry.tool_call_rank or 0), entry.approx_peak_ram_bytes or entry.bytes


def _object_to(entry: ModelEntry, machine: Machine, *, here: bool, commercial: bool) -> Objection | None:
    if commercial and entry.commercial_use is not True:
        return Objection.LICENCE
    if entry.tool_call_rank is None:
        return Objection.UNMEASURED
    wanted = memory_wanted(entry)
    if machine.memory is not None and (wanted is None or wanted > machine.memory):
        return Objection.MEMORY
    if not here and entry.bytes + SPARE_BYTES > machine.disk:
        return Objection.DISK
    return None
