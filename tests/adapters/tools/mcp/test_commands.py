"""Which files a command needs, and what stops it before it is started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gateway.adapters.tools.mcp.programs import find_missing, resolve_command
from gateway.adapters.tools.offer import SourceAway
from gateway.core.errors import Misconfigured
from gateway.sandbox import uid_pool
from gateway.sandbox.job import SandboxUnavailable
from tests.adapters.tools.mcp.conftest import Drive
from tests.adapters.tools.mcp.servers import ROGUE, rogue_server
from tests.harness.processes import running_below


def write_program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_program_of_the_system_needs_nothing_more() -> None:
    resolved = resolve_command(("sh", "-c", "true"), "/usr/bin:/bin")

    assert resolved.words[1:] == ("-c", "true")
    assert resolved.readable == ()
    assert not resolved.fetches


def test_of_a_program_under_a_folder_of_its_own_the_code_can_be_read_and_nothing_else(here: Path) -> None:
    program = write_program(here / "v22/bin/node")
    for name in ("lib", "share", "etc"):
        (here / "v22" / name).mkdir()

    resolved = resolve_command(("node",), str(program.parent))

    assert resolved.words == (str(program),)
    assert resolved.readable == (here / "v22/bin", here / "v22/lib")
    assert resolved.path.split(":")[0] == str(program.parent)


def test_of_a_program_beside_somebodys_things_only_the_file_can_be_read(here: Path) -> None:
    program = write_program(here / "home/bin/server")
    (here / "home/notes").mkdir()

    assert resolve_command((str(program),), "/usr/bin").readable == (program,)


def test_a_link_into_node_modules_brings_the_packages_and_the_interpreter_that_env_would_find(here: Path) -> None:
    node = write_program(here / "v22/bin/node")
    (here / "v22/lib").mkdir()
    script = write_program(here / "app/node_modules/some/cli.js", "#!/usr/bin/env -S node --no-warnings\n")
    (here / "app/bin").mkdir()
    link = here / "app/bin/some"
    link.symlink_to(script)

    resolved = resolve_command((str(link),), str(node.parent))

    assert set(resolved.readable) == {link, here / "app/node_modules", here / "v22/bin", here / "v22/lib"}


def test_a_virtual_environment_brings_the_python_that_it_was_made_with(here: Path) -> None:
    base = write_program(here / "python/bin/python3")
    (here / "python/lib").mkdir()
    script = write_program(here / "venv/bin/server", f"#!{here}/venv/bin/python\n")
    (here / "venv/pyvenv.cfg").touch()
    (here / "venv/bin/python").symlink_to(base)

    resolved = resolve_command((str(script),), "/usr/bin")

    assert set(resolved.readable) == {here / "venv", here / "python/bin", here / "python/lib"}


def test_the_package_of_a_script_that_is_an_argument_can_be_read(here: Path) -> None:
    package = here / "server"
    (package / "dist").mkdir(parents=True)
    (package / "dist/index.js").touch()
    (package / "package.json").touch()
    (here / "notes.txt").touch()

    resolved = resolve_command(("sh", str(package / "dist/index.js"), str(here / "notes.txt")), "/usr/bin:/bin")

    assert resolved.readable == (package,)
    assert find_missing(resolved.words[1:], resolved.readable) == str(here / "notes.txt")


@pytest.mark.parametrize("name", ["npx", "uvx"])
def test_a_command_that_fetches_what_it_runs_is_known(here: Path, name: str) -> None:
    write_program(here / name)

    assert resolve_command((name,), str(here)).fetches


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("no-such-program",), "the program `no-such-program` is not found on the PATH of the gateway"),
        (("/no/such/program",), "the program `/no/such/program` is not there"),
        (("./program",), "the program `./program` should be a whole path, or a name without `/`"),
        (("/etc/passwd",), "the program `/etc/passwd` is no program that can be run"),
        (("/etc",), "the program `/etc` is no program that can be run"),
    ],
)
def test_what_is_missing_is_named(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        resolve_command(words, "/usr/bin")

    assert caught.value.message == said


def test_an_interpreter_that_is_missing_is_named(here: Path) -> None:
    missing = write_program(here / "one", "#!/usr/bin/env no-such-interpreter\n")
    gone = write_program(here / "two", "#!/no/such/interpreter\n")

    with pytest.raises(Misconfigured, match="`one` needs `no-such-interpreter`, which is not found"):
        resolve_command((str(missing),), "/usr/bin")
    with pytest.raises(Misconfigured, match="`two` needs `/no/such/interpreter`, which is not there"):
        resolve_command((str(gone),), "/usr/bin")


async def test_without_a_sandbox_no_server_is_started(drive: Drive) -> None:
    driven = drive(rogue_server(), sandbox=lambda: SandboxUnavailable("bubblewrap is not installed"))

    with pytest.raises(Misconfigured, match="run in a sandbox only, and there is none here: bubblewrap is not installed"):
        await driven.open()
    assert running_below(None, str(ROGUE)) == []


async def test_a_folder_that_shows_the_gateways_state_is_refused_by_name(drive: Drive, here: Path) -> None:
    state = here / "state"
    state.mkdir()

    for settings in ({"folders": [str(here)]}, {"writable": [str(state)]}):
        driven = drive(rogue_server(**settings), private=(state,))
        with pytest.raises(Misconfigured, match="would show the server the gateway's own state"):
            await driven.open()
    with pytest.raises(Misconfigured, match=r"the folder `/no/such/folder` is not there"):
        await drive(rogue_server(folders=["/no/such/folder"])).open()


async def test_a_secret_that_is_not_stored_starts_nothing(drive: Drive) -> None:
    with pytest.raises(Misconfigured, match="not stored"):
        await drive(rogue_server(env={"KEY": "${secret:NONE}"})).open()


async def test_a_server_that_cannot_see_its_file_says_which_folder_it_lacks(drive: Drive, here: Path) -> None:
    (here / "tool").write_text("print('never')")
    driven = drive({"command": sys.executable, "args": ["-S", str(here / "tool")]})

    with pytest.raises(SourceAway) as caught:
        await driven.open()

    assert "it ended with exit code 2" in caught.value.message
    assert caught.value.message.endswith(f"(`{here}/tool` is in none of its `folders`)")


@pytest.mark.parametrize(
    ("user", "mode", "refused"),
    [(0, 0o700, True), (0, 0o750, True), (0, 0o701, True), (0, 0o755, False), (0, 0o705, False), (1000, 0o700, False)],
)
async def test_a_folder_that_the_servers_user_cannot_enter_is_refused_with_what_to_do(
    drive: Drive, here: Path, monkeypatch: pytest.MonkeyPatch, user: int, mode: int, refused: bool
) -> None:
    """Only where the gateway is root do servers have users of their own."""
    closed = here / "closed"
    closed.mkdir()
    closed.chmod(mode)
    monkeypatch.setattr(uid_pool.os, "geteuid", lambda: user)
    told = "lets in nobody but its owner.*chmod o\\+rX.*writable.*as its owner"
    driven = drive({"command": "no-such-program", "folders": [str(closed)]})
    with pytest.raises(Misconfigured, match=told if refused else "is not found on the PATH"):
        await driven.open()
