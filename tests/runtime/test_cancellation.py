"""The event that tells a tool that nobody waits for it is one like any other, and costs a call nothing until somebody waits."""

from __future__ import annotations

import threading

import pytest

from gateway.runtime.cancellation import CallCancelled

PATIENCE = 60.0


def test_it_is_set_once_and_for_good() -> None:
    cancelled = CallCancelled()
    assert isinstance(cancelled, threading.Event)
    assert not cancelled.is_set()
    assert not cancelled.wait(0)
    cancelled.set()
    assert cancelled.is_set()
    assert cancelled.wait()
    with pytest.raises(RuntimeError):
        cancelled.clear()


def test_all_who_wait_are_woken() -> None:
    cancelled = CallCancelled()
    begun, woken = threading.Barrier(4), list[bool]()

    def wait() -> None:
        begun.wait(PATIENCE)
        woken.append(cancelled.wait(PATIENCE))

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    begun.wait(PATIENCE)
    cancelled.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert woken == [True] * 3


def test_a_tool_may_print_it() -> None:
    cancelled = CallCancelled()
    assert repr(cancelled) == "<CallCancelled: unset>"
    cancelled.set()
    assert repr(cancelled) == "<CallCancelled: set>"
