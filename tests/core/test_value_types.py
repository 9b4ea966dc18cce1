"""Frozen dataclasses with a quicker constructor are the same in all that anybody can see of them."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any, cast

import pytest

from gateway.core.value_types import quick


@dataclass(frozen=True, slots=True)
class Plain:
    """What `dataclass` makes."""

    name: str
    size: int = 3
    parts: list[int] = field(default_factory=list[int])
    shout: str = field(init=False, compare=False, default_factory=str)
    fixed: int = field(init=False, default=7)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shout", self.name.upper())


@quick
@dataclass(frozen=True, slots=True)
class Quick:
    """The same."""

    name: str
    size: int = 3
    parts: list[int] = field(default_factory=list[int])
    shout: str = field(init=False, compare=False, default_factory=str)
    fixed: int = field(init=False, default=7)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shout", self.name.upper())


@pytest.mark.parametrize("arguments", [("a",), ("a", 4), ("a", 4, [1])])
def test_its_fields_are_those_of_the_plain_class(arguments: tuple[Any, ...]) -> None:
    made, plain = Quick(*arguments), Plain(*arguments)
    assert type(made) is Quick
    assert [getattr(made, each.name) for each in fields(made)] == [getattr(plain, each.name) for each in fields(plain)]
    assert repr(made) == repr(plain).replace("Plain", "Quick")


def test_it_takes_names_and_refuses_what_the_plain_class_refuses() -> None:
    assert Quick(parts=[2], name="a") == Quick("a", 3, [2])
    for wrong in ({}, {"name": "a", "other": 1}, {"name": "a", "fixed": 1}):
        with pytest.raises(TypeError):
            cast("Any", Quick)(**wrong)
    assert [*inspect.signature(Quick).parameters] == [*inspect.signature(Plain).parameters]


def test_each_value_has_a_list_of_its_own() -> None:
    assert Quick("a").parts is not Quick("a").parts


def test_it_is_closed_as_soon_as_it_is_made() -> None:
    made = cast("Any", Quick("a"))
    with pytest.raises(FrozenInstanceError):
        made.name = "b"
    with pytest.raises(FrozenInstanceError):
        del made.name


def test_copies_are_equal_and_of_the_same_class() -> None:
    made = Quick("a", 4, [1])
    for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made)), replace(made)):
        assert (type(other), other, other.shout) == (Quick, made, "A")
    assert replace(made, name="b").shout == "B"


def test_a_subclass_is_refused_where_it_is_written() -> None:
    with pytest.raises(TypeError, match="cannot be inherited from"):
        type("Below", (Quick,), {})


@dataclass(slots=True)
class Open:
    name: str


@dataclass(frozen=True)
class WithoutSlots:
    name: str


@dataclass(frozen=True, slots=True)
class Inheriting(Plain):
    more: int = 0


@pytest.mark.parametrize("other", [Open, WithoutSlots, Inheriting])
def test_only_frozen_classes_with_slots_of_their_own_are_taken(other: type) -> None:
    with pytest.raises(TypeError, match="no frozen dataclass"):
        quick(other)
