"""How often a person is asked in a task: calls that the loop sends together are one page."""

from __future__ import annotations

import pytest

from eval.asking import POLICY, Asked, play
from eval.cases import Case, Kind, Split, Tools
from gateway.adapters.policy.cedar import CedarPolicy

DELETE = ("delete_file", {"path": {"path": "drafts/poem.txt"}})
OTHER = ("delete_file", {"path": {"path": "drafts/letter.txt"}})
LIST = ("list_directory", {"path": {"path": "drafts"}})


@pytest.mark.parametrize(
    ("say", "expect", "asked"),
    [
        ("list drafts/", (LIST,), Asked(0, 0, 0)),
        ("delete drafts/poem.txt", (DELETE,), Asked(1, 1, 1)),
        ("delete drafts/poem.txt and drafts/letter.txt", (DELETE, OTHER), Asked(1, 2, 1)),
        ("delete drafts/poem.txt, list drafts/ and delete drafts/letter.txt", (DELETE, LIST, OTHER), Asked(1, 2, 2)),
    ],
)
async def test_calls_that_are_sent_together_are_one_page(
    say: str, expect: tuple[tuple[str, dict[str, object]], ...], asked: Asked
) -> None:
    case = Case(id="asked", kind=Kind.TWO, split=Split.DEV, tools=Tools.WORKSPACE, say=say, expect=expect)
    assert await play(case, CedarPolicy(POLICY)) == asked
