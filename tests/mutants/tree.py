"""A copy of the checkout, in which a fault can be put and taken out again without touching the original."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from tests.mutants.faults import ROOT, SourceFault


class Verdict(StrEnum):
    """What became of a fault. Only `killed` is well."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMED_OUT = "timed out"
    NOT_RUN = "not run"


class Tree:
    """One copy below `folder`. Files are hard links until a fault replaces one, so making it takes a moment."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
        for name in filter(None, names):
            source, target = ROOT / name, folder / name
            if source.is_file() and not source.is_symlink():
                target.parent.mkdir(parents=True, exist_ok=True)
                _link(source, target)
        for name in ("web/node_modules", "web/dist"):
            if (ROOT / name).exists():
                (folder / name).symlink_to(ROOT / name)

    @contextmanager
    def holding(self, fault: SourceFault) -> Generator[None]:
        """The fault is in the copy for the length of the context. Raises UnusableFault."""
        path = self.root / fault.file
        changed, original = fault.applied(self.root), path.read_bytes()
        _replace(path, changed.encode())
        try:
            yield
        finally:
            _replace(path, original)

    def run(self, tests: Sequence[str], web_tests: Sequence[str], seconds: float) -> tuple[Verdict, str]:
        """Run these in the copy: whether any failed, and the end of what they printed."""
        verdict, output = Verdict.SURVIVED, ""
        if tests:
            quiet = ("-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "tests.mutants.guard")
            verdict, output = self._finish([sys.executable, "-m", "pytest", *quiet, *tests], self.root, seconds)
        if web_tests and verdict is Verdict.SURVIVED:
            verdict, output = self._finish(["npx", "vitest", "run", "--bail=1", *web_tests], self.root / "web", seconds)
        return verdict, output

    def environment(self) -> Mapping[str, str]:
        """The copy's packages come before those that the virtual environment links to; child processes inherit it."""
        return {**os.environ, "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1", "PY_COLORS": "0"}

    def _finish(self, command: Sequence[str], folder: Path, seconds: float) -> tuple[Verdict, str]:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            output, _ = process.communicate()
            return Verdict.TIMED_OUT, output.decode(errors="replace")[-2000:]
        # 1 is what both say when tests ran and one failed; any other number is trouble of another kind.
        found = {0: Verdict.SURVIVED, 1: Verdict.KILLED}.get(process.returncode, Verdict.NOT_RUN)
        return found, output.decode(errors="replace")[-2000:]


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        # Another file system.
        shutil.copy2(source, target)


def _replace(path: Path, content: bytes) -> None:
    """Never through the link, which is the original's too."""
    aside = path.with_name(path.name + ".mutant")
    aside.write_bytes(content)
    os.replace(aside, path)
