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
    INSISTING = "insisting"
    """A wish that names a tool by its words, and that the model only talks of, is chosen for once more, without an answer."""
    REPAIR = "repair"
    """A reply that is no action is sent back with what is wrong with it. Under a schema there is none, so it is left away
    together with that."""
    READING = "reading"
    """A question about a file that it names begins with reading that file."""
    FINDING = "finding"
    """What stands in a file that is only described is searched, read and answered without a choice of the model."""
    FIGURES = "figures"
    """Sums, counts and extremes are worked out by code."""
    DOUBT = "doubt"
    """An answer with a number or a line that the result does not bear out is replaced by the lines."""
    VALUES = "values"
    """Days, amounts and names that the model left out are filled from the person's words."""
    COPIED = "copied"
    """A file or an address in a call is one that the person wrote."""
    OPTIONAL = "optional"
    """An argument that may be left out is offered only where the message speaks of it."""
    CLAIMS = "claims"
    """A sentence that claims what no call did is not said, and what was not done is."""
    REPEATS = "repeats"
    """A call that was made is not made again."""
    PLANS = "plans"
    """Words that only announce a step are no answer."""
    MARKERS = "markers"
    """Markers of chat templates in a result are broken before it is shown."""
    FOLLOWING = "following"
    """In the chained loop, what follows a result has to be asked for by the message."""


ALL_GUARDS: Final = frozenset(Guard)


@dataclass(frozen=True, slots=True)
class Contender:
    """One row of a table. `guards` None is prompting without the loop."""

    name: str
    guards: frozenset[Guard] | None
    tier: Tier | None = None
    """Which loop, whatever the catalogue says of the model; None is the catalogue's."""
    beside: str = ""
    """The row that differs from this one by one guard; empty where that is not what the row is for."""


PLAIN: Final = Contender("plain prompting", None)
FEW_SHOT: Final = Contender("examples and schema alone", None)
WHOLE: Final = Contender("the loop", ALL_GUARDS)
BASELINES: Final = (FEW_SHOT, PLAIN)
TIERS: Final = tuple(Contender(f"tier {tier}", ALL_GUARDS, tier) for tier in Tier)


def without(guard: Guard) -> Contender:
    """The loop without one guard; without the schema too, where a guard is there for replies that no schema holds, and the
    chained loop, where only that has it."""
    match guard:
        case Guard.REPAIR:
            name = f"without {Guard.SCHEMA} and {guard}"
            return Contender(name, ALL_GUARDS - {guard, Guard.SCHEMA}, beside=f"without {Guard.SCHEMA}")
        case Guard.FOLLOWING:
            return Contender(f"tier {Tier.CHAINED}, without {guard}", ALL_GUARDS - {guard}, Tier.CHAINED, f"tier {Tier.CHAINED}")
        case _:
            return Contender(f"without {guard}", ALL_GUARDS - {guard}, beside=WHOLE.name)


ABLATIONS: Final = tuple(without(guard) for guard in Guard)
CONTENDERS: Final = (WHOLE, *BASELINES, *TIERS, *ABLATIONS)
SAMPLED: Final = frozenset((*TIERS, *ABLATIONS))
"""Rows that are run over a sample of the cases: all of them would take days."""


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
            asked = [without(Guard(name.strip())) for name in chosen.split(",")]
            beside = [each for each in (*TIERS, *ABLATIONS) if each.name in {row.beside for row in asked}]
            return tuple(dict.fromkeys((WHOLE, *BASELINES, *beside, *asked)))
