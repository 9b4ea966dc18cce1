"""The vectors themselves: what one language promises, the other is held to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.agent.vectors import ROOT

SUBJECTS = {path.stem for path in (ROOT / "tests" / "vectors" / "agent").iterdir()}


def subjects_read_by(files: Iterable[Path], call: str) -> set[str]:
    return {found for path in files for found in re.findall(rf'{call}\(\s*"([a-z-]+)"', path.read_text("utf-8"), re.DOTALL)}


@pytest.mark.requirement("001-13", "every set of vectors is read by the tests of both languages")
def test_every_vector_is_read_in_both_languages() -> None:
    assert subjects_read_by((ROOT / "tests" / "agent").glob("test_*.py"), "read_vectors") == SUBJECTS
    in_browser = (ROOT / "web" / "tests" / "unit" / "agent").glob("*.test.ts")
    assert subjects_read_by(in_browser, "readVectors(?:<.*?>)?") == SUBJECTS
