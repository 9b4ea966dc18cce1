"""What `make test` says, and does, on a machine that lacks something. PATH is faked: nothing is installed here."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "deploy" / "prerequisites.sh"
SHELL = "/bin/sh"

WORKING = {
    "python3": "exit 0",
    "node": "echo 22",
    "npm": "exit 0",
    "git": "exit 0",
    "chromium-headless-shell": "exit 0",
    "firefox-esr": "exit 0",
    "bwrap": "exit 0",
    "initdb": "exit 0",
    "ldconfig": "echo libgomp.so.1",
}
"""Stand-ins for what the script looks for."""


@dataclass
class Machine:
    """A PATH with nothing on it but what a test puts there, and the few programs that every system has."""

    folder: Path

    def __post_init__(self) -> None:
        self.programs.mkdir()
        for name in ("grep", "sed", "cat"):
            (self.programs / name).symlink_to(f"/bin/{name}")
        self.put("uname", "echo Linux")
        self.put("id", "echo 1000")
        self.put("ldconfig", "exit 0")
        self.say("debian")

    @property
    def programs(self) -> Path:
        return self.folder / "bin"

    @property
    def log(self) -> Path:
        """What the faked package managers were told, one call a line."""
        return self.folder / "log"

    def put(self, name: str, script: str, folder: Path | None = None) -> None:
        """A program of that name."""
        path = (folder or self.programs) / name
        path.write_text(f"#!{SHELL}\n{script}\n")
        path.chmod(0o755)

    def say(self, system: str) -> None:
        """Which distribution it is."""
        (self.folder / "os-release").write_text(f"NAME=x\nID={system}\n")

    def become_root(self) -> None:
        self.put("id", "echo 0")

    def furnish(self, *, without: str = "") -> None:
        """Everything that is needed, but one program."""
        for name, script in WORKING.items():
            if name != without:
                self.put(name, script)
        (self.folder / "python3").touch(0o755)
        (self.folder / "python3").chmod(0o755)
        (self.folder / "fonts" / "truetype" / "dejavu").mkdir(parents=True)

    def package_manager(self, name: str, *, bringing: bool = False) -> None:
        """One that writes down how it was called, and may bring every program."""
        bring = "".join(
            f"printf '#!{SHELL}\\n{script}\\n' > {self.programs}/{program}; /bin/chmod 755 {self.programs}/{program}\n"
            for program, script in WORKING.items()
        )
        files = (
            f"/bin/mkdir -p {self.folder}/fonts/truetype/dejavu; : > {self.folder}/python3; /bin/chmod 755 {self.folder}/python3"
        )
        self.put(name, f'echo "{name} $*" >> {self.log}\n{bring + files if bringing else ""}')

    def check(self, purpose: str = "test") -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": str(self.programs),
            "HOME": str(self.folder),
            "PUBLIC_PYTHON": str(self.folder / "python3"),
            "FONTS": str(self.folder / "fonts"),
            "LDCONFIG": str(self.programs / "ldconfig"),
            "POSTGRESQL": str(self.folder / "postgresql"),
            "OS_RELEASE": str(self.folder / "os-release"),
        }
        return subprocess.run([SHELL, str(SCRIPT), purpose], env=environment, capture_output=True, text=True, check=False)

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


EVERYTHING = (
    "Python 3.11",
    "Node.js 20",
    "npm",
    "git",
    "OpenMP",
    "Chromium",
    "Firefox",
    "bubblewrap",
    "every user may run",
    "fonts",
    "PostgreSQL",
)
PACKAGES = (
    "python3 python3-venv nodejs npm git libgomp1 chromium-headless-shell firefox-esr bubblewrap fonts-dejavu-core postgresql"
)


def test_a_machine_that_has_everything_is_told_nothing(machine: Machine) -> None:
    machine.furnish()
    checked = machine.check()
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_without_the_right_to_install_everything_missing_is_named_at_once_with_the_commands(machine: Machine) -> None:
    machine.package_manager("apt-get", bringing=True)
    began = time.monotonic()
    checked = machine.check()
    assert time.monotonic() - began < 5, "it says so at once"
    assert checked.returncode == 1
    assert [name for name in EVERYTHING if name not in checked.stderr] == []
    assert "As root:\n  apt-get update\n" in checked.stderr
    assert f"  apt-get install --yes --no-install-recommends {PACKAGES}\n" in checked.stderr
    assert machine.calls() == [], "nothing is installed for somebody who is not root"


def test_as_root_on_debian_the_packages_are_installed(machine: Machine) -> None:
    machine.become_root()
    machine.package_manager("apt-get", bringing=True)
    checked = machine.check()
    assert checked.returncode == 0, checked.stderr
    assert machine.calls() == ["apt-get update", f"apt-get install --yes --no-install-recommends {PACKAGES}"]


def test_only_what_is_missing_is_installed(machine: Machine) -> None:
    machine.become_root()
    machine.furnish(without="bwrap")
    machine.package_manager("apt-get", bringing=True)
    assert machine.check().returncode == 0
    assert machine.calls()[-1] == "apt-get install --yes --no-install-recommends bubblewrap"


def test_the_browser_with_its_windows_will_do(machine: Machine) -> None:
    machine.furnish(without="chromium-headless-shell")
    assert "Chromium" in machine.check().stderr
    machine.put("chromium", "exit 0")
    assert machine.check().returncode == 0


def test_a_server_of_postgresql_is_found_where_debian_keeps_it(machine: Machine) -> None:
    machine.furnish(without="initdb")
    assert "PostgreSQL's server" in machine.check().stderr
    folder = machine.folder / "postgresql" / "15" / "bin"
    folder.mkdir(parents=True)
    machine.put("initdb", "exit 0", folder)
    assert machine.check().returncode == 0


def test_ubuntu_gets_its_browser_where_no_snap_is_needed(machine: Machine) -> None:
    machine.become_root()
    machine.say("ubuntu")
    machine.furnish(without="chromium-headless-shell")
    machine.package_manager("apt-get")
    browser = machine.folder / ".cache" / "ms-playwright" / "chromium-1" / "chrome-linux"
    browser.mkdir(parents=True)
    machine.put("npx", f'echo "npx $*" >> {machine.log}; : > {browser}/chrome; /bin/chmod 755 {browser}/chrome')
    assert machine.check().returncode == 0
    [call] = machine.calls()
    assert call.startswith("npx --yes playwright@")
    assert call.endswith("install --with-deps chromium")


def test_an_installation_that_fails_says_why_and_what_is_still_missing(machine: Machine) -> None:
    machine.become_root()
    machine.furnish(without="bwrap")
    machine.put("apt-get", 'echo "no network" >&2; exit 100')
    checked = machine.check()
    assert checked.returncode == 1
    assert "no network" in checked.stderr
    assert "bubblewrap" in checked.stderr


def test_a_version_that_is_too_old_is_named_and_nothing_is_installed_over_it(machine: Machine) -> None:
    machine.become_root()
    machine.furnish()
    machine.package_manager("apt-get")
    machine.put("node", 'case "$1" in -p) echo 18;; *) echo v18.19.0;; esac')
    checked = machine.check()
    assert checked.returncode == 1
    assert "v18.19.0 is too old" in checked.stderr
    assert machine.calls() == []


@pytest.mark.parametrize(
    ("manager", "package"),
    [("apt-get", "libgomp1"), ("dnf", "libgomp"), ("pacman", "gcc-libs")],
)
def test_the_library_that_the_model_needs_is_named_for_each_system(machine: Machine, manager: str, package: str) -> None:
    machine.furnish()
    machine.put("ldconfig", "echo libc.so.6")
    machine.package_manager(manager)
    checked = machine.check("run")
    assert checked.returncode == 1
    assert "OpenMP" in checked.stderr
    assert checked.stderr.endswith(f" {package}\n")


@pytest.mark.parametrize(
    ("manager", "expected"),
    [
        ("dnf", "dnf install --assumeyes bubblewrap"),
        ("pacman", "pacman -S --needed bubblewrap"),
    ],
)
def test_other_systems_are_told_their_own_command(machine: Machine, manager: str, expected: str) -> None:
    machine.become_root()
    machine.furnish(without="bwrap")
    machine.package_manager(manager)
    checked = machine.check()
    assert checked.returncode == 1
    assert expected in checked.stderr
    assert machine.calls() == []


def test_running_the_product_needs_no_browser_and_never_installs(machine: Machine) -> None:
    machine.become_root()
    machine.furnish(without="git")
    (machine.programs / "chromium-headless-shell").unlink()
    machine.package_manager("apt-get", bringing=True)
    checked = machine.check("run")
    assert checked.returncode == 1
    assert "Chromium" not in checked.stderr
    assert "--no-install-recommends git\n" in checked.stderr
    assert machine.calls() == []


def test_make_test_begins_with_this_check_and_ends_with_it_when_something_is_missing(machine: Machine) -> None:
    """`make` is asked what it would do, so nothing runs."""
    said = subprocess.run(["make", "-n", "test"], cwd=SCRIPT.parents[1], capture_output=True, text=True, check=True).stdout
    commands = [line for line in said.splitlines() if not line.startswith(("make", "echo"))]
    assert commands[0].endswith(" || deploy/prerequisites.sh test python3")
    assert commands[1] == "deploy/prerequisites.sh test python3"
