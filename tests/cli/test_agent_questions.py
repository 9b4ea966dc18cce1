"""What a person at the terminal reads before they approve: all of the call, page by page, and what it would change."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.adapters.inference.scripted import Reply
from gateway.cli.terminal.approval_rows import ApprovalRow, describe_approval
from gateway.core.canonical import Json
from gateway.core.preview import LineMark, Preview, PreviewChange, PreviewLine
from gateway.runtime.approvals import CallObstacle
from tests.fakes.history import WRITE, History
from tests.harness.person import Person
from tests.harness.process import GatewayProcess
from tests.harness.terminal import agent_command, call

QUESTION = r"Allow it\? \[y/t\(urn\)/s\(ession\)/N\] "
PAGE = r"Page {} of {}\. Return shows the next one, n denies: "

REPORT = "".join(f"entry {number}\n" for number in range(1, 61))


def page(number: int, pages: int) -> str:
    return PAGE.format(number, pages)


@pytest.mark.requirement("000-30", "a person is asked only after the last page of what would run")
async def test_a_long_text_is_shown_page_by_page_and_only_the_last_page_asks(tmp_path: Path) -> None:
    replies = [call("write_file", path="notes/report.txt", content=REPORT), Reply("Written.")]
    async with agent_command(tmp_path, *replies) as at, at.open_terminal("--single", "write it") as ada:
        await ada.expect("`write_file` needs your approval")
        await ada.expect("content = text of 61 lines")
        first = await ada.expect(page(1, 3))
        assert "60  entry 60" not in ada.output[: first.start()]
        ada.type("y\n")
        await ada.expect("Nothing can be allowed before all of it was shown")
        await ada.expect(page(1, 3))
        ada.type("\n")
        await ada.expect(page(2, 3))
        ada.type("\n")
        await ada.expect("60  entry 60\n")
        await ada.expect("There is no such file yet")
        await ada.expect(QUESTION)
        written = tmp_path / "workspace" / "notes" / "report.txt"
        assert not written.exists()
        ada.type("y\n")
        await ada.expect(r"Written\.")
        assert await ada.wait() == 0
    assert written.read_text() == REPORT


async def test_a_question_is_denied_on_any_page(tmp_path: Path) -> None:
    replies = [call("write_file", path="notes/report.txt", content=REPORT), Reply("Left.")]
    async with agent_command(tmp_path, *replies) as at, at.open_terminal("--single", "write it") as ada:
        await ada.expect(page(1, 3))
        ada.type("n\n")
        await ada.expect(r"Left\.")
        assert await ada.wait() == 0
    assert "Allow it?" not in ada.output
    assert not (tmp_path / "workspace" / "notes" / "report.txt").exists()


async def test_what_a_write_changes_is_shown_as_it_is_when_the_answer_counts(tmp_path: Path) -> None:
    changed = tmp_path / "workspace" / "list.txt"
    changed.parent.mkdir()
    changed.write_text("milk\nbread\n")
    replies = [call("write_file", path="list.txt", content="milk\nbutter\n"), Reply("Written.")]
    async with agent_command(tmp_path, *replies) as at, at.open_terminal("--single", "write it") as ada:
        await ada.expect("now has 11 bytes and is replaced by one of 12 bytes")
        await ada.expect(r"│   - bread\n")
        await ada.expect(r"│   \+ butter\n")
        await ada.expect(QUESTION)
        changed.write_text("milk\nsalt\n")
        ada.type("y\n")
        await ada.expect("What it would change is different by now")
        await ada.expect(r"│   - salt\n")
        await ada.expect(QUESTION)
        assert changed.read_text() == "milk\nsalt\n"
        ada.type("y\n")
        await ada.expect(r"Written\.")
        assert await ada.wait() == 0
    assert changed.read_text() == "milk\nbutter\n"


async def test_what_a_deletion_removes_is_shown_beside_the_link_to_the_console(tmp_path: Path) -> None:
    async with agent_command(tmp_path, call("delete_file", path="notes/todo.txt"), Reply("Gone.")) as at:
        doomed = tmp_path / "workspace" / "notes" / "todo.txt"
        doomed.parent.mkdir(parents=True)
        doomed.write_text("buy milk\n")
        async with at.open_terminal("--single", "delete it") as ada:
            token = (await ada.expect(r"/enrol#t=(\S+)"))[1]
            console = Person.at(GatewayProcess(at.home, port=at.port))
            assert (await console.enrol(token)).status == 204
            await ada.expect("now has 9 bytes and is removed")
            await ada.expect(r"│   - buy milk\n")
            await ada.expect("/approvals/apr_")
            assert doomed.exists()
            await console.leave()


# ── the rows themselves ──


def rows(arguments: dict[str, Json], *order: str, preview: Preview | CallObstacle | None = None) -> list[ApprovalRow]:
    """What is said of a call between its sentence and the rules."""
    history = History()
    asked = history.ask(history.request("call-1", WRITE, arguments), "apr_1").approval
    return list(describe_approval(asked, order or tuple(arguments), preview))[2:-1]


def texts(arguments: dict[str, Json], *order: str) -> list[str]:
    return [row.text for row in rows(arguments, *order)]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3, "3 (number)"),
        ("3", '"3" (text)'),
        ("milk", '"milk"'),
        (True, "yes"),
        ("yes", '"yes" (text)'),
        (None, "nothing"),
        ("nothing", '"nothing" (text)'),
        ([], "empty list"),
        ({}, "empty object"),
        ("", '""'),
        ("a\nb", '"a\\nb"'),
    ],
)
def test_the_type_of_a_value_is_told_in_words_where_its_letters_do_not(value: Json, words: str) -> None:
    assert texts({"what": value}) == [f"what = {words}"]


def test_arguments_stand_in_the_authors_order_with_the_way_to_what_is_inside() -> None:
    arguments = {"to": [{"name": "Ada", "copies": 2}, "Eve"], "path": "a.txt"}
    assert texts(arguments, "path", "to") == [
        'path = "a.txt"',
        "to > 1 > copies = 2 (number)",
        'to > 1 > name = "Ada"',
        'to > 2 = "Eve"',
    ]


def test_a_line_of_a_long_text_has_a_number_that_no_text_can_forge() -> None:
    text = f"one\n 2  forged\\n\u202e{'x' * 80}\n"
    assert rows({"content": text}) == [
        ApprovalRow("content = text of 3 lines", "  "),
        ApprovalRow("1  one", "    "),
        ApprovalRow(f"2   2  forged\\\\n\\u202e{'x' * 80}", "    "),
        ApprovalRow("3  ", "    "),
    ]


CHANGES = [
    (Preview(PreviewChange.CREATE, "a", bytes_after=1), ["There is no such file yet. It will have 1 byte."]),
    (
        Preview(PreviewChange.REPLACE, "a", 2048, 3, complete=False),
        [
            "The file that is there now has 2,048 bytes and is replaced by one of 3 bytes.",
            "It is no text, or too long to be shown here.",
        ],
    ),
    (Preview(PreviewChange.KEEP, "a", 3, 3), ["The file that is there now holds exactly this already, 3 bytes."]),
    (
        Preview(
            PreviewChange.DELETE,
            "a",
            9,
            lines=(PreviewLine(LineMark.SKIPPED, "", 4), PreviewLine(LineMark.REMOVED, "x\u202e")),
            complete=False,
        ),
        [
            "The file that is there now has 9 bytes and is removed.",
            "... 4 lines stay",
            "- x\\u202e",
            "More of it is not shown here.",
        ],
    ),
    (
        Preview(
            PreviewChange.SEND,
            "https://api.example.com/orders",
            bytes_after=9,
            lines=(
                PreviewLine(LineMark.SAME, "POST https://api.example.com/orders"),
                PreviewLine(LineMark.SAME, ""),
                PreviewLine(LineMark.SAME, '{"a": 1}\x1b'),
            ),
        ),
        ["This is sent, with a body of 9 bytes:", "  POST https://api.example.com/orders", "  ", '  {"a": 1}\\u001b'],
    ),
    (Preview(PreviewChange.SEND, "https://api.example.com/", bytes_after=0), ["This is sent, without a body:"]),
    (Preview(PreviewChange.REPLACE, "3 rows of orders\x1b"), ["As things are now this changes 3 rows of orders\\u001b."]),
    (Preview(PreviewChange.CREATE, "1 row of orders"), ["As things are now this adds 1 row of orders."]),
    (Preview(PreviewChange.DELETE, "9 rows of orders"), ["As things are now this deletes 9 rows of orders."]),
    (Preview(PreviewChange.KEEP, "0 rows of orders"), ["As things are now this changes nothing: 0 rows of orders."]),
    (CallObstacle("`a` is a folder"), ["This could not work any more: `a` is a folder"]),
]


@pytest.mark.parametrize(("preview", "sentences"), CHANGES)
def test_what_a_call_would_change_is_told_as_on_the_console(preview: Preview | CallObstacle, sentences: list[str]) -> None:
    assert [row.text for row in rows({"path": "a"}, preview=preview)[1:]] == sentences
