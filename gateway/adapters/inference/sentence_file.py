"""The file of the sentence model: what it is called and what it must be."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gateway.adapters.inference.weights import known_digest, stamp_beside

NAME: Final = "embeddings"
"""In `countersign models fetch`."""

FILE: Final = "all-minilm-l6-v2-f16.gguf"
BYTES: Final = 46_220_352
SHA256: Final = "8c92677be0a10ad03a072d3adafbed9ca459f6301507aa8892af4979f24d56d2"
"""Of the file that `sentence_model` makes: the same inputs give the same bytes."""


def find_sentence_model(folder: Path) -> Path | None:
    """The file, if the right one is there. Reads it whole once, then trusts the stamp."""
    path = folder / FILE
    try:
        right = path.stat().st_size == BYTES and known_digest(path, stamp_beside(path)) == SHA256
    except OSError:
        return None
    return path if right else None
