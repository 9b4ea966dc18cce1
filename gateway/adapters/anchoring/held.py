"""What the anchors of the settings have of the log, before a start: read from themselves where that is possible."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gateway.adapters.anchoring.file import FileKeeper
from gateway.adapters.anchoring.git import GitKeeper
from gateway.adapters.anchoring.places import AnchorDown, AnchorFile
from gateway.adapters.anchoring.settings import CosignerAnchor, FileAnchor, GitAnchor, NamedAnchor, TimestampAnchor, read_anchors

SECONDS: Final = 10.0
"""An anchor that does not answer keeps no gateway from starting for longer."""

_log = logging.getLogger(__name__)


async def read_held(tables: Mapping[str, Mapping[str, Any]], state: Path) -> Sequence[tuple[str, str]]:
    """Names of anchors, each with a checkpoint's note that it has: of a file and a repository what lies there, of each what the
    gateway noted that it took. One that cannot be read is told in the log and left out. Raises Misconfigured."""
    anchors = read_anchors(tables)
    noted = [(each.name, AnchorFile(state, each.name).read().note) for each in anchors]
    lying = await asyncio.gather(*(_read(each, state) for each in anchors))
    return [(name, note) for name, note in (*noted, *lying) if note]


async def _read(anchor: NamedAnchor, state: Path) -> tuple[str, str]:
    match anchor.settings:
        case FileAnchor(path=path):
            keeper = FileKeeper(path)
        case GitAnchor() as settings:
            keeper = GitKeeper(settings, state / f"anchor-{anchor.name}.git")
        case CosignerAnchor() | TimestampAnchor():
            # Neither gives back what it signed.
            return anchor.name, ""
    try:
        async with asyncio.timeout(SECONDS):
            return anchor.name, await keeper.held()
    except (AnchorDown, TimeoutError) as error:
        why = str(error) or f"it did not answer within {SECONDS:.0f} s"
        _log.warning("the log was not compared with the anchor `%s`: %s", anchor.name, why)
        return anchor.name, ""
