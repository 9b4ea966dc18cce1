"""Labels and taint. Both only rise: content that entered a conversation cannot be taken back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gateway.core.value_types import quick
from gateway.core.vocabulary import Label, Trust

_LEVELS = {label.mark: label for label in Label}
"""Labels of results that carry a confidentiality level, `label:confidential`; any other label is a plain mark."""


@quick
@dataclass(frozen=True, slots=True)
class Exposure:
    """What a conversation has seen. `taint` is 0 until untrusted content entered, then 1; `label` is the highest level."""

    taint: int = 0
    label: int = Label.PUBLIC


def expose(before: Exposure, trust: Trust, labels: Iterable[str]) -> Exposure:
    """The exposure after a result of that trust and those labels entered the conversation."""
    level = max((_LEVELS.get(label, Label.PUBLIC) for label in labels), default=Label.PUBLIC)
    taint = 1 if trust is Trust.UNTRUSTED else 0
    return Exposure(taint=max(before.taint, taint), label=max(before.label, level))
