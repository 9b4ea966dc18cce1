"""Threads for functions that block."""

from __future__ import annotations

import asyncio
import threading

import pytest

from gateway.adapters.tools.threads import WorkerThreads


async def test_work_runs_in_a_thread_and_its_value_comes_back() -> None:
    async with asyncio.timeout(5):
        assert await WorkerThreads("t", 2).submit(threading.get_ident) != threading.get_ident()


async def test_an_error_comes_back_as_itself() -> None:
    def fail() -> None:
        raise KeyError("x")

    async with asyncio.timeout(5):
        with pytest.raises(KeyError):
            await WorkerThreads("t", 1).submit(fail)


async def test_a_stray_stop_iteration_does_not_leave_its_caller_waiting() -> None:
    async with asyncio.timeout(5):
        with pytest.raises(RuntimeError):
            await WorkerThreads("t", 1).submit(lambda: next(iter(())))


async def test_no_more_than_the_limit_run_at_once_and_none_is_lost() -> None:
    threads = WorkerThreads("t", 3)
    inside = threading.Semaphore(0)
    gate = threading.Event()
    seen: set[int] = set()

    def work() -> int:
        seen.add(threading.get_ident())
        inside.release()
        gate.wait(5)
        return 1

    async with asyncio.timeout(10):
        futures = [threads.submit(work) for _ in range(20)]
        for _ in range(3):
            await asyncio.to_thread(inside.acquire)
        assert not inside.acquire(blocking=False)
        gate.set()
        assert sum(await asyncio.gather(*futures)) == 20
    assert len(seen) == 3


async def test_idle_threads_are_used_again() -> None:
    threads = WorkerThreads("t", 8)
    async with asyncio.timeout(5):
        assert len({await threads.submit(threading.get_ident) for _ in range(50)}) == 1


async def test_threads_do_not_keep_the_process_alive() -> None:
    async with asyncio.timeout(5):
        assert await WorkerThreads("t", 1).submit(lambda: threading.current_thread().daemon)


async def have_ended(threads: list[threading.Thread]) -> None:
    """Wait for them."""
    for thread in threads:
        await asyncio.to_thread(thread.join, 5)
        assert not thread.is_alive()


async def test_threads_that_are_closed_end_and_others_take_the_next_job() -> None:
    threads = WorkerThreads("t", 2)
    async with asyncio.timeout(10):
        first = await threads.submit(threading.current_thread)
        threads.close()
        await have_ended([first])
        later = await threads.submit(threading.current_thread)
        assert later is not first
        assert await threads.submit(threading.current_thread) is later


async def test_a_thread_that_is_stuck_ends_when_it_comes_back_and_takes_nothing_from_later_ones() -> None:
    threads, gate, inside = WorkerThreads("t", 1), threading.Event(), threading.Event()

    def stuck() -> threading.Thread:
        inside.set()
        gate.wait(10)
        return threading.current_thread()

    async with asyncio.timeout(10):
        held = threads.submit(stuck)
        await asyncio.to_thread(inside.wait)
        in_line = threads.submit(lambda: "done")
        threads.close()
        threads.close()
        # Not behind the one that is stuck.
        assert await threads.submit(lambda: "other") == "other"
        gate.set()
        await have_ended([await held])
        assert await in_line == "done"


async def test_case_306_one_persons_jobs_leave_room_for_others() -> None:
    threads, gate, inside = WorkerThreads("t", 8), threading.Event(), threading.Semaphore(0)

    def stuck() -> str:
        inside.release()
        gate.wait(10)
        return "done"

    async with asyncio.timeout(10):
        held = [threads.submit(stuck, "gus") for _ in range(20)]
        for _ in range(4):
            await asyncio.to_thread(inside.acquire)
        # Nobody waits behind what may not begin yet.
        for owner in ("ada", "bob", None):
            assert await threads.submit(lambda: "at once", owner) == "at once"
        held += [threads.submit(stuck, "bob") for _ in range(20)]
        for _ in range(2):
            await asyncio.to_thread(inside.acquire)
        assert not inside.acquire(blocking=False)
        assert await threads.submit(lambda: "at once", "ada") == "at once"
        gate.set()
        assert set(await asyncio.gather(*held)) == {"done"}


async def test_where_the_machine_has_no_more_threads_jobs_wait_for_those_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = WorkerThreads("t", 8)
    gate = threading.Event()
    async with asyncio.timeout(10):
        futures = [threads.submit(lambda: gate.wait(5), "ada") for _ in range(6)]

        def have_none_left(_thread: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as full:
            full.setattr(threading.Thread, "start", have_none_left)
            futures += [threads.submit(lambda: True, "ben") for _ in range(3)]
            gate.set()
            assert all(await asyncio.gather(*futures))


async def test_without_any_thread_whoever_has_a_job_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = WorkerThreads("t", 8)

    def have_none(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", have_none)
        with pytest.raises(RuntimeError):
            threads.submit(lambda: 1, "ada")
    async with asyncio.timeout(5):
        assert await threads.submit(lambda: 2, "ada") == 2
