"""What a small model says of a file, held to the file: words that stand nowhere in it, a whole text copied for an answer, and
summaries, which it makes up or leaves at the length of the text.

What is not borne out is not shown. In its place stand sentences of the file itself, chosen by code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from gateway.agent.browser import trim
from gateway.agent.copy import Copy
from gateway.agent.excerpts import cited, fenced
from gateway.agent.figures import ResultSource
from gateway.agent.passages import lines_of
from gateway.agent.questions import asks_for_summary
from gateway.agent.ranking import stands_in, stem, terms_in
from gateway.agent.sentences import sentences_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import words_of

_FLAGS: Final = re.IGNORECASE | re.ASCII
_SENTENCES: Final = re.compile(rf"\b({any_of(VOCABULARY.number_words)}|[0-9]) (?:short )?(?:sentence|line)s?\b", _FLAGS)
_WORDING: Final = frozenset(VOCABULARY.explaining_verbs)
_LIGHT: Final = frozenset(map(stem, (*VOCABULARY.light_words, *VOCABULARY.number_words, *VOCABULARY.whole_words)))
_DIGITS: Final = re.compile("[0-9]+")
_USUAL: Final = 3
"""Sentences of a summary for which no number is said."""

_COPIED: Final = 4
"""Sentences that make an answer a copy of the file and no answer."""

_FEWEST: Final = 3
"""Words of a sentence that tells something."""


def is_made_up(answer: str, question: str, source: ResultSource) -> bool:
    """Whether less than half of what an answer adds to its question stands in the file. What is explained or translated has
    words of its own."""
    is_worded = not _WORDING.isdisjoint(word.bare for word in words_of(question))
    if not source.has_lines or (is_worded and not asks_for_summary(question)):
        return False
    known = {*terms_in(question), *terms_in(source.name)}
    # Whether its numbers are right is told by themselves.
    added = {term for term in terms_in(answer) if term not in _LIGHT and not _DIGITS.fullmatch(term)} - known
    held = set(terms_in(source.text))
    return 2 * sum(stands_in(term, held) for term in added) < len(added)


def narrowed(answer: str, question: str) -> str:
    """Of an answer that copies a text the sentences with most words of the question; the answer itself where none has any, and
    where it is short."""
    sentences = [trim(each) for each in sentences_of(answer) if trim(each)]
    asked = {term for term in terms_in(question) if term not in _LIGHT}
    held = [len(asked.intersection(terms_in(each))) for each in sentences]
    most = max(held, default=0)
    if (
        len(sentences) < _COPIED
        or most == 0
        or asks_for_summary(question)
        or not _WORDING.isdisjoint(word.bare for word in words_of(question))
    ):
        return answer
    return " ".join(each for each, count in zip(sentences, held, strict=True) if count == most)


def summary_of(answer: str, question: str, source: ResultSource, copy: Copy) -> str | None:
    """The sentences of a file that say most of it, in the place of a summary that is none; None where a model's own is one, and
    for any other question."""
    if not asks_for_summary(question) or not source.has_lines:
        return None
    asked, said, lines = _number_in(question), [each for each in sentences_of(answer) if trim(each)], lines_of(source.text)
    told = [(at, trim(each)) for at, line in enumerate(lines, 1) for each in sentences_of(line) if trim(each)]
    is_short = len(said) <= (asked or max(_USUAL, len(told) // 2))
    if is_short and not is_made_up(answer, question, source):
        return None
    chosen = _telling([each for _, each in told], asked or _USUAL)
    if not chosen:
        return None
    shown = fenced("\n".join(told[at][1] for at in chosen))
    places = sorted({told[at][0] for at in chosen})
    return f"{copy.say('mainSentenceOne' if len(chosen) == 1 else 'mainSentences')} {cited(source.name, places)}:\n\n{shown}"


def _number_in(question: str) -> int:
    """How many sentences are asked for; 0 where that is not said."""
    found = _SENTENCES.search(question)
    word = found[1].lower() if found else "0"
    return int(word) if _DIGITS.fullmatch(word) else VOCABULARY.number_words[word]


def _telling(sentences: Sequence[str], most: int) -> list[int]:
    """The places of the sentences whose words come most often in all of them, in their order."""
    terms = [{term for term in terms_in(each) if term not in _LIGHT} for each in sentences]
    counts = Counter(term for each in terms for term in each)
    # In whole numbers, which are the same in both languages: of as many words as a sentence has, how often each comes.
    weights = [
        sum(counts[term] for term in each) * 100 // (len(each) + _FEWEST) if len(words_of(sentence)) >= _FEWEST else 0
        for each, sentence in zip(terms, sentences, strict=True)
    ]
    ranked = sorted((at for at in range(len(sentences)) if weights[at] > 0), key=lambda at: -weights[at])
    return sorted(ranked[:most])
