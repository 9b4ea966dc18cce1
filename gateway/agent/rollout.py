"""A trajectory while it comes about: told of each step as it happens, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gateway.agent.trajectory import TokenIds, Trajectory, TrajectoryCall, TrajectoryResult, TrajectoryRole, TrajectoryStep


class Rollout:
    """Collects the steps of one conversation. Wants them in order; what does not fit is taken as a step of its own."""

    def __init__(self, *, id: str, task: str, model: str, started_at: int) -> None:  # noqa: A002 - the name of the field
        self._trajectory = Trajectory(id, task, model, started_at)
        self._steps: list[TrajectoryStep] = []
        self._sequence: tuple[int, ...] = ()

    @property
    def trajectory(self) -> Trajectory:
        """What there is so far."""
        return replace(self._trajectory, steps=tuple(self._steps))

    def told(self, role: TrajectoryRole, content: str) -> None:
        """Words for the model: the system's, the person's, or a correction."""
        self._steps.append(TrajectoryStep(role, content))

    def generated(self, content: str, tokens: TokenIds | None, *, asked: str = "") -> None:
        """What the model wrote, and the ids if its server told them.

        What was fed is booked on the words told last. When those led to a generation already (a loop may ask twice after one
        message), `asked`, the last message of the prompt, becomes a step of its own.
        """
        if not self._steps or self._steps[-1].role is TrajectoryRole.ASSISTANT:
            self.told(TrajectoryRole.USER, asked)
        if tokens is None or not tokens.fed or not tokens.sampled:
            self._sequence = ()
            self._steps.append(TrajectoryStep(TrajectoryRole.ASSISTANT, content, absent=True))
            return
        # The last token of a prompt is always fed, for what it predicts is kept nowhere.
        kept = min(_common(self._sequence, tokens.fed), len(tokens.fed) - 1)
        self._steps[-1] = replace(self._steps[-1], kept=kept, input_ids=tokens.fed[kept:])
        self._steps.append(TrajectoryStep(TrajectoryRole.ASSISTANT, content, output_ids=tokens.sampled))
        self._sequence = tokens.fed + tokens.sampled

    def said(self, content: str) -> None:
        """What the person was told in the model's place; it has no ids, for no model wrote it."""
        self._steps.append(TrajectoryStep(TrajectoryRole.ASSISTANT, content))

    def faulted(self, reason: str) -> None:
        """What the model wrote last cannot be used, and it is asked again."""
        self._mark(fault=reason)

    def called(self, name: str, arguments_json: str) -> None:
        """What the model wrote last is this call."""
        self._mark(tool_call=TrajectoryCall(name, arguments_json))

    def finished(self, result: TrajectoryResult, content: str) -> None:
        """What came of the call, and in which words the model is told."""
        self._steps.append(TrajectoryStep(TrajectoryRole.TOOL, content, tool_result=result))

    def _mark(self, *, fault: str | None = None, tool_call: TrajectoryCall | None = None) -> None:
        if not self._steps or self._steps[-1].role is not TrajectoryRole.ASSISTANT or self._steps[-1].tool_call is not None:
            # The second call of one reply: its ids stand with the first.
            self._steps.append(TrajectoryStep(TrajectoryRole.ASSISTANT, ""))
        self._steps[-1] = replace(self._steps[-1], fault=fault, tool_call=tool_call)


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """How many tokens both begin with."""
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return index
    return min(len(left), len(right))
