"""What is new about an offer, and what a decision about a tool is worth."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import Misconfigured
from gateway.core.sources import (
    SeenTool,
    SourceTool,
    Standing,
    compare,
    fill_secrets,
    require_secret_name,
    require_source_name,
    secrets_named,
)
from gateway.core.vocabulary import Category

SEEN = SeenTool("read", "notes__read", "a" * 64, {"name": "read"})
OTHER = replace(SEEN, pin="b" * 64)
UNDECIDED = SourceTool("notes", SEEN)
DECIDED = SourceTool("notes", SEEN, Category.READ, 7)


def test_a_tool_that_nobody_decided_about_is_proposed() -> None:
    assert UNDECIDED.standing is Standing.PROPOSED


def test_a_tool_with_a_category_is_in_use_until_its_definition_changes() -> None:
    assert DECIDED.standing is Standing.IN_USE
    assert replace(DECIDED, pending=OTHER).standing is Standing.QUARANTINED


def test_a_tool_that_was_kept_out_stays_out_whatever_it_becomes() -> None:
    assert replace(DECIDED, category=None, pending=OTHER).standing is Standing.KEPT_OUT


def test_what_is_on_record_as_it_is_offered_is_nothing_new() -> None:
    for known in (UNDECIDED, DECIDED, replace(DECIDED, pending=OTHER)):
        offered = known.pending or known.seen
        findings = compare((known,), (offered,))
        assert (findings.new, findings.changed) == ((), ())


def test_an_unknown_tool_is_new() -> None:
    assert compare((), (SEEN,)).new == (SEEN,)


def test_another_definition_of_an_undecided_tool_is_new_and_of_a_decided_one_a_change() -> None:
    assert compare((UNDECIDED,), (OTHER,)).new == (OTHER,)
    assert compare((DECIDED,), (OTHER,)).changed == (OTHER,)


def test_a_tool_that_takes_its_change_back_is_a_change_too() -> None:
    assert compare((replace(DECIDED, pending=OTHER),), (SEEN,)).changed == (SEEN,)


@pytest.mark.parametrize("name", ["notes", "my-notes", "a", "a1-b2", "x" * 32])
def test_a_source_may_be_called(name: str) -> None:
    assert require_source_name(name) == name


@pytest.mark.parametrize("name", ["", "Notes", "1a", "a--b", "-a", "a-", "a_b", "a.b", "a/b", "x" * 33, "nötes", "a\n", "a b"])
def test_a_source_may_not_be_called(name: str) -> None:
    with pytest.raises(Misconfigured, match="no name for a source"):
        require_source_name(name)


@pytest.mark.parametrize("name", ["", "1a", "a b", "a}", "${secret:x}", "x" * 65, "ä", "a\n"])
def test_a_secret_may_not_be_called(name: str) -> None:
    with pytest.raises(Misconfigured, match="no name for a secret"):
        require_secret_name(name)


def test_settings_name_their_secrets_wherever_they_are() -> None:
    settings = {"env": {"A": "${secret:one}", "B": "x"}, "headers": {"C": "Bearer ${secret:two}"}, "list": ["${secret:three}", 4]}
    assert secrets_named(settings) == {"one", "two", "three"}


def test_secrets_are_put_where_they_are_named_and_nothing_else_is_replaced() -> None:
    assert fill_secrets("Bearer ${secret:a}${secret:b} $x ${y}", {"a": "1", "b": "2"}) == "Bearer 12 $x ${y}"


def test_a_secret_that_holds_a_reference_is_not_read_again() -> None:
    assert fill_secrets("${secret:a}", {"a": "${secret:b}", "b": "no"}) == "${secret:b}"


def test_a_secret_that_is_not_stored_is_named() -> None:
    with pytest.raises(Misconfigured, match="`gone` is not stored"):
        fill_secrets("x ${secret:gone}", {})


@given(st.text(max_size=40))
def test_every_name_that_is_taken_can_begin_the_name_of_a_tool(name: str) -> None:
    try:
        require_source_name(name)
    except Misconfigured:
        return
    published = name.replace("-", "_")
    assert published.isascii()
    assert "__" not in published
