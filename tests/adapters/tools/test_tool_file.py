"""Tool files, read whole or not at all."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.adapters.tools import tool
from gateway.adapters.tools.catalog import ToolCatalog
from gateway.adapters.tools.tool_file.document import MAX_FILE, ToolFileSettings
from gateway.adapters.tools.tool_file.programs import ProgramRunner
from gateway.adapters.tools.tool_file.source import tool_file_source
from gateway.core import effects
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured
from gateway.core.model import ToolSpec
from gateway.core.vocabulary import Category, Reason, Recovery, Trust
from gateway.sandbox.job import SandboxUnavailable
from tests.adapters.tools.conftest import catalog_of

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
NO_SANDBOX = ProgramRunner(SandboxUnavailable("no sandbox in this test"))

SCHEMA: dict[str, Json] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
GOOD: dict[str, Json] = {"name": "show", "description": "Show a file.", "parameters": SCHEMA, "_argv": ["cat", "--", "{path}"]}


@pytest.fixture
def around(tmp_path: Path) -> ToolFileSettings:
    for name in ("home", "workspace", "state"):
        (tmp_path / name).mkdir()
    (tmp_path / "home" / "loop").symlink_to("loop")
    return ToolFileSettings(tmp_path / "workspace", secret=(tmp_path / "state",))


def add(around: ToolFileSettings, document: Json | bytes, catalog: ToolCatalog | None = None) -> tuple[ToolSpec, ...]:
    path = around.folder.parent / "home" / "tools.json"
    path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return publish(path, around, ToolCatalog() if catalog is None else catalog)


def publish(path: Path, around: ToolFileSettings, catalog: ToolCatalog) -> tuple[ToolSpec, ...]:
    source = tool_file_source(path, NO_SANDBOX, around, find_taken=catalog.find_alike)
    source.load()
    catalog.publish(source)
    return tuple(source.specs())


def changed(*without: str, **members: Json) -> dict[str, Json]:
    return {name: value for name, value in {**GOOD, **members}.items() if name not in without}


@pytest.mark.requirement("000-17", "with and without `tools`, with and without a `function` block")
@pytest.mark.parametrize(
    "document",
    [
        {"tools": [{"type": "function", "function": GOOD}]},
        [{"type": "function", "function": GOOD}],
        {"tools": [GOOD]},
        [GOOD],
        [{"type": "function", **GOOD}],
        {"tools": [GOOD], "comment": "anything else is nobody's business"},
    ],
)
def test_a_file_may_have_any_of_the_common_shapes(around: ToolFileSettings, document: Json) -> None:
    catalog = ToolCatalog()
    (spec,) = add(around, document, catalog)
    assert catalog.find("show") == spec
    assert (spec.name, spec.description, spec.param_schema) == ("show", "Show a file.", SCHEMA)


@pytest.mark.requirement("000-26", "a tool has 30 seconds unless its file says otherwise")
def test_what_a_file_does_not_say_has_careful_defaults(around: ToolFileSettings) -> None:
    (spec,) = add(around, [GOOD])
    assert (spec.category, spec.network, spec.trust, spec.recovery) == (
        Category.EXECUTE,
        False,
        Trust.UNTRUSTED,
        Recovery.UNSAFE,
    )
    assert (spec.source, spec.interface_id) == ("tools:tools.json", "commands")
    assert effects.summarise(spec, {"path": "a b"}) == 'Run show with path: "a b"'
    assert effects.list_effects(spec, {"path": "a b"}) == ('Runs: cat -- "a b"',)
    # The sandbox's own limit is 30 seconds; the gateway waits a little longer, for the answer to be about something that ended.
    assert 30 < spec.timeout < 40


def test_what_a_file_says_is_what_is_published(around: ToolFileSettings) -> None:
    (around.folder.parent / "home" / "tree").mkdir()
    said = changed(
        _category="destructive",
        _summary="Show {path}",
        _effects=["It {path}s"],
        _network=True,
        _timeout=2.5,
        _folder="tree",
        _readable=["tree"],
        _recovery="probe",
    )
    (spec,) = add(around, [said])
    assert (spec.category, spec.network, spec.timeout) == (Category.DESTRUCTIVE, True, 7.5)
    assert spec.recovery is Recovery.PROBE
    assert effects.summarise(spec, {"path": "x"}) == "Show x"
    assert effects.list_effects(spec, {"path": "x"}) == (
        "Runs: cat -- x",
        "It xs",
        "Works in the folder tree",
        "May reach the network",
    )


@pytest.mark.requirement("000-20", "nested schemas are published as written, and nested faults are found")
def test_nested_schemas_pass_untouched_and_are_checked_in_full(around: ToolFileSettings) -> None:
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {
            "query": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]},
            "how": {"enum": ["fast", "well"], "default": "well"},
        },
        "required": ["query"],
    }
    catalog = ToolCatalog()
    (spec,) = add(around, [changed(parameters=schema, _argv=["p", "--", "{query}", "{how}"])], catalog)
    assert json.dumps(spec.param_schema) == json.dumps(schema)
    assert catalog.find_faults(spec, {"query": {"n": 1}}) == ()
    assert [fault.path for fault in catalog.find_faults(spec, {"query": {"n": 0}})] == ["/query/n"]
    assert [fault.path for fault in catalog.find_faults(spec, {"query": {"n": 1}, "how": "badly"})] == ["/how"]
    assert [fault.path for fault in catalog.find_faults(spec, {})] == ["/query"]


def test_an_argument_that_no_command_uses_is_refused_rather_than_shown_for_nothing(around: ToolFileSettings) -> None:
    catalog = ToolCatalog()
    (spec,) = add(around, [GOOD], catalog)
    (fault,) = catalog.find_faults(spec, {"path": "a", "permission": "auto"})
    assert (fault.path, fault.message) == ("/permission", "is not a parameter; the parameters are path")


@pytest.mark.parametrize(
    "other",
    [
        changed(_argv=["tac", "--", "{path}"]),
        changed(_argv=["cat", "{path}"]),
        changed("_argv", _exec='cat -- "$path"'),
        changed(_network=True),
        changed(_timeout=31),
        changed(_summary="Show {path}"),
        changed(_effects=["nothing at all"]),
        changed(_folder="tree"),
        changed(_readable=["tree"]),
        changed(_recovery="idempotent"),
    ],
)
def test_an_approval_of_one_command_covers_no_other_version_of_the_file(around: ToolFileSettings, other: Json) -> None:
    (around.folder.parent / "home" / "tree").mkdir()
    digests = {add(around, [document])[0].digest for document in (GOOD, other, GOOD)}
    assert len(digests) == 2


def test_without_a_sandbox_a_tool_is_published_as_unavailable_and_says_why(around: ToolFileSettings) -> None:
    (spec,) = add(around, [GOOD])
    assert (spec.unavailable, spec.unavailable_because) == ("no sandbox in this test", Reason.SANDBOX_UNAVAILABLE)


# ── what is wrong with a file ───────────────────────────────────────────────────────────────────────────────────────────

BAD_ENTRIES: dict[str, tuple[Json, str]] = {
    "no object": (5, "must be an object"),
    "another type of tool": ({"type": "code_interpreter"}, "only tools of type `function`"),
    "a function that is none": ({"function": "show"}, "`function` must be an object"),
    "a key in the wrong place": ({"function": GOOD, "_network": True}, "is beside `function`"),
    "no name": (changed("name"), "a name is a letter"),
    "a name that is no identifier": (changed(name="show-file"), "a name is a letter"),
    "a name that is too long": (changed(name="x" * 65), "a name is a letter"),
    "a name that is no text": (changed(name=7), "`name` must be a string"),
    "the loop's own name": (changed(name="respond"), "belongs to the agent loop"),
    "no description": (changed("description"), "has no description"),
    "nothing to run": (changed("_argv"), 'says nothing to run: write `"_argv"'),
    "a handler alone": (changed("_argv", _handler="x"), "`_handler` is reserved"),
    "two commands": (changed(_exec="cat"), "keep one"),
    "an order without a command": (changed(_exec_args=["path"]), "`_exec_args` goes with `_exec`"),
    "a command that is no bash": (changed("_argv", _exec='cat "$path'), "`_exec` is no bash: line 1: unexpected EOF"),
    "a misspelt key": (changed(_netwrok=True), "`_netwrok` means nothing here"),
    "a parameter that is no variable": (
        changed("_argv", _exec="true", parameters={"type": "object", "properties": {"a-b": {}}}),
        "cannot be a variable",
    ),
    "a parameter that is a shell's own": (
        changed("_argv", _exec="true", parameters={"type": "object", "properties": {"PATH": {}}}),
        "rename it",
    ),
    "a program from an argument": (changed(_argv=["{path}"]), "may not come from an argument"),
    "a schema that is none": (
        changed(parameters={"type": "object", "properties": {"path": {"type": "strng"}}}),
        "is no type for `path`",
    ),
    "a schema of another kind": (changed(parameters={"type": "string"}), "must be of type `object`"),
    "a schema that is no object": (changed(parameters=[]), "must be a JSON Schema"),
    "a schema from elsewhere": (
        changed(parameters={"type": "object", "properties": {"path": {"$ref": "https://evil.test/"}}}),
        "only refer to its own parts",
    ),
    "an unknown category": (changed(_category="harmless"), "`_category` must be one of read, write"),
    "a category that is no text": (changed(_category=["read"]), "`_category` must be one of"),
    "an unknown recovery": (changed(_recovery="again"), "`_recovery` must be one of pure, idempotent"),
    "a recovery that is no text": (changed(_recovery=["pure"]), "`_recovery` must be one of"),
    "a network for what reads": (changed(_category="read", _network=True), "`_network` goes with the categories"),
    "a network for what writes": (changed(_category="write", _network=True), "`_network` goes with the categories"),
    "a network that is a word": (changed(_network="yes"), "must be true or false"),
    "a time of nothing": (changed(_timeout=0), "`_timeout` must be seconds"),
    "a time that never ends": (changed(_timeout=1e9), "`_timeout` must be seconds"),
    "a time that is no number": (changed(_timeout="30"), "`_timeout` must be seconds"),
    "a time that is a truth": (changed(_timeout=True), "`_timeout` must be seconds"),
    "a folder that is not there": (changed(_folder="missing"), "is no folder here"),
    "a folder that is a file": (changed(_folder="tools.json"), "is no folder here"),
    "a folder that is a link to itself": (changed(_folder="loop"), "is no folder here"),
    "a folder that is no text": (changed(_folder=1), "must name a folder"),
    "a folder with a NUL": (changed(_folder="a\0b"), "must name a folder"),
    "the folder of the file itself": (
        changed(_folder="."),
        "with `tools.json` in it, which no tool may change; keep the two apart",
    ),
    "a folder around the state": (changed(_folder=".."), "in it, which no tool may change"),
    "the state": (changed(_folder="../state"), "with `state` in it"),
    "everything": (changed(_folder="/"), "in it, which no tool may change"),
    "the state, to read": (changed(_readable=["../state"]), "which no tool may read"),
    "everything, to read": (changed(_readable=["/"]), "which no tool may read"),
    "something missing, to read": (changed(_readable=["missing"]), "is no folder here"),
    "a summary about nothing": (changed(_summary="Show {what}"), "`what`, which is no parameter"),
    "a summary that is no text": (changed(_summary=1), "`_summary` must be a string"),
    "effects that are one": (changed(_effects="x"), "`_effects` must be a list"),
}


@pytest.mark.requirement("000-18", "a name that is no identifier is refused")
@pytest.mark.requirement("000-21", "a tool without a command, or with a handler alone, is refused")
@pytest.mark.parametrize(("entry", "told"), BAD_ENTRIES.values(), ids=list(BAD_ENTRIES))
def test_a_tool_that_cannot_be_published_is_reported_with_its_place_and_nothing_is_loaded(
    around: ToolFileSettings, entry: Json, told: str
) -> None:
    catalog = ToolCatalog()
    sound = changed(name="sound")
    with pytest.raises(Misconfigured) as refused:
        add(around, [sound, entry, changed(name="sound_too")], catalog)
    lines = refused.value.message.splitlines()
    assert lines[0] == "the tool file `tools.json` is wrong:"
    assert all(line.startswith("  tool 2") for line in lines[1:])
    assert any(told in line for line in lines[1:]), lines
    assert catalog.specs() == ()


def test_a_tool_that_would_work_above_the_workspace_is_refused(around: ToolFileSettings) -> None:
    """It could put a link in the place of the workspace (docs/SECURITY.md case 48)."""
    shared = around.folder.parent / "shared"
    (shared / "ws" / "below").mkdir(parents=True)
    (shared / "beside").mkdir()
    (around.folder.parent / "home" / "around").symlink_to(shared)
    inside, file = replace(around, folder=shared / "ws"), around.folder.parent / "home" / "tools.json"
    for folder in ("../shared", "around", str(shared)):
        file.write_text(json.dumps([changed(_folder=folder)]))
        with pytest.raises(Misconfigured, match="`show`: would work in a folder that the workspace lies in; name") as refused:
            publish(file, inside, ToolCatalog())
        assert len(refused.value.message.splitlines()) == 2
    for said in ({"_folder": "../shared/ws/below"}, {"_folder": "../shared/beside"}, {"_readable": ["../shared"]}, {}):
        file.write_text(json.dumps([changed(**said)]))
        publish(file, inside, ToolCatalog())


def test_all_faults_of_all_tools_are_reported_at_once(around: ToolFileSettings) -> None:
    worst = changed("description", "_argv", name="a b", _timeout=-1, _network=1, _category="x", _nothing=0)
    with pytest.raises(Misconfigured) as refused:
        add(around, [worst, 7, changed(_argv=[])])
    message = refused.value.message
    for told in ("a name is a letter", "says nothing to run", "_timeout", "_network", "_category", "_nothing"):
        assert told in message
    assert "tool 2: must be an object" in message
    assert "tool 3 `show`: `_argv` must begin with a program" in message
    assert str(around.folder.parent) not in message


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (b"", "not JSON (line 1, column 1"),
        (b'[{"name": "a",}]', "not JSON (line 1"),
        (b'[{"name": "a", "name": "b"}]', "duplicate member name"),
        (b'{"tools": [], "tools": [{"name": "b"}]}', "duplicate member name"),
        (b'[{"_timeout": NaN}]', "`NaN` is not JSON"),
        (b'[{"_timeout": 9007199254740993}]', "integer beyond"),
        (b'[{"name": "\\ud800"}]', "unpaired surrogate"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "nesting is deeper"),
        (b"5", "must be a list of tools"),
        (b"{}", "must be a list of tools"),
        (b'{"tools": {}}', "must be a list of tools"),
        (b"[]", "has no tools in it"),
        (b" " * (MAX_FILE + 1), "is larger than"),
    ],
    ids=str,
)
def test_for_a_document_that_cannot_be_read_the_error_says_why(around: ToolFileSettings, document: bytes, told: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        add(around, document)
    assert told in refused.value.message


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        (
            {"type": "object", "properties": {"path": {"type": "strin"}}},
            "`strin` is no type for `path`; types are string, number",
        ),
        ({"type": "object", "properties": {"path": {"type": 7}}}, "the parameter schema is refused"),
        ({"type": "object", "properties": {"path": 7}}, "something that is no schema"),
        ({"type": "object", "properties": 7}, "the parameter schema is refused"),
        (
            {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path", "line"]},
            "`required` names `line`, which is no parameter",
        ),
    ],
)
def test_a_parameter_that_is_written_wrong_is_named(around: ToolFileSettings, parameters: Json, told: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        add(around, [changed(parameters=parameters)])
    assert told in refused.value.message


def test_a_byte_order_mark_is_passed_over(around: ToolFileSettings) -> None:
    assert [tool.name for tool in add(around, b"\xef\xbb\xbf" + json.dumps([GOOD]).encode())] == [GOOD["name"]]


def test_a_path_that_is_no_file_is_reported_and_never_waited_for(around: ToolFileSettings) -> None:
    home = around.folder.parent / "home"
    os.mkfifo(home / "pipe")
    for name, told in (
        ("missing", "No such file"),
        ("pipe", "is not a file"),
        ("..", "is not a file"),
        ("/dev/tty", "not a file"),
    ):
        with pytest.raises(Misconfigured, match=told):
            publish(home / name, around, ToolCatalog())


def test_names_that_are_taken_are_refused_whichever_source_took_them(around: ToolFileSettings) -> None:
    @tool(category="read")
    def show(path: str) -> str:
        """Show it."""
        return path

    catalog = catalog_of(show, source="builtin")
    before = catalog.specs()
    with pytest.raises(Misconfigured) as refused:
        add(around, [changed(name="other"), GOOD], catalog)
    assert "tool 2 `show`: this name is taken by builtin; rename it" in refused.value.message
    assert catalog.specs() == before
    with pytest.raises(Misconfigured, match="already published by tools:"):
        add(around, [GOOD, GOOD])
    with pytest.raises(Misconfigured, match="looks like `show` of tools:"):
        add(around, [GOOD, changed(name="sh0w")])
    with pytest.raises(Misconfigured, match=r"tool 1 `SHOvv`: this name is taken by builtin \(it looks like `show`\)"):
        add(around, [changed(name="SHOvv")], catalog)
    two_files = ToolCatalog()
    add(around, [GOOD], two_files)
    with pytest.raises(Misconfigured, match="taken by tools:"):
        add(around, [GOOD], two_files)


@pytest.mark.requirement("000-37", "the three example files load")
@pytest.mark.parametrize("name", ["echo-tools.json", "debugger-tools.json", "debugger-tools-bash.json"])
def test_the_examples_load_beside_each_other_and_the_built_in_names(around: ToolFileSettings, name: str) -> None:
    specs = publish(EXAMPLES / name, around, ToolCatalog())
    assert [spec.name for spec in specs] == (["echo"] if "echo" in name else ["show_file", "run_test", "grep_repo"])
    taken = {
        "list_directory",
        "read_file",
        "search_files",
        "write_file",
        "delete_file",
        "system_status",
        "read_audit",
        "http_get",
    }
    assert not taken & {spec.name for spec in specs}
