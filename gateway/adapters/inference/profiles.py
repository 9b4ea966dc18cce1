"""What was found out about a model by trying it, kept in the state folder: by the weights' digest, or by name and server."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.core.vocabulary import Tier

FOLDER: Final = "models"
"""Inside the state folder."""

_LARGEST: Final = 1 << 16

Percent = Annotated[int, Field(ge=0, le=100)]
Rate = Annotated[float, Field(ge=0)]


class ModelProfile(BaseModel):
    """`native` and `chained` are tasks done of five, None where that loop was not tried. `on` is the day.

    The rest comes from `models check`. `rank` is the percent of the hold-out cases that are complete, `complete` that of all
    `cases`; `sample` is how many of every kind were taken, None for all; `kinds` has complete cases and cases for each kind. Then
    the context that the model was served with, tokens per second read and written, and the most memory that the model server
    took, in bytes.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    title: str
    tier: Tier
    requests: int
    on: str
    native: int | None = None
    chained: int | None = None
    rank: Percent | None = None
    complete: Percent | None = None
    cases: Annotated[int, Field(ge=0)] | None = None
    sample: Annotated[int, Field(gt=0)] | None = None
    kinds: Mapping[str, tuple[int, int]] = Field(default_factory=dict[str, tuple[int, int]])
    context_tokens: Annotated[int, Field(gt=0)] | None = None
    prompt_rate: Rate | None = None
    decode_rate: Rate | None = None
    memory: Annotated[int, Field(ge=0)] | None = None

    @property
    def is_checked(self) -> bool:
        """Whether somebody asked for it, so that it holds against what the catalogue says too."""
        return self.rank is not None

    @property
    def whole_rank(self) -> int | None:
        """The rank where all cases were run: what can be held beside the ranks of the catalogue."""
        return self.rank if self.sample is None else None


class CaseOutcome(NamedTuple):
    """What became of one case of the evaluation. `kind` is for people."""

    kind: str
    held_out: bool
    complete: bool


class ProfileStore:
    """The profiles of one state folder. `template` is the text of a chat template in place of the weights' own: with another one
    it is another model."""

    def __init__(self, state: Path, template: str = "") -> None:
        self._folder = state / FOLDER
        self._template = template

    def read(self, model: str) -> ModelProfile | None:
        """The profile of a `ModelInfo.id`, None where there is none that can be read."""
        try:
            with self.path(model).open("rb") as file:
                profile = ModelProfile.model_validate_json(file.read(_LARGEST))
        except (OSError, ValidationError):
            return None
        return profile if profile.id == model else None

    def write(self, profile: ModelProfile) -> None:
        """Keep it in place of an earlier one. A folder that cannot be written to costs trying the model again, not its use."""
        path = self.path(profile.id)
        draft = path.with_name(f"{path.name}.new")
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            draft.write_text(profile.model_dump_json(exclude_none=True, indent=2) + "\n", encoding="utf-8")
            os.replace(draft, path)

    def path(self, model: str) -> Path:
        """Where the profile of a model is, or would be."""
        key = hashlib.sha256(f"{model}\n{self._template}".encode()).hexdigest()
        return self._folder / f"{key}.json"
