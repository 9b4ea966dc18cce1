"""What is asked of a model, and which calls that should lead to. The cases are data in `cases/`, one file per kind."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter

FOLDER: Final = Path(__file__).with_name("cases")


class Kind(StrEnum):
    """What a case tries; the order is that of the tables."""

    SINGLE = "single"
    ARGUMENTS = "arguments"
    DATES = "dates"
    NONE = "none"
    ONE = "one"
    TWO = "two"
    THREE = "three"
    FOLLOW_UP = "follow-up"
    TRAP = "trap"
    INJECTION = "injection"
    MANY_TOOLS = "many-tools"
    CONTENT = "content"
    DEPENDENT = "dependent"
    OUTCOME = "outcome"
    """What is found goes into a file, or a file that is found is moved or deleted."""

    QUESTION = "question"
    OPTIONAL = "optional"
    NOTHING = "nothing"
    MEANING = "meaning"
    PLAIN_TWO = "plain-two"
    PLAIN_THREE = "plain-three"


class Split(StrEnum):
    """Prompts may be tuned on the first half only. Which case is in which was settled before anything was run."""

    DEV = "dev"
    HOLD_OUT = "holdOut"


class Tools(StrEnum):
    """The tools that are published in a case."""

    WORKSPACE = "workspace"
    EXPENSES = "expenses"
    EVERYTHING = "everything"
    HOUSE = "house"
    """The built-in ones over another folder, with files that are longer than a model's context."""
    OPERATIONS = "operations"
    """Ten that take optional arguments."""
    MEANING = "meaning"
    """The built-in ones with the search by meaning, over notes that share no word with what is asked of them."""


class Lookups(StrEnum):
    """Whether calls that only look count."""

    EXACT = "exact"
    """The expected calls and no others."""
    FREE = "free"
    """The expected calls in order, and as many looks between as it takes; one at least, where there is an answer."""


class Reply(StrEnum):
    """What the words at the end must be, besides holding the answer."""

    ANY = "any"
    TALKS = "talks"
    """Not empty."""
    DECLINES = "declines"
    """They say that this cannot be done or was not understood, or what can be done."""
    TALKS_OR_DECLINES = "talksOrDeclines"
    """They hold the answer, if there is one, or say what can be done instead."""


Call = tuple[str, Mapping[str, Any]]
"""A tool and its arguments; where a call is expected, the values are checks (`checks.py`)."""


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Turn(_Document):
    """An earlier exchange, which is told and not run by the model; its calls are run to have their results."""

    user: str
    calls: tuple[Call, ...]
    answer: str


class Case(_Document):
    """One request. `forbid` are tools, or single calls, that must not even be proposed; `answer` are texts that the words at the
    end must hold, in any case of letters, each as one of its spellings, `wrong` such as they must not hold. `injected` is a piece
    of the orders that stand in a result: a case tries something only when the model got to read it."""

    id: str
    kind: Kind
    split: Split
    tools: Tools
    before: tuple[Turn, ...] = ()
    say: str
    expect: tuple[Call, ...]
    forbid: tuple[str | Call, ...] = ()
    answer: tuple[tuple[str, ...], ...] = ()
    wrong: tuple[str, ...] = ()
    lookups: Lookups = Lookups.EXACT
    reply: Reply = Reply.ANY
    injected: str = ""


_CASES: Final = TypeAdapter(tuple[Case, ...])


def load_cases(*, by_meaning: bool = False) -> list[Case]:
    """All cases, those with the same tools together: a model server then reads their prompt's beginning only once. Those that
    search `by_meaning` need the sentence model."""
    kinds = [kind for kind in Kind if by_meaning or kind is not Kind.MEANING]
    cases = [case for kind in kinds for case in _CASES.validate_json((FOLDER / f"{kind}.json").read_bytes())]
    return sorted(cases, key=lambda case: list(Tools).index(case.tools))


def pick_quick(cases: list[Case]) -> list[Case]:
    """A sixth of the development half, some of every kind, to see that things work."""
    dev = [case for case in cases if case.split is Split.DEV]
    return [case for kind in Kind for case in [each for each in dev if each.kind is kind][::5]]


def pick_sample(cases: list[Case], size: int) -> list[Case]:
    """`size` cases of every kind, as many of either half, always the same ones: those whose ids' digests come first."""
    picked: set[str] = set()
    for kind in Kind:
        for split, share in ((Split.DEV, size // 2), (Split.HOLD_OUT, size - size // 2)):
            half = [case.id for case in cases if case.kind is kind and case.split is split]
            picked |= set(sorted(half, key=_digest_of)[:share])
    return [case for case in cases if case.id in picked]


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def dump(case: Case) -> bytes:
    """The case as bytes that change when it does."""
    return orjson.dumps(case.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
