"""The freeze that holds, if one does: what decides about calls, models and grants asks for it first."""

from __future__ import annotations

from gateway.runtime.ports import PolicyFreeze


class FreezeState:
    """One value that every part of the runtime sees at once."""

    def __init__(self) -> None:
        self.holding: PolicyFreeze | None = None
