"""Every requirement is claimed by a test that asserts it, or has a written reason for having none; never both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.claims import PYTHON_TESTS, WEB_TESTS, Claim, MisplacedClaim, in_python, in_typescript, mentions
from tests.scenarios.claims import of_all_tests as read_claims
from tests.scenarios.requirements import REQUIREMENTS, Requirement

BY_ID = {requirement.id: requirement for requirement in REQUIREMENTS}
HERE = Path("here")


@pytest.fixture(scope="module")
def claims() -> list[Claim]:
    return list(read_claims())


@pytest.fixture(scope="module")
def claimed(claims: list[Claim]) -> set[str]:
    return {claim.id for claim in claims}


def test_ids_are_unique_and_in_order() -> None:
    ids = [requirement.id for requirement in REQUIREMENTS]
    assert ids == sorted(set(ids))


def test_claims_name_requirements_that_exist(claims: list[Claim]) -> None:
    assert [claim for claim in claims if claim.id not in BY_ID] == []


def test_a_claim_says_what_is_asserted_and_does_not_repeat_the_requirement(claims: list[Claim]) -> None:
    repeated = [claim for claim in claims if claim.id in BY_ID and claim.says in (BY_ID[claim.id].says, claim.id)]
    assert repeated == []
    assert [claim for claim in claims if not claim.says.strip()] == []


def test_a_test_claims_a_requirement_once(claims: list[Claim]) -> None:
    places = [(claim.id, claim.test, claim.path) for claim in claims]
    assert [place for place in set(places) if places.count(place) > 1] == []


def test_an_id_outside_a_claim_occurs_in_no_test_file() -> None:
    own_examples = Path(__file__)
    named = {str(path): mentions(path) for path in (*PYTHON_TESTS, *WEB_TESTS) if path != own_examples}
    assert {path: ids for path, ids in named.items() if ids} == {}


@pytest.mark.parametrize("requirement", [each for each in REQUIREMENTS if each.untested is None], ids=lambda each: each.id)
def test_a_requirement_without_a_reason_is_claimed_by_a_test(requirement: Requirement, claimed: set[str]) -> None:
    assert requirement.id in claimed, f"{requirement.says}: nobody tests it, and nobody says why"


@pytest.mark.parametrize("requirement", [each for each in REQUIREMENTS if each.untested is not None], ids=lambda each: each.id)
def test_a_requirement_with_a_reason_is_claimed_by_none(requirement: Requirement, claimed: set[str]) -> None:
    assert requirement.untested
    assert requirement.partly is None, "what nothing tests is untested; what is kept in part has a claim"
    assert requirement.id not in claimed, f"{requirement.id} is tested, so its reason is out of date"


# ── the reader itself ──


def test_a_marker_belongs_to_the_test_below_it() -> None:
    source = """
@pytest.mark.parametrize("a", [1])
@pytest.mark.requirement("000-26", "stopped after its time")
@pytest.mark.requirement("000-27", "cut at 8 KB")
async def test_one(): ...

def test_two(): ...
"""
    assert list(in_python(source, HERE)) == [
        Claim("000-26", "stopped after its time", "test_one", HERE),
        Claim("000-27", "cut at 8 KB", "test_one", HERE),
    ]


@pytest.mark.parametrize(
    "source",
    [
        'pytestmark = pytest.mark.requirement("000-26", "a whole module")',
        '@pytest.mark.requirement("000-26", "a helper")\ndef helper(): ...',
        '@pytest.mark.requirement("000-26")\ndef test_without_a_sentence(): ...',
        '@pytest.mark.requirement(ID, "no literal")\ndef test_that_cannot_be_read(): ...',
        '@pytest.mark.requirement("000-26", "a class")\nclass TestAll: ...',
    ],
)
def test_a_marker_on_anything_but_a_test_is_refused(source: str) -> None:
    with pytest.raises(MisplacedClaim):
        list(in_python(source, HERE))


@pytest.mark.parametrize(
    "opening",
    [
        'test("title", () => {',
        '  test("title", async () => {',
        'test.each(cases)("title", async ({ one, two }) => {',
        'test.each([\n  ["a", 1],\n])("title", (a: string, [b]: number[]) => {',
        'test.each<Case>(cases)(\n  "title",\n  async (each) => {',
        'test("title", async each => {',
        'describe("group", () => {\n  test("title", () => {',
    ],
)
def test_a_call_belongs_to_the_vitest_test_that_it_begins(opening: str) -> None:
    source = f'{opening}\n requirement("000-26", "its \\"time\\"");\n requirement(\n"000-27",\n"cut",\n);\n expect(1);\n}});'
    assert list(in_typescript(source, HERE)) == [
        Claim("000-26", 'its "time"', "title", HERE),
        Claim("000-27", "cut", "title", HERE),
    ]


@pytest.mark.parametrize(
    "source",
    [
        'describe("group", () => {\n  requirement("000-26", "a whole group");\n});',
        'test("title", () => {\n  expect(1);\n  requirement("000-26", "too late");\n});',
        'test("title", () => {\n  requirement(id, "no literal");\n});',
        'requirement("000-26", "a whole file");',
    ],
)
def test_a_call_anywhere_but_at_the_beginning_of_a_test_is_refused(source: str) -> None:
    with pytest.raises(MisplacedClaim):
        list(in_typescript(source, HERE))
