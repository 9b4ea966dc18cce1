"""What the anchors of the settings gave for the newest checkpoint that each has, for receipts and exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, assert_never

from gateway.adapters.anchoring.places import AnchorFile
from gateway.adapters.anchoring.settings import (
    CosignerAnchor,
    FileAnchor,
    GitAnchor,
    NamedAnchor,
    TimestampAnchor,
    read_anchors,
)
from gateway.core.anchors import Evidence, cosigner_evidence, git_evidence, time_stamp_evidence


def read_evidence(tables: Mapping[str, Mapping[str, Any]], state: Path) -> Sequence[Evidence]:
    """One piece for each anchor that has something, but for files: their path proves nothing to anybody else. Raises
    Misconfigured."""
    found = (_describe(anchor, state) for anchor in read_anchors(tables))
    return [each for each in found if each is not None]


def _describe(anchor: NamedAnchor, state: Path) -> Evidence | None:
    place = AnchorFile(state, anchor.name).read()
    if not place.size:
        return None
    match anchor.settings:
        case FileAnchor():
            return None
        case GitAnchor():
            return git_evidence(place.note, place.proof)
        case CosignerAnchor():
            return cosigner_evidence(place.note, anchor.settings.key, place.proof)
        case TimestampAnchor():
            return time_stamp_evidence(place.note, place.proof)
        case _:
            assert_never(anchor.settings)
