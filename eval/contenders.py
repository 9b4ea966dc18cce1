"""What is compared: the product's loop with all its guards, without each of them, and without any of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.core.vocabulary import Tier


class Guard(StrEnum):
    """What the loop does for a small model and can leave away."""

    SCHEMA = "schema"
    """Decoding is held to the JSON schema of this turn's actions."""
    CANDIDATES = "candidates"
    """Only plausible tools are shown."""
    PROBE = "probe"
    """On cue words the model is asked first how many things were asked for."""
    REASON = "reason"
    """A call is sent only where something in the message asks for it."""
    REPAIR = "repair"
    """A reply that is no action is sent back with what is wrong with it. Under a schema there is none, so it is left away
    together with that."""


ALL_GUARDS: Final = frozenset(Guard)


@dataclass(frozen=True, slots=True)
class Contender:
    """One row of a table. `guards` None is prompting without the loop."""

    name: str
    guards: frozenset[Guard] | None
    tier: Tier | None = None
    """Which loop, whatever the catalogue says of the model; None is the catalogue's."""


PLAIN: Final = Contender("plain prompting", None)
FEW_SHOT: Final = Contender("examples and schema alone", None)
WHOLE: Final = Contender("the loop", ALL_GUARDS)
BASELINES: Final = (FEW_SHOT, PLAIN)


def without(guard: Guard) -> Contender:
    """The loop without one guard; without the schema too, where a guard is there for replies that no schema holds."""
    away = {guard, Guard.SCHEMA} if guard is Guard.REPAIR else {guard}
    return Contender(f"without {' and '.join(sorted(away, reverse=True))}", ALL_GUARDS - away)


TIERS: Final = tuple(Contender(f"tier {tier}", ALL_GUARDS, tier) for tier in Tier)
ABLATIONS: Final = tuple(without(guard) for guard in Guard)
CONTENDERS: Final = (WHOLE, *TIERS, *ABLATIONS, *BASELINES)


def choose(names: str) -> tuple[Contender, ...]:
    """The contenders of `--guards`: `all`, `none` (the loop and the baselines), `loop`, `tiers`, `plain`, `few-shot`, or guards
    to leave away, with commas between.

    Empty: all. Raises ValueError for a name that is no guard.
    """
    match names or "all":
        case "all":
            return CONTENDERS
        case "none":
            return (WHOLE, *BASELINES)
        case "loop":
            return (WHOLE,)
        case "tiers":
            return TIERS
        case "plain":
            return (PLAIN,)
        case "few-shot":
            return (FEW_SHOT,)
        case chosen:
            return (WHOLE, *(without(Guard(name.strip())) for name in chosen.split(",")), *BASELINES)
