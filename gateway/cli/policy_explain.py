"""`countersign policy explain`: which rules decide about a call that somebody imagines, and what would change that."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

import click

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.explaining import CedarReading
from gateway.cli.policy_arguments import SHORT, find_tool_kind
from gateway.core.effects import escape
from gateway.core.judgement import Question
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.moment import Moment
from gateway.core.vocabulary import ACTING, Category, Label, PermissionMode, Profile, Trust
from gateway.runtime.policy_explanation import ExplainedChange, ExplainedRule, Explanation, explain_call
from gateway.runtime.ports import PolicyVerdict
from gateway.settings_reading import load_settings

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_MODES: Final = {
    PermissionMode.AUTO: "runs by itself",
    PermissionMode.CONSENT: "asks a person first",
    PermissionMode.STEP_UP: "needs a passkey over exactly its arguments",
    PermissionMode.FORBIDDEN: "does not run, and nobody is asked",
}


@click.command()
@click.argument("tool")
@click.option("--policy", "folder", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Folder of the policy.")
@click.option("--profile", type=click.Choice([each.value for each in ACTING]), default="operator", show_default=True)
@click.option("--person", default="somebody", help="Id of the person, for rules that name one.")
@click.option(
    "--category",
    type=click.Choice([each.value for each in Category]),
    help="Of the tool.  [default: its own, if it is known here]",
)
@click.option("--network", is_flag=True, help="The tool has a network.")
@click.option("--trusted", is_flag=True, help="Its results are trusted.")
@click.option("--path", help="Path that the call is about.")
@click.option("--host", help="Host that it reaches.")
@click.option("--bytes", "size", type=click.IntRange(min=0), help="Bytes that it is about.")
@click.option("--recursive", is_flag=True, help="It goes into folders.")
@click.option("--label", type=click.Choice([each.name.lower() for each in Label]), default="public", show_default=True)
@click.option("--tainted", is_flag=True, help="The conversation has read untrusted content.")
@click.option("--from-untrusted", is_flag=True, help="The arguments were taken from that content.")
@click.option("--time", "time_", type=click.DateTime(["%H:%M"]), default="12:00", show_default=True)
@click.option("--weekday", type=click.Choice(_WEEKDAYS), default="monday", show_default=True)
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="State folder of the gateway; the one in the settings when not given.",
)
def explain(
    tool: str,
    folder: Path | None,
    profile: str,
    person: str,
    category: str | None,
    path: str | None,
    host: str | None,
    size: int | None,
    label: str,
    time_: datetime,
    weekday: str,
    state: Path | None,
    *,
    network: bool,
    trusted: bool,
    recursive: bool,
    tainted: bool,
    from_untrusted: bool,
) -> None:
    """Say in sentences what the policy makes of a call of TOOL, which rules decide, and what would change that.

    The call is an imagined one, the first of its session: what its tool would report is given here. Its category, network and
    trust are those of the gateway's tool of that name, unless --category says another one. What was decided about a call that was
    made is told by `countersign audit explain`. The policy is the folder in the settings when not given.
    """
    settings = load_settings(state=state)
    if category is None:
        known = find_tool_kind(settings, tool)
        if known is None:
            click.echo(f"note: no tool `{escape(tool)}` is known here; taken for one that reads, --category says another one")
        else:
            network, trusted = network or known["network"] is True, trusted or known["trusted"] is True
        category = Category.READ.value if known is None else str(known["category"])
    kind = Category(category)
    spec = ToolSpec(
        name=tool,
        description="",
        interface_id="",
        method_name=tool,
        param_schema={},
        category=kind,
        source="",
        network=network or kind is Category.NETWORK,
        trust=Trust.TRUSTED if trusted else Trust.UNTRUSTED,
    )
    moment = Moment(1, 1, frozenset(), time_.hour * 60 + time_.minute, _WEEKDAYS.index(weekday) + 1, from_untrusted)
    facts = CallFacts(path=path, host=host, bytes=size, recursive=recursive or None)
    who, taint = Principal(person, person, Profile(profile)), int(tainted or from_untrusted)
    asked = Question(who, spec, facts, taint, int(Label[label.upper()]), moment)
    policy = CedarPolicy(folder or settings.policy_folder)
    click.echo("\n".join(describe_explanation(explain_call(policy, CedarReading(policy), asked))))


def describe_explanation(told: Explanation) -> Iterator[str]:
    """An explanation in lines for a terminal."""
    where = f"Under policy {told.version[:SHORT]}, for the profile {told.asked.principal.profile}"
    because = ", because of:" if told.rules else ": no rule permits it, and what no rule permits is forbidden."
    yield f"{where}, a call of {escape(told.asked.spec.name)} {_MODES[told.verdict.mode]}{because}"
    for rule in told.rules:
        yield from _describe_rule(rule)
    if not told.changes:
        yield "Nothing else about it that rules look at would change that."
    for change in told.changes:
        yield f"{_name(change)}, it {_MODES[change.verdict.mode]}{_by(change.verdict)}."


def _describe_rule(rule: ExplainedRule) -> Iterator[str]:
    yield f"  {rule.id}: {escape(rule.why)}"
    if rule.source is None:
        return
    for name, value in rule.source.obliges.items():
        yield f"    obliges to {name} {escape(value)}"
    yield f"    {escape(rule.source.file)}, line {rule.source.line}:"
    for line in rule.source.text.split("\n"):
        yield f"      {escape(line)}"


def _by(verdict: PolicyVerdict) -> str:
    return f" ({', '.join(rule.id for rule in verdict.because) or 'no rule permits it'})"


def _name(change: ExplainedChange) -> str:
    match change.what:
        case "profile":
            return f"For the profile {change.value}"
        case "taint":
            return "After untrusted content" if change.value else "Before any untrusted content"
        case "label":
            return f"In a conversation labelled {change.value}"
        case "minuteOfDay":
            return f"At {change.value // 60:02}:{change.value % 60:02}"
        case "weekday":
            return f"On a {_WEEKDAYS[change.value - 1]}"
        case "recursive":
            return "If it goes into folders" if change.value else "If it does not go into folders"
        case "argumentsFromUntrusted":
            return f"With arguments {'taken' if change.value else 'not taken'} from untrusted content"
        case _:
            return f"With {change.what} {escape(str(change.value))}"
