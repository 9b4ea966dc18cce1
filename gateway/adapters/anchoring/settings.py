"""`[anchors.NAME]` tables of the settings file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gateway.core.cosigner import read_cosigner_key
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured

_HTTP: Final = r"^https?://[^\s/?#@]+[^\s?#]*$"


def _require_key(line: str) -> str:
    try:
        read_cosigner_key(line)
    except Misconfigured as error:
        raise ValueError(error.message) from None
    return line


class _AnchorTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    minutes: float = Field(
        10, gt=0, le=1440, description="between two checkpoints that are anchored; none is while nothing is new"
    )


class FileAnchor(_AnchorTable):
    """A file that checkpoints are added to, such as one on a mounted volume that only grows."""

    kind: Literal["file"]
    path: Path


class GitAnchor(_AnchorTable):
    """A branch of a git repository elsewhere. `git` signs in as it does for the user that runs the gateway."""

    kind: Literal["git"]
    remote: str = Field(pattern=r"^[A-Za-z0-9/._~][^\s]{0,1000}$", description="as `git push` takes it; without a password in it")
    branch: str = Field("checkpoints", pattern=r"^[A-Za-z0-9][A-Za-z0-9/_-]{0,99}$")


class CosignerAnchor(_AnchorTable):
    """A cosigner as C2SP's add-checkpoint describes it."""

    kind: Literal["cosigner"]
    url: str = Field(pattern=_HTTP, description="its submission prefix; `/add-checkpoint` is added")
    key: Annotated[str, AfterValidator(_require_key)] = Field(description="what it signs with: `name+hash+key`")


class TimestampAnchor(_AnchorTable):
    """A time-stamping authority (RFC 3161)."""

    kind: Literal["rfc3161"]
    url: str = Field(pattern=_HTTP)
    ca: Path = Field(description="the certificates that its own go back to, in PEM")


Anchor = FileAnchor | GitAnchor | CosignerAnchor | TimestampAnchor
_TABLE: Final[TypeAdapter[Anchor]] = TypeAdapter(Annotated[Anchor, Field(discriminator="kind")])


@dataclass(frozen=True, slots=True)
class NamedAnchor:
    """An anchor by its name."""

    name: str
    settings: Anchor


def read_anchors(tables: Mapping[str, Mapping[str, Any]]) -> Sequence[NamedAnchor]:
    """The anchors of the settings. Raises Misconfigured, naming the table."""
    anchors: list[NamedAnchor] = []
    for name, table in tables.items():
        shown = f"`[anchors.{escape(name)[:80]}]`"
        # It is part of a file's name.
        if re.fullmatch(r"[a-z][a-z0-9-]{0,31}", name) is None:
            raise Misconfigured(f"{shown}: an anchor's name has lower-case letters, digits and `-`, a letter first, at most 32")
        try:
            anchors.append(NamedAnchor(name, _TABLE.validate_python(table)))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(str(part) for part in first["loc"][1:])
            raise Misconfigured(f"{shown}: {f'`{escape(place)}`: ' if place else ''}{first['msg']}") from None
    return anchors
