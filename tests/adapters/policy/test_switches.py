"""Switches: the rules that they write, what comes of hostile arguments, and how their state is read back."""

from __future__ import annotations

import re
from pathlib import Path

import cedarpy
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gateway.adapters.policy import switches
from gateway.adapters.policy.cases import parse_cases, run_cases
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.switches import file_of, read_switches, turn_switch, write_switch
from gateway.adapters.policy.workshop import CedarWorkshop
from gateway.core.errors import Refused
from gateway.core.model import CallFacts
from gateway.core.policy_switches import PolicySwitch, SwitchState, SwitchTakes, takes
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile
from tests.adapters.policy.conftest import SHIPPED, Asking

ARGUMENTS = {SwitchTakes.NOTHING: (), SwitchTakes.FOLDERS: ("notes/",), SwitchTakes.HOSTS: ("Docs.Example.com",)}
SPELLED = {SwitchTakes.NOTHING: (), SwitchTakes.FOLDERS: ("notes",), SwitchTakes.HOSTS: ("docs.example.com",)}
AUTO, CONSENT, STEP_UP, FORBIDDEN = PermissionMode

HOSTILE_FOLDERS = [
    'notes"',
    'a" || true || context.facts.path like "*',
    "*",
    "no*tes",
    "a'); permit (principal, action, resource);",
    '"); permit(principal,action,resource);/*',
    "${folder}",
    "%s {when}",
]
REFUSED_FOLDERS = [
    "",
    "/",
    ".",
    "a/../b",
    "/etc",
    "a//b",
    "notes\npermit (principal, action, resource);",
    "notes\u2028x",
    "notes\u202etxt",
    "notes\x00",
    "a\\",
    "x" * 300,
]
REFUSED_HOSTS = [
    "",
    "*.example.com",
    "*",
    'example.com"].contains("x") || ["',
    "example.com\nevil.example",
    "https://example.com",
    "example.com:443",
    "example.com/path",
    "example.com.",
    "-x.example",
    "\u0430pple.com",  # a Cyrillic letter that looks like the Latin one
    "example\u3002com",  # a dot to IDNA, and none to a reader of ASCII
    "exa\u00admple.com",
    "a" * 64 + ".com",
    "a b.com",
]


def workshop(folder: Path = SHIPPED) -> CedarWorkshop:
    return CedarWorkshop(CedarPolicy(folder), folder)


def turned(switch: PolicySwitch, *arguments: str) -> CedarPolicy:
    shop = workshop()
    draft, faults = shop.examine((made := shop.turn_switch(switch, arguments, on=True)).documents, made.cases, [])
    assert isinstance(draft, CedarPolicy), faults
    return draft


@pytest.mark.parametrize("switch", PolicySwitch)
def test_a_switch_is_read_back_from_its_rules_and_taken_out_without_a_trace(switch: PolicySwitch) -> None:
    shop = workshop()
    made = shop.turn_switch(switch, ARGUMENTS[takes(switch)], on=True)
    draft = shop.load(made.documents)
    assert shop.run_cases(draft, made.cases).holds
    on = CedarWorkshop(CedarPolicy(SHIPPED), SHIPPED)
    on.enact(draft, made.cases)
    states = {each.switch: each for each in on.switches()}
    assert {each.state for name, each in states.items() if name is not switch} == {SwitchState.OFF}
    assert (states[switch].state, states[switch].arguments) == (SwitchState.ON, SPELLED[takes(switch)])
    assert states[switch].text == made.documents[file_of(switch)]
    back = on.turn_switch(switch, (), on=False)
    assert (back.documents, back.cases) == (dict(shop.active.documents), dict(shop.cases()))


@pytest.mark.parametrize("switch", [PolicySwitch.ASK_OUTSIDE_FOLDERS, PolicySwitch.PASSKEY_FOR_WRITES])
def test_a_switch_that_asks_for_more_allows_nothing_new(switch: PolicySwitch) -> None:
    shop = workshop()
    draft = shop.load(shop.turn_switch(switch, ARGUMENTS[takes(switch)], on=True).documents)
    compared = shop.compare(shop.active, draft)
    assert compared.differences
    assert [each for each in compared.differences if each.loosens] == []
    assert compared.loosened == ()


def test_what_each_switch_decides(ask: Asking) -> None:
    reading = turned(PolicySwitch.ASK_OUTSIDE_FOLDERS, "notes", "work/a")
    for path, mode in {
        "notes": AUTO,
        "notes/a.txt": AUTO,
        "work/a/b/c": AUTO,
        "notes2/a": CONSENT,
        "work": CONSENT,
        ".": CONSENT,
        "Notes/a": CONSENT,
    }.items():
        assert ask(reading, facts=CallFacts(path=path)).mode is mode, path
    assert ask(reading, facts=CallFacts()).mode is AUTO, "a built-in tool without a path reads no file"
    assert ask(reading).mode is AUTO, "published as before: each call is judged again"
    assert ask(reading, facts=CallFacts(path="other"), profile=Profile.ANONYMOUS).mode is FORBIDDEN
    hosts = turned(PolicySwitch.LET_HOSTS_THROUGH, "docs.example.com")
    for host, mode in {"docs.example.com": AUTO, "example.com": CONSENT, "xdocs.example.com": CONSENT, None: CONSENT}.items():
        assert ask(hosts, Category.NETWORK, CallFacts(host=host)).mode is mode, host
    outward = ask(hosts, Category.NETWORK, CallFacts(host="docs.example.com"), taint=1, label=Label.CONFIDENTIAL)
    assert outward.mode is STEP_UP, "a guard rail is not loosened by a switch"
    assert ask(turned(PolicySwitch.PASSKEY_FOR_WRITES), Category.WRITE, CallFacts(path="a")).mode is STEP_UP
    assert ask(turned(PolicySwitch.NEVER_DELETE), Category.DESTRUCTIVE, CallFacts(path="a")).mode is FORBIDDEN
    quiet = turned(PolicySwitch.NO_NETWORK_AFTER_UNTRUSTED)
    assert ask(quiet, Category.NETWORK, CallFacts(host="a"), taint=1).mode is FORBIDDEN
    assert ask(quiet, Category.NETWORK, CallFacts(host="a")).mode is CONSENT


@pytest.mark.requirement("002-04", "a switch's argument with Cedar syntax in it stays a text")
@pytest.mark.parametrize("folder", HOSTILE_FOLDERS)
def test_a_hostile_folder_stays_a_text(folder: str, ask: Asking) -> None:
    policy = turned(PolicySwitch.ASK_OUTSIDE_FOLDERS, folder)
    assert ask(policy, facts=CallFacts(path=f"{folder}/a")).mode is AUTO
    assert ask(policy, facts=CallFacts(path="elsewhere/a")).mode is CONSENT
    assert ask(policy, Category.ADMIN, CallFacts(path=folder)).mode is STEP_UP
    assert len(policy.rule_ids) == len(CedarPolicy(SHIPPED).rule_ids) + 2


_ODD = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"]), min_size=1, max_size=12
)


@settings(max_examples=60)
@given(st.lists(_ODD | st.sampled_from('"*;)(|\n\\'), min_size=1, max_size=3))
def test_whatever_is_taken_makes_the_same_two_rules_and_comes_back(folders: list[str]) -> None:
    switch = PolicySwitch.ASK_OUTSIDE_FOLDERS
    try:
        text = write_switch(switch, folders)
    except Refused as refusal:
        assume(refusal.reason != "switchArgument")
        raise
    rules = cedarpy.PolicySet.from_str(text).to_pst().static_policies
    assert len(rules) == 2
    documents = turn_switch(workshop().active.documents, switch, folders, on=True)
    (found,) = (each for each in read_switches(documents) if each.switch is switch)
    assert found.state is SwitchState.ON
    assert write_switch(switch, found.arguments) == text


@pytest.mark.parametrize(
    ("switch", "argument"),
    [
        *((PolicySwitch.ASK_OUTSIDE_FOLDERS, each) for each in REFUSED_FOLDERS),
        *((PolicySwitch.LET_HOSTS_THROUGH, each) for each in REFUSED_HOSTS),
        (PolicySwitch.NEVER_DELETE, "anything"),
    ],
)
def test_an_argument_that_is_none_is_refused_in_words(switch: PolicySwitch, argument: str) -> None:
    with pytest.raises(Refused, match=r"^[a-z].*") as caught:
        write_switch(switch, [argument])
    assert caught.value.reason == "switchArgument"


def test_a_switch_takes_some_arguments_and_not_too_many() -> None:
    for arguments in ([], [f"h{number}.example" for number in range(17)]):
        with pytest.raises(Refused, match="name 1 to 16 hosts"):
            write_switch(PolicySwitch.LET_HOSTS_THROUGH, arguments)


OTHER_RULE = '@id("more.rules")\n@why("More rules here")\nforbid (principal, action, resource);\n'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("invoke_with_consent", "invoke_with_step_up"),
        ('"notes"', '"notes2"'),
        ("// Written", "// Mine\n// Written"),
        ("// Written", OTHER_RULE + "// Written"),
        ("", OTHER_RULE),
    ],
)
def test_a_file_that_was_changed_by_hand_is_said_to_be_and_left_alone(old: str, new: str) -> None:
    switch = PolicySwitch.ASK_OUTSIDE_FOLDERS
    documents = turn_switch(workshop().active.documents, switch, ["notes"], on=True)
    text = documents[file_of(switch)]
    documents[file_of(switch)] = text.replace(old, new) if old else new
    _expect_left_alone(documents, switch)


@pytest.mark.parametrize("switch", PolicySwitch)
def test_a_switch_that_an_earlier_version_wrote_in_other_words_is_on_and_can_be_turned(
    switch: PolicySwitch, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = turn_switch(workshop().active.documents, switch, ARGUMENTS[takes(switch)], on=True)
    text = documents[file_of(switch)]
    head, rules = text.split("\n\n", 1)
    older = '@why("In the \\\\"older\\\\" words of it")'
    earlier = "// As it was said once.\n\n" + re.sub(r"@why\(.*\)", older, rules)
    documents[file_of(switch)] = earlier
    _expect_left_alone(documents, switch)
    monkeypatch.setattr(switches, "_EARLIER_HEADS", ("// As it was said once.\n\n",))
    (found,) = (each for each in read_switches(documents) if each.switch is switch)
    assert (found.state, found.arguments, found.text) == (SwitchState.ON, SPELLED[takes(switch)], earlier)
    again = turn_switch(documents, switch, ARGUMENTS[takes(switch)], on=True)
    assert again[file_of(switch)] == text != earlier
    assert head in text
    assert file_of(switch) not in turn_switch(documents, switch, (), on=False)
    # A sentence that is more than one is none.
    documents[file_of(switch)] = earlier.replace('words of it")', 'words of it") @retain_days("1")')
    _expect_left_alone(documents, switch)


def test_a_rule_of_a_switch_in_another_file_is_changed_by_hand_too() -> None:
    switch = PolicySwitch.NEVER_DELETE
    documents = turn_switch(workshop().active.documents, switch, (), on=True)
    documents["mine.cedar"] = documents.pop(file_of(switch))
    _expect_left_alone(documents, switch)


def _expect_left_alone(documents: dict[str, str], switch: PolicySwitch) -> None:
    (found,) = (each for each in read_switches(documents) if each.switch is switch)
    assert found.state is SwitchState.CHANGED_BY_HAND
    for on in (True, False):
        with pytest.raises(Refused) as caught:
            turn_switch(documents, switch, ["notes"], on=on)
        assert caught.value.reason == "changedByHand"


def test_rows_that_expect_what_a_switch_changes_are_amended_in_their_place(folder: Path) -> None:
    table = folder / "cases" / "default_map.toml"
    table.write_text("# a remark that stays\n" + table.read_text())
    shop = workshop(folder)
    made = shop.turn_switch(PolicySwitch.PASSKEY_FOR_WRITES, (), on=True)
    told = {(each.about, each.before, each.after) for each in made.amended}
    assert ("writing asks", CONSENT, STEP_UP) in told
    assert made.cases["cases/default_map.toml"].startswith("# a remark that stays\n")
    changed = [name for name, text in made.cases.items() if text != shop.cases()[name]]
    assert changed == sorted({each.file for each in made.amended})


ONE_ROW = '[[case]]\nabout = "writing asks"\nprofile = "operator"\n{}\n'


@pytest.mark.parametrize(
    ("rest", "amended"),
    [
        ('tool = { category = "write" }\nexpect = "consent"', True),
        ('expect = "consent" # a remark\ntool = { category = "write" }\nbecause = [\n  "write.consent",\n]', True),
        # Written in ways that are not understood: left as they are, and then they do not hold.
        ("tool = { category = 'write' }\nexpect = 'consent'", False),
        ('tool = { category = "write" }\n"expect" = "consent"', False),
        ('person = """\n[[case]]\nexpect = "auto"\n"""\nexpect = "consent"\ntool = { category = "write" }', False),
        # It did not hold before, which no switch mends.
        ('tool = { category = "write" }\nexpect = "auto"', False),
    ],
)
def test_a_row_is_amended_only_where_it_can_be_read_again(folder: Path, rest: str, *, amended: bool) -> None:
    text = ONE_ROW.format(rest)
    for path in (folder / "cases").iterdir():
        path.unlink()
    (folder / "cases" / "mine.toml").write_text(text)
    shop = workshop(folder)
    made = shop.turn_switch(PolicySwitch.PASSKEY_FOR_WRITES, (), on=True)
    assert (made.cases["cases/mine.toml"] != text) is amended
    assert bool(made.amended) is amended
    policy = CedarPolicy(SHIPPED)
    policy.enact(shop.load(made.documents))  # pyright: ignore[reportArgumentType] - the workshop's drafts are Cedar's
    assert all(each.passed for each in run_cases(policy, parse_cases(made.cases))) is amended
