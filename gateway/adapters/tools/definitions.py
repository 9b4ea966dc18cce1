"""Definitions that may be published: checked one by one and against each other, with their schemas compiled once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from gateway.adapters.tools.lookalikes import skeleton
from gateway.adapters.tools.schemas import Validator
from gateway.core import effects
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured
from gateway.core.local_tools import LOCAL_NAMES
from gateway.core.model import ToolSpec
from gateway.runtime.ports import ArgumentFault

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_LOCAL_SKELETONS: Final = frozenset(map(skeleton, LOCAL_NAMES))


class Definitions:
    """Checked definitions by name."""

    def __init__(self) -> None:
        self._specs: dict[str, ToolSpec] = {}
        self._by_skeleton: dict[str, ToolSpec] = {}
        self._validators: dict[str, Validator] = {}

    def copy(self) -> Definitions:
        """The same definitions, to be tried out with further ones."""
        copied = Definitions()
        copied._specs, copied._validators = dict(self._specs), dict(self._validators)
        copied._by_skeleton = dict(self._by_skeleton)
        return copied

    def add(self, spec: ToolSpec, before: Definitions | None = None) -> None:
        """Take one more. What `before` has compiled is not compiled again; what it has checked is only compared with the others.

        Raises Misconfigured, naming the tool, for one that cannot be published.
        """
        compiled = None if before is None else before.find_validator(spec)
        if before is not None and before.find(spec.name) is spec and compiled and self.find_alike(spec.name) is None:
            self._take(spec, compiled)
            return
        name = effects.escape(spec.name)
        if _NAME.fullmatch(spec.name) is None:
            raise Misconfigured(f"tool `{name}`: a name is a letter or `_`, then at most 63 letters, digits or `_`")
        if skeleton(spec.name) in _LOCAL_SKELETONS:
            raise Misconfigured(f"tool `{name}`: this name belongs to the agent loop, or looks like one that does")
        if (other := self.find_alike(spec.name)) is not None:
            if other.name == spec.name:
                raise Misconfigured(f"tool `{name}` of {spec.source} is already published by {other.source}")
            raise Misconfigured(
                f"tool `{name}` of {spec.source} looks like `{other.name}` of {other.source}; a person could not tell which"
                " one they approve, so rename one of them"
            )
        if not spec.description.strip():
            raise Misconfigured(f"tool `{name}` has no description, so no model can know when to call it")
        known: Mapping[str, Json] = spec.param_schema.get("properties", {})
        try:
            validator = compiled or Validator(spec.param_schema)
            strange = [used for text in (spec.summary, *spec.effects) for used in effects.names_in(text) if used not in known]
        except Misconfigured as error:
            raise Misconfigured(f"tool `{name}`: {error.message}") from None
        if strange:
            raise Misconfigured(f"tool `{name}`: its summary or effects name `{strange[0]}`, which is no parameter")
        self._take(spec, validator)

    def _take(self, spec: ToolSpec, validator: Validator) -> None:
        self._validators[spec.digest] = validator
        self._specs[spec.name] = spec
        self._by_skeleton[skeleton(spec.name)] = spec

    def find_validator(self, spec: ToolSpec) -> Validator | None:
        """What was compiled of this very definition."""
        return self._validators.get(spec.digest)

    def all(self) -> Sequence[ToolSpec]:
        """In the order in which they were added."""
        return tuple(self._specs.values())

    def find(self, name: str) -> ToolSpec | None:
        """The definition of that name."""
        return self._specs.get(name)

    def find_alike(self, name: str) -> ToolSpec | None:
        """The definition of that name or of one that looks like it."""
        return self._by_skeleton.get(skeleton(name))

    def find_faults(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """Every fault of the arguments against the schema, also against one that is not current any more."""
        validator = self._validators.get(spec.digest)
        if validator is None:
            validator = self._validators[spec.digest] = Validator(spec.param_schema)
        return validator.find_faults(arguments)
