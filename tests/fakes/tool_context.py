"""What a tool is told about the call that it runs for."""

from __future__ import annotations

import threading

from gateway.core.model import Principal
from gateway.core.vocabulary import Profile
from gateway.runtime.ports import ToolContext

PRINCIPAL = Principal("usr_ada", "Ada", Profile.OPERATOR)


def make_context() -> ToolContext:
    return ToolContext(
        principal=PRINCIPAL,
        session_id="ses_1",
        conversation_id="cnv_1",
        turn_id="trn_1",
        call_id="call-1",
        idempotency_key="key-1",
        cancelled=threading.Event(),
        progress=lambda message, fraction: None,
    )
