"""What is wrong with a profile or a case is told at the wrong value itself."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from gateway.adapters.policy.breaks import place_of
from gateway.adapters.policy.cases import parse_cases
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import PROFILES, from_texts, read_documents
from gateway.adapters.policy.faults import find_faults
from gateway.adapters.policy.profiles import read_profiles
from gateway.adapters.policy.toml_places import TomlPath, find_places
from gateway.core.errors import PolicyUnusable
from gateway.runtime.ports import FaultSeverity
from tests.adapters.policy.conftest import SHIPPED

ROOT = Path(__file__).parents[3]
MANY = [*SHIPPED.rglob("*.toml"), ROOT / "pyproject.toml", *(ROOT / "tests/mutants/faults").glob("*.toml")]
ODD = (
    """
# a = 1
"a.b" . 'c' = { d = [ 1, # two
  "]", [ {e = 2} ], ], f.g = true } # {
[[x]]
y = '''
[z]
'''
[x.w]
v = 1979-05-27T07:32:00Z
[[x]]
[[x.u]]
t = """
    '"""=\\"""a""""'
    "\n"
)


def paths_of(value: Any, path: TomlPath = ()) -> list[TomlPath]:
    holder: Any = value
    names: Iterable[str | int] = ()
    if isinstance(value, dict):
        names = cast("dict[str, Any]", value)
    elif isinstance(value, list):
        names = range(len(cast("list[Any]", value)))
    return [path, *(each for name in names for each in paths_of(holder[name], (*path, name)))]


@pytest.mark.parametrize("text", [*(path.read_text() for path in MANY), ODD, "", "a = 1"])
def test_every_key_and_member_of_a_document_is_found(text: str) -> None:
    assert set(find_places(text)) == set(paths_of(tomllib.loads(text)))


def test_values_of_every_kind_are_found_where_they_stand() -> None:
    places = find_places(ODD)
    found = {path: ODD[place.value :].partition("\n")[0] for path, place in places.items()}
    assert found[("a.b", "c", "d", 1)] == '"]", [ {e = 2} ], ], f.g = true } # {'
    assert found[("a.b", "c", "d", 2, 0, "e")] == "2} ], ], f.g = true } # {"
    assert found[("a.b", "c", "f", "g")] == "true } # {"
    assert found[("x", 0, "w", "v")] == "1979-05-27T07:32:00Z"
    assert found[("x", 1, "u", 0)] == "[[x.u]]"


PROFILE_FAULTS = [
    ("calls_per_turn = ", "calls_per_turn = 0 #", "0", "greater than or equal to 1"),
    ("suppressed_tools = []", 'suppressed_tools = ["fine", "not fine"]', '"not fine"', "match pattern"),
    ("network_auto_hosts = []", "network_auto_hosts = [\n  'a.example',\n  5,\n]", "5", "valid string"),
    ("remote_models = ", "remote_modles = true\nremote_models = ", "remote_modles", "extra inputs are not permitted"),
]


@pytest.mark.parametrize(("old", "new", "at", "said"), PROFILE_FAULTS)
def test_a_wrong_value_of_a_profile_is_told_at_the_value(old: str, new: str, at: str, said: str) -> None:
    texts = read_documents(SHIPPED).texts()
    assert old in texts[PROFILES]
    text = texts[PROFILES].replace(old, new, 1)
    place = place_of(text, text.index(at, text.index(new) + (new.index(at))))
    (fault,) = find_faults({**texts, PROFILES: text}, {}, ())
    assert (fault.file, fault.line, fault.column) == (PROFILES, place.line, place.column)
    assert said in fault.message
    where = rf"^`profiles\.toml` line {place.line}, column {place.column}: "
    with pytest.raises(PolicyUnusable, match=where):
        read_profiles(text)
    with pytest.raises(PolicyUnusable, match=where):
        CedarPolicy(from_texts({**texts, PROFILES: text}))


CASE = '[[case]]\nabout = "one"\nprofile = "operator"\ntool = { name = "babble", category = "read" }\nexpect = "auto"\n'
CASE_FAULTS = [
    ('"operator"', '"opertor"', 3, 11, "did you mean `operator`?"),
    ('"read"', '"raed"', 4, 38, "did you mean `read`?"),
    ('"auto"', '"step_up"', 5, 10, "did you mean `stepUp`?"),
    ("expect", "label = 'confidental'\nexpect", 5, 9, "did you mean `confidential`?"),
    ("expect", "taint = 2\nexpect", 5, 9, "less than or equal to 1"),
    ('about = "one"\n', "", 1, 1, "`case.0.about`: field required"),
    ("expect", "expct = 1\nexpect", 5, 1, "extra inputs are not permitted"),
]


@pytest.mark.parametrize(("old", "new", "line", "column", "said"), CASE_FAULTS)
def test_a_wrong_name_in_a_case_is_told_at_its_place_with_the_nearest_one(
    old: str, new: str, line: int, column: int, said: str
) -> None:
    cases = {"cases/x.toml": CASE.replace(old, new, 1)}
    (fault,) = find_faults(read_documents(SHIPPED).texts(), cases, ())
    assert (fault.file, fault.line, fault.column, fault.severity) == ("cases/x.toml", line, column, FaultSeverity.ERROR)
    assert said in fault.message
    with pytest.raises(PolicyUnusable, match=rf"^`cases/x\.toml` line {line}, column {column}: "):
        parse_cases(cases)


def test_every_wrong_value_is_told_at_once() -> None:
    text = CASE.replace("operator", "nobody", 1) + CASE.replace("auto", "never", 1)
    faults = find_faults(read_documents(SHIPPED).texts(), {"cases/x.toml": text}, ())
    assert [fault.line for fault in faults] == [3, 10]


def test_a_misspelt_tool_of_a_case_is_a_warning_and_one_that_stands_for_many_is_none() -> None:
    text = CASE.replace("babble", "bable") + CASE.replace("babble", "tool") + CASE
    text += CASE.replace("expect", 'tools_used = ["babble", "bable"]\nexpect')
    faults = find_faults(read_documents(SHIPPED).texts(), {"cases/x.toml": text}, ("babble", "read_file"))
    told = [each for each in faults if each.file == "cases/x.toml"]
    assert [(each.line, each.column, each.severity) for each in told] == [
        (4, 17, FaultSeverity.WARNING),
        (20, 25, FaultSeverity.WARNING),
    ]
    assert all(each.message.endswith("did you mean `babble`?") for each in told)
