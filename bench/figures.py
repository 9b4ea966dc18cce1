"""What a benchmark says: one JSON object a line on stdout, and what it is doing on stderr."""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Pace:
    """How long to measure: rounds over all contenders, and seconds per cell. `calls` is how many a made log has, and `folder`
    where it is kept for another time; None: it is made in a folder of its own and thrown away."""

    rounds: int
    seconds: float
    calls: int = 300_000
    folder: Path | None = None


def report(name: str, value: float, unit: str, *, limit: float | None = None, ratio: float | None = None) -> None:
    """One figure. `limit` is the same figure of what it is measured against, `ratio` the median of the rounds' ratios."""
    line = {"name": name, "value": _short(value), "unit": unit, "limit": _short(limit), "ratio": _short(ratio)}
    print(json.dumps(line), flush=True)


def report_pairs(name: str, unit: str, pairs: Sequence[tuple[float, float]]) -> None:
    """One figure from rounds of (ours, limit) that were measured side by side.

    On a shared machine rates wander by half within a minute and ratios hardly do, so the ratio is that of each round.
    """
    ours, limits = zip(*pairs, strict=True)
    report(name, median(ours), unit, limit=median(limits), ratio=median(mine / least for mine, least in pairs))


def report_load() -> None:
    """What else the machine does: how many processes ran or waited in the last minute."""
    report("load", os.getloadavg()[0], "processes")


def report_times(name: str, seconds: Sequence[float]) -> None:
    """The middle and the slowest twentieth of some times."""
    for share in (0.5, 0.95):
        report(f"{name}/p{share * 100:.0f}", percentile(seconds, share) * 1000, "ms")


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


def median(values: Iterable[float]) -> float:
    """The middle one."""
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of these, in whatever order, do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _short(value: float | None) -> float | None:
    """Four digits: more would be noise."""
    return None if value is None else float(f"{value:.4g}")
