"""How much of the disk a session may fill. What else is limited is in `usage`.

Counted in memory from when the gateway started, for one session: a tab gets another session only from a person at the
console, so a hostile one cannot start afresh.
"""

from __future__ import annotations

from gateway.core.errors import TooManyRequests
from gateway.core.model import Session
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.ports import PolicyEngine

RECORD_BYTES = 4_096
"""What any record costs beside its text: rows, indices, leaf, checkpoint and the write-ahead log. Twice what was measured."""


class Quotas:
    """Counts what sessions use, and says when it is enough."""

    def __init__(self, *, connections: ConnectionRegistry, policy: PolicyEngine) -> None:
        self._connections = connections
        self._policy = policy

    def charge_storage(self, session: Session, size: int = 0, records: int = 1) -> None:
        """Count something about to be recorded, `size` bytes of text in so many records. Raises TooManyRequests: there is
        no record of what is refused here, for a record is what there is no room for."""
        live = self._connections.live(session)
        allowed = self._policy.limits(session.principal.profile).stored_bytes_per_session
        live.stored += size + records * RECORD_BYTES
        if live.stored > allowed:
            live.stored = allowed
            raise TooManyRequests(
                f"this session has had {allowed // 1_000_000} MB recorded, all that it may; open the shell from the console again"
            )

    def may_keep(self, session_id: str, size: int) -> bool:
        """Whether there is room for `size` bytes of a result beyond what is handed out, which are counted then.

        Such results get half of what a session may have recorded: no tool can fill the room that calls themselves need.
        """
        live = self._connections.find(session_id)
        if live is None:
            return False
        allowed = self._policy.limits(live.session.principal.profile).stored_bytes_per_session // 2
        if live.stored + size + RECORD_BYTES > allowed:
            return False
        live.stored += size + RECORD_BYTES
        return True
