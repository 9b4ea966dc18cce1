"""A marker saves the look for a pattern, and never hides what the pattern would have found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.core.markers import mark_text, mark_words
from gateway.core.named_secrets import COMMANDS
from gateway.core.secret_tokens import TOKENS, PatternSet
from tests.core.secret_lines import secret_lines

PATTERNS = (*TOKENS, *COMMANDS)
TEXTS = st.text(st.sampled_from("etaxk_-.Aé€\ud800 \n"), max_size=8)


@given(before=TEXTS, word=TEXTS, after=TEXTS)
def test_a_word_is_found_wherever_it_stands(before: str, word: str, after: str) -> None:
    (marker,) = mark_words([word])
    marked = mark_text(before + word + after)
    assert marked.holds_any([marker])
    assert marker.rarest in marked.rare


@given(text=TEXTS, word=TEXTS)
def test_a_word_is_found_only_where_it_stands(text: str, word: str) -> None:
    assert mark_text(text).holds_any(mark_words([word])) == (word in text)


def test_a_pattern_that_finds_something_is_always_tried() -> None:
    patterns = PatternSet(*PATTERNS)
    for line in secret_lines():
        tried = list(patterns.occurring_in(mark_text(line.text), mark_text(line.text.lower())))
        assert [pattern for pattern in PATTERNS if pattern.expression.search(line.text)] == [
            pattern for pattern in tried if pattern.expression.search(line.text)
        ]


def test_patterns_that_can_find_nothing_are_not_tried() -> None:
    prose = "The members met on Tuesday, and agreed to put the question off until they had read the report."
    assert len(list(PatternSet(*PATTERNS).occurring_in(mark_text(prose), mark_text(prose.lower())))) <= 3
