"""Starts one job, in an interpreter of its own that gets the descriptor of the plan (see `running.BOOT`).

A program of its own, because this must not be done between fork and exec of a process with threads. It is started for
every job, so it imports a few small modules of the standard library and the two files beside it; `typing` alone would take as
long as the interpreter. First it becomes an ordinary user if it was root, then it drops every other right, and only then it
becomes the program.

It forks once. The child becomes bubblewrap, which builds the sandbox, or confines itself with Landlock and the filter. This
process stays outside as the parent of all orphans, out of the job's reach, and leaves none behind: not when the job ends, and
not when the process that started it does.

It reports to the status descriptor: `!` and a sentence where the job could not be confined and was not started; in the end
`=` and the wait status of the child. bubblewrap reports more there.
"""

from __future__ import annotations

import marshal
import os
import resource
import signal

import kernel  # pyright: ignore[reportImplicitRelativeImport] - run as a file, beside them
import process_tree  # pyright: ignore[reportImplicitRelativeImport] - the same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

OOM_SCORE = b"1000"
"""Of all processes the kernel ends a job's first when the machine runs out of memory."""

NOT_THERE, NOT_RUNNABLE = 127, 126
"""What shells exit with for a command that they cannot run."""

IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
"""And therefore by every program it becomes, if nothing is done about it."""

STAGING = b"/tmp"

LAST_DESCRIPTOR = 1 << 20
"""The kernel's own limit on how many a process may be allowed; Python closes a range in one call."""


def main(plan_file: int) -> None:
    """Carry out the plan that can be read from descriptor `plan_file`, to its end."""
    with open(plan_file, "rb") as file:
        plan: dict[str, Any] = marshal.load(file)  # noqa: S302 # its starter wrote it, and gave it to this process alone
    status: int = plan["status"]
    try:
        os.set_inheritable(status, plan["bubblewrap"])
        _supervise(plan)
    except OSError as error:
        _report(status, b"!" + str(error).encode(errors="replace"))


def _supervise(plan: dict[str, Any]) -> None:
    """Be the parent of the job and of its orphans until it ends, then end what is left. Never confined, so never reachable."""
    kernel.adopt_orphans()
    signal.signal(signal.SIGTERM, _terminate)
    kernel.die_with_parent(signal.SIGTERM)
    if os.getppid() != plan["parent"]:
        return  # it ended before it could be noticed
    job = os.fork()
    if job == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _become_job(plan)
    # Its output is over when the job's is.
    for descriptor in (1, 2):
        os.close(descriptor)
    _, ended = os.waitpid(job, 0)
    _kill_descendants()
    _report(plan["status"], b"=%d\n" % ended)


def _terminate(*_: object) -> NoReturn:
    """The process that started this one ended, or asks it to end."""
    _kill_descendants()
    os._exit(0)


def _kill_descendants() -> None:
    """Until there is no child: every orphan is one. The first process of a pid namespace ends last of all in there."""
    while _has_children():
        process_tree.freeze_and_kill(os.getpid())
        _wait(0)


def _has_children() -> bool:
    while (found := _wait(os.WNOHANG)) > 0:
        pass
    return found == 0


def _wait(how: int) -> int:
    """The number of a child that ended, 0 for none yet, -1 where there are none at all."""
    try:
        return os.waitpid(-1, how)[0]
    except ChildProcessError:
        return -1


def _become_job(plan: dict[str, Any]) -> NoReturn:
    status: int = plan["status"]
    try:
        for number in IGNORED_BY_PYTHON:
            signal.signal(number, signal.SIG_DFL)
        os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) + plan["niceness"])
        _prefer_for_oom_killer()
        if plan["bubblewrap"]:
            _become_bubblewrap(plan)
        _confine(plan)
    except (OSError, ValueError) as error:
        _report(status, b"!" + str(error).encode(errors="replace") + b"\n")
        os._exit(NOT_RUNNABLE)
    _run(plan["argv"], plan["env"])


def _become_bubblewrap(plan: dict[str, Any]) -> NoReturn:
    status: int = plan["status"]
    if plan["staged"]:
        _build_staging(plan["staged"])
    _drop_root(plan["user"])
    kernel.forbid_new_privileges()
    kernel.drop_capabilities()
    kernel.die_with_parent(signal.SIGKILL)
    os.umask(plan["umask"])
    _close_all_but(status, *plan["keep"])
    # Nothing of the job's environment yet: a variable may mean something to the program that builds the sandbox.
    os.execve(plan["argv"][0], [*plan["argv"], b"%d" % status, b"--", *plan["command"]], {})  # noqa: S606 # no shell is wanted


def _build_staging(paths: list[int]) -> None:
    """Make what root opened reachable for somebody who may not enter the folders above it: under /tmp, by number."""
    mounts = [(kernel.detach(path), _is_folder(path)) for path in paths]
    kernel.unshare_mounts()
    kernel.mount_memory(STAGING, b"mode=0711,size=64k")
    for number, (mount, is_folder) in enumerate(mounts):
        target = STAGING + b"/%d" % number
        if is_folder:
            os.mkdir(target, 0o711)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
        kernel.attach(mount, target)
        os.close(mount)


def _close_all_but(*kept: int) -> None:
    """The standard streams stay too."""
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, LAST_DESCRIPTOR)


def _confine(plan: dict[str, Any]) -> None:
    os.setsid()
    # As the one who opened it: the way there may be closed to the job's own user.
    os.fchdir(plan["folder"])
    _drop_root(plan["user"])
    kernel.forbid_new_privileges()
    kernel.drop_capabilities()
    kernel.die_with_parent(signal.SIGKILL)
    os.umask(plan["umask"])
    landlock = plan["landlock"]
    kernel.confine(landlock["version"], _open_granted(landlock), network=landlock["network"])
    for name, amount in plan["limits"]:
        resource.setrlimit(name, (amount, amount))
    kernel.install_filter(plan["filter"])
    # The status descriptor closes by itself.
    _close_all_but(plan["status"])


def _open_granted(landlock: dict[str, Any]) -> list[tuple[int, int]]:
    granted: list[tuple[int, int]] = [*landlock["opened"]]
    for path, access in landlock["paths"]:
        try:
            granted.append((os.open(path, os.O_PATH | os.O_CLOEXEC), access))
        except (FileNotFoundError, PermissionError):
            continue
    return [(path, access if _is_folder(path) else kernel.for_a_file(access)) for path, access in granted]


def _is_folder(descriptor: int) -> bool:
    return os.fstat(descriptor).st_mode & 0o170000 == 0o040000


def _run(argv: list[bytes], env: dict[bytes, bytes]) -> NoReturn:
    command, complaint = argv[0], b"command not found"
    folders = [b""] if b"/" in command else [each for each in env.get(b"PATH", b"").split(b":") if each]
    code = NOT_THERE
    for folder in folders:
        try:
            os.execve(os.path.join(folder, command), argv, env)  # noqa: S606 # no shell is wanted
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            code, complaint = NOT_RUNNABLE, str(error).encode(errors="replace")
    os.write(2, command + b": " + complaint + b"\n")
    os._exit(code)


def _drop_root(user: tuple[int, int] | None) -> None:
    if user is not None:
        number, group = user
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(number, number, number)
    if 0 in (*os.getresuid(), *os.getresgid()):
        raise PermissionError("the job would run as root")


def _prefer_for_oom_killer() -> None:
    try:
        with open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
            file.write(OOM_SCORE)
    except OSError:
        pass  # a machine that does not let it ends something else first


def _report(status: int, message: bytes) -> None:
    os.write(status, message)
