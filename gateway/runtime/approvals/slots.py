"""How many questions a session may put to people at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

from gateway.core.approval import Approval

PlanKey = tuple[str, str]
"""What the questions of one plan have in common: the conversation, and the id of the call that the plan begins with."""


def plan_of(approval: Approval) -> PlanKey:
    """The plan that a question belongs to; a call that follows none is one of its own."""
    place = approval.plan
    return approval.conversation_id, approval.call_id if place is None else str(place["first"])


def step_of(approval: Approval) -> int:
    """Its place there, from 1."""
    place = approval.plan
    return 1 if place is None else int(place["step"])


class QuestionSlots:
    """The questions that sessions are about to ask."""

    def __init__(self) -> None:
        self._asking: dict[str, Counter[PlanKey]] = {}

    @contextmanager
    def reserve(self, session_id: str, plan: PlanKey, waiting: AbstractSet[PlanKey], most: int) -> Generator[bool]:
        """Whether a session may put one more question to its person, `waiting` being the plans that it has put and `most` what
        they can bear at once; a plan is one page, and counts once. For each session, so that a hostile one cannot keep the
        person's others from asking.

        Counted from before the question is on record: many calls at once must not all find room for one.
        """
        asking = self._asking.get(session_id, Counter())
        others = {*waiting, *asking} - {plan}
        if len(others) >= most:
            yield False
            return
        self._asking[session_id] = asking
        asking[plan] += 1
        try:
            yield True
        finally:
            asking[plan] -= 1
            if not asking[plan]:
                del asking[plan]
            if not asking:
                self._asking.pop(session_id, None)
