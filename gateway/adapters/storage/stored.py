"""Values that are kept as JSON in one column, written and read by their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from pydantic import BeforeValidator, TypeAdapter

from gateway.core.canonical import Json

Value = TypeVar("Value")


class StoredJson(Generic[Value]):
    """A column of JSON text that holds values of one type."""

    def __init__(self, adapt: Callable[[], TypeAdapter[Value]], *, derived: frozenset[str] = frozenset()) -> None:
        """`adapt` is called by the first value: a gateway that only just began has none. `derived` names members that follow from
        the others and are not written."""
        self._adapt = adapt
        self._derived = set(derived) or None

    @cached_property
    def _adapter(self) -> TypeAdapter[Value]:
        return self._adapt()

    def write(self, value: Value) -> str:
        """The text that the column keeps."""
        return self._adapter.dump_json(value, exclude=self._derived).decode()

    def read(self, text: str) -> Value:
        """The value that `write` was given, or that version 0.1.0 wrote."""
        return self._adapter.validate_json(text)


def by_name(kind: type[Any], stored: Json) -> Json:
    """Version 0.1.0 wrote the members of small values as a list, in the order of their fields; this names them."""
    if not isinstance(stored, list):
        return stored
    names = (field.name for field in fields(kind))
    # A member that is a field no more is not read.
    return dict(zip(names, cast("list[Json]", stored), strict=False))


def also_as_list(kind: type[Any], *written: str) -> BeforeValidator:
    """For `Annotated`: the value may be stored as version 0.1.0 did. `written` names the members that it wrote first and that are
    fields still, where the fields are others since."""

    def name(stored: Json) -> Json:
        if written and isinstance(stored, list):
            return dict(zip(written, cast("list[Json]", stored), strict=False))
        return by_name(kind, stored)

    return BeforeValidator(name)


def members_also_as_lists(**kinds: type[Any]) -> BeforeValidator:
    """The same for members of a value."""

    def name(stored: Mapping[str, Json]) -> Mapping[str, Json]:
        return {**stored, **{member: by_name(kind, stored.get(member)) for member, kind in kinds.items()}}

    return BeforeValidator(name)


texts: StoredJson[tuple[str, ...]] = StoredJson(lambda: TypeAdapter(tuple[str, ...]))
"""A list of words."""
