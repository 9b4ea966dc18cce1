"""Which sandbox is chosen, and what the operator is told when there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.sandbox import choice
from gateway.sandbox.choice import choose_sandbox
from gateway.sandbox.job import Mechanism, Sandbox, SandboxPreference, SandboxUnavailable
from gateway.sandbox.running import SandboxHost


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """For machines that lack something, which cannot be had by taking it from this one."""
    return monkeypatch


def mechanism_of(sandbox: Sandbox | SandboxUnavailable) -> Mechanism:
    assert not isinstance(sandbox, SandboxUnavailable), sandbox.reason
    return sandbox.mechanism


def reason_of(sandbox: Sandbox | SandboxUnavailable) -> str:
    assert isinstance(sandbox, SandboxUnavailable)
    return sandbox.reason


@pytest.mark.parametrize(
    ("preference", "expected"),
    [
        (SandboxPreference.AUTO, Mechanism.BUBBLEWRAP),
        (SandboxPreference.BUBBLEWRAP, Mechanism.BUBBLEWRAP),
        (SandboxPreference.LANDLOCK, Mechanism.LANDLOCK),
    ],
)
def test_the_operators_wish_is_followed_and_auto_takes_namespaces(preference: SandboxPreference, expected: Mechanism) -> None:
    assert mechanism_of(choose_sandbox(preference)) is expected


def test_without_bubblewrap_auto_takes_landlock_and_a_wish_for_it_is_not_bent(hide: pytest.MonkeyPatch) -> None:
    hide.setattr(choice, "find_programs", lambda: "bwrap")

    assert mechanism_of(choose_sandbox(SandboxPreference.AUTO)) is Mechanism.LANDLOCK
    assert "`bwrap` is not installed" in reason_of(choose_sandbox(SandboxPreference.BUBBLEWRAP))


def test_without_either_the_reason_names_both(hide: pytest.MonkeyPatch) -> None:
    hide.setattr(choice, "find_programs", lambda: "bwrap")
    hide.setattr(choice, "landlock_version", lambda: 0)

    reason = reason_of(choose_sandbox(SandboxPreference.AUTO))
    assert "apt-get install bubblewrap" in reason
    assert "no Landlock" in reason


def test_a_mechanism_that_is_there_and_does_not_work_is_none(tmp_path: Path) -> None:
    (tmp_path / "launcher.py").write_text("raise SystemExit(1)")

    for preference in SandboxPreference:
        assert "here" in reason_of(choose_sandbox(preference, host=SandboxHost(launcher=tmp_path)))


@pytest.mark.parametrize("machine", ["riscv64", "i686"])
def test_an_architecture_without_a_filter_has_no_sandbox(hide: pytest.MonkeyPatch, machine: str) -> None:
    hide.setattr(choice.platform, "machine", lambda: machine)

    assert "x86-64 or ARM64" in reason_of(choose_sandbox(SandboxPreference.AUTO))


def test_state_among_what_every_program_reads_rules_out_every_sandbox() -> None:
    for preference in SandboxPreference:
        assert "/usr" in reason_of(choose_sandbox(preference, private=[Path("/usr/local/countersign/state")]))


def test_nothing_is_left_of_trying() -> None:
    before = set(os.listdir("/proc/self/fd"))
    choose_sandbox(SandboxPreference.BUBBLEWRAP)
    choose_sandbox(SandboxPreference.LANDLOCK)

    assert set(os.listdir("/proc/self/fd")) == before
