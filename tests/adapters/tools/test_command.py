"""Arguments of a call on their way into a command."""

from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.adapters.tools.tool_file.command import MAX_ARGUMENT, ShellCommand, quote, read_template, read_vector
from gateway.core.canonical import Json
from gateway.core.effects import fill
from gateway.core.errors import Misconfigured, ToolFailed


def run(vector: tuple[str, ...]) -> str:
    """What the real bash makes of it; these commands only print."""
    done = subprocess.run(vector, env={"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}, capture_output=True, timeout=20, check=True)
    return done.stdout.decode()


def parameters(**properties: Json) -> dict[str, Json]:
    """A schema in which everything without a default is required but what says `optional`."""
    required = [name for name, prop in properties.items() if "default" not in prop and not prop.get("optional")]
    return {"type": "object", "properties": properties, "required": required}


TEXT: dict[str, Json] = {"type": "string"}

HOSTILE = {
    "a single quote": "it's",
    "quotes of all kinds": "'\"'\"'`\"",
    "a way out of the quotes": "'; echo pwned; '",
    "a way out that closes itself": "a' $(echo pwned) 'b",
    "command substitution": "$(echo pwned)",
    "backticks": "`echo pwned`",
    "a variable": "$PATH ${HOME} $0 $$ $(( 1 + 1 ))",
    "newlines": "a\nb\necho pwned\n",
    "carriage returns": "a\r\necho pwned\r\n",
    "separators": "; echo pwned && echo pwned || echo pwned & echo pwned | cat",
    "redirections": "> pwned < /etc/passwd 2>&1 <(echo pwned) <<EOF",
    "a here document's end": "\nEOF\necho pwned",
    "a leading dash": "-n",
    "a long option": "--help",
    "a double dash": "--",
    "a glob": "* ? [a-z] {a,b} ~ ~root",
    "backslashes": "\\ \\n \\' \\\\'",
    "a trailing backslash": "\\",
    "a comment": "# echo pwned",
    "history": "!! !echo",
    "control characters": "".join(map(chr, range(1, 32))) + "\x7f",
    "what bash uses inside": "\x01\x7f\x01'\x01",
    "unicode": "zażółć 🦆 \u202e\u200b\ufeff\u2028",
    "look-alike quotes": "’‘＇",
    "white space": "  a  \t b  ",
    "nothing": "",
    "an assignment": "PATH=/tmp value=x",
    "a format": "%s%n%d\\x41",
    "much": "x'" * 15_000,
}


@pytest.mark.requirement("000-23", "bash prints every hostile value as it was given, in every position")
@pytest.mark.parametrize("value", HOSTILE.values(), ids=list(HOSTILE))
def test_a_shell_gets_every_value_as_it_is_in_every_position(value: str) -> None:
    command = ShellCommand('printf "%s\\0" "$first" "$second" "$third"', ("first", "second", "third"))
    for name in command.names:
        given = dict.fromkeys(command.names, "other") | {name: value}
        assert run(command.vector(given)).split("\0")[:-1] == [given[each] for each in command.names]


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_comes_out_of_its_quotes_as_it_went_in(text: str) -> None:
    assert run(("/bin/bash", "-c", f"printf %s {quote(text)}")) == text


@pytest.mark.requirement("000-24", "a single quote is closed, escaped and reopened")
def test_a_single_quote_is_closed_escaped_and_reopened() -> None:
    assert quote("it's") == "'it'\\''s'"


@pytest.mark.requirement("000-23", "values are assigned to variables before the unchanged template")
def test_the_template_is_the_authors_and_values_stand_before_it() -> None:
    command = read_template('cat "$path"', ["path"], {"path": TEXT})
    assert command.vector({"path": "/etc/passwd"}) == ("/bin/bash", "-c", "path='/etc/passwd'\ncat \"$path\"")


@pytest.mark.requirement("000-21", "arguments come in the listed order, else by name")
def test_the_order_is_the_listed_one_and_else_the_alphabets() -> None:
    properties = {"b": TEXT, "a": TEXT, "c": TEXT}
    assert read_template("true", None, properties).names == ("a", "b", "c")
    assert read_template("true", ["c", "a"], properties).names == ("c", "a")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (-1.5, "-1.5"),
        (True, "true"),
        (False, "false"),
        (None, ""),
        ({"b": [1, "x y"], "a": None}, '{"a":null,"b":[1,"x y"]}'),
    ],
)
def test_values_that_are_no_text_are_spelt_as_json_and_null_as_nothing(value: Json, text: str) -> None:
    assert run(ShellCommand('printf %s "$x"', ("x",)).vector({"x": value})) == text
    assert read_vector(["p", "--", "{x}y"], parameters(x={})).vector({"x": value if value is not None else ""})[2] == text + "y"


def test_an_argument_that_was_not_given_is_an_empty_variable() -> None:
    assert run(ShellCommand('set -u; printf "<%s>" "$x"', ("x",)).vector({})) == "<>"


def test_nul_and_too_much_are_refused_before_anything_runs() -> None:
    shell = ShellCommand("true", ("x",))
    direct = read_vector(["p", "{x}"], parameters(x=TEXT))
    for command in (shell, direct):
        (fault,) = command.find_faults({"x": "a\0b"})
        assert (fault.path, fault.message) == ("/x", "holds a NUL character, which no command can be given")
        (fault,) = command.find_faults({"x": "x" * (MAX_ARGUMENT + 1)})
        assert "longer than" in fault.message
        for value in ("a\0b", "x" * (MAX_ARGUMENT + 1)):
            with pytest.raises(ToolFailed):
                command.vector({"x": value})
    assert direct.find_faults({"x": "x" * MAX_ARGUMENT}) == ()
    assert len(shell.vector({"x": "'" * 20_000})[2]) > 80_000
    many = read_vector(["p", *["{x}"] * 5], parameters(x=TEXT))
    assert "longer than" in many.find_faults({"x": "x" * MAX_ARGUMENT})[0].message


# ── without a shell ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("value", HOSTILE.values(), ids=list(HOSTILE))
def test_a_program_gets_every_value_inside_its_own_argument(value: str) -> None:
    command = read_vector(["printf", "%s\\0", "a{x}", "--x={x}:{x}", "--", "{x}"], parameters(x=TEXT))
    assert command.vector({"x": value})[2:] == (f"a{value}", f"--x={value}:{value}", "--", value)
    assert run(command.vector({"x": value})).split("\0")[:-1] == [f"a{value}", f"--x={value}:{value}", "--", value]


@pytest.mark.parametrize("value", ["-", "-n", "--help", "--", "-\n", "--output=/etc/passwd"])
def test_no_value_becomes_an_option_that_the_author_did_not_write(value: str) -> None:
    command = read_vector(["rg", "{pattern}", "{path}"], parameters(pattern=TEXT, path=TEXT))
    for name in ("pattern", "path"):
        given = {"pattern": "x", "path": "y"} | {name: value}
        assert [fault.path for fault in command.find_faults(given)] == [f"/{name}"]
        with pytest.raises(ToolFailed, match="would take for an option"):
            command.vector(given)


def test_an_empty_value_does_not_uncover_an_option_behind_it() -> None:
    for vector in (["p", "{a}{b}"], ["p", "{a}-rf{b}"]):
        command = read_vector(vector, parameters(a=TEXT, b=TEXT))
        assert command.find_faults({"a": "", "b": "-rf"})
        assert not command.find_faults({"a": "x", "b": "-rf"})


def test_a_double_dash_guards_what_follows_it_up_to_the_next_word_of_the_author() -> None:
    guarded = read_vector(["rg", "-n", "--", "{pattern}", "{path}"], parameters(pattern=TEXT, path=TEXT))
    assert guarded.vector({"pattern": "-x", "path": "--y"}) == ("rg", "-n", "--", "-x", "--y")
    another = read_vector(["timeout", "--", "rg", "{pattern}"], parameters(pattern=TEXT))
    assert another.find_faults({"pattern": "--pre=sh"})


def test_the_authors_own_default_may_be_an_option_and_the_models_word_may_not() -> None:
    command = read_vector(["ls", "{how}"], parameters(how={"type": "string", "default": "-l"}))
    assert command.find_faults({}) == ()
    assert command.vector({"how": "-l"}) == ("ls", "-l")
    assert command.find_faults({"how": "-lR"})


def test_an_option_is_left_out_with_its_value_and_nothing_else_moves() -> None:
    command = read_vector(["p", "--limit={limit}", "--", "{path}"], parameters(limit={"optional": True}, path=TEXT))
    assert command.vector({"path": "a"}) == command.vector({"path": "a", "limit": None}) == ("p", "--", "a")
    assert command.vector({"path": "a", "limit": 3}) == ("p", "--limit=3", "--", "a")


def test_a_null_in_a_place_that_must_be_filled_is_a_fault() -> None:
    for vector in (["p", "{path}"], ["p", "--", "{path}"], ["p", "a/{path}"]):
        command = read_vector(vector, parameters(path={"type": ["string", "null"]}))
        assert [(fault.path, fault.message) for fault in command.find_faults({"path": None})] == [("/path", "must not be null")]


def test_a_literal_before_a_value_makes_what_kind_of_argument_it_is() -> None:
    command = read_vector(["p", "a{x}", "-o{x}", "--y={x}"], parameters(x=TEXT))
    assert command.vector({"x": "-z"}) == ("p", "a-z", "-o-z", "--y=-z")


def test_braces_are_written_twice() -> None:
    command = read_vector(["jq", "{{a: {x}}}", "{{}}"], parameters(x=TEXT))
    assert command.vector({"x": "1"}) == ("jq", "{a: 1}", "{}")


# ── what authors get wrong ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("template", "names", "told"),
    [
        (None, None, "must be a command"),
        (["cat"], None, "must be a command"),
        ("  ", None, "must be a command"),
        ("a\0b", None, "without NUL"),
        ("x" * 8_001, None, "at most 8000"),
        ("true", "path", "must be a list"),
        ("true", [1], "must be a list"),
        ("true", ["path", "path"], "twice"),
        ("true", ["other"], "no parameter"),
        ("true", ["a-b"], "cannot be a variable"),
        ("true", ["1a"], "cannot be a variable"),
        ("true", ["naïve"], "cannot be a variable"),
        ("true", ["x; rm -rf ."], "cannot be a variable"),
        ("true", ["a\nb"], "cannot be a variable"),
        ("true", ["a[$(id)]"], "cannot be a variable"),
        ("true", [""], "cannot be a variable"),
    ],
)
def test_for_a_template_that_cannot_be_used_the_error_says_why(template: Json, names: Json, told: str) -> None:
    properties = dict.fromkeys(["path", "a-b", "1a", "naïve", "x; rm -rf .", "a\nb", "a[$(id)]", ""], TEXT)
    with pytest.raises(Misconfigured, match=told):
        read_template(template, names, properties)


@pytest.mark.requirement("000-24", "PATH and others that mean something cannot be arguments")
@pytest.mark.parametrize("name", ["PATH", "HOME", "LANG", "IFS", "ENV", "BASH_ENV", "LD_PRELOAD", "LC_ALL", "PS4", "_", "UID",
                                  "RANDOM", "PYTHONPATH", "GIT_DIR", "https_proxy", "NO_PROXY"])  # fmt: skip
def test_no_argument_replaces_a_variable_that_means_something(name: str) -> None:
    with pytest.raises(Misconfigured, match="rename it"):
        read_template("true", None, {name: TEXT})


def test_no_variable_that_bash_sets_itself_is_a_parameter() -> None:
    listed = run(("/bin/bash", "-c", "compgen -v")).split()
    assert len(listed) > 30
    for name in listed:
        with pytest.raises(Misconfigured):
            read_template("true", None, {name: TEXT})


@pytest.mark.parametrize(
    ("vector", "told"),
    [
        ("cat {path}", "must be a list of strings"),
        (["cat", 1], "must be a list of strings"),
        ([], "must begin with a program"),
        ([""], "must begin with a program"),
        (["{path}"], "may not come from an argument"),
        (["cat", "a\0b", "{path}"], "without NUL"),
        (["cat", "x" * 8_000, "{path}"], "at most 8000"),
        (["cat", "{other}"], "no parameter"),
        (["cat", "{path"], "unpaired"),
        (["cat", "{path.name}"], "may only use"),
        (["cat", "{path!r}"], "may only use"),
        (["cat", "{0}"], "may only use"),
        (["cat", "{}"], "may only use"),
        (["cat"], "used nowhere"),
        (["cat", "{path}", "{maybe}"], "may be missing"),
        (["cat", "{path}", "a{maybe}"], "may be missing"),
    ],
)
def test_for_a_vector_that_cannot_be_used_the_error_says_why(vector: Json, told: str) -> None:
    with pytest.raises(Misconfigured, match=told):
        read_vector(vector, parameters(path=TEXT, maybe={"optional": True}) if "maybe" in str(vector) else parameters(path=TEXT))


# ── what a person reads ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_person_reads_the_exact_command_with_its_values() -> None:
    shell = read_template("cat -- \"$path\" | sed 's/{/\\n/'", None, {"path": TEXT})
    assert fill(shell.shown, {"path": "a b'; rm"}) == (
        'Runs in a shell: cat -- "$path" | sed \'s/{/\\\\n/\' with path="a b\'; rm"'
    )
    direct = read_vector(["rg", "a b", "", "--regexp={pattern}", "{{}}", "c d{pattern}"], parameters(pattern=TEXT))
    assert fill(direct.shown, {"pattern": 'x "y"'}) == 'Runs: rg "a b" "" --regexp="x \\"y\\"" "{}" "c d""x \\"y\\""'
    two = read_template("true", None, {"a": TEXT, "b": TEXT})
    assert fill(two.shown, {"a": "1,b=safe", "b": "2; a=3"}) == 'Runs in a shell: true with a=1,b=safe; b="2; a=3"'


@pytest.mark.parametrize("value", ["a\u202eb", "a\x1b[2Jb", "a\nb", "a\u200bb", "a\u00a0b"])
def test_nothing_in_a_command_deceives_the_eye(value: str) -> None:
    shell = read_template(f"echo '{value}' \"$x\"", None, {"x": TEXT})
    direct = read_vector(["echo", value, "{x}"], parameters(x=TEXT))
    for shown in (fill(shell.shown, {"x": value}), fill(direct.shown, {"x": value})):
        assert shown.isprintable()
        assert not set(shown) & {"\u202e", "\x1b", "\n", "\u200b", "\u00a0"}


def test_what_is_shown_is_json_safe() -> None:
    shell = read_template("true", None, {"x": TEXT})
    assert json.loads(json.dumps(fill(shell.shown, {"x": "\x00"}))) == 'Runs in a shell: true with x="\\u0000"'
