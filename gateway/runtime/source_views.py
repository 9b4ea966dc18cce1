"""A source as it is looked at, and what somebody decides about a tool of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.core.canonical import Json, digest
from gateway.core.sources import AddedSource, SourceTool
from gateway.core.vocabulary import Category
from gateway.runtime.ports import SourceState
from gateway.runtime.sign_ins import SignInView


@dataclass(frozen=True, slots=True)
class SourceView:
    """A source as it is described, as it is now, and its tools."""

    source: AddedSource
    settings_digest: str
    state: SourceState
    tools: Sequence[SourceTool]
    sign_in: SignInView | None = None
    takes_sign_in: bool = False


class SettingsDigests:
    """The digest of each source's settings, made once: they may hold a document of many megabytes, of which it takes a while."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Mapping[str, Json], str]] = {}

    def of(self, source: AddedSource) -> str:
        """That of its settings as they are now."""
        settings, known = self._known.get(source.name, (None, ""))
        # They are read anew each time; to compare them takes a moment.
        if settings != source.settings:
            known = digest(source.settings)
            self._known[source.name] = (source.settings, known)
        return known

    def forget(self, name: str) -> None:
        """Keep nothing of a source that is removed."""
        self._known.pop(name, None)


@dataclass(frozen=True, slots=True)
class ToolDecision:
    """What somebody decides about a tool: the category, None for nobody calls it. `pin` is the definition that they saw."""

    tool: str
    pin: str
    category: Category | None
