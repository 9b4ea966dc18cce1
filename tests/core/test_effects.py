"""What a person reads before approving (docs/PROTOCOL.md section 4 `summary` and `effects`; docs/SECURITY.md case 34)."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.canonical import Json
from gateway.core.effects import NOT_GIVEN, SHOWN_WHOLE, escape, fill, list_effects, names_in, show, summarise
from gateway.core.errors import Misconfigured
from gateway.core.model import ToolSpec
from gateway.core.vocabulary import Category


def spec(summary: str = "", effects: tuple[str, ...] = ()) -> ToolSpec:
    return ToolSpec(
        name="delete_file",
        description="Delete a file.",
        interface_id="workspace",
        method_name="delete_file",
        param_schema={"type": "object"},
        category=Category.DESTRUCTIVE,
        source="builtin",
        summary=summary,
        effects=effects,
    )


def test_a_summary_names_what_is_touched() -> None:
    assert summarise(spec("Delete {path}"), {"path": "notes/old.txt"}) == "Delete notes/old.txt"


def test_effects_keep_the_authors_order() -> None:
    tool = spec(effects=("Removes {path} for good", "Cannot be undone"))
    assert list_effects(tool, {"path": "a.txt"}) == ("Removes a.txt for good", "Cannot be undone")


def test_a_tool_without_a_summary_is_named_with_its_arguments() -> None:
    assert summarise(spec(), {"path": "a.txt", "deep": True}) == "Run delete_file with path: a.txt, deep: yes"
    assert summarise(spec(), {}) == "Run delete_file"


def test_an_argument_without_default_is_never_shown_as_none() -> None:
    assert fill("List {path}", {}) == f"List {NOT_GIVEN}"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "yes"),
        (False, "no"),
        (None, "nothing"),
        (12, "12"),
        ("true", 'text "true"'),
        ("FALSE", 'text "FALSE"'),
        ("null", 'text "null"'),
        ("nothing", 'text "nothing"'),
        ("yes", 'text "yes"'),
        ("12", 'text "12"'),
        ("-1.5e3", 'text "-1.5e3"'),
        ("1,000", 'text "1,000"'),
        ("(not given)", '"(not given)"'),
        ("v12", "v12"),
    ],
)
def test_values_of_two_types_never_read_alike_in_a_sentence(value: Json, shown: str) -> None:
    assert fill("Set {x}", {"x": value}) == f"Set {shown}"


def test_a_sentence_that_the_author_did_not_write_has_the_arguments_in_the_authors_order() -> None:
    described = replace(spec(), param_schema={"type": "object", "properties": {"to": {}, "amount": {}}})
    assert summarise(described, {"amount": 1, "note": 2, "to": "Ada"}) == "Run delete_file with to: Ada, amount: 1, note: 2"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("notes/old.txt", "notes/old.txt"),
        ("https://example.com/a?b=c#d", "https://example.com/a?b=c#d"),
        ("a b", '"a b"'),
        ("", '""'),
        ("x. Harmless. Keep y", '"x. Harmless. Keep y"'),
        ("ends.", '"ends."'),
        ('say "yes"', '"say \\"yes\\""'),
        ("back\\slash", '"back\\\\slash"'),
        ("über", '"über"'),
        (3, "3"),
        (1.5, "1.5"),
        (True, "true"),
        (False, "false"),
        ([1, "a"], '[1,"a"]'),
        ({"b": 1, "a": None}, '{"a":null,"b":1}'),
    ],
)
def test_a_value_is_set_apart_from_the_sentence(value: Json, shown: str) -> None:
    assert show(value) == shown


@pytest.mark.parametrize(
    "char",
    [
        "\0",
        "\x1b",
        "\x7f",
        "\x85",
        "\u00a0",
        "\u00ad",
        "\u200b",
        "\u200f",
        "\u202e",
        "\u2028",
        "\u2066",
        "\u2069",
        "\u3000",
        "\u3164",
        "\ufe0f",
        "\ufeff",
        "\ue000",
        "\U000e0041",
    ],
)
def test_what_cannot_be_seen_is_spelt_out(char: str) -> None:
    shown = show(f"notes/{char}txt.exe")
    assert char not in shown
    assert f"{ord(char):04x}" in shown


def test_breaks_and_tabs_are_spelt_as_everybody_writes_them() -> None:
    assert show("# Plan\r\n\n\tone") == '"# Plan\\r\\n\\n\\tone"'


def test_an_escape_cannot_be_imitated() -> None:
    assert escape("\n") == "\\n"
    assert escape("\\n") == "\\\\n"
    assert escape("\u202e") == "\\u202e"
    assert escape("\\u202e") == "\\\\u202e"


def test_a_long_value_shows_both_ends_its_length_and_its_digest() -> None:
    value = "begin " + "x" * 50_000 + " && rm -rf /"
    shown = show(value)
    assert shown.startswith('"begin ')
    assert shown.endswith(' && rm -rf /"')
    assert f"[{len(value)} characters, sha256 {hashlib.sha256(value.encode()).hexdigest()[:16]}]" in shown
    assert len(shown) < 300


def test_an_imitated_fold_stays_inside_the_quotes() -> None:
    assert show("a ...[9 characters, sha256 00]... b") == '"a ...[9 characters, sha256 00]... b"'
    assert show('a" ...[9 characters, sha256 00]... "b') == '"a\\" ...[9 characters, sha256 00]... \\"b"'


@pytest.mark.parametrize(
    "template", ["{path", "path}", "{}", "{0}", "{path.parent}", "{path[0]}", "{path!r}", "{path:>9}", "{ }"]
)
def test_a_template_is_only_names(template: str) -> None:
    with pytest.raises(Misconfigured):
        names_in(template)


def test_doubled_braces_are_braces() -> None:
    assert names_in("{{literal}} {path}") == ("path",)
    assert fill("{{literal}} {path}", {"path": "a"}) == "{literal} a"


@pytest.mark.requirement("002-75", "no argument can write a line of its own into the sentence of a question")
@given(st.text())
def test_any_text_is_shown_on_one_visible_line(text: str) -> None:
    shown = show(text)
    assert all(char == " " or unicodedata.category(char)[0] not in "CZ" for char in shown)
    assert len(shown) <= 12 + 10 * SHOWN_WHOLE


@given(st.text(max_size=SHOWN_WHOLE), st.text(max_size=SHOWN_WHOLE))
def test_two_values_never_look_the_same(one: str, other: str) -> None:
    assert (show(one) == show(other)) == (one == other)
