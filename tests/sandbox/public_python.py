"""A Python that every user of the machine may run: jobs are run by users who may enter nobody's home."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

INSTALLED = ("/usr/bin/python3", "/usr/local/bin/python3")

ANYBODY = 60899
"""A user of no account, as those of the sandbox's pool are."""

CHECK = "import ctypes, fcntl, json, resource, signal, socket, struct, sys; sys.exit(sys.version_info < (3, 9))"
"""What the probes import, and the first version with `os.pidfd_open` and `signal.pidfd_send_signal`."""

_SECONDS = 20.0


@dataclass(frozen=True)
class PublicPython:
    """The interpreter, and the folders that a job must be able to read for it beside what every job can."""

    path: str
    folders: tuple[Path, ...] = ()


@cache
def find_public_python(installed: Sequence[str] = INSTALLED) -> PublicPython:
    """An installed interpreter if any user can run one, otherwise a copy of the one that runs these tests."""
    for path in installed:
        if can_be_run(path):
            return PublicPython(path)
    folder = Path(tempfile.mkdtemp(prefix="countersign-python-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copied = copy_python(folder)
    if not can_be_run(copied.path):
        pytest.fail("these tests need a Python 3.9 or newer that any user may run: install python3 at /usr/bin/python3")
    return copied


def copy_python(folder: Path) -> PublicPython:
    """The interpreter of these tests with its standard library, in `folder`, readable by everybody."""
    standard = Path(sysconfig.get_path("stdlib"))
    library = folder / "lib" / standard.name
    without = shutil.ignore_patterns("__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter")
    shutil.copytree(standard, library, ignore=without)
    shared = Path(str(sysconfig.get_config_var("LIBDIR")), str(sysconfig.get_config_var("INSTSONAME")))
    if sysconfig.get_config_var("Py_ENABLE_SHARED") and shared.is_file():
        shutil.copy(shared, folder / "lib")
    program = folder / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    program.parent.mkdir()
    shutil.copy(os.path.realpath(sys.executable), program)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path == program else 0o644)
    return PublicPython(str(program), (folder,))


def can_be_run(path: str) -> bool:
    """Whether a user who owns nothing can run it; without the right to become one, whether this user can."""
    user = ANYBODY if os.geteuid() == 0 else None
    try:
        tried = subprocess.run(
            [path, "-I", "-c", CHECK],
            cwd="/",
            env={},
            capture_output=True,
            timeout=_SECONDS,
            user=user,
            group=user,
            extra_groups=[] if user else None,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0
