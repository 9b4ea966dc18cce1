"""From scores to the tables of docs/MODELS.md. Pure, but for the file that is rewritten between its markers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from eval.cases import Case, Kind, Lookups, Split
from eval.contenders import ABLATIONS, BASELINES, TIERS, WHOLE
from eval.scoring import Attempt, Score, add_up, judge

BEGIN: Final = "<!-- measured: begin. Written by `make eval`; what is between the marks is lost. -->"
END: Final = "<!-- measured: end -->"

Outcomes = Sequence[tuple[Case, Attempt]]

_COLUMNS: Final = (
    *("complete, hold-out", "complete, dev", "first call right", "valid calls", "right tool", "right arguments"),
    *(
        "false claims",
        "said nothing",
        "ran something for nothing",
        "orders read",
        "orders followed, of those read",
        "did what is forbidden",
        "steps",
        "tokens",
        "seconds",
    ),
)

_SAMPLE_COLUMNS: Final = (
    *("complete, hold-out", "complete, dev", "false claims", "ran something for nothing", "orders followed, of those read"),
    *("steps", "tokens", "differs from", "in cases"),
)

_KINDS: Final = {
    Kind.SINGLE: "one tool",
    Kind.ARGUMENTS: "arguments to find in the sentence",
    Kind.DATES: "days in words",
    Kind.NONE: "no tool at all",
    Kind.ONE: "one thing that sounds like two",
    Kind.TWO: "two things",
    Kind.THREE: "three things",
    Kind.FOLLOW_UP: "goes back to what was said before",
    Kind.TRAP: "tempts to the wrong tool",
    Kind.INJECTION: "orders inside results",
    Kind.MANY_TOOLS: "23 tools to choose from",
    Kind.CONTENT: "an answer out of a short file that is named",
    Kind.QUESTION: "an answer out of files, sums and long ones too",
    Kind.DEPENDENT: "a step that stands on another's result",
    Kind.OUTCOME: "a result that is kept, or the file found moved or deleted",
    Kind.OPTIONAL: "arguments that may be left out",
    Kind.NOTHING: "nothing that a tool could do",
    Kind.MEANING: "an answer in other words than the question",
    Kind.PLAIN_TWO: "two things in plain words",
    Kind.PLAIN_THREE: "three things in plain words",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """All of one model: outcomes by contender, in the order of the table; `sampled`: those over a sample of the cases, the loop's
    among them; `memory` in bytes, the most that was seen."""

    title: str
    outcomes: Mapping[str, Outcomes]
    memory: int
    on: str
    sampled: Mapping[str, Outcomes] = field(default_factory=dict[str, Outcomes])


def words_of(kind: Kind) -> str:
    """What a case of that kind tries, for people."""
    return _KINDS[kind]


def rank_of(outcomes: Outcomes) -> int:
    """The tool-call rank: percent of the hold-out cases that are complete."""
    return _percent(*_complete(outcomes, Split.HOLD_OUT))


def write_tables(models: Sequence[Measured], machine: str) -> str:
    """Markdown, without the marks."""
    return "\n\n".join(_section(model, machine) for model in models)


def replace_between_marks(path: Path, text: str) -> None:
    """Put `text` between the marks of a file. Raises ValueError when they are not there."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path.name} has no marks to write between")
    path.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def _section(model: Measured, machine: str) -> str:
    count = max((len(outcomes) for outcomes in model.outcomes.values()), default=0)
    memory = f"The model server took {model.memory / 1e6:.0f} MB at most."
    head = f"### {model.title}\n\n{count} cases, temperature 0, {model.on}, {machine}. {memory}"
    whole = [_contenders(model), _by_kind(model)] if model.outcomes else []
    return "\n\n".join([head, *whole, *_sample(model)])


def _contenders(model: Measured) -> str:
    lines = [f"| | {' | '.join(_COLUMNS)} |", "|---|" + "---|" * len(_COLUMNS)]
    for name, outcomes in model.outcomes.items():
        total = add_up(judge(case, attempt) for case, attempt in outcomes)
        traps = sum(bool(case.forbid) for case, _ in outcomes)
        cells = [
            _share(*_complete(outcomes, Split.HOLD_OUT)),
            _share(*_complete(outcomes, Split.DEV)),
            _share(total.begun, total.cases),
            _share(total.valid, total.attempted),
            _share(total.tools_right, total.tools_expected),
            _share(total.arguments_right, total.arguments_expected),
            f"{total.claimed} of {total.cases}",
            f"{total.silent} of {total.cases}",
            f"{total.ran_for_nothing} of {sum(_is_for_nothing(case) for case, _ in outcomes)}",
            f"{total.reached} of {sum(bool(case.injected) for case, _ in outcomes)}",
            f"{total.followed} of {total.reached}",
            f"{total.forbidden} of {traps}",
            _mean(total, total.steps),
            f"{total.tokens / max(total.cases, 1):.0f}",
            _mean(total, total.seconds),
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def changed_cases(model: Measured, name: str, beside: str) -> int:
    """In how many cases a row of the sample differs from the one beside it: in a request to the model, a call or a word."""
    other = {case.id: attempt for case, attempt in model.sampled.get(beside, ())}
    pairs = [(attempt, other[case.id]) for case, attempt in model.sampled[name] if case.id in other]
    return sum(_seen_of(one) != _seen_of(two) for one, two in pairs)


def idle_rows(model: Measured) -> list[str]:
    """The rows whose guard, left away, changes nothing at all: they say nothing of the guard."""
    return [each.name for each in ABLATIONS if each.name in model.sampled and not changed_cases(model, each.name, each.beside)]


def _seen_of(attempt: Attempt) -> tuple[object, ...]:
    calls = [(each.tool, sorted(each.arguments.items(), key=str)) for each in attempt.proposals]
    return attempt.asked, str(calls), attempt.said


def _sample(model: Measured) -> list[str]:
    """The table of the rows that are run over a sample, and what is left out of it."""
    if not model.sampled:
        return []
    cases = {case.id: case for outcomes in model.sampled.values() for case, _ in outcomes}.values()
    kinds = {kind: sum(case.kind is kind for case in cases) for kind in Kind}
    most = max(kinds.values())
    head = f"**Over a sample**: {len(cases)} cases, at most {most} of every kind, half of either half, always the same ones."
    beside = {each.name: each.beside for each in ABLATIONS}
    idle = idle_rows(model)
    lines = [f"| | {' | '.join(_SAMPLE_COLUMNS)} |", "|---|" + "---|" * len(_SAMPLE_COLUMNS)]
    shown = [name for name in (WHOLE.name, *(each.name for each in (*TIERS, *ABLATIONS))) if name in model.sampled]
    for name in shown:
        if name in idle:
            continue
        outcomes = model.sampled[name]
        total = add_up(judge(case, attempt) for case, attempt in outcomes)
        other = beside.get(name, "")
        cells = [
            _share(*_complete(outcomes, Split.HOLD_OUT)),
            _share(*_complete(outcomes, Split.DEV)),
            f"{total.claimed} of {total.cases}",
            f"{total.ran_for_nothing} of {sum(_is_for_nothing(case) for case, _ in outcomes)}",
            f"{total.followed} of {total.reached}",
            _mean(total, total.steps),
            f"{total.tokens / max(total.cases, 1):.0f}",
            other or "–",
            f"{changed_cases(model, name, other)} of {len(outcomes)}" if other else "–",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    left_out = (
        [f"Left out, since in none of these cases it changes a request, a call or a word: {', '.join(idle)}."] if idle else []
    )
    return [head, "\n".join(lines), *left_out]


def _is_for_nothing(case: Case) -> bool:
    return not case.expect and case.lookups is Lookups.EXACT


def _by_kind(model: Measured) -> str:
    shown = [name for name in (WHOLE.name, *(each.name for each in BASELINES)) if name in model.outcomes]
    head = [f"{name}, {half}" for name in shown for half in ("hold-out", "dev")]
    lines = ["| complete, by what a case tries | cases | " + " | ".join(head) + " |", "|---|---|" + "---|" * len(head)]
    for kind, words in _KINDS.items():
        columns = [[(case, attempt) for case, attempt in model.outcomes[name] if case.kind is kind] for name in shown]
        if not any(columns):
            continue
        cells = [_share(*_complete(column, split)) for column in columns for split in (Split.HOLD_OUT, Split.DEV)]
        lines.append(f"| {words} | {max(map(len, columns))} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _complete(outcomes: Outcomes, split: Split) -> tuple[int, int]:
    scores = [judge(case, attempt).complete for case, attempt in outcomes if case.split is split]
    return sum(scores), len(scores)


def _percent(part: int, whole: int) -> int:
    return round(100 * part / whole) if whole else 0


def _share(part: int, whole: int) -> str:
    return f"{_percent(part, whole)} %" if whole else "–"


def _mean(total: Score, value: float) -> str:
    return f"{value / max(total.cases, 1):.1f}"
