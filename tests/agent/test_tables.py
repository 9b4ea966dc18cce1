"""What is read as rows and numbers, and what is left alone because it may mean something else."""

from __future__ import annotations

from collections import Counter

import pytest

from gateway.agent.figures import ResultSource, answer_figure
from gateway.agent.passages import fitting_passages
from gateway.agent.quantities import numbers_in, read_quantities
from gateway.agent.tables import table_of
from tests.agent.scripted import COPY


def test_an_empty_cell_of_json_holds_nothing() -> None:
    table = table_of('[{"shop": "Lidl", "amount": 3}, {"shop": null, "amount": 4}]', "a.json")
    assert table is not None
    assert [list(row.cells) for row in table.rows] == [["Lidl", "3"], ["", "4"]]


def test_a_table_by_its_ending_needs_no_line_of_names() -> None:
    table = table_of("Lidl,3\nPret,4\n", "a.csv")
    assert table is not None
    assert (table.columns, [list(row.cells) for row in table.rows]) == ((), [["Lidl", "3"], ["Pret", "4"]])


def test_lines_with_commas_are_no_table_where_neither_name_nor_numbers_say_so() -> None:
    assert table_of("yes, but\nno, and\n", "letter.txt") is None


@pytest.mark.parametrize(
    "text", ["1,234.50.60 EUR and 2 EUR", "12.34,5,6 EUR and 1.50 EUR", "1,2,3 EUR and 2,25 EUR", "12,34.5 EUR and 2.25 EUR"]
)
def test_a_number_that_nobody_can_read_is_not_guessed(text: str) -> None:
    written = numbers_in(text)
    assert len(written) > 1
    assert read_quantities(written) is None


def test_rows_are_counted_only_in_a_table() -> None:
    source = ResultSource("a.txt", "one line\nand another\n", whole=True, has_lines=True)
    assert answer_figure("how many rows are in a.txt?", source, COPY) is None


def test_a_passage_that_does_not_fit_any_more_is_left_out() -> None:
    lines = [f"garden {'rose ' * 12}{number}" for number in range(60)]
    kept = fitting_passages("\n".join(lines), "what grows in the garden?", 1_500)
    assert len(kept) <= 1_500
    assert 0 < sum(Counter(kept.split("\n"))[line] for line in lines) < len(lines)
