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


def test_a_tool_that_is_known_is_explained_as_what_it_is_and_another_is_said_to_be_unknown() -> None:
    assert "a call of delete_file needs a passkey" in explain("delete_file")
    assert "a call of delete_file runs by itself" in explain("delete_file", "--category", "read")
    assert explain("delete_fil").startswith("note: no tool `delete_fil` is known here; taken for one that reads")
    assert "note:" not in explain("delete_file")


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
    assert "  own.read: Reading is harmless\n    obliges to max_result_bytes 4096\n    default.cedar, line 1:\n" in told
    assert '      @id("own.read") @why("Reading is harmless")' in told
    assert "no rule permits it" in explain("write_file", "--category", "write", folder=folder)


def test_one_value_for_each_thing_that_a_rule_compares_and_that_would_change_it_is_told(tmp_path: Path) -> None:
    folder = shutil.copytree(SHIPPED, tmp_path / "policy")
    (folder / "own.cedar").write_text(
        '@id("own.night") @why("Nothing is read at night or outside") forbid (principal,'
        ' action in Countersign::Action::"anyMode", resource)'
        ' when { context.minuteOfDay < 360 || (context.facts has path && context.facts.path like "work/*")'
        " || (context.facts has bytes && context.facts.bytes > 10) || context.weekday == 7 };"
    )
    told = explain("read_file", "--path", "notes/a.txt", folder=folder)
    assert "runs by itself, because of:" in told
    for change in (
        "With path work/x, it does not run, and nobody is asked (own.night).",
        "With bytes 11, it does not run",
        "At 05:59, it does not run",
        "On a sunday, it does not run",
    ):
        assert change in told
    assert told.count("With path") == 1
    assert "would change that" in explain("read_file", "--profile", "guest", "--path", "a", folder=_closed(folder))


def _closed(folder: Path) -> Path:
    """A policy that forbids everything to everybody, in whatever way it is asked."""
    (folder / "own.cedar").unlink()
    (folder / "default.cedar").write_text('@id("own.nothing") @why("Nothing runs here") forbid (principal, action, resource);')
    return folder
