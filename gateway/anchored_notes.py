"""What anchors have of the log, read before a start: they lie in one adapter, and what is compared with them in another.

Apart from `anchored_log`, because every start asks this, and what looks at a whole log is imported by the first look.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateway.adapters.storage.anchored import AnchoredNote
from gateway.settings import Settings


async def anchored_notes(settings: Settings) -> Sequence[AnchoredNote]:
    """What the anchors of the settings have of the log, to compare it with before anything is written. Takes as long as they do,
    ten seconds at most. Raises Misconfigured."""
    if not settings.anchors:
        return ()
    from gateway.adapters.anchoring.held import read_held

    return [AnchoredNote(name, note) for name, note in await read_held(settings.anchors, settings.state)]
