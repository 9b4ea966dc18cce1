"""`countersign policy explain`: which rules decide about a call that somebody imagines, and what would change that."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

import click

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.cli.policy_arguments import SHORT
from gateway.core.effects import escape
from gateway.core.judgement import Question
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.moment import Moment
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile, Trust
from gateway.runtime.policy_overview import ChangedVerdict, Circumstance, find_changes, judge_question
from gateway.runtime.ports import PolicyVerdict
from gateway.settings_reading import load_settings

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_MODES: Final = {
    PermissionMode.AUTO: "runs by itself",
    PermissionMode.CONSENT: "asks a person first",
    PermissionMode.STEP_UP: "needs a passkey over exactly its arguments",
    PermissionMode.FORBIDDEN: "does not run, and nobody is asked",
}
_PLAIN: Final = frozenset({"id", "why"})
"""Annotations that oblige to nothing."""


@click.command()
@click.argument("tool")
@click.option("--policy", "folder", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Folder of the policy.")
@click.option("--profile", type=click.Choice([each.value for each in Profile]), default="operator", show_default=True)
@click.option("--person", default="somebody", help="Id of the person, for rules that name one.")
@click.option("--category", type=click.Choice([each.value for each in Category]), default="read", show_default=True)
@click.option("--network", is_flag=True, help="The tool has a network.")
@click.option("--trusted", is_flag=True, help="Its results are trusted.")
@click.option("--path", help="Path that the call is about.")
@click.option("--host", help="Host that it reaches.")
@click.option("--bytes", "size", type=click.IntRange(min=0), help="Bytes that it is about.")
@click.option("--recursive", is_flag=True, help="It goes into folders.")
@click.option("--label", type=click.Choice([each.name.lower() for each in Label]), default="public", show_default=True)
@click.option("--tainted", is_flag=True, help="The conversation has read untrusted content.")
@click.option("--time", "time_", type=click.DateTime(["%H:%M"]), default="12:00", show_default=True)
@click.option("--weekday", type=click.Choice(_WEEKDAYS), default="monday", show_default=True)
def explain(
    tool: str,
    folder: Path | None,
    profile: str,
    person: str,
    category: str,
    path: str | None,
    host: str | None,
    size: int | None,
    label: str,
    time_: datetime,
    weekday: str,
    *,
    network: bool,
    trusted: bool,
    recursive: bool,
    tainted: bool,
) -> None:
    """Say in sentences what the policy makes of a call of TOOL, which rules decide, and what would change that.

    The call is an imagined one, the first of its session: what its tool would report is given here. What was decided about a call
    that was made is told by `countersign audit explain`. The policy is the folder in the settings when not given.
    """
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
    moment = Moment(1, 1, frozenset(), time_.hour * 60 + time_.minute, _WEEKDAYS.index(weekday) + 1)
    facts = CallFacts(path=path, host=host, bytes=size, recursive=recursive or None)
    asked = Question(Principal(person, person, Profile(profile)), spec, facts, int(tainted), int(Label[label.upper()]), moment)
    policy = CedarPolicy(folder or load_settings().policy_folder)
    click.echo("\n".join(_describe(policy, asked)))


def _describe(policy: CedarPolicy, asked: Question) -> Iterator[str]:
    where = f"Under policy {policy.version[:SHORT]}, for the profile {asked.principal.profile}"
    yield f"{where}, a call of {escape(asked.spec.name)} {_say(policy, asked)}"
    yield from _describe_profiles(policy, asked)
    changes = find_changes(policy, asked)
    if not changes:
        yield "Neither untrusted content nor a label of the conversation would change that."
    for change in changes:
        yield f"{_name(change)}, it {_MODES[change.verdict.mode]}{_by(change.verdict)}."


def _say(policy: CedarPolicy, asked: Question) -> str:
    verdict = judge_question(policy, asked)
    if not verdict.because:
        return f"{_MODES[verdict.mode]}: no rule permits it, and what no rule permits is forbidden."
    lines = [f"{_MODES[verdict.mode]}, because of:"]
    obliging = _obligations(policy)
    for rule in verdict.because:
        lines.append(f"  {rule.id}: {escape(rule.why)}")
        lines += [f"    obliges to {name} {escape(value)}" for name, value in obliging.get(rule.id, {}).items()]
    return "\n".join(lines)


def _describe_profiles(policy: CedarPolicy, asked: Question) -> Iterator[str]:
    mode = judge_question(policy, asked).mode
    for profile in Profile:
        person = Principal(asked.principal.id, asked.principal.id, profile)
        verdict = judge_question(policy, asked._replace(principal=person))
        if verdict.mode is not mode:
            yield f"For the profile {profile}, it {_MODES[verdict.mode]}{_by(verdict)}."


def _obligations(policy: CedarPolicy) -> dict[str, dict[str, str]]:
    """What each rule obliges to, as its author wrote it."""
    rules = policy.rule_set.policies.to_pst().static_policies.values()
    return {
        str(rule.annotations["id"]): {name: str(value) for name, value in rule.annotations.items() if name not in _PLAIN}
        for rule in rules
    }


def _by(verdict: PolicyVerdict) -> str:
    return f" ({', '.join(rule.id for rule in verdict.because) or 'no rule permits it'})"


def _name(change: ChangedVerdict) -> str:
    match change.circumstance:
        case Circumstance.TAINT:
            return "After untrusted content" if change.value else "Before any untrusted content"
        case Circumstance.LABEL:
            return f"In a conversation labelled {Label(change.value).name.lower()}"
