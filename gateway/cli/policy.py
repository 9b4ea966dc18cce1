"""`countersign policy`: check the policy, see what was in force, compare two, and rehearse one over the record."""

from __future__ import annotations

import asyncio
import difflib
import json
import sys
from pathlib import Path

import click

from gateway.adapters.policy.cases import CaseResult, read_case_texts, read_cases, run_cases
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import from_texts, read_texts
from gateway.adapters.policy.domain import compare, rules_cut_short
from gateway.adapters.policy.faults import find_faults
from gateway.adapters.storage.inspection import open_stored_log
from gateway.adapters.system.clock import SystemClock
from gateway.cli.policy_arguments import SHORT, RecordedPolicies, find_tool_names, resolve
from gateway.cli.policy_changes import freeze, publish, rollback, status, thaw
from gateway.cli.policy_explain import explain
from gateway.cli.policy_reports import describe_domain, describe_rehearsal, rehearsal_as_json
from gateway.cli.policy_shadow import shadow
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.core.times import rfc3339
from gateway.runtime.ports import FaultSeverity
from gateway.runtime.rehearsal import DAY_MS, rehearse
from gateway.server.control import SOCKET_NAME, ask_gateway
from gateway.settings_reading import load_settings

_folder = click.option(
    "--policy",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with *.cedar, schema.cedarschema, profiles.toml and cases/; the one in the settings when not given.",
)
_state = click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)


@click.group()
def policy() -> None:
    """Check the policy, see what was in force, compare two, and rehearse one over the record.

    POLICY is a folder, or at least 6 digits of a version that `countersign policy history` lists.
    """


@policy.command()
@_folder
@_state
def check(folder: Path | None, state: Path | None) -> None:
    """Load the policy, and say what is in it and what is wrong with it, each with file, line and column.

    The decision table in `cases/` is read too, and not put to the policy: `countersign policy test` does that. A tool that a rule
    names and that is not there is a warning: rules about it have no effect. Which tools there are is asked of the gateway on the
    state folder, or of its record when it does not run.

    Exit status: 0 when it loads, 2 when it does not.
    """
    settings = load_settings(state=state)
    folder = folder or settings.policy_folder
    documents = read_texts(folder)
    tools, unknown = find_tool_names(settings)
    faults = find_faults(documents, read_case_texts(folder), tools)
    told = [each for each in faults if tools or each.severity is FaultSeverity.ERROR]
    for each in told:
        click.echo(f"{each.file}:{each.line}:{each.column}: {each.severity}: {escape(each.message)}", err=True)
    if any(each.severity is FaultSeverity.ERROR for each in told):
        sys.exit(2)
    engine = CedarPolicy(from_texts(documents))
    if unknown is not None:
        click.echo(f"note: which tools there are is not known, so their names were not checked: {escape(unknown)}")
    click.echo(f"The policy loads: version {engine.version[:SHORT]}, {len(engine.rules())} rules.")
    width = max(len(rule.id) for rule in engine.rules())
    for rule in engine.rules():
        click.echo(f"  {rule.id:<{width}}  {escape(rule.why)}")


@policy.command()
@_folder
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


@policy.command()
@click.option("--without-cases", is_flag=True, help="Put it in force although a case of its decision table does not hold.")
@_state
def reload(state: Path | None, *, without_cases: bool) -> None:
    """Put the folder's policy in force in the running gateway, at once and for everybody.

    Every case of its decision table must hold first. A policy that does not load changes nothing.

    Exit status: 0 when it is in force, 1 when a case does not hold, 2 when it does not load or no gateway runs.
    """
    settings = load_settings(state=state)
    if settings.policy_source == "database":
        raise Misconfigured("this gateway keeps its policy in the database; `countersign policy publish` proposes a change")
    engine = CedarPolicy(settings.policy_folder)
    failed = [result for result in run_cases(engine, read_cases(settings.policy_folder)) if not result.passed]
    if failed and not without_cases:
        _print_table(failed)
        click.echo(f"{len(failed)} cases do not hold, so the last policy stays in force; --without-cases overrides that")
        sys.exit(1)
    version = asyncio.run(ask_gateway(settings.state / SOCKET_NAME, {"command": "reload"}))
    if version is None:
        raise Misconfigured("no gateway is running on this state folder; it reads the policy when it starts")
    click.echo(f"Policy {version[:SHORT]} is in force.")


@policy.command()
@_state
def history(state: Path | None) -> None:
    """List every time that another policy came into force, newest first."""
    with open_stored_log(load_settings(state=state).state) as stored:
        loaded = stored.policies()
    for each in loaded:
        missing = "" if each.documents is not None else "  (its texts were erased)"
        click.echo(f"{each.version[:SHORT]}  {rfc3339(each.at)}{missing}")
    if not loaded:
        click.echo("No policy is on record yet. The gateway records one when it starts.")


@policy.command()
@click.argument("version")
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the files into this new folder, from where the policy can be put in force again.",
)
@_state
def show(version: str, target: Path | None, state: Path | None) -> None:
    """Print the texts of a VERSION that was in force, or write them to a folder."""
    with open_stored_log(load_settings(state=state).state) as stored:
        recorded = RecordedPolicies.of(stored)
    texts = recorded.texts(recorded.find(version))
    if target is None:
        for name, text in texts.items():
            click.echo(f"// ── {escape(name)}\n{text}")
        return
    try:
        target.mkdir(parents=True)
    except FileExistsError:
        raise Misconfigured(f"`{target}` exists; name a new folder") from None
    for name, text in texts.items():
        (target / Path(name).name).write_text(text, encoding="utf-8")
    click.echo(f"{len(texts)} files written to {target}")


@policy.command()
@click.argument("old", metavar="POLICY")
@click.argument("new", metavar="[POLICY]", required=False)
@click.option("--text/--no-text", default=True, help="Show the changed lines too, not only what they change.")
@_state
def diff(old: str, new: str | None, state: Path | None, *, text: bool) -> None:
    """Compare two policies: their lines, and every kind of call that they decide differently.

    The second one is the policy in the settings when not given. Exit status: 0 when both decide alike, 1 when they do not.
    """
    settings = load_settings(state=state)
    recorded = _recorded(settings.state)
    before, after = resolve(old, settings.policy_folder, recorded), resolve(new, settings.policy_folder, recorded)
    if text:
        _print_lines(before, after)
    compared, found = compare(before, after)
    click.echo(describe_domain(compared, found, rules_cut_short(before, after)))
    if found:
        sys.exit(1)


@policy.command()
@click.argument("candidate", metavar="[POLICY]", required=False)
@click.option("--days", type=click.IntRange(1, 36_500), default=7, show_default=True, help="How far back.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@_state
def replay(candidate: str | None, days: int, state: Path | None, *, as_json: bool) -> None:
    """Put POLICY to the calls of the last days: what it would newly allow, ask about or refuse.

    It is the policy in the settings when not given. Every call is judged again under its own version first.

    Exit status: 0 when each of those gives what is on record, 1 when one does not: then the record or this program is at fault.
    """
    settings = load_settings(state=state)
    with open_stored_log(settings.state) as stored:
        recorded = RecordedPolicies.of(stored)
        engine = resolve(candidate, settings.policy_folder, recorded)
        result = rehearse(stored.decisions(SystemClock().now() - days * DAY_MS), recorded, engine)
        names = stored.names()
    if as_json:
        click.echo(json.dumps(rehearsal_as_json(result, engine.version)))
    else:
        click.echo(describe_rehearsal(result, engine.version, names, days))
    if result.unlike_count:
        sys.exit(1)


for _command in (explain, freeze, thaw, status, publish, rollback, shadow):
    policy.add_command(_command)


def _recorded(state: Path) -> RecordedPolicies:
    """Those of the state folder; none where there is no log yet, for two folders can be compared without one."""
    try:
        with open_stored_log(state) as stored:
            return RecordedPolicies.of(stored)
    except Misconfigured:
        return RecordedPolicies({})


def _print_lines(before: CedarPolicy, after: CedarPolicy) -> None:
    names = dict.fromkeys((*before.documents, *after.documents))
    for name in names:
        old, new = (each.documents.get(name, "").splitlines() for each in (before, after))
        for line in difflib.unified_diff(
            old, new, f"{before.version[:SHORT]}/{name}", f"{after.version[:SHORT]}/{name}", lineterm=""
        ):
            click.echo(escape(line).replace("\\\\", "\\"))


def _print_table(results: list[CaseResult]) -> None:
    width = max((len(result.case.question) for result in results), default=0)
    for result in results:
        rules = ", ".join(result.rule_ids) or "no rule permits it"
        mark = "ok  " if result.passed else "FAIL"
        click.echo(f"{mark}  {result.case.question:<{width}}  {result.verdict.mode:<9}  {rules}")
        if not result.passed:
            expected = ", ".join(result.case.because) if result.case.because is not None else "any rules"
            click.echo(f"      expected {result.case.expect} by {expected}: {result.case.about}")
