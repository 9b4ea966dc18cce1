"""Whether anything new may begin: yes, until the gateway is asked to stop."""

from __future__ import annotations

from gateway.core.errors import GatewayStopping


class Admission:
    """Open from the start; closed once and for good."""

    def __init__(self) -> None:
        self._open = True

    @property
    def is_open(self) -> bool:
        """Whether calls, turns and connections may begin."""
        return self._open

    def close(self) -> None:
        """Nothing begins any more; what is under way may go on."""
        self._open = False

    def check(self) -> None:
        """Raises GatewayStopping when nothing may begin any more."""
        if not self._open:
            raise GatewayStopping("the gateway is stopping and begins nothing new; try again when it is back")
