"""The rules that switches write, and the state of a switch as its rules tell it.

What a person typed reaches a rule only as a text in quotes, in which Cedar's own escapes are used. Reading goes the other way:
the texts are taken from the parsed rules, the switch's file is written anew with them, and a switch is on only if every
character of its file comes out the same. Its sentences for people do not count: a later version of the program may say them in
other words, and what an earlier one wrote is still its switch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, assert_never

import cedarpy
from cedarpy import pst

from gateway.adapters.policy.documents import PROFILES, SCHEMA
from gateway.adapters.policy.reading import every_node
from gateway.core.errors import Refused
from gateway.core.policy_switches import PolicySwitch, SwitchState, read_arguments
from gateway.runtime.ports import SwitchView

_STEMS: Final = {
    PolicySwitch.ASK_OUTSIDE_FOLDERS: "ask-outside-folders",
    PolicySwitch.LET_HOSTS_THROUGH: "let-hosts-through",
    PolicySwitch.PASSKEY_FOR_WRITES: "passkey-for-writes",
    PolicySwitch.NEVER_DELETE: "never-delete",
    PolicySwitch.NO_NETWORK_AFTER_UNTRUSTED: "no-network-after-untrusted",
}

_HEAD: Final = """\
// Written by a switch of the console's page Policy, which can turn it off as long as nobody changes this file.

"""

_EARLIER_HEADS: Final[tuple[str, ...]] = ()
"""What `_HEAD` was in earlier versions. One that is changed goes here: else the switches that were on are changed by hand."""

_WHY: Final = re.compile(r'^@why\("(?:[^"\\\r\n]|\\[^\r\n])*"\)$', re.MULTILINE)

_OUTSIDE: Final = """\
when {
  !context.publishing &&
  (if context.facts has path
   then !(%s)
   else resource.source != "builtin")
};
"""
"""A built-in tool that reports no path, such as the one that reads the record, reads no file. Of others nobody knows."""

_ASK: Final = """\
@id("switch.ask-outside-folders")
@why("Reading outside the folders of this switch needs your yes")
permit (
  principal in Countersign::Profile::"enrolled",
  action == Countersign::Action::"invoke_with_consent",
  resource in Countersign::Category::"read"
)
"""

_NOT_BY_ITSELF: Final = """\
@id("switch.ask-outside-folders.not-by-itself")
@why("Only the folders of this switch are read without asking")
forbid (
  principal,
  action == Countersign::Action::"invoke",
  resource in Countersign::Category::"read"
)
"""

_LET_THROUGH: Final = """\
@id("switch.let-hosts-through")
@why("This host is let through without asking by a switch")
permit (
  principal in Countersign::Profile::"enrolled",
  action == Countersign::Action::"invoke",
  resource in Countersign::Category::"network"
)
when { context.publishing || (context.facts has host && [%s].contains(context.facts.host)) };
"""
"""While a turn's tools are published there is no host yet, and no call may run on less than was published."""

_PASSKEY: Final = """\
@id("switch.passkey-for-writes")
@why("A switch asks for your passkey before anything is written")
permit (
  principal in Countersign::Profile::"enrolled",
  action == Countersign::Action::"invoke_with_step_up",
  resource in Countersign::Category::"write"
)
unless { resource.network && context.taint >= 1 && context.label >= 2 };

@id("switch.passkey-for-writes.not-without")
@why("Nothing is written without a passkey while this switch is on")
forbid (
  principal,
  action in [Countersign::Action::"invoke", Countersign::Action::"invoke_with_consent"],
  resource in Countersign::Category::"write"
);
"""
"""A passkey never gives what nothing gave before: where untrusted and confidential content met, such a tool did not run."""

_NEVER_DELETE: Final = """\
@id("switch.never-delete")
@why("Nothing is deleted or overwritten while this switch is on")
forbid (
  principal,
  action in Countersign::Action::"anyMode",
  resource in Countersign::Category::"destructive"
);
"""

_NO_NETWORK: Final = """\
@id("switch.no-network-after-untrusted")
@why("This conversation has read untrusted content, so a switch keeps it from the network")
forbid (principal, action in Countersign::Action::"anyMode", resource)
when { resource.network && context.taint >= 1 };
"""


def file_of(switch: PolicySwitch) -> str:
    """The file of its own."""
    return f"switch-{_STEMS[switch]}.cedar"


def write_switch(switch: PolicySwitch, arguments: Sequence[str]) -> str:
    """The text of its file. Raises Refused `switchArgument`."""
    told = read_arguments(switch, arguments)
    match switch:
        case PolicySwitch.ASK_OUTSIDE_FOLDERS:
            inside = " ||\n           ".join(
                f"context.facts.path == {_quote(folder)} || context.facts.path like {_quote_pattern(folder + '/')}"
                for folder in told
            )
            when = _OUTSIDE % inside
            return f"{_HEAD}{_ASK}{when}\n{_NOT_BY_ITSELF}{when}"
        case PolicySwitch.LET_HOSTS_THROUGH:
            return _HEAD + _LET_THROUGH % ", ".join(map(_quote, told))
        case PolicySwitch.PASSKEY_FOR_WRITES:
            return _HEAD + _PASSKEY
        case PolicySwitch.NEVER_DELETE:
            return _HEAD + _NEVER_DELETE
        case PolicySwitch.NO_NETWORK_AFTER_UNTRUSTED:
            return _HEAD + _NO_NETWORK
        case _:
            assert_never(switch)


def read_switches(documents: Mapping[str, str]) -> tuple[SwitchView, ...]:
    """Every switch as these documents, which load, have it."""
    rules: dict[str, list[pst.Template]] = {
        name: list(cedarpy.PolicySet.from_str(text).to_pst().static_policies.values())
        for name, text in documents.items()
        if name not in (SCHEMA, PROFILES)
    }
    return tuple(_read_switch(switch, documents, rules) for switch in PolicySwitch)


def turn_switch(documents: Mapping[str, str], switch: PolicySwitch, arguments: Sequence[str], *, on: bool) -> dict[str, str]:
    """The documents with the switch turned. Raises Refused `switchArgument`, or `changedByHand` where it is not as it was
    written."""
    (now,) = (each for each in read_switches(documents) if each.switch is switch)
    if now.state is SwitchState.CHANGED_BY_HAND:
        raise Refused("changedByHand", f"the rules of this switch were changed by hand; change `{now.file}` in the editor", 409)
    others = {name: text for name, text in documents.items() if name != now.file}
    return dict(sorted({**others, now.file: write_switch(switch, arguments)}.items())) if on else others


def _read_switch(switch: PolicySwitch, documents: Mapping[str, str], rules: Mapping[str, Sequence[pst.Template]]) -> SwitchView:
    file, marker = file_of(switch), f"switch.{_STEMS[switch]}"
    named = {name for name, those in rules.items() if any(_is_of(rule, marker) for rule in those)}
    text = documents.get(file)
    if text is None and not named:
        return SwitchView(switch, SwitchState.OFF, file, (), "")
    written = "" if text is None else text
    arguments = _find_arguments(rules.get(file, ()))
    try:
        as_written = named == {file} and _leave_out_wording(write_switch(switch, arguments)) == _leave_out_wording(written)
    except Refused:
        as_written = False
    if as_written:
        return SwitchView(switch, SwitchState.ON, file, arguments, written)
    return SwitchView(switch, SwitchState.CHANGED_BY_HAND, file, (), written)


def _leave_out_wording(text: str) -> str:
    """The text without what `@why` says, and with the newest of the first lines that switches have been written with."""
    for head in _EARLIER_HEADS:
        if text.startswith(head):
            text = _HEAD + text.removeprefix(head)
    return _WHY.sub('@why("")', text)


def _is_of(rule: pst.Template, marker: str) -> bool:
    rule_id = str(rule.annotations.get("id", ""))
    return rule_id == marker or rule_id.startswith(f"{marker}.")


def _find_arguments(rules: Sequence[pst.Template]) -> tuple[str, ...]:
    """The texts that the rules compare a path or a host with."""
    compared = [node for rule in rules for node in every_node(rule.clauses) if isinstance(node, pst.BinaryOp)]
    facts = [node for node in compared if any(_is_fact(each) for each in (node.left, node.right))]
    return tuple(sorted({each.value for node in facts for each in every_node(node) if isinstance(each, pst.StringLit)}))


def _is_fact(node: object) -> bool:
    return isinstance(node, pst.GetAttr) and node.attr in ("path", "host")


def _quote(text: str) -> str:
    """A text of Cedar's language (its grammar: STR). What could end it is escaped."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _quote_pattern(beginning: str) -> str:
    """A pattern for whatever begins so. A star of the text itself is escaped, for it would stand for anything."""
    return _quote(beginning)[:-1].replace("*", "\\*") + '*"'
