"""Which names look alike: their skeletons are equal (UTS 39, section 4).

A person approves `slow` when they read `s1ow`, and a model calls one for the other. Tool names are ASCII, for which Unicode's
confusables.txt (version 13.0.0) has four rows: 0 to O, 1 to l, I to l, m to rn. Case is folded too, since neither people nor
models rely on it, and two pairs follow that the file leaves out and a narrow typeface runs together.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_CONFUSABLES: Final = str.maketrans({"0": "o", "1": "l", "i": "l", "m": "rn"})
"""The four rows, in small letters: with case folded, `i` looks like whatever `I` looks like."""

_RUN_TOGETHER: Final = str.maketrans({"w": "vv", "d": "cl"})

_UNDERSCORES: Final = re.compile("__+")
"""A row of these is one line on a screen."""


@lru_cache(8192)
def skeleton(name: str) -> str:
    """What is left of an ASCII name when look-alikes are written in one way; for comparing, never for showing."""
    return _UNDERSCORES.sub("_", name.lower()).translate(_CONFUSABLES).translate(_RUN_TOGETHER)
