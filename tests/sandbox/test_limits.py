"""What a job may use up: memory, processes, files, disk, processor time."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from gateway.sandbox.job import JobEnd, Mechanism
from tests.sandbox.conftest import TrialHost, find_python, small_limits
from tests.sandbox.processes import WAIT_SECONDS, seconds


def test_memory_is_limited(host: TrialHost) -> None:
    bomb = "print(len(b'x' * (192 << 20)))"
    assert host.outside([find_python(), "-c", bomb]).returncode == 0

    finished = host.python(bomb, limits=small_limits(memory_bytes=128 << 20))

    assert b"MemoryError" in finished.stderr


@pytest.mark.requirement("000-31", "the memory of a job is limited, all its processes together")
def test_memory_of_all_processes_together_is_limited(host: TrialHost) -> None:
    bomb = "import os, time\nfor _ in range(6):\n    if os.fork() == 0: break\nheld = os.urandom(1 << 20) * 80\ntime.sleep(1000)"
    finished = host.python(bomb, limits=small_limits(memory_bytes=256 << 20), timeout_seconds=WAIT_SECONDS)

    assert finished.end is JobEnd.OVER_LIMIT


def test_case_302_what_the_kernel_holds_in_sockets_counts_too(host: TrialHost) -> None:
    program = (
        "import os, socket, time\nheld = []\n"
        "for _ in range(8):\n    if os.fork() == 0: break\n"
        "for _ in range(100):\n"
        "    held += socket.socketpair()\n"
        "    held[-1].setblocking(False)\n"
        "    try:\n        while held[-1].send(bytes(1 << 16)): pass\n"
        "    except BlockingIOError: pass\n"
        "time.sleep(60)"
    )
    finished = host.python(program, limits=small_limits(memory_bytes=256 << 20), timeout_seconds=WAIT_SECONDS)

    assert finished.end is JobEnd.OVER_LIMIT


def test_memory_that_processes_share_counts_once(host: TrialHost) -> None:
    fine = "import os, time\nheld = os.urandom(1 << 20) * 80\nfor _ in range(6):\n    if os.fork() == 0: break\ntime.sleep(0.5)"
    finished = host.python(fine, limits=small_limits(memory_bytes=256 << 20), timeout_seconds=WAIT_SECONDS)

    assert finished.end is JobEnd.EXITED


def test_processes_are_limited(host: TrialHost) -> None:
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
    finished = host.python(bomb, limits=small_limits(processes=20))

    assert 5 <= int(finished.stdout) <= 20 + (0 if host.variant.by_root else 100)
    assert int(finished.stdout) < 200


def test_a_bomb_of_forks_ends_with_its_time(host: TrialHost) -> None:
    mark = seconds(6)
    bomb = f"import os\nwhile True:\n    try:\n        if os.fork() == 0: os.setsid()\n    except OSError: pass\n# {mark}"
    finished = host.python(bomb, limits=small_limits(processes=30), timeout_seconds=1.0)

    assert finished.end is JobEnd.TIMED_OUT
    assert not [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if mark.encode() in command_of(pid)]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_the_size_of_a_file_is_limited(host: TrialHost) -> None:
    finished = host.run("bash", "-c", "head -c 10M /dev/zero > big", limits=small_limits(file_bytes=1 << 20))

    assert finished.exit_code != 0
    assert (host.work / "big").stat().st_size == 1 << 20


@pytest.mark.requirement("000-31", "a job that fills the disk is stopped")
def test_a_job_that_fills_the_disk_is_stopped_before_it_is_full(host: TrialHost) -> None:
    filler = "import itertools\nfor number in itertools.count(): open(f'f{number}', 'wb').write(bytes(1 << 20))"
    job = host.job(find_python(), "-I", "-c", filler, timeout_seconds=WAIT_SECONDS)

    def run_on_a_disk_that_is_nearly_full() -> JobEnd:
        # As much as there is counts as the spare that jobs leave alone.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gateway.sandbox.monitoring.SPARE_DISK", 1 << 62)
            return host.sandbox().run(job, threading.Event()).end

    assert host.as_gateway(run_on_a_disk_that_is_nearly_full) is JobEnd.OVER_LIMIT
    assert sum(path.stat().st_size for path in host.work.iterdir()) < 4 << 30


def test_time_on_the_processor_is_limited(host: TrialHost) -> None:
    finished = host.python("while True: pass", limits=small_limits(cpu_seconds=1), timeout_seconds=WAIT_SECONDS)

    assert finished.end is JobEnd.EXITED
    assert finished.signal in (signal.SIGKILL, signal.SIGXCPU)


def test_open_files_are_limited(host: TrialHost) -> None:
    finished = host.python("held = [open('/dev/null') for _ in range(100)]", limits=small_limits(open_files=50))

    assert b"Too many open files" in finished.stderr


@pytest.mark.parametrize("place", ["/", "/dev", "/usr", "/etc", "/proc", "/run", "/var/tmp"])
def test_there_is_no_other_place_to_fill(host: TrialHost, place: str) -> None:
    finished = host.run("bash", "-c", 'echo x > "$0/countersign-filler"', place)

    assert finished.exit_code != 0
    assert not Path(place, "countersign-filler").exists()


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_places_for_temporary_files_are_the_jobs_own_and_small_if_it_has_any(host: TrialHost, place: str) -> None:
    filler = 'cd "$0" && for n in $(seq 100); do head -c 1M /dev/zero > countersign-$n || exit 9; echo $n; done'
    finished = host.run("bash", "-c", filler, place, limits=small_limits(memory_bytes=128 << 20))

    assert finished.exit_code == 9
    # 32 MiB with bubblewrap; Landlock has none.
    assert finished.stdout.count(b"\n") in (range(16, 33) if host.variant.mechanism is Mechanism.BUBBLEWRAP else (0,))
    assert not Path(place, "countersign-1").exists()


def test_programs_that_work_together_by_shared_memory_can_where_it_is_the_jobs_own(host: TrialHost) -> None:
    finished = host.python("import multiprocessing as many\nprint(many.get_context('fork').Pool(2).map(abs, [-1, -2]))")

    assert (finished.stdout == b"[1, 2]\n") is (host.variant.mechanism is Mechanism.BUBBLEWRAP)
