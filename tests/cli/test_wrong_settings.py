"""Every wrong setting ends the command with exit code 2 and one line that names the setting and says what would be right.

A setting that is misspelt, or taken although it means nothing, is a limit that an operator believes in and that does not hold.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gateway import cli, serving
from gateway.settings import PREFIX, Settings
from tests.harness import preloaded

ROOT = Path(__file__).parents[2]
FEW_DESCRIPTORS = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))"
START_SECONDS = 60.0
"""A bound for one start on a busy machine, not a measurement."""

LONG = "a" * 300


@dataclass(frozen=True)
class Wrong:
    """One wrong setting: what is set where, and the two things that its one line must hold."""

    names: str
    right: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    file: str | bytes = ""
    arguments: Sequence[str] = ("serve",)
    setting: str = ""

    def __str__(self) -> str:
        given = [*(f"{name}={value}" for name, value in self.environment.items()), str(self.file), " ".join(self.arguments)]
        return " ".join(filter(None, given))[:60]


def env(name: str, value: str, right: str) -> Wrong:
    variable = f"{PREFIX}{name.upper()}"
    return Wrong(f"`{variable}`", right, {variable: value}, setting=name)


def toml(name: str, value: str, right: str) -> Wrong:
    return Wrong(f"`{name}` in `countersign.toml`", right, file=f"{name} = {value}", setting=name)


def typed(words: str, names: str, right: str) -> Wrong:
    return Wrong(names, right, arguments=words.split(" "))


def seconds(name: str, most: str) -> list[Wrong]:
    return [
        env(name, "soon", "a number"),
        env(name, "0", "greater than 0"),
        env(name, "-5", "greater than 0"),
        env(name, "nan", "a finite number"),
        env(name, "inf", "a finite number"),
        env(name, "1e300", f"less than or equal to {most}"),
        toml(name, '"1h"', "a number"),
        toml(name, "true", "not be true or false"),
        toml(name, "-inf", "a finite number"),
    ]


FIELDS = [
    env("host", "", "at least one character"),
    toml("host", "5", "text"),
    toml("host", r'"local\u0007host"', "no control characters"),
    env("port", "http", "a whole number"),
    env("port", "-1", "greater than or equal to 0"),
    env("port", "99999", "less than or equal to 65535"),
    toml("port", "true", "not be true or false"),
    toml("port", "80.5", "a whole number"),
    env("names", "both", "'subdomains' or 'addresses'"),
    toml("names", "1", "'subdomains' or 'addresses'"),
    env("policy_source", "git", "'files' or 'database'"),
    toml("policy_source", "1", "'files' or 'database'"),
    env("agent_origin", "https://agent.example.com:99999", "like `https://agent.example.com`"),
    env("agent_origin", "https://agent.example.com/", "like `https://agent.example.com`"),
    env("agent_origin", "https://Agent.example.com", "like `https://agent.example.com`"),
    env("agent_origin", "https://agent.example.com:443", "like `https://agent.example.com`"),
    env("agent_origin", "https://me:secret@agent.example.com", "like `https://agent.example.com`"),
    env("agent_origin", "https://[1", "like `https://agent.example.com`"),
    env("client_origin", "tools.example.com", "like `https://agent.example.com`"),
    toml("client_origin", "5", "text"),
    env("console_origin", "console.example.com", "like `https://agent.example.com`"),
    env("console_origin", "ftp://console.example.com", "like `https://agent.example.com`"),
    toml("console_origin", "[]", "text"),
    env("state", "", "a path"),
    env("state", "~/state", "the whole path"),
    env("state", LONG, "a path that can be used"),
    env("state", "a-file", "a folder"),
    env("state", "a-file/state", "a folder"),
    toml("state", "7", "a path"),
    env("workspace", "a-file", "a folder"),
    toml("workspace", r'"a\u0000b"', "no control characters"),
    env("policy", "nowhere", "an existing folder"),
    env("policy", "a-file", "an existing folder"),
    env("web", "nowhere", "an existing folder"),
    env("web", "a-folder", "`shell/index.html`"),
    env("builtin_tools", "perhaps", "`true` or `false`"),
    toml("builtin_tools", "2", "`true` or `false`"),
    env("tools_modules", "name", 'a list, like `["name"]`'),
    env("tools_modules", '{"name": 1}', 'a list, like `["name"]`'),
    env("tools_modules", "[" * 100_000, 'a list, like `["name"]`'),
    env("tools_modules", '["two words"]', "the name of a Python module"),
    toml("tools_modules", '"name"', 'a list, like `["name"]`'),
    toml("tools_modules", "[1]", "text"),
    env("tool_files", "tools.json", 'a list, like `["name"]`'),
    env("tool_files", '["nowhere.json"]', "an existing file"),
    toml("tool_files", '["a-folder"]', "an existing file"),
    env("sources", "notes", "a table, like `[sources.name]`"),
    env("sources", "[1]", "a table, like `[sources.name]`"),
    toml("sources", '"notes"', "a table, like `[sources.name]`"),
    toml("sources", "{notes = 5}", "a table, like `[sources.name]`"),
    env("sinks", "siem", "a table, like `[sources.name]`"),
    toml("sinks", "{siem = 5}", "a table, like `[sources.name]`"),
    env("anchors", "elsewhere", "a table, like `[sources.name]`"),
    toml("anchors", "{elsewhere = 5}", "a table, like `[sources.name]`"),
    env("retain_days", "forever", "a whole number"),
    env("retain_days", "-1", "greater than or equal to 0"),
    toml("retain_days", "2.5", "a whole number"),
    env("retain_days_of", "read_file", "a table, like `[sources.name]`"),
    toml("retain_days_of", "5", "a table, like `[sources.name]`"),
    toml("retain_days_of", '{read_file = "soon"}', "a whole number"),
    *seconds("tool_timeout", "3600"),
    env("sandbox", "docker", "'auto', 'bubblewrap' or 'landlock'"),
    toml("sandbox", "[]", "'auto', 'bubblewrap' or 'landlock'"),
    env("http_allow_hosts", '["localhost"]', "host and port"),
    env("http_allow_hosts", '["localhost:99999"]', "host and port"),
    toml("http_allow_hosts", '"localhost:80"', 'a list, like `["name"]`'),
    env("model", "", "at least one character"),
    env("model", "nowhere.gguf", "an existing GGUF file"),
    toml("model", "5", "text"),
    toml("model_url", "5", "text"),
    env("model_url", "http://\x07", "no control characters"),
    toml("model_name", "5", "text"),
    env("model_name", "a\nb", "no control characters"),
    env("model_key", "two words", "visible ASCII characters"),
    toml("model_key", "5", "text"),
    env("other_models", "default", 'a list, like `["name"]`'),
    env("other_models", '["/nowhere/x.gguf"]', "an existing GGUF file"),
    toml("other_models", "[1]", "text"),
    env("model_tier", "double", "'auto', 'native', 'chained' or 'single'"),
    toml("model_tier", "3", "'auto', 'native', 'chained' or 'single'"),
    env("model_context", "many", "a whole number"),
    env("model_context", "1", "greater than or equal to 512"),
    env("model_context", "99999999999", "less than or equal to 16777216"),
    env("model_vision", "perhaps", "`true` or `false`"),
    toml("model_vision", "2", "`true` or `false`"),
    env("model_template", "nowhere.jinja", "an existing file"),
    toml("model_template", "5", "a path"),
    env("push_key", "nowhere.key", "an existing file"),
    toml("push_key", "5", "a path"),
    env("push_contact", "ada@example.org", "like `mailto:you@example.org`"),
    env("push_contact", "http://example.org", "like `mailto:you@example.org`"),
    toml("push_contact", "5", "text"),
    env("push_allow_hosts", '["localhost"]', "host and port"),
    toml("push_allow_hosts", '"localhost:80"', 'a list, like `["name"]`'),
    env("model_preallocate", "perhaps", "`true` or `false`"),
    toml("model_preallocate", "2", "`true` or `false`"),
    env("backups", "a-file", "a folder"),
    env("backups", "", "a path"),
    toml("backups", "5", "a path"),
    env("prompt_cache", "a-file", "a folder"),
    env("prompt_cache", "", "a path"),
    env("llama_server", "nowhere", "the path of a llama-server binary"),
    toml("llama_server", "5", "text"),
    env("llama_server_arguments", "--n-gpu-layers 99", 'a list, like `["name"]`'),
    env("llama_server_arguments", '["--tools", "all"]', "not among what may be added"),
    toml("llama_server_arguments", '["--n-gpu-layers"]', "followed by a value like `99`"),
    env("model_sandbox", "perhaps", "'on' or 'off'"),
    toml("model_sandbox", "true", "not be true or false"),
    env("time_zone", "Mars/Olympus", "like `Europe/Berlin`"),
    env("time_zone", "../../etc/passwd", "like `Europe/Berlin`"),
    env("time_zone", "", "like `Europe/Berlin`"),
    env("time_zone", "Europe", "like `Europe/Berlin`"),
    toml("time_zone", "2", "text"),
    *seconds("approval_seconds", "86400"),
    *seconds("snapshot_seconds", "86400"),
    env("sockets_per_session", "0", "greater than or equal to 1"),
    env("sockets_per_session", "many", "a whole number"),
    *seconds("grace_seconds", "86400"),
    *seconds("enrolment_minutes", "1440"),
    env("drain_seconds", "-1", "greater than or equal to 0"),
    env("drain_seconds", "inf", "a finite number"),
    toml("drain_seconds", "601", "less than or equal to 600"),
    env("metrics_token", "schön", "visible ASCII characters"),
    toml("metrics_token", "5", "text"),
    env("log_level", "loud", "'debug', 'info', 'warning' or 'error'"),
    toml("log_level", "10", "'debug', 'info', 'warning' or 'error'"),
]

TOGETHER = [
    Wrong("`agent_origin`", "set both", {"COUNTERSIGN_AGENT_ORIGIN": "https://agent.example.com"}),
    Wrong("`console_origin`", "different hosts", file='agent_origin = "http://a.test:1"\nconsole_origin = "http://a.test:2"'),
    Wrong("`workspace`", "two folders", {"COUNTERSIGN_STATE": "workspace/state"}),
    Wrong("`backups`", "a backup holds a key", {"COUNTERSIGN_BACKUPS": "workspace/kept"}),
    Wrong("`state`", "two folders", {"COUNTERSIGN_WORKSPACE": "."}),
]

NAMES = [
    Wrong("`COUNTERSIGN_PROT`", "did you mean `COUNTERSIGN_PORT`?", {"COUNTERSIGN_PROT": "1"}),
    Wrong("`COUNTERSIGN_APROVAL_SECONDS`", "did you mean `COUNTERSIGN_APPROVAL_SECONDS`?", {"COUNTERSIGN_APROVAL_SECONDS": "1"}),
    Wrong("`countersign_tool_file`", "did you mean `COUNTERSIGN_TOOL_FILES`?", {"countersign_tool_file": "[]"}),
    Wrong("`COUNTERSIGN_`", "the settings are COUNTERSIGN_", {"COUNTERSIGN_": ""}),
    Wrong("`prot` in `countersign.toml`", "did you mean `port`?", file="prot = 1"),
    Wrong("`log-level` in `countersign.toml`", "did you mean `log_level`?", file='log-level = "info"'),
    Wrong("`COUNTERSIGN_PORT` in `countersign.toml`", "did you mean `port`?", file="COUNTERSIGN_PORT = 1"),
    Wrong("`gateway` in `countersign.toml`", "the settings are agent_origin", file="[gateway]\nport = 1"),
]

FILES = [
    Wrong("`countersign.toml`", "should be TOML", file="port 8765"),
    Wrong("`countersign.toml`", "should be TOML", file="port = 1\nport = 2"),
    Wrong("`countersign.toml`", "should be TOML", file=b"\xef\xbb\xbfport = 1"),
    Wrong("`countersign.toml`", "should be UTF-8", file=b'host = "\xff"'),
    Wrong("`countersign.toml`", "nested too deep", file="port = " + "[" * 100_000),
]

ARGUMENTS = [
    typed("serve --prot 1", "'--prot'", "'--port'"),
    typed("serve --port 70000", "'--port'", "0<=x<=65535"),
    typed("serve --port eighty", "'--port'", "not a valid integer"),
    typed("serve --names both", "'--names'", "'subdomains', 'addresses'"),
    typed("serve --log-level loud", "'--log-level'", "'debug', 'info', 'warning', 'error'"),
    typed("serve --policy nowhere", "'--policy'", "does not exist"),
    typed("serve --tools nowhere.json", "'--tools'", "does not exist"),
    typed("serve --state a-file", "'--state'", "is a file"),
    typed(f"serve --state {LONG}", "`--state`", "a path that can be used"),
    typed("serve --state ~/state", "`--state`", "the whole path"),
    typed("serve --tools-module two-words", "`--tools-module`", "the name of a Python module"),
    typed("serve --model nowhere.gguf", "`--model`", "an existing GGUF file"),
    typed("serve now", "(now)", "serve --help"),
    typed("server", "'server'", "'serve'"),
    typed("enrol Grace --profile queen", "'--profile'", "'operator', 'guest'"),
    typed("audit show --limit 0", "'--limit'", "1<=x<=100000"),
    typed("agent", "'MODEL'", "agent --help"),
]

LATER = [
    Wrong("`host`", "an IPv4 address of this machine", {"COUNTERSIGN_HOST": "192.0.2.1"}),
    Wrong("`host`", "an IPv4 address of this machine", {"COUNTERSIGN_HOST": "::1"}),
    Wrong("`state`", "it should have at most", {"COUNTERSIGN_STATE": "s" * 150}),
    Wrong("COUNTERSIGN_MODEL_URL", "a base URL", {"COUNTERSIGN_MODEL_URL": "nonsense"}),
    Wrong("policy", "schema.cedarschema", {"COUNTERSIGN_POLICY": "a-folder"}),
    Wrong("`broken`", "broken.py:3: ValueError: " + "x" * 100, {"COUNTERSIGN_TOOLS_MODULES": '["broken"]'}),
    Wrong("`unread`", "unread.py:2: SyntaxError", {"COUNTERSIGN_TOOLS_MODULES": '["unread"]'}),
    Wrong("`absent`", "No module named 'absent'", {"COUNTERSIGN_TOOLS_MODULES": '["absent"]'}),
    Wrong("`a_file`", "declares no tools", {"COUNTERSIGN_TOOLS_MODULES": '["a_file"]'}),
    Wrong("`[sources.Notes]`", "lower-case letters", {"COUNTERSIGN_SOURCES": '{"Notes": {"kind": "mcp"}}'}),
    Wrong("`[sources.notes]`", "`mcp`, `http`, `sql`", {"COUNTERSIGN_SOURCES": '{"notes": {"kind": "ftp"}}'}),
    Wrong("`[sources.notes]`", "true or false", {"COUNTERSIGN_SOURCES": '{"notes": {"kind": "mcp", "enabled": 1}}'}),
    Wrong("`[sources.notes]`", "`tools` gives tools", {"COUNTERSIGN_SOURCES": '{"notes": {"kind": "mcp", "tools": 1}}'}),
    Wrong("`[sources.notes]`", "no category", {"COUNTERSIGN_SOURCES": '{"notes": {"kind": "mcp", "tools": {"a": "all"}}}'}),
    Wrong("`[sinks.siem]`", "`port`", {"COUNTERSIGN_SINKS": '{"siem": {"kind": "syslog", "host": "h", "port": 0}}'}),
    Wrong(
        "`[anchors.w]`",
        "no key of a cosigner",
        {"COUNTERSIGN_ANCHORS": '{"w": {"kind": "cosigner", "url": "http://w", "key": "x"}}'},
    ),
    Wrong("`[anchors.W]`", "lower-case letters", {"COUNTERSIGN_ANCHORS": '{"W": {"kind": "file", "path": "f"}}'}),
    Wrong("`[sinks.Siem]`", "lower-case letters", {"COUNTERSIGN_SINKS": '{"Siem": {"kind": "file", "path": "f"}}'}),
    Wrong("`[sources.notes]`", "no label", {"COUNTERSIGN_SOURCES": '{"notes": {"kind": "mcp", "labels": ["secret"]}}'}),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to start in, without settings of its own."""
    for name in os.environ:
        if name.upper().startswith(PREFIX):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COUNTERSIGN_MODEL", "none")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").touch()
    (tmp_path / "a_file.py").touch()
    (tmp_path / "a-folder").mkdir()
    (tmp_path / "broken.py").write_text("import os\n\nraise ValueError('x' * 4000 + '\\nmore')\n")
    (tmp_path / "unread.py").write_text("import os\ndef (:\n")
    return tmp_path


def take(_settings: Settings) -> None:
    """In place of serving."""


def assert_one_line(wrong: Wrong, code: object, said: str) -> None:
    assert code == 2, said
    assert len(said.splitlines()) == 1, said
    assert wrong.names in said
    assert wrong.right in said
    assert "Traceback" not in said
    assert len(said) < 1000


@pytest.mark.parametrize("wrong", [*FIELDS, *TOGETHER, *NAMES, *FILES, *ARGUMENTS], ids=str)
def test_a_wrong_setting_is_one_line_that_says_what_would_be_right(
    wrong: Wrong, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if wrong.setting == "model":
        monkeypatch.delenv("COUNTERSIGN_MODEL")
    for name, value in wrong.environment.items():
        monkeypatch.setenv(name, value)
    if wrong.file:
        (home / "countersign.toml").write_bytes(wrong.file if isinstance(wrong.file, bytes) else wrong.file.encode())
    monkeypatch.setattr(sys, "argv", ["countersign", *wrong.arguments])
    # What is taken for right must not begin to serve here.
    monkeypatch.setattr(serving, "run", take)

    with pytest.raises(SystemExit) as ended:
        cli.main()

    assert_one_line(wrong, ended.value.code, capsys.readouterr().err)


@pytest.mark.parametrize("wrong", LATER, ids=str)
def test_what_shows_only_at_the_start_is_one_line_too(wrong: Wrong, home: Path) -> None:
    code, said = start(wrong.environment)
    assert_one_line(wrong, code, said)


def test_a_folder_in_place_of_the_file_is_refused(home: Path) -> None:
    (home / "countersign.toml").mkdir()
    code, said = start({})
    assert_one_line(Wrong("`countersign.toml`", "a file of settings"), code, said)


def test_too_few_descriptors_are_said_to_be_too_few(home: Path) -> None:
    code, said = start({}, FEW_DESCRIPTORS)
    assert_one_line(Wrong("RLIMIT_NOFILE", "ulimit -n"), code, said)


def test_a_secret_is_never_repeated(home: Path) -> None:
    for name in ("COUNTERSIGN_MODEL_KEY", "COUNTERSIGN_METRICS_TOKEN"):
        code, said = start({name: "hunter2 hunter3"})
        assert code == 2
        assert "hunter" not in said


def test_every_setting_is_tried_with_several_wrong_kinds() -> None:
    tried = {name: sum(wrong.setting == name for wrong in FIELDS) for name in Settings.model_fields}
    assert {name: count for name, count in tried.items() if count < 2} == {}
    assert len({*map(str, [*FIELDS, *TOGETHER, *NAMES, *FILES, *ARGUMENTS, *LATER])}) >= 74


def start(environment: Mapping[str, str], before: str = "") -> tuple[int, str]:
    """The real command in a process of its own: its exit code and standard error without the notice of a new workspace."""
    fixed = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT), "COUNTERSIGN_MODEL": "none"}

    async def run() -> tuple[int, str]:
        command = ("serve", "--port", "0")
        process = await preloaded.start(command, cwd=Path.cwd(), env={**fixed, **environment}, before=before, errors_apart=True)
        async with asyncio.timeout(START_SECONDS):
            _, errors = await process.communicate()
        return process.returncode or 0, errors.decode()

    code, errors = asyncio.run(run())
    lines = [line for line in errors.splitlines() if not line.startswith("Made workspace/")]
    return code, "\n".join(lines)
