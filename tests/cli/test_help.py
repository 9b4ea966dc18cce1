"""`--help`: what each command is for, in whole sentences."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from gateway.cli import COMMANDS, countersign


def _groups() -> list[str]:
    context = click.Context(countersign)
    return [name for name in COMMANDS if isinstance(countersign.get_command(context, name), click.Group)]


@pytest.mark.parametrize("name", _groups())
def test_the_table_of_a_groups_commands_cuts_no_sentence(name: str) -> None:
    shown = CliRunner().invoke(countersign, [name, "--help"])
    assert shown.exit_code == 0
    assert "..." not in shown.output.partition("Commands:")[2]


def test_a_long_description_is_wrapped() -> None:
    words = " ".join(CliRunner().invoke(countersign, ["people", "--help"]).output.split())
    assert "list Print everybody: id, profile, passkeys, name, and whether they are suspended." in words
