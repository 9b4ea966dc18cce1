"""The contract of Clock and Entropy, over the machine's and the fakes."""

from __future__ import annotations

import re
import time
from functools import partial

import pytest

from gateway.adapters.system.clock import SystemClock
from gateway.adapters.system.entropy import SystemEntropy
from gateway.runtime.ports import Clock, Entropy
from tests.fakes.clock import FakeClock
from tests.fakes.entropy import FakeEntropy


@pytest.fixture(params=[SystemClock, FakeClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    return request.param()


@pytest.fixture(params=[SystemEntropy, FakeEntropy])
def entropy(request: pytest.FixtureRequest) -> Entropy:
    return request.param()


def test_the_wall_clock_counts_milliseconds_of_this_century(clock: Clock) -> None:
    assert 1_600_000_000_000 < clock.now() < 4_000_000_000_000


def test_monotonic_time_never_goes_back(clock: Clock) -> None:
    readings = [clock.monotonic() for _ in range(100)]
    assert readings == sorted(readings)


def test_setting_the_wall_clock_back_leaves_deadlines_alone() -> None:
    clock = FakeClock()
    before = clock.monotonic()
    clock.set_wall(0)
    assert clock.monotonic() == before


def test_ids_keep_their_prefix_fit_the_wire_and_differ(entropy: Entropy) -> None:
    ids = {entropy.identifier("apr_") for _ in range(100)}
    assert len(ids) == 100
    assert all(re.fullmatch(r"apr_[A-Za-z0-9_-]{20,60}", one) for one in ids)


def test_ids_made_later_are_greater(entropy: Entropy, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is new lies together in every table, however large it is."""
    ids: list[str] = []
    # Beside one another, where one digit gives way to the next, and long after.
    for at in (0, 1, 63, 64, 65, 4_095, 4_096, 1_795_000_000_000, 1_795_000_000_001, 4_000_000_000_000):
        monkeypatch.setattr(time, "time_ns", partial(int, at * 1_000_000))
        ids.append(entropy.identifier("cnv_"))
    assert ids == sorted(ids)


def test_ids_of_one_moment_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", partial(int, 1_795_000_000_000_000_000))
    entropy = SystemEntropy()
    assert len({entropy.identifier("cnv_") for _ in range(1_000)}) == 1_000


def test_secrets_hold_256_bits_of_url_safe_text_and_differ(entropy: Entropy) -> None:
    drawn = {entropy.secret() for _ in range(100)}
    assert len(drawn) == 100
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", one) for one in drawn)


def test_octets_are_as_many_as_asked_for(entropy: Entropy) -> None:
    assert len(entropy.octets(32)) == 32
    assert entropy.octets(32) != entropy.octets(32)


def test_no_octets_are_given_twice_however_many_are_asked_for(entropy: Entropy) -> None:
    drawn = [entropy.octets(count) for count in (16, 32, 4_090, 5_000, 16, 4_096) * 8]
    assert [len(each) for each in drawn] == [16, 32, 4_090, 5_000, 16, 4_096] * 8
    # Sixteen octets are never alike by chance, so wherever the same ones stand again they were given twice.
    pieces = [each[start : start + 16] for each in drawn for start in range(0, len(each) - 15, 16)]
    assert len(set(pieces)) == len(pieces)
