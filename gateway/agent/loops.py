"""Whether a model goes round in circles: the same call with the same result, twice in a row or by turns with a few others."""

from __future__ import annotations

from typing import Final, TypeAlias

from gateway.agent.limits import LIMITS

_Step: TypeAlias = tuple[str, str, str]

_LONGEST_CIRCLE: Final = LIMITS.repeated_cycle_calls
"""Calls of a circle that is noticed the second time round; a longer one ends with the steps of the turn."""


class LoopDetector:
    """Notes the closed calls of one turn, in order."""

    def __init__(self) -> None:
        self._steps: list[_Step] = []

    def note(self, name: str, arguments_json: str, result_digest: str) -> bool:
        """Take down a closed call. True when it closes a circle: what came just before came twice.

        `arguments_json` must be the same for the same arguments, `result_digest` for the same result; what they hold beyond
        that makes no difference.
        """
        self._steps.append((name, arguments_json, result_digest))
        return any(self._ends_with_twice(length) for length in range(1, _LONGEST_CIRCLE + 1))

    def _ends_with_twice(self, length: int) -> bool:
        return len(self._steps) >= 2 * length and self._steps[-length:] == self._steps[-2 * length : -length]
