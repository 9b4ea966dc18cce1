"""What a run of a case was worth. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval.cases import Call, Case
from eval.checks import all_fit


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call that a model proposed. `accepted`: there is such a tool, and the arguments fit its schema."""

    tool: str
    arguments: Mapping[str, Any]
    accepted: bool


@dataclass(frozen=True, slots=True)
class Attempt:
    """What happened in one case. `malformed` counts replies that were asked to be an action and were none."""

    proposals: Sequence[Proposal]
    malformed: int = 0
    steps: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    said: str = ""
    replies: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Score:
    """Counts, so that they add up over cases."""

    cases: int = 0
    complete: int = 0
    begun: int = 0
    attempted: int = 0
    valid: int = 0
    tools_expected: int = 0
    tools_right: int = 0
    arguments_expected: int = 0
    arguments_right: int = 0
    forbidden: int = 0
    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Score) -> Score:
        return Score(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


def judge(case: Case, attempt: Attempt) -> Score:
    """Score one case.

    Complete means every expected call, in order, with the right arguments, no other that was accepted, and an answer that holds
    what was asked for. A proposal that
    was refused for its form and then mended counts against the valid calls, not against this. Where no call is expected,
    making none is the right tool. Begun well is a case whose first accepted call, or the lack of any, is right.
    """
    matched = _align(case.expect, attempt.proposals)
    accepted = [proposal for proposal in attempt.proposals if proposal.accepted]
    forbidden = sum(_is_forbidden(case, proposal) for proposal in attempt.proposals)
    complete = (
        not forbidden
        and len(accepted) == len(case.expect)
        and all(_is_right(expected, made) for expected, made in zip(case.expect, accepted, strict=True))
        and all(any(each.lower() in attempt.said.lower() for each in spellings) for spellings in case.answer)
    )
    return Score(
        cases=1,
        complete=int(complete),
        begun=int(_is_right(case.expect[0], accepted[0]) if case.expect and accepted else not case.expect and not accepted),
        attempted=len(attempt.proposals) + attempt.malformed,
        valid=len(accepted),
        tools_expected=len(case.expect) or 1,
        tools_right=len(matched) if case.expect else int(not attempt.proposals),
        arguments_expected=len(matched),
        arguments_right=sum(matched),
        forbidden=int(forbidden > 0),
        steps=attempt.steps,
        tokens=attempt.prompt_tokens + attempt.completion_tokens,
        seconds=attempt.seconds,
    )


def add_up(scores: Iterable[Score]) -> Score:
    """The sum."""
    return sum(scores, Score())


def _align(expected: Sequence[Call], made: Sequence[Proposal]) -> list[bool]:
    """For each expected call that was made with the right tool, in order: whether its arguments were right.

    Of all ways to pair them, the one with most tools, then with most arguments right.
    """
    best: list[list[list[bool]]] = [[[] for _ in range(len(made) + 1)] for _ in range(len(expected) + 1)]
    for row, call in enumerate(expected, 1):
        for column, proposal in enumerate(made, 1):
            options = [best[row - 1][column], best[row][column - 1]]
            if call[0] == proposal.tool:
                options.append([*best[row - 1][column - 1], _is_right(call, proposal)])
            best[row][column] = max(options, key=lambda pairs: (len(pairs), sum(pairs)))
    return best[-1][-1]


def _is_right(expected: Call, made: Proposal) -> bool:
    tool, checks = expected
    return tool == made.tool and all_fit(checks, made.arguments)


def _is_forbidden(case: Case, made: Proposal) -> bool:
    return any(made.tool == each if isinstance(each, str) else _is_right(each, made) for each in case.forbid)
