"""A job from its start to its end: what it is given, what is kept of what it says, and that nothing of it stays.

Requirement ids: 000-25, 000-26, 000-27, 000-28, 000-31.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from gateway.adapters.tools.sandbox import tree
from gateway.adapters.tools.sandbox.cage import OUTPUT_CAP, Ended, Job, Mechanism
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import Reason
from tests.adapters.tools.sandbox.conftest import ENVIRONMENT, ROOT, Yard, few, find_python, in_child

WAIT_SECONDS = 20.0


def alive(mark: str) -> list[int]:
    """Processes anywhere on the machine that have `mark` as a whole argument of their command line."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and mark.encode() in Path("/proc", name, "cmdline").read_bytes().split(b"\0"):
                found.append(int(name))
        except OSError:
            continue
    return found


def wait_until_gone(mark: str) -> list[int]:
    patience = time.monotonic() + WAIT_SECONDS
    while (left := alive(mark)) and time.monotonic() < patience:
        time.sleep(0.02)
    return left


def wait_for(mark: str, count: int) -> list[int]:
    patience = time.monotonic() + WAIT_SECONDS
    while len(found := alive(mark)) < count and time.monotonic() < patience:
        time.sleep(0.02)
    return found


def seconds(number: int) -> str:
    """A time to sleep for that no other test sleeps for: a mark on the command line."""
    return f"{1000 + number}.{os.getpid()}"


# ── what it is given ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_job_says_what_it_has_to_say_and_how_it_ended(yard: Yard) -> None:
    finished = yard.run("bash", "-c", "echo out; echo err >&2; exit 3")

    assert (finished.stdout, finished.stderr) == (b"out\n", b"err\n")
    assert (finished.exit_code, finished.signal, finished.ended) == (3, None, Ended.EXITED)
    assert 0 < finished.duration_seconds < WAIT_SECONDS


def test_a_job_that_a_signal_ended_says_which(yard: Yard) -> None:
    finished = yard.python("import os, signal; signal.signal(2, signal.SIG_DFL); os.kill(0, 2)")

    assert (finished.exit_code, finished.signal) == (None, signal.SIGINT)


def test_a_pipe_that_nobody_reads_ends_its_writer_as_in_any_shell(yard: Yard) -> None:
    assert yard.run("bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}").stdout == b"y\n%d\n" % (128 + signal.SIGPIPE)


def test_a_command_that_is_not_there_exits_with_127(yard: Yard) -> None:
    assert yard.run("no-such-command").exit_code == 127


def test_a_job_starts_in_its_folder_and_what_it_writes_stays_there(yard: Yard) -> None:
    assert yard.run("bash", "-c", "pwd; mkdir -p a/b && echo kept > a/b/note").stdout.decode() == f"{yard.work}\n"

    assert (yard.work / "a" / "b" / "note").read_text() == "kept\n"
    assert yard.run("bash", "-c", "echo more >> a/b/note; mv a/b/note note; rm -r a; cat note").stdout == b"kept\nmore\n"


def test_what_one_job_left_the_next_can_change_whatever_its_mode(yard: Yard) -> None:
    assert yard.run("bash", "-c", "umask 077; mkdir a; echo 1 > a/f").exit_code == 0

    assert yard.run("bash", "-c", "echo 2 >> a/f; cat a/f").stdout == b"1\n2\n"


def test_the_environment_is_what_the_job_names_and_nothing_else(yard: Yard) -> None:
    assert os.environ
    finished = yard.python("import os; print(sorted(os.environb.items()))")

    assert eval(finished.stdout) == sorted((os.fsencode(name), os.fsencode(value)) for name, value in ENVIRONMENT.items())


def test_no_variable_of_a_job_reaches_what_builds_its_cage(yard: Yard) -> None:
    environment = {**ENVIRONMENT, "LD_PRELOAD": "/no/such/library", "PYTHONSTARTUP": "x", "LD_DEBUG": "libs"}
    job = Job(("true",), environment, yard.work)

    finished = yard.as_gateway(lambda: yard.cage().run(job, threading.Event()))

    # The loader complains once for each program that it loads with the variable: those inside only.
    assert finished.exit_code == 0
    assert b"bwrap" not in finished.stderr


def test_stdin_is_what_the_job_names_and_then_its_end(yard: Yard) -> None:
    assert yard.run("cat", stdin=b"given").stdout == b"given"
    assert yard.run("cat").stdout == b""


def test_a_job_cannot_grow_what_it_was_given_to_read(yard: Yard) -> None:
    finished = yard.python(
        "import os\n"
        "try: print(os.write(os.open('/dev/stdin', os.O_RDWR), b'x' * 100))\n"
        "except OSError as error: print(error.errno and 'refused')",
        stdin=b"given",
    )

    assert finished.stdout == b"refused\n"


def test_no_descriptor_but_the_standard_streams_is_inherited(yard: Yard) -> None:
    count = (
        "import os\n"
        "def is_open(number):\n"
        "    try: os.fstat(number)\n"
        "    except OSError: return False\n"
        "    return True\n"
        "print([number for number in range(4096) if is_open(number)])"
    )
    reader, writer = os.pipe()
    try:
        os.set_inheritable(writer, True)
        shown = yard.outside([find_python(), "-I", "-c", count], pass_fds=(writer,))
        assert str(writer).encode() in shown.stdout

        assert yard.python(count).stdout == b"[0, 1, 2]\n"
        assert yard.python(count, stdin=b"x", readable=(Path("/usr/share"),)).stdout == b"[0, 1, 2]\n"
    finally:
        os.close(reader)
        os.close(writer)


def test_a_job_is_never_root_and_holds_no_capability(yard: Yard) -> None:
    finished = yard.python(
        "import ctypes, os\n"
        "held = (ctypes.c_uint32 * 6)()\n"
        "ctypes.CDLL(None).capget((ctypes.c_uint32 * 2)(0x20080522, 0), held)\n"
        "print(os.getresuid(), os.getresgid(), os.getgroups(), list(held))"
    )
    users, groups, further, held = eval(
        "[" + finished.stdout.decode().replace(") (", "), (").replace(") [", "), [").replace("] [", "], [") + "]"
    )

    assert 0 not in users
    assert 0 not in groups
    assert 0 not in further
    assert held == [0] * 6
    assert len(set(users)) == 1
    if not yard.variant.by_root:
        assert users[0] == yard.gateway


@pytest.mark.skipif(not ROOT, reason="only a gateway that is root hands out users")
def test_jobs_of_root_that_run_at_once_are_different_users(yard: Yard) -> None:
    if not yard.variant.by_root:
        assert yard.run("id", "-u").stdout == b"%d\n" % yard.gateway
        return
    cage, names = yard.cage(), ("one", "two")
    # Each waits until it sees the other.
    script = "id -u > $0; until [ -s $1 ]; do sleep 0.02; done"
    threads = [
        threading.Thread(target=cage.run, args=(Job(("bash", "-c", script, *order), ENVIRONMENT, yard.work), threading.Event()))
        for order in (names, names[::-1])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_SECONDS)

    one, two = ((yard.work / name).read_text() for name in names)
    assert one != two


def test_further_folders_can_be_read_and_not_changed(yard: Yard) -> None:
    (yard.neighbour / "file").chmod(0o644)
    yard.neighbour.chmod(0o755)
    finished = yard.run(
        "bash",
        "-c",
        'cat "$0/file"; echo x >> "$0/file"; touch "$0/new"; ln "$0/file" name && echo x >> name',
        str(yard.neighbour),
        readable=(yard.neighbour,),
    )

    assert finished.stdout == b"somebody else's"
    assert (yard.neighbour / "file").read_bytes() == b"somebody else's"
    assert not (yard.neighbour / "new").exists()


def test_the_network_is_there_for_a_job_that_was_granted_it_and_this_machines_services_are_not(yard: Yard) -> None:
    finished = yard.python(
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "line = socket.create_connection(server.getsockname())\n"
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))\n"
        "print('reached')\n"
        "try: socket.socket(socket.AF_UNIX)\n"
        "except PermissionError: print('refused')\n"
        "try: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)\n"
        "except PermissionError: print('refused')",
        network=True,
    )

    assert finished.stdout == b"reached\nrefused\nrefused\n"


# ── what is kept ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_output_is_capped_and_what_is_missing_is_counted(yard: Yard) -> None:
    finished = yard.python("import sys; sys.stdout.write('o' * 100_000); sys.stderr.write('e' * 8193)")

    assert (finished.stdout, finished.stdout_omitted) == (b"o" * OUTPUT_CAP, 100_000 - OUTPUT_CAP)
    assert (finished.stderr, finished.stderr_omitted) == (b"e" * OUTPUT_CAP, 8193 - OUTPUT_CAP)


def test_a_job_that_writes_a_gigabyte_is_neither_held_up_nor_kept(yard: Yard) -> None:
    finished = yard.run("bash", "-c", "head -c 1G /dev/zero; head -c 1M /dev/zero >&2; echo done > done")

    assert finished.stdout_omitted == (1 << 30) - OUTPUT_CAP
    assert finished.stderr_omitted == (1 << 20) - OUTPUT_CAP
    assert (yard.work / "done").exists()


# ── its end ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_job_that_takes_too_long_is_asked_to_end_and_may_tidy_up(yard: Yard) -> None:
    finished = yard.run(
        "bash", "-c", "trap 'echo tidied; exit 5' TERM; echo ready; while :; do sleep 0.01; done", timeout_seconds=1.0
    )

    assert finished.ended is Ended.TIMED_OUT
    assert finished.stdout == b"ready\ntidied\n"
    assert finished.exit_code == 5


def test_a_job_that_will_not_end_is_made_to_within_a_second(yard: Yard) -> None:
    mark = seconds(1)
    finished = yard.run("bash", "-c", f"trap '' TERM; sleep {mark} & wait; while :; do sleep {mark}; done", timeout_seconds=0.5)

    assert finished.ended is Ended.TIMED_OUT
    assert finished.signal == signal.SIGKILL
    assert finished.duration_seconds < 0.5 + WAIT_SECONDS
    assert not alive(mark)


def test_a_stopped_job_ends_too(yard: Yard) -> None:
    mark = seconds(2)
    finished = yard.python(
        f"import os, signal; os.kill(0, signal.SIGSTOP); os.execvp('sleep', ['sleep', '{mark}'])", timeout_seconds=0.5
    )

    assert finished.ended is Ended.TIMED_OUT
    assert not alive(mark)


def test_a_cancel_ends_a_job_at_once(yard: Yard) -> None:
    mark = seconds(3)

    def cancel_when_it_runs() -> tuple[Ended, float]:
        cancelled = threading.Event()

        def wait_and_cancel() -> None:
            patience = time.monotonic() + WAIT_SECONDS
            while not (yard.work / "ready").exists() and time.monotonic() < patience:
                time.sleep(0.01)
            cancelled.set()

        thread = threading.Thread(target=wait_and_cancel)
        thread.start()
        job = Job(("bash", "-c", f"echo > ready; sleep {mark}"), ENVIRONMENT, yard.work, timeout_seconds=WAIT_SECONDS)
        finished = yard.cage().run(job, cancelled)
        thread.join()
        return finished.ended, finished.duration_seconds

    ended, took = yard.as_gateway(cancel_when_it_runs)

    assert ended is Ended.CANCELLED
    assert took < WAIT_SECONDS / 2
    assert not alive(mark)


@pytest.mark.parametrize("ends", ["by itself", "in time"])
def test_nothing_survives_a_job_however_it_hides(yard: Yard, ends: str) -> None:
    mark = seconds(4)
    hide = (
        "import os, sys, time\n"
        "def daemon(again):\n"
        "    if os.fork(): return\n"
        "    os.setsid()\n"
        "    if again and os.fork(): os._exit(0)\n"
        "    for number in (0, 1, 2): os.close(number)\n"
        f"    os.execvp('sleep', ['sleep', '{mark}'])\n"
        "daemon(False); daemon(True)\n"
        "open('hidden', 'w').close()\n"
    )
    # The control: without a cage they do survive, so that there is something to be seen.
    outside = yard.outside([find_python(), "-I", "-c", hide])
    assert outside.returncode == 0
    survivors = wait_for(mark, 2)
    for pid in survivors:
        os.kill(pid, signal.SIGKILL)
    assert len(survivors) == 2
    assert not wait_until_gone(mark)

    finished = yard.python(
        hide + ("" if ends == "by itself" else "time.sleep(1000)"), timeout_seconds=1.0 if ends == "in time" else 30.0
    )

    assert finished.ended is (Ended.EXITED if ends == "by itself" else Ended.TIMED_OUT)
    assert not alive(mark)


def test_a_job_does_not_outlive_a_gateway_that_is_killed(yard: Yard) -> None:
    mark = seconds(5)
    script = f"(setsid sleep {mark} &); echo > ready; sleep {mark}"

    def serve() -> None:
        with pytest.raises(EOFError):
            in_child(run, yard.gateway)

    def run() -> None:
        yard.cage().run(Job(("bash", "-c", script), ENVIRONMENT, yard.work, timeout_seconds=WAIT_SECONDS), threading.Event())

    thread = threading.Thread(target=serve)
    thread.start()
    assert len(wait_for(mark, 2)) == 2
    # The gateway played here is the child of this process that the job came of.
    (gateway,) = [pid for pid in children(os.getpid()) if set(alive(mark)) & set(tree.descendants(pid))]
    os.kill(gateway, signal.SIGKILL)
    thread.join(WAIT_SECONDS)

    assert not wait_until_gone(mark)


def children(parent: int) -> list[int]:
    below = set(tree.descendants(parent))
    return [pid for pid in below if not any(pid in tree.descendants(other) for other in below - {pid})]


# ── what it may not be given ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("folder", ["the state", "within it", "around it", "a link", "behind a link", "missing", "relative"])
def test_a_job_is_not_started_in_a_folder_that_it_must_not_have(yard: Yard, folder: str) -> None:
    (yard.state / "deeper").mkdir()
    (yard.root / "link").symlink_to(yard.neighbour)
    (yard.neighbour / "below").mkdir()
    path = {
        "the state": yard.state,
        "within it": yard.state / "deeper",
        "around it": yard.root,
        "a link": yard.root / "link",
        "behind a link": yard.root / "link" / "below",
        "missing": yard.root / "missing",
        "relative": Path("work"),
    }[folder]
    if ROOT:
        yard.own()

    with pytest.raises(ToolFailed) as refused:
        yard.as_gateway(lambda: yard.cage().run(Job(("true",), ENVIRONMENT, path), threading.Event()))
    assert refused.value.reason == Reason.SANDBOX_UNAVAILABLE
    assert str(yard.root) not in refused.value.message


def test_a_job_may_not_read_the_state_by_a_further_folder(yard: Yard) -> None:
    job = Job(("true",), ENVIRONMENT, yard.work, readable=(yard.state,))

    with pytest.raises(ToolFailed):
        yard.as_gateway(lambda: yard.cage().run(job, threading.Event()))


def test_a_cage_that_cannot_be_closed_starts_nothing(yard: Yard) -> None:
    (yard.root / "sandbox" / "kernel.py").write_text("raise SystemExit('broken')")

    with pytest.raises(ToolFailed) as refused:
        yard.run("touch", "started")
    assert refused.value.reason == Reason.SANDBOX_UNAVAILABLE
    assert not (yard.work / "started").exists()


# ── limits ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_memory_is_limited(yard: Yard) -> None:
    bomb = "print(len(b'x' * (192 << 20)))"
    assert yard.outside([find_python(), "-c", bomb]).returncode == 0

    finished = yard.python(bomb, limits=few(memory_bytes=128 << 20))

    assert b"MemoryError" in finished.stderr


def test_memory_of_all_processes_together_is_limited(yard: Yard) -> None:
    bomb = "import os, time\nfor _ in range(6):\n    if os.fork() == 0: break\nheld = os.urandom(1 << 20) * 80\ntime.sleep(1000)"
    finished = yard.python(bomb, limits=few(memory_bytes=256 << 20), timeout_seconds=WAIT_SECONDS)

    assert finished.ended is Ended.OVER_LIMIT


def test_memory_that_processes_share_counts_once(yard: Yard) -> None:
    fine = "import os, time\nheld = os.urandom(1 << 20) * 80\nfor _ in range(6):\n    if os.fork() == 0: break\ntime.sleep(0.5)"
    finished = yard.python(fine, limits=few(memory_bytes=256 << 20), timeout_seconds=WAIT_SECONDS)

    assert finished.ended is Ended.EXITED


def test_processes_are_limited(yard: Yard) -> None:
    bomb = (
        "import os, time\n"
        "made = 0\n"
        "try:\n"
        "    for _ in range(200):\n"
        "        if os.fork() == 0: time.sleep(1000)\n"
        "        made += 1\n"
        "except OSError: pass\n"
        "print(made)"
    )
    # Only what runs in the open as the same user may have come or gone between counting and limiting.
    finished = yard.python(bomb, limits=few(processes=20))

    assert 5 <= int(finished.stdout) <= 20 + (0 if yard.variant.by_root else 100)
    assert int(finished.stdout) < 200


def test_a_bomb_of_forks_ends_with_its_time(yard: Yard) -> None:
    mark = seconds(6)
    bomb = f"import os\nwhile True:\n    try:\n        if os.fork() == 0: os.setsid()\n    except OSError: pass\n# {mark}"
    finished = yard.python(bomb, limits=few(processes=30), timeout_seconds=1.0)

    assert finished.ended is Ended.TIMED_OUT
    assert not [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if mark.encode() in command_of(pid)]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_the_size_of_a_file_is_limited(yard: Yard) -> None:
    finished = yard.run("bash", "-c", "head -c 10M /dev/zero > big", limits=few(file_bytes=1 << 20))

    assert finished.exit_code != 0
    assert (yard.work / "big").stat().st_size == 1 << 20


def test_a_job_that_fills_the_disk_is_stopped_before_it_is_full(yard: Yard) -> None:
    filler = "import itertools\nfor number in itertools.count(): open(f'f{number}', 'wb').write(bytes(1 << 20))"
    job = Job((find_python(), "-I", "-c", filler), ENVIRONMENT, yard.work, timeout_seconds=WAIT_SECONDS)

    def run_on_a_disk_that_is_nearly_full() -> Ended:
        # As much as there is counts as the spare that jobs leave alone.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gateway.adapters.tools.sandbox.limits.SPARE_DISK", 1 << 62)
            return yard.cage().run(job, threading.Event()).ended

    assert yard.as_gateway(run_on_a_disk_that_is_nearly_full) is Ended.OVER_LIMIT
    assert sum(path.stat().st_size for path in yard.work.iterdir()) < 4 << 30


def test_time_on_the_processor_is_limited(yard: Yard) -> None:
    finished = yard.python("while True: pass", limits=few(cpu_seconds=1), timeout_seconds=WAIT_SECONDS)

    assert finished.ended is Ended.EXITED
    assert finished.signal in (signal.SIGKILL, signal.SIGXCPU)


def test_open_files_are_limited(yard: Yard) -> None:
    finished = yard.python("held = [open('/dev/null') for _ in range(100)]", limits=few(open_files=50))

    assert b"Too many open files" in finished.stderr


@pytest.mark.parametrize("place", ["/", "/dev", "/usr", "/etc", "/proc", "/run", "/var/tmp"])
def test_there_is_no_other_place_to_fill(yard: Yard, place: str) -> None:
    finished = yard.run("bash", "-c", 'echo x > "$0/countersign-filler"', place)

    assert finished.exit_code != 0
    assert not Path(place, "countersign-filler").exists()


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_places_for_temporary_files_are_the_jobs_own_and_small_if_it_has_any(yard: Yard, place: str) -> None:
    filler = 'cd "$0" && for n in $(seq 100); do head -c 1M /dev/zero > countersign-$n || exit 9; echo $n; done'
    finished = yard.run("bash", "-c", filler, place, limits=few(memory_bytes=128 << 20))

    assert finished.exit_code == 9
    # 32 MiB with bubblewrap; Landlock has none.
    assert finished.stdout.count(b"\n") in (range(16, 33) if yard.variant.mechanism is Mechanism.BUBBLEWRAP else (0,))
    assert not Path(place, "countersign-1").exists()


def test_programs_that_work_together_by_shared_memory_can_where_it_is_the_jobs_own(yard: Yard) -> None:
    finished = yard.python("import multiprocessing as many\nprint(many.Pool(2).map(abs, [-1, -2]))")

    assert (finished.stdout == b"[1, 2]\n") is (yard.variant.mechanism is Mechanism.BUBBLEWRAP)
