"""`countersign policy explain` over the policy as it comes."""

from __future__ import annotations

import shutil
from pathlib import Path

from click.testing import CliRunner

from gateway.cli.policy import policy

SHIPPED = Path(__file__).parents[2] / "policy"


def explain(*arguments: str, folder: Path = SHIPPED) -> str:
    result = CliRunner().invoke(policy, ["explain", *arguments, "--policy", str(folder)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_an_imagined_call_is_told_with_its_rules_and_what_they_oblige_to() -> None:
    told = explain("read_file", "--path", "notes/a.txt")
    assert "runs by itself, because of:" in told
    assert "read.auto: Reading changes nothing, so it runs without asking" in told


def test_what_would_change_the_answer_is_told_with_the_rule_that_does() -> None:
    told = explain("fetch", "--category", "network", "--host", "a.example")
    assert "asks a person first" in told
    assert "For the profile anonymous, it does not run" in told
    assert "In a conversation labelled high, it does not run" in told
    assert "In a conversation labelled high" not in explain("fetch", "--category", "network", "--label", "high")


def test_what_a_stranger_could_have_named_does_not_reach_the_terminal() -> None:
    assert "\x1b" not in explain("read\x1b[2J")


def test_obligations_are_told_with_their_rule_and_what_no_rule_permits_is_said_to_be_forbidden(tmp_path: Path) -> None:
    folder = shutil.copytree(SHIPPED, tmp_path / "policy")
    (folder / "default.cedar").write_text(
        '@id("own.read") @why("Reading is harmless") @max_result_bytes("4096")'
        ' permit (principal, action == Countersign::Action::"invoke", resource in Countersign::Category::"read");'
    )
    told = explain("read_file", folder=folder)
    assert "  own.read: Reading is harmless\n    obliges to max_result_bytes 4096\n" in told
    assert "no rule permits it" in explain("write_file", "--category", "write", folder=folder)
