"""Frozen dataclasses that are made in half of the time.

A frozen dataclass sets each of its fields by a call of `object.__setattr__`, because its own assignment is closed. A tool call
makes some thirty such values with 170 fields, and their constructors were the largest single part of its time. Here a value is
an instance of an open class of the same layout while its constructor assigns the fields, and takes its own class before anybody
else sees it. Everything but the constructor stays as `dataclass` made it: copying, pickling and `replace` do not notice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any, Final, TypeVar, cast

AnyClass = TypeVar("AnyClass", bound=type)

_BECOME: Final = object.__dict__["__class__"].__set__


def quick(cls: AnyClass) -> AnyClass:
    """Give a dataclass with `frozen=True, slots=True` a quicker constructor of the same parameters.

    Nothing may inherit from it, since a subclass would have another layout. Raises TypeError for any other class.
    """
    own = fields(cast("Any", cls))
    if cls.__mro__ != (cls, object) or not cast("Any", cls).__dataclass_params__.frozen or "__slots__" not in cls.__dict__:
        raise TypeError(f"{cls.__name__} is no frozen dataclass with slots of its own")
    known: dict[str, Any] = {
        "_become": _BECOME,
        "_Open": type(cls.__name__, (), {"__slots__": tuple(field.name for field in own)}),
        "_Frozen": cls,
        "_UNSET": object(),
    }
    parameters = [_parameter(field, known) for field in own if field.init]
    source = [
        f"def __init__(self, {', '.join(parameters)}):",
        " _become(self, _Open)",
        *(f" self.{field.name} = {_value(field, known)}" for field in own),
        " self.__class__ = _Frozen",
        *((" self.__post_init__()",) if hasattr(cls, "__post_init__") else ()),
    ]
    exec("\n".join(source), known)  # noqa: S102 - as `dataclass` itself: the names are those of the class's own fields
    made: Callable[..., None] = known["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = dict(cls.__init__.__annotations__)
    cls.__init__ = made
    # In place of the class method that every class has.
    cast("Any", cls).__init_subclass__ = classmethod(_refuse_subclass)
    return cls


def _parameter(field: Field[Any], known: dict[str, Any]) -> str:
    if field.default is not MISSING:
        known[f"_default_{field.name}"] = field.default
        return f"{field.name}=_default_{field.name}"
    return field.name if field.default_factory is MISSING else f"{field.name}=_UNSET"


def _value(field: Field[Any], known: dict[str, Any]) -> str:
    if field.default_factory is MISSING:
        # Without either it is set by `__post_init__`, as in any dataclass.
        known[f"_default_{field.name}"] = field.default
        return field.name if field.init else f"_default_{field.name}"
    known[f"_make_{field.name}"] = field.default_factory
    made = f"_make_{field.name}()"
    return f"{made} if {field.name} is _UNSET else {field.name}" if field.init else made


def _refuse_subclass(cls: type, **_named: object) -> None:
    raise TypeError(f"{cls.__name__}: a quickly made value cannot be inherited from")
