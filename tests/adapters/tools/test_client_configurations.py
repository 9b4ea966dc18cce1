"""The configuration files of other clients: which servers they hold, where their secrets go, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.tools.client_configurations import read_client_configuration
from gateway.core.errors import Misconfigured
from gateway.core.sources import ImportedServer

PROGRAM = {"command": "npx", "args": ["-y", "server"]}


def read(document: Any, **environment: str) -> ImportedServer:
    (server,) = read_client_configuration(json.dumps(document), environment).servers
    return server


@pytest.mark.parametrize(
    "document",
    [
        {"mcpServers": {"notes": PROGRAM}},
        {"servers": {"notes": {"type": "stdio", **PROGRAM}}, "inputs": []},
        {"editor.fontSize": 12, "mcp": {"servers": {"notes": PROGRAM}}},
        {"theme": "dark", "context_servers": {"notes": {"source": "custom", **PROGRAM}}},
        {"context_servers": {"notes": {"command": {"path": "npx", "args": ["-y", "server"], "env": {}}, "settings": {}}}},
        {"mcp": {"notes": {"type": "stdio", "command": ["npx", "-y", "server"], "enabled": True}}},
        {"mcpServers": {"notes": {**PROGRAM, "disabled": True, "autoApprove": ["delete_everything"], "trust": True}}},
        {"notes": PROGRAM},
    ],
    ids=["claude", "vscode", "vscode-settings", "zed", "zed-older", "opencode", "cline", "bare"],
)
def test_a_program_is_found_wherever_clients_keep_it(document: Any) -> None:
    server = read(document)
    assert (server.name, server.settings["command"], server.settings["args"]) == ("notes", ["npx"], ["-y", "server"])


@pytest.mark.parametrize("member", ["url", "serverUrl", "httpUrl"])
def test_an_address_is_found_under_each_of_its_names(member: str) -> None:
    assert read({"mcpServers": {"a": {member: "https://tools.example.com/mcp"}}}).settings["url"].endswith("/mcp")


def test_comments_and_a_last_comma_are_read_as_editors_read_them() -> None:
    text = """\ufeff// mine
    {
      /* "mcpServers": {"old": {"command": "x"}}, */
      "mcpServers": { // "no": 1
        "notes": {"command": "npx", "args": ["-y", "a//b", "/* c */", "d\\\",]", ",]",], "env": {"API_KEY": "abc",},},
      },
    }"""
    (server,) = read_client_configuration(text, {}).servers
    assert server.settings["args"] == ["-y", "a//b", "/* c */", 'd",]', ",]"]
    assert server.secrets == {"notes.API_KEY": "abc"}


@pytest.mark.parametrize("unclosed", ["/*", '"\\"', "//*", ",[ ", '"a', "\\"])
def test_comments_that_are_never_closed_cost_no_more_than_reading_the_file(unclosed: str) -> None:
    """A million of them; each tried anew to the end would take hours."""
    with pytest.raises(Misconfigured):
        read_client_configuration("{" + unclosed * 1_000_000, {})


def test_codex_writes_toml() -> None:
    text = '[mcp_servers.notes]\ncommand = "uvx"\nargs = ["server"]\n[mcp_servers.notes.env]\nAPI_KEY = "abc"\n'
    (server,) = read_client_configuration(text, {}).servers
    assert server.settings["command"] == ["uvx"]
    assert server.secrets == {"notes.API_KEY": "abc"}


def test_what_a_client_allows_without_asking_is_not_taken_over() -> None:
    server = read({"mcpServers": {"a": {**PROGRAM, "alwaysAllow": ["x"], "autoApprove": ["y"]}}})
    assert set(server.settings) == {"command", "args"}


# ── secrets ──


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_PERSONAL_ACCESS_TOKEN", "ghp_x"),
        ("API_KEY", "1"),
        ("DB_PASSWORD", "debug"),
        ("DATABASE_URL", "postgres://me:pw@db/x"),
        ("SETTING", "9f86d081884c7d659a2feaa0c55ad015"),
        ("PLAIN", "a value of some length that nobody can judge"),
        ("CONNECTION", "Server=x"),
        ("WEBHOOK", "https://hooks.example.com/services/T0/B0/q7w8e9r0t1y2u3i4o5p6a7s8d9f0g1h2j3k4l5"),
    ],
)
def test_what_may_be_a_secret_is_taken_out_of_the_settings(name: str, value: str) -> None:
    server = read({"mcpServers": {"notes": {**PROGRAM, "env": {name: value}}}})
    assert server.settings["env"] == {name: f"${{secret:notes.{name}}}"}
    assert server.secrets == {f"notes.{name}": value}
    assert value not in repr(server) or len(value) < 6


@pytest.mark.parametrize(
    ("name", "value"),
    [("LOG_LEVEL", "debug"), ("PORT", "8080"), ("LANG", "de_DE"), ("ROOT", "/srv/data"), ("BASE", "https://example.com/api")],
)
def test_what_is_plainly_no_secret_stays_readable(name: str, value: str) -> None:
    server = read({"mcpServers": {"notes": {**PROGRAM, "env": {name: value}}}})
    assert (server.settings["env"], server.secrets) == ({name: value}, {})


def test_a_header_is_always_a_secret_and_keeps_its_scheme() -> None:
    server = read(
        {"mcpServers": {"a": {"url": "https://x.example/mcp", "headers": {"Authorization": "Bearer abc", "X-Id": "7"}}}}
    )
    assert server.settings["headers"] == {"Authorization": "Bearer ${secret:a.Authorization}", "X-Id": "${secret:a.X-Id}"}
    assert server.secrets == {"a.Authorization": "abc", "a.X-Id": "7"}


def test_a_variable_of_the_environment_becomes_a_secret_with_its_value() -> None:
    server = read({"mcpServers": {"a": {**PROGRAM, "env": {"KEY": "${env:MY_KEY}", "OTHER": "x-${MY_KEY}"}}}}, MY_KEY="abc")
    assert server.settings["env"] == {"KEY": "${secret:a.MY_KEY}", "OTHER": "x-${secret:a.MY_KEY}"}
    assert (server.secrets, server.missing) == ({"a.MY_KEY": "abc"}, ())


def test_what_a_client_would_ask_for_is_said_to_be_missing() -> None:
    server = read({"servers": {"a": {**PROGRAM, "env": {"KEY": "${input:api-key}", "B": "${env:GONE}"}}}})
    assert (server.secrets, server.missing) == ({}, ("a.GONE", "a.api-key"))


def test_a_variable_that_is_not_set_has_the_value_that_the_file_gives_for_that_case() -> None:
    server = read(
        {"mcpServers": {"a": {**PROGRAM, "env": {"KEY": "${GONE:-abc}", "B": "${SET:-no}", "C": "${GONE2:-}"}}}}, SET="yes"
    )
    assert server.settings["env"] == {"KEY": "${secret:a.GONE}", "B": "${secret:a.SET}", "C": "${secret:a.GONE2}"}
    assert (server.secrets, server.missing) == ({"a.GONE": "abc", "a.SET": "yes"}, ("a.GONE2",))


@pytest.mark.parametrize(
    "server",
    [
        {"command": "git-server", "args": ["--repository", "${workspaceFolder}/x"]},
        {"command": "${workspaceFolder}/server"},
        {"command": "x", "args": ["${input:key}"]},
        {"url": "https://${HOST:-a.example}/mcp"},
    ],
)
def test_what_only_the_client_can_fill_in_is_refused_by_its_name_and_not_passed_on_as_it_is(server: dict[str, object]) -> None:
    found = read_client_configuration(json.dumps({"mcpServers": {"a": server}}), {"HOST": "b.example"})
    assert "filled in by the client" in found.refused["a"]
    assert "${" in found.refused["a"]


def test_the_home_folder_is_filled_in_however_it_is_written() -> None:
    home = str(Path.home())
    args = ["~/a", "${userHome}/a", "${HOME}/a", "--x=${env:HOME}/a"]
    settings = read({"mcpServers": {"a": {"command": "x", "args": args}}}).settings
    assert settings["args"] == [f"{home}/a", f"{home}/a", f"{home}/a", f"--x={home}/a"]


@pytest.mark.parametrize("args", [["--api-key", "abc"], ["--api-key=abc"], ["--access-token", "abc"], ["-password", "x"]])
def test_a_secret_on_a_command_line_is_refused_with_what_to_do(args: list[str]) -> None:
    found = read_client_configuration(json.dumps({"mcpServers": {"a": {"command": "x", "args": args}}}), {})
    assert "`env`" in found.refused["a"]
    assert "abc" not in found.refused["a"]


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ({"url": "https://mcp.example.com/mcp?exaApiKey=hunter2"}, "`headers`"),
        ({"command": "npx", "args": ["-y", "db-server", "postgresql://me:hunter2@db/shop"]}, "`env`"),
    ],
)
def test_a_secret_in_an_address_is_refused_with_what_to_do(server: dict[str, object], told: str) -> None:
    found = read_client_configuration(json.dumps({"mcpServers": {"a": server}}), {})
    assert told in found.refused["a"]
    assert "hunter2" not in repr(found)


def test_an_address_without_a_secret_is_taken() -> None:
    assert read({"mcpServers": {"a": {"url": "https://mcp.example.com/mcp?tools=search"}}}).settings["url"]
    assert read({"mcpServers": {"a": {"command": "x", "args": ["postgresql://me@db/shop"]}}}).settings["args"]


# ── what it may reach ──


def test_a_folder_that_an_argument_names_may_be_read_and_not_changed(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.touch()
    server = read({"mcpServers": {"a": {"command": "python3", "args": [str(script), str(tmp_path / "absent")]}}})
    assert server.settings["folders"] == [str(tmp_path)]
    assert "writable" not in server.settings
    assert any("may read" in note for note in server.notes)


def test_the_network_is_only_granted_when_asked_for() -> None:
    text = json.dumps({"mcpServers": {"a": PROGRAM}})
    (without,) = read_client_configuration(text, {}).servers
    (granted,) = read_client_configuration(text, {}, network=True).servers
    assert "network" not in without.settings
    assert (without.fetches, granted.fetches) == ("npx", None)
    assert granted.settings["network"] is True


# ── names ──


def test_names_become_names_of_sources_and_stay_apart() -> None:
    names = ["My Notes!", "my_notes", "9lives", "über", "x" * 60, "!!!"]
    servers = read_client_configuration(json.dumps({"mcpServers": dict.fromkeys(names, PROGRAM)}), {}).servers
    assert [server.name for server in servers][:4] == ["my-notes", "my-notes-2", "mcp-9lives", "ber"]
    assert len({server.name for server in servers}) == len(names)


# ── what is wrong ──

NO_FILE: list[tuple[str, str]] = [
    ("", "empty"),
    ("   \n", "empty"),
    ("{", "neither JSON nor TOML"),
    ("[]", "an object"),
    ("null", "an object"),
    ('"mcpServers"', "an object"),
    ("{}", "holds no servers"),
    ('{"mcpServers": {}}', "holds no server"),
    ('{"mcpServers": []}', "is a list"),
    ('{"mcpServers": "x"}', "should be an object"),
    ('{"mcpServers": null}', "should be an object"),
    ('{"name": "x", "version": 1}', "holds no servers"),
    ('{"mcpServers": {"a": {"command": "x"}},,}', "neither JSON nor TOML"),
    ('{"mcpServers": {"a": {"command": "x"} /* mine }}', "neither JSON nor TOML"),
    ('// mine\n{"mcpServers": {"a": {"command": "x"}}', "in line 2"),
    ('{"mcpServers": NaN}', "neither JSON nor TOML"),
    ("[" * 100_000, "nested too deep"),
    ("<?xml version='1.0'?>", "neither JSON nor TOML"),
    ("mcpServers:\n  a:\n    command: x\n", "neither JSON nor TOML"),
    ('{"mcpServers": {"a": {}}} trailing', "neither JSON nor TOML"),
    ('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "`a` stands twice"),
    ('{"mcpServers": {"a": {"command": "x", "command": "y"}}}', "`command` stands twice"),
    ('{"mcpServers": {}, "mcpServers": {"a": {"command": "x"}}}', "`mcpServers` stands twice"),
    ('{"mcpServers": {"a": {"command": "\\ud800"}}}', "half of a character"),
    ('{"mcpServers": {"\\udfff": {"command": "x"}}}', "half of a character"),
    ('{"mcpServers": {"a": {"command": "x", "args": ["\\ud800"]}}}', "half of a character"),
    ("\x00", "neither JSON nor TOML"),
    ('{"mcpServers": {"a": {"command": "x", "timeout": ' + "9" * 5_000 + "}}}", "neither JSON nor TOML"),
    ('[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a]\n', "neither JSON nor TOML"),
]


@pytest.mark.parametrize(("text", "why"), NO_FILE, ids=[repr(text[:20]) for text, _ in NO_FILE])
def test_a_file_without_servers_is_one_clear_line(text: str, why: str) -> None:
    with pytest.raises(Misconfigured, match=why) as refused:
        read_client_configuration(text, {})
    assert len(refused.value.message.splitlines()) == 1
    assert len(refused.value.message) < 500


NO_SERVER: list[tuple[Any, str]] = [
    (None, "an object"),
    ("npx server", "an object"),
    ([], "an object"),
    ({}, "neither a `command` nor a `url`"),
    ({"command": ""}, "neither a `command`"),
    ({"command": 5}, "should be texts"),
    ({"command": "x", "args": "one two", "env": []}, ""),
    ({"command": "x", "args": [1]}, "should be texts"),
    ({"command": "x", "args": {"a": 1}}, "should be texts"),
    ({"command": "x", "env": ["A=b"]}, "`env` should be an object"),
    ({"command": "x", "env": {"A": {"b": 1}}}, "should be a text"),
    ({"command": "x", "env": {"A B": "debug"}}, "no name of a variable"),
    ({"command": "x", "env": {"LD_PRELOAD": "/x.so"}}, "LD_PRELOAD"),
    ({"url": "nonsense"}, "address"),
    ({"url": 5}, ""),
    ({"url": "ftp://x.example/"}, "address"),
    ({"url": "https://me:pw@x.example/mcp"}, "headers"),
    ({"url": "https://x.example/sse", "type": "sse"}, "older transport"),
    ({"url": "https://x.example/mcp", "headers": {"Host": "evil"}}, "set by the client"),
    ({"url": "https://x.example/mcp", "headers": "x"}, "`headers` should be an object"),
    ({"command": "x", "url": "https://x.example/mcp"}, "both a `command` and an address"),
    ({"command": ["x"], "env": {"A": None}}, "should be a text"),
    ({"command": "x", "shell": True}, "`shell` is not known"),
    ({"command": "x\u0000y"}, "U+0000"),
    ({"command": "x", "args": ["y" * 9_000]}, "at most"),
]


@pytest.mark.parametrize(("server", "why"), NO_SERVER, ids=[json.dumps(server)[:40] for server, _ in NO_SERVER])
def test_a_server_that_cannot_be_a_source_is_said_and_the_others_are_there(server: Any, why: str) -> None:
    found = read_client_configuration(json.dumps({"mcpServers": {"bad": server, "good": PROGRAM}}), {})
    names = [each.name for each in found.servers]
    assert "good" in names
    if why:
        assert names == ["good"]
        assert why in found.refused["bad"]
        assert len(found.refused["bad"].splitlines()) == 1


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
MEMBERS = st.sampled_from(["command", "args", "env", "url", "headers", "type", "cwd", "disabled", "name"])


@given(st.dictionaries(st.text(max_size=12), ANY_JSON | st.dictionaries(MEMBERS, ANY_JSON, max_size=5), max_size=4))
def test_whatever_stands_in_a_file_it_is_read_or_refused_in_words(servers: dict[str, Any]) -> None:
    try:
        found = read_client_configuration(json.dumps({"mcpServers": servers}), {})
    except Misconfigured:
        return
    assert len(found.servers) + len(found.refused) <= len(servers)


def test_keys_of_many_parts_and_more_servers_than_anybody_writes_are_refused_before_they_cost_anything() -> None:
    for text, why in (
        ("a" + ".a" * 20_000 + " = 1", "nested too deep"),
        ('"a"' + '."a"' * 20_000 + " = 1", "nested too deep"),
        ("a = 1\n" * 50_000, "too large"),
        (json.dumps({"mcpServers": {chr(0x4E00 + number): {} for number in range(501)}}), "more than 500 servers"),
        ('{"mcpServers": {"a": {"command": "x", "timeout": ' + "9" * 5_000 + "}}}", "too large a number"),
    ):
        with pytest.raises(Misconfigured, match=why):
            read_client_configuration(text, {})


def test_a_file_in_toml_is_told_about_as_one() -> None:
    with pytest.raises(Misconfigured, match=r"Cannot declare .* twice \(at line 3"):
        read_client_configuration("[mcp_servers.x]\ncommand = 'a'\n[mcp_servers.x]\n", {})
