"""What is compared: the product's loop with all its guards, without each of them, and the bare model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Guard(StrEnum):
    """What the loop does for a small model and can leave away."""

    SCHEMA = "schema"
    """Decoding is held to the JSON schema of this turn's actions."""
    RESPOND = "respond"
    """`respond(message)` is among the tools, as a way to say something."""
    CANDIDATES = "candidates"
    """Only plausible tools are shown."""
    PROBE = "probe"
    """On cue words the model is asked first how many things were asked for."""
    REPAIR = "repair"
    """A reply that is no action is sent back with what is wrong with it."""


ALL_GUARDS: Final = frozenset(Guard)


@dataclass(frozen=True, slots=True)
class Contender:
    """One row of a table. `guards` None is plain prompting, without the loop."""

    name: str
    guards: frozenset[Guard] | None


PLAIN: Final = Contender("plain prompting", None)
WHOLE: Final = Contender("the loop", ALL_GUARDS)


def without(guard: Guard) -> Contender:
    """The loop without one guard."""
    return Contender(f"without {guard}", ALL_GUARDS - {guard})


ABLATIONS: Final = tuple(without(guard) for guard in Guard)
CONTENDERS: Final = (WHOLE, *ABLATIONS, PLAIN)


def choose(names: str, *, is_default: bool) -> tuple[Contender, ...]:
    """The contenders of `--guards`: `all`, `none` (loop and plain only), `loop`, `plain`, or guards to leave away, with commas
    between.

    Empty: all for the default model, none for others. Raises ValueError for a name that is no guard.
    """
    match names or ("all" if is_default else "none"):
        case "all":
            return CONTENDERS
        case "none":
            return (WHOLE, PLAIN)
        case "loop":
            return (WHOLE,)
        case "plain":
            return (PLAIN,)
        case chosen:
            return (WHOLE, *(without(Guard(name.strip())) for name in chosen.split(",")), PLAIN)
