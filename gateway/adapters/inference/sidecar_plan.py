"""What a sidecar is to run, how long its supervisor waits for what, and what it says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gateway.adapters.inference.engine import Threads


@dataclass(frozen=True, slots=True)
class SupervisionTimeouts:
    """How long the supervisor waits for what. Seconds, but for counts."""

    start: float = 180.0
    """Until the weights are loaded: several GB from a slow disk take minutes."""
    poll: float = 0.1
    probe: float = 2.0
    watch: float = 10.0
    misses: int = 3
    """Unanswered probes in a row that make a server hung."""
    first_pause: float = 1.0
    longest_pause: float = 30.0
    attempts: int = 5
    """Starts in a row that end in failure, then a person has to look."""
    steady: float = 60.0
    """A run this long counts as a success, and failures are counted anew."""


@dataclass(frozen=True, slots=True)
class SidecarPlan:
    """What to run. `folder` becomes private to the sidecar: socket, key, saved prefixes, log.
    `template` is the text of a chat template in place of the weights' own."""

    weights: Path
    weights_id: str
    folder: Path
    context_tokens: int
    threads: Threads
    repack: bool
    origins: tuple[str, ...]
    embeds: bool = False
    template: str = ""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Which server it is, to the build, and how many different tokens its model knows."""

    build: str
    vocab: int
