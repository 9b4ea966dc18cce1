"""`countersign policy`: test the policy against its decision table."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gateway.adapters.policy.cases import CaseResult, read_cases, run_cases
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.settings_reading import load_settings


@click.group()
def policy() -> None:
    """Check the policy documents."""


@policy.command()
@click.option(
    "--policy",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with *.cedar, schema.cedarschema, profiles.toml and cases/; the one in the settings when not given.",
)
def test(folder: Path | None) -> None:
    """Load the policy and check it against its decision table.

    Exit status: 0 when every case holds, 1 when one does not or there is none, 2 when the documents do not load.
    """
    if folder is None:
        folder = load_settings().policy_folder
    engine = CedarPolicy(folder)
    results = run_cases(engine, read_cases(folder))
    _print_table(results)
    untried = engine.rule_ids - {rule_id for result in results for rule_id in result.rule_ids}
    if untried:
        click.echo(f"note: no case involves {', '.join(sorted(untried))}")
    failed = sum(not result.passed for result in results)
    click.echo(f"{len(results) - failed} of {len(results)} cases hold; policy {engine.version[:16]}")
    if failed or not results:
        sys.exit(1)


def _print_table(results: list[CaseResult]) -> None:
    width = max((len(result.case.question) for result in results), default=0)
    for result in results:
        rules = ", ".join(result.rule_ids) or "no rule permits it"
        mark = "ok  " if result.passed else "FAIL"
        click.echo(f"{mark}  {result.case.question:<{width}}  {result.verdict.mode:<9}  {rules}")
        if not result.passed:
            expected = ", ".join(result.case.because) if result.case.because is not None else "any rules"
            click.echo(f"      expected {result.case.expect} by {expected}: {result.case.about}")
