"""The end of a job: by itself, by its time, by a cancellation or with its starter; and that nothing of it stays."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from gateway.sandbox import process_tree
from gateway.sandbox.job import Cancellation, Job, JobEnd, JobLimits
from tests.sandbox.conftest import ENVIRONMENT, TrialHost, find_python, in_child
from tests.sandbox.processes import WAIT_SECONDS, alive, seconds, wait_for, wait_until_gone


@pytest.mark.requirement("000-26", "SIGTERM comes first, and a job may end by itself")
def test_a_job_that_takes_too_long_is_asked_to_end_and_may_tidy_up(host: TrialHost) -> None:
    finished = host.run(
        "bash", "-c", "trap 'echo tidied; exit 5' TERM; echo ready; while :; do sleep 0.01; done", timeout_seconds=1.0
    )

    assert finished.end is JobEnd.TIMED_OUT
    assert finished.stdout == b"ready\ntidied\n"
    assert finished.exit_code == 5


@pytest.mark.requirement("000-26", "a job deaf to SIGTERM is killed within a second")
def test_a_job_that_will_not_end_is_made_to_within_a_second(host: TrialHost) -> None:
    mark = seconds(1)
    finished = host.run("bash", "-c", f"trap '' TERM; sleep {mark} & wait; while :; do sleep {mark}; done", timeout_seconds=0.5)

    assert finished.end is JobEnd.TIMED_OUT
    assert finished.signal == signal.SIGKILL
    assert finished.duration_seconds < 0.5 + WAIT_SECONDS
    assert not alive(mark)


def test_a_stopped_job_ends_too(host: TrialHost) -> None:
    mark = seconds(2)
    finished = host.python(
        f"import os, signal; os.kill(0, signal.SIGSTOP); os.execvp('sleep', ['sleep', '{mark}'])", timeout_seconds=0.5
    )

    assert finished.end is JobEnd.TIMED_OUT
    assert not alive(mark)


@pytest.mark.parametrize("event", [threading.Event, Cancellation])
def test_a_cancel_ends_a_job_at_once(host: TrialHost, event: type[threading.Event]) -> None:
    mark = seconds(3)

    def cancel_when_it_runs() -> tuple[JobEnd, float]:
        cancelled = event()

        def wait_and_cancel() -> None:
            patience = time.monotonic() + WAIT_SECONDS
            while not (host.work / "ready").exists() and time.monotonic() < patience:
                time.sleep(0.01)
            cancelled.set()

        thread = threading.Thread(target=wait_and_cancel)
        thread.start()
        # Nobody who only looks from time to time would see it soon.
        limits = JobLimits(interval_seconds=WAIT_SECONDS)
        job = Job(
            ("bash", "-c", f"echo > ready; sleep {mark}"), ENVIRONMENT, host.work, limits=limits, timeout_seconds=WAIT_SECONDS
        )
        finished = host.sandbox().run(job, cancelled)
        thread.join()
        return finished.end, finished.duration_seconds

    ended, took = host.as_gateway(cancel_when_it_runs)

    assert ended is JobEnd.CANCELLED
    assert took < WAIT_SECONDS / 2
    assert not alive(mark)


@pytest.mark.parametrize("ends", ["by itself", "in time"])
def test_nothing_survives_a_job_however_it_hides(host: TrialHost, ends: str) -> None:
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
    # The control: without a sandbox they do survive, so that there is something to be seen.
    outside = host.outside([find_python(), "-I", "-c", hide])
    assert outside.returncode == 0
    survivors = wait_for(mark, 2)
    for pid in survivors:
        os.kill(pid, signal.SIGKILL)
    assert len(survivors) == 2
    assert not wait_until_gone(mark)

    finished = host.python(
        hide + ("" if ends == "by itself" else "time.sleep(1000)"), timeout_seconds=1.0 if ends == "in time" else 30.0
    )

    assert finished.end is (JobEnd.EXITED if ends == "by itself" else JobEnd.TIMED_OUT)
    assert not alive(mark)


def test_a_job_does_not_outlive_a_gateway_that_is_killed(host: TrialHost) -> None:
    mark = seconds(5)
    script = f"(setsid sleep {mark} &); echo > ready; sleep {mark}"

    def serve() -> None:
        with pytest.raises(EOFError):
            in_child(run, host.gateway)

    def run() -> None:
        host.sandbox().run(Job(("bash", "-c", script), ENVIRONMENT, host.work, timeout_seconds=WAIT_SECONDS), threading.Event())

    thread = threading.Thread(target=serve)
    thread.start()
    assert len(wait_for(mark, 2)) == 2
    # The gateway played here is the child of this process that the job came of.
    (gateway,) = [pid for pid in children(os.getpid()) if set(alive(mark)) & set(process_tree.descendants(pid))]
    os.kill(gateway, signal.SIGKILL)
    thread.join(WAIT_SECONDS)

    assert not wait_until_gone(mark)


def children(parent: int) -> list[int]:
    below = set(process_tree.descendants(parent))
    return [pid for pid in below if not any(pid in process_tree.descendants(other) for other in below - {pid})]
