"""A tool that can have the person who is asked wait for its preview, until a file is there."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from gateway.adapters.tools import tool
from gateway.core.canonical import Json
from gateway.core.preview import Preview, PreviewChange

_never = threading.Event()


def _preview(arguments: Mapping[str, Json]) -> Preview:
    here = Path(os.environ["EFFECTS"]).parent
    for _ in range(6000 if arguments["slowly"] else 0):
        if (here / "shown").exists():
            break
        _never.wait(0.02)
    return Preview(PreviewChange.KEEP, "a picture")


@tool(category="write", summary="Paint", preview=_preview)
def paint(slowly: Annotated[bool, "whether its preview takes long"]) -> str:
    """Needs a consent."""
    return f"painted {'slowly' if slowly else 'quickly'}"
