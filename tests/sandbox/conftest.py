"""The real sandboxes, as the machine gives them, from both sides of the question who the gateway is.

As root the tests play both a gateway that is root, whose jobs become somebody else, and one that is an ordinary user; as an
ordinary user only the second. A machine that has no mechanism fails here: what was not tried does not hold.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from gateway.sandbox import bubblewrap, kernel
from gateway.sandbox.bubblewrap import BubblewrapSandbox
from gateway.sandbox.job import Job, JobLimits, JobResult, Mechanism, Sandbox
from gateway.sandbox.landlock import LandlockSandbox
from gateway.sandbox.running import SandboxHost
from tests.sandbox.public_python import find_public_python

HERE = Path(__file__).parent
PROBES = HERE / "probes"
SANDBOX = Path(bubblewrap.__file__).parent

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}

ROOT = os.geteuid() == 0
NOBODY_ELSE = 60801 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
"""A user of these tests alone, and of one worker: some attempts reach all processes of a user."""

GATEWAY_USER = NOBODY_ELSE if ROOT else os.geteuid()
"""Who an ordinary gateway is in these tests."""

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Variant:
    """One way of being sandboxed: by what, for a gateway that is root or not, and with how much of Landlock."""

    mechanism: Mechanism
    by_root: bool
    landlock: int = 0
    descriptors: bool = True
    """Whether bubblewrap is to bind what is open, where it can."""

    def __str__(self) -> str:
        version = str(self.landlock) if self.landlock else ""
        paths = "" if self.descriptors else "-paths"
        return f"{self.mechanism}{version}{paths}-{'root' if self.by_root else 'user'}"


_FIRST_OF_KERNELS = (1, 2, 3, 4, 5)
"""Versions of Landlock that older kernels stop at; the kernel in use plays them."""

VARIANTS = [
    *(Variant(mechanism, by_root) for mechanism in Mechanism for by_root in ((True, False) if ROOT else (False,))),
    Variant(Mechanism.BUBBLEWRAP, by_root=False, descriptors=False),
    *(Variant(Mechanism.LANDLOCK, by_root=False, landlock=version) for version in _FIRST_OF_KERNELS),
]
MAIN_VARIANTS = [each for each in VARIANTS if not each.landlock and each.descriptors]


def find_python() -> str:
    """The path of a Python that every user of the machine may run."""
    return find_public_python().path


@dataclass
class TrialHost:
    """A folder of the machine with a gateway's state, a job's folder and a neighbour's; all belong to the gateway."""

    root: Path
    variant: Variant

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def neighbour(self) -> Path:
        return self.root / "neighbour"

    @property
    def shown(self) -> Path:
        """What a job may read, if it is given it."""
        return self.root / "shown"

    @property
    def gateway(self) -> int:
        """The user that the gateway is."""
        return 0 if self.variant.by_root else GATEWAY_USER

    def sandbox(self) -> Sandbox:
        ground = SandboxHost(interpreter=find_python(), launcher=self.root / "sandbox", private=(self.state,))
        match self.variant.mechanism:
            case Mechanism.BUBBLEWRAP:
                parts = bubblewrap.find_programs()
                if isinstance(parts, str):
                    pytest.fail(f"`{parts}` is missing; nothing is known about a mechanism that was not tried")
                return BubblewrapSandbox(replace(parts, by_descriptor=parts.by_descriptor and self.variant.descriptors), ground)
            case Mechanism.LANDLOCK:
                version = kernel.landlock_version()
                if not version:
                    pytest.fail("this kernel has no Landlock; nothing is known about a mechanism that was not tried")
                return LandlockSandbox(min(version, self.variant.landlock or version), ground)

    def run(self, *argv: str, **options: Any) -> JobResult:
        """Run a job as the gateway would, being who the gateway is."""
        job = self.job(*argv, **options)
        return self.as_gateway(lambda: self.sandbox().run(job, threading.Event()))

    def job(self, *argv: str, readable: Sequence[Path] = (), **options: Any) -> Job:
        """A job in the work folder, which can read the Python of these tests wherever that is."""
        return Job(argv, ENVIRONMENT, self.work, readable=(*find_public_python().folders, *readable), **options)

    def python(self, program: str, **options: Any) -> JobResult:
        """Run a small_limits lines of Python as a job."""
        return self.run(find_python(), "-I", "-c", program, **options)

    def outside(
        self, argv: Sequence[str], *, given: bytes = b"", pass_fds: tuple[int, ...] = ()
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program as the gateway's user, without any sandbox."""
        user = self.gateway if ROOT else None
        return subprocess.run(
            argv,
            cwd=self.work,
            env=ENVIRONMENT,
            input=given,
            capture_output=True,
            timeout=60,
            pass_fds=pass_fds,
            user=user,
            group=user,
            extra_groups=[] if ROOT else None,
        )

    def as_gateway(self, do: Callable[[], _Value]) -> _Value:
        """What `do` gives or raises in a process of the gateway's user."""
        if self.gateway == os.geteuid():
            return do()
        return in_child(do, self.gateway)

    def own(self) -> None:
        """Give everything here to the gateway, as if it had made it."""
        for folder, _, files in os.walk(self.root):
            for path in (folder, *(os.path.join(folder, name) for name in files)):
                os.chown(path, self.gateway, self.gateway, follow_symlinks=False)


def run_as(user: int) -> dict[str, Any]:
    """What `subprocess` is told to start a program as `user`; nothing where there is no choice."""
    return {"user": user, "group": user, "extra_groups": []} if ROOT else {}


def in_child(do: Callable[[], _Value], user: int) -> _Value:
    """Run `do` in a forked process that becomes `user`; its value or its exception comes back."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Newer Pythons warn of forking beside threads; the child uses none that it did not start.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            outcome: tuple[bool, Any] = (True, do())
        except BaseException as error:  # noqa: BLE001 # the parent raises it
            outcome = (False, error)
        try:
            with open(writer, "wb") as answer:
                pickle.dump(outcome, answer)
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as answer:
        went_well, value = pickle.load(answer)
    os.waitpid(child, 0)
    if not went_well:
        raise value
    return value


def make_host(variant: Variant) -> TrialHost:
    # Beside pytest's own folders, which nobody but the one who runs it may enter.
    host = TrialHost(Path(tempfile.mkdtemp(prefix="countersign-host-")).resolve(), variant)
    host.root.chmod(0o711)
    for folder in (host.work, host.state, host.neighbour):
        folder.mkdir(mode=0o700)
    host.shown.mkdir(mode=0o755)
    (host.shown / "file").write_bytes(b"to be read")
    (host.state / "secret").write_bytes(b"the gateway's own")
    (host.neighbour / "file").write_bytes(b"somebody else's")
    shutil.copytree(SANDBOX, host.root / "sandbox", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PROBES, host.work / "probes", ignore=shutil.ignore_patterns("__pycache__"))
    if ROOT:
        host.own()
    return host


@pytest.fixture(params=MAIN_VARIANTS, ids=str)
def host(request: pytest.FixtureRequest) -> Generator[TrialHost]:
    """For each mechanism and each kind of gateway."""
    made = make_host(request.param)
    yield made
    shutil.rmtree(made.root)


def small_limits(**changed: int) -> JobLimits:
    """JobLimits small enough to be met on purpose."""
    return replace(JobLimits(), **changed)
