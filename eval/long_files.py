"""Files that are longer than a model's context, for questions about them. Made by counting, so that everybody has the same.

What is asked about stands in `sets/planted.json`, by file and line; the rest is filler that answers none of the questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Final

import orjson

PLANTED: Final = Path(__file__).with_name("sets") / "planted.json"

_SHOPS: Final = ("Greenleaf,food", "Tram Pass,transport", "Bookshop Page,fun", "Pharmacy Nord,health", "Hardware Hall,home")
_WEATHER: Final = ("Grey and mild.", "Rain until noon.", "Frost on the windows.", "Sun at last.", "Wind all day.")
_DOINGS: Final = (
    "Walked to the river and back before work, nobody there but the ducks.",
    "Soup again, with the bread of yesterday, and a film that neither of us liked.",
    "Long day at the office; the lift stood still and all of us took the stairs.",
    "Tidied the shelf in the hall, found three gloves and no pair.",
    "Played cards with the neighbours until late, lost every round.",
    "Repotted the basil, which does not look grateful.",
    "Took the slow train along the lake and read most of the way.",
)


@cache
def long_files() -> dict[str, str]:
    """Text by path in the workspace, the same object each time. Each is some 20 to 60 KB."""
    planted: Mapping[str, Mapping[str, str]] = orjson.loads(PLANTED.read_bytes())
    return {path: _write(_FILLERS[path], lines, planted[path]) for path, lines in _LINES.items()}


def _write(filler: Callable[[int], str], lines: int, planted: Mapping[str, str]) -> str:
    """Lines are counted from 1, as an editor does."""
    return "".join(planted.get(str(number), filler(number)) + "\n" for number in range(1, lines + 1))


def _log_line(number: int) -> str:
    day, second = date(2026, 2, 1) + timedelta(days=number // 30), 7 * number
    clock = f"{2 + second // 3600 % 4:02}:{second // 60 % 60:02}:{second % 60:02}"
    return f"{day} {clock} INFO copied photos/img_{1000 + number}.jpg, {180 + number * 37 % 900} KB"


def _diary_line(number: int) -> str:
    day = date(2025, 1, 1) + timedelta(days=number)
    return f"{day}: {_WEATHER[number % 5]} {_DOINGS[number % 7]} {_DOINGS[(number + 3) % 7]}"


def _booking_line(number: int) -> str:
    day = date(2025, 1, 1) + timedelta(days=number * 364 // 900)
    return f"{day},{_SHOPS[number * 7 % 5]},{5 + number * 13 % 60}.{number * 3 % 10}0"


_LINES: Final = {"logs/backup.log": 800, "diary/2025.txt": 330, "money/2025.csv": 900}
_FILLERS: Final = {"logs/backup.log": _log_line, "diary/2025.txt": _diary_line, "money/2025.csv": _booking_line}
