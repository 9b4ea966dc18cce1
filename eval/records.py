"""Every case's outcome, one JSON object a line, written as it happens: an interrupted run goes on where it stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import orjson
from pydantic import TypeAdapter, ValidationError

import gateway
from eval.cases import Case, dump
from eval.contenders import Contender
from eval.scoring import Attempt
from gateway.shipped import shipped_folder

ROOT: Final = Path(__file__).parents[1]

_HERE: Final = Path(__file__).parent
_GATEWAY: Final = Path(gateway.__file__).parent
_WORDS: Final = sorted(
    (file for file in shipped_folder("loop").iterdir() if file.name.endswith(".json")), key=lambda file: file.name
)
"""The files of `loop/`, beside the package in a checkout and inside it elsewhere."""

_SHARED: Final = (
    *sorted((_HERE / "sets").glob("*.json")),
    *(_HERE / name for name in ("chat.py", "claims.py", "long_files.py", "workspaces.py")),
    *(_GATEWAY / "adapters" / "tools" / "builtin" / name for name in ("semantic.py", "workspace.py")),
)
_BASELINES: Final = (_HERE / "plain.py", _HERE / "few_shot.py", *(each for each in _WORDS if each.name == "prompts.json"))
_LOOP: Final = (
    *(_HERE / name for name in ("leaving.py", "loop.py")),
    *(path for path in sorted((_GATEWAY / "agent").glob("*.py")) if path.stem not in {"rollout", "traces", "trajectory"}),
    *_WORDS,
)
"""The files that decide what a model is shown. An outcome from before a change of any is not used again."""


@dataclass(frozen=True, slots=True)
class Record:
    """What one contender did in one case. `model` is the digest of the weights, `memory` the server's bytes at the end."""

    model: str
    contender: str
    case: str
    stamp: str
    on: str
    memory: int
    attempt: Attempt


_READER: Final = TypeAdapter(Record)


class OutcomeDigests:
    """What an outcome must carry to count: a digest of the code as it is now, and of the case."""

    def __init__(self) -> None:
        self._baselines = _digest_of((*_SHARED, *_BASELINES))
        self._loop = _digest_of((*_SHARED, *_LOOP))

    def of(self, contender: Contender, case: Case) -> str:
        """The stamp for this contender in this case."""
        code = self._baselines if contender.guards is None else self._loop
        return hashlib.sha256(code + dump(case)).hexdigest()[:16]


class Records:
    """The file. Half a line at its end, from an interruption, is passed over."""

    def __init__(self, path: Path, digests: OutcomeDigests | None = None) -> None:
        self.digests = digests or OutcomeDigests()
        self.path = path
        self._known: dict[tuple[str, str, str], Record] = {}
        if path.exists():
            for line in path.read_bytes().splitlines():
                if (record := _read(line)) is not None:
                    self._known[record.model, record.contender, record.case] = record

    def find(self, model: str, contender: Contender, case: Case) -> Record | None:
        """The latest outcome, if nothing has changed since."""
        record = self._known.get((model, contender.name, case.id))
        return record if record is not None and record.stamp == self.digests.of(contender, case) else None

    def add(self, record: Record) -> None:
        """Keep an outcome, on disk before this returns."""
        self._known[record.model, record.contender, record.case] = record
        self.path.parent.mkdir(parents=True, exist_ok=True)
        cut = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
        with self.path.open("ab") as file:
            file.write((b"\n" if cut else b"") + orjson.dumps(asdict(record)) + b"\n")

    def all(self, model: str, contender: Contender, cases: Iterable[Case]) -> list[tuple[Case, Record]]:
        """The outcomes that count, with their cases."""
        found = ((case, self.find(model, contender, case)) for case in cases)
        return [(case, record) for case, record in found if record is not None]


def _digest_of(files: Iterable[Path | Traversable]) -> bytes:
    seen = hashlib.sha256()
    for path in files:
        seen.update(path.name.encode() + b"\0" + path.read_bytes())
    return seen.digest()


def _read(line: bytes) -> Record | None:
    try:
        return _READER.validate_json(line)
    except ValidationError:
        return None
