"""Faults as data. Each changes one place of one file, and names the tests that should fail because of it."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
FAULTS: Final = Path(__file__).with_name("faults")
"""A TOML file for each subject. In a `[[fault]]`, `why` says what would go wrong for people."""


class UnusableFault(Exception):
    """A fault that no longer fits the code: its text is gone or stands there twice, or a test that it names is gone."""


@dataclass(frozen=True, slots=True)
class SourceFault:
    """`old`, which stands once in `file`, becomes `new`. `tests` are pytest's node ids, or vitest's files below web/.

    `rows` are those of docs/PROTOCOL.md section 7 that the fault breaks.
    """

    id: str
    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]
    rows: tuple[int, ...] = ()

    @property
    def web_tests(self) -> tuple[str, ...]:
        """Those that vitest runs, by their path below web/."""
        return tuple(test.removeprefix("web/") for test in self.tests if test.startswith("web/"))

    @property
    def python_tests(self) -> tuple[str, ...]:
        """Those that pytest runs."""
        return tuple(test for test in self.tests if not test.startswith("web/"))

    def applied(self, root: Path = ROOT) -> str:
        """The file's text with the fault in it. Raises UnusableFault."""
        text = (root / self.file).read_text(encoding="utf-8")
        if (count := text.count(self.old)) != 1:
            raise UnusableFault(f"{self.id}: the old text stands {count} times in {self.file}")
        if self.old == self.new:
            raise UnusableFault(f"{self.id}: nothing changes")
        return text.replace(self.old, self.new)

    def check_tests(self, root: Path = ROOT) -> None:
        """Raises UnusableFault unless every test that is named exists."""
        if not self.tests:
            raise UnusableFault(f"{self.id}: names no test")
        for test in self.tests:
            path, _, name = test.partition("[")[0].partition("::")
            if not (root / path).exists():
                raise UnusableFault(f"{self.id}: there is no {path}")
            if name and not re.search(rf"^(?:async )?def {re.escape(name)}\(", (root / path).read_text("utf-8"), re.MULTILINE):
                raise UnusableFault(f"{self.id}: there is no test {name} in {path}")

    def digest(self, root: Path = ROOT) -> str:
        """Of the fault, its file and its tests: while it stays, so does the verdict."""
        parts = [repr(self), (root / self.file).read_text("utf-8")]
        for test in self.tests:
            path = root / test.partition("::")[0]
            files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
            parts += [file.read_text("utf-8") for file in files]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def load_faults(folder: Path = FAULTS) -> list[SourceFault]:
    """All of them, by file and in its order. Raises UnusableFault for two of one id, KeyError and TypeError for a row of
    another shape."""
    faults: list[SourceFault] = []
    for path in sorted(folder.glob("*.toml")):
        rows: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["fault"]
        faults += [SourceFault(tests=tuple(row.pop("tests")), rows=tuple(row.pop("rows", ())), **row) for row in rows]
    ids = [fault.id for fault in faults]
    if len(set(ids)) != len(ids):
        raise UnusableFault("two faults have one id")
    return faults
