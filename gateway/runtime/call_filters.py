"""What is asked of the calls of the log, read in one place for the console and for the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.core.call_history import OPEN
from gateway.core.errors import InvalidParams
from gateway.core.vocabulary import Decision, Label, Outcome
from gateway.runtime.ports import HistoryFilter

LABELS: Final[Mapping[str, Label]] = {label.name.lower(): label for label in Label}
"""By the names that people see."""


LONGEST_WORD: Final = 200
"""Characters of what is looked for: SQLite takes no pattern of more than 50,000 bytes, and nothing has so long a name."""

OUTCOMES: Final = (*Outcome, OPEN)


@dataclass(frozen=True, slots=True)
class AskedCalls:
    """A filter in people's words. An absent member means any; `label` is one of LABELS."""

    principal_id: str | None = None
    tool: str | None = None
    source: str | None = None
    outcome: str | None = None
    decision: str | None = None
    model_id: str | None = None
    label: str | None = None
    rule: str | None = None
    policy_version: str | None = None
    conversation_id: str | None = None
    text: str | None = None


def read_filter(
    asked: AskedCalls, since: int, until: int, names: Mapping[str, str], owner_id: str | None = None
) -> HistoryFilter:
    """The filter from `since` to before `until`, in epoch milliseconds. `names` are what people are called, by their ids;
    `owner_id` is whose calls alone may be seen, None for everybody's. Raises InvalidParams for an outcome or a decision that no
    call has: nothing found would read as if none had been decided so."""
    if asked.outcome is not None and asked.outcome not in OUTCOMES:
        raise InvalidParams(f"`outcome` is one of {', '.join(OUTCOMES)}")
    if asked.decision is not None and asked.decision not in tuple(Decision):
        raise InvalidParams(f"`decision` is one of {', '.join(Decision)}")
    text = asked.text
    return HistoryFilter(
        since=since,
        until=until,
        principal_id=owner_id or asked.principal_id,
        tool=asked.tool,
        source=asked.source,
        outcome=asked.outcome,
        decision=asked.decision,
        model_id=asked.model_id,
        label=None if asked.label is None else LABELS[asked.label],
        rule=asked.rule,
        policy_version=asked.policy_version,
        conversation_id=asked.conversation_id,
        text=text,
        text_people=() if text is None else tuple(id_ for id_, name in names.items() if text.casefold() in name.casefold()),
    )
