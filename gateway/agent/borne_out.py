"""What an answer says that nothing shown bears out: a number, a file, a quotation, a name or a reason that stands in no result,
in nothing the person said and in no call of the turn.

A small model fills what it did not find with what its examples say. Numbers that code can work out of the results are borne out:
a count of lines, a sum or a mean of numbers that stand below each other, all of them or those of rows with a word in common, and
what two amounts come to together or differ by.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Final

from gateway.agent.acts import bare_thing, is_thing
from gateway.agent.browser import trim
from gateway.agent.passages import lines_of
from gateway.agent.quantities import Quantity, WrittenNumber, add, as_written, divide, numbers_in, read_quantities
from gateway.agent.ranking import stem, terms_in
from gateway.agent.sentences import sentences_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import QUOTED, words_of

_NUMBER: Final = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")
_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:[.,][0-9]{3})+")
_PARTED: Final = re.compile(r"[\t|;]|,(?=[^ ])(?!(?<=[0-9],)[0-9]{3}(?![0-9]))")
"""What parts the cells of a row. A comma between a digit and three more is one of thousands."""

_LETTER: Final = re.compile(r"[^\W\d_]")
_OWNED: Final = re.compile(r"['’]s?\Z")
_STARTS: Final = re.compile(r"[:*•>–—-]\Z")
_NUMBER_WORDS: Final = {word: str(number) for word, number in VOCABULARY.number_words.items()}
_COUNTS: Final = {word: number for word, number in _NUMBER_WORDS.items() if number != "1"}
_THE: Final = frozenset(VOCABULARY.plural_articles)
"""Before a number in words that goes back to what was told: "the two"."""

_MONTHS: Final = {stem(name): str(number) for number, names in enumerate(VOCABULARY.months, 1) for name in names}
_TITLES: Final = frozenset(map(stem, (*VOCABULARY.titles, *VOCABULARY.currency_words, *VOCABULARY.currency_codes)))
_CAPITALISING: Final = frozenset(VOCABULARY.capitalising_words)
_LIGHT: Final = frozenset(term for word in VOCABULARY.light_words for term in terms_in(word))
_NEGATIONS: Final = frozenset(VOCABULARY.negations)
_REASON: Final = re.compile(rf"\b(?:{any_of(VOCABULARY.reason_links)}) ([^.;!?\n]+)", re.IGNORECASE | re.ASCII)
_SHORTEST_NAME: Final = 2
_MOST_AMOUNTS: Final = 12
"""Of more, nearly every number is what some two come to."""

_MOST_LINES: Final = 500


def unsupported_in(text: str, sources: Sequence[str]) -> list[str]:
    """What a text says that no source does, as it is written and in the order of its kinds; nothing where all is borne out."""
    said = [quoted[0][1:-1] for quoted in QUOTED.finditer(text)]
    plain = QUOTED.sub(" ", text)
    things = [bare_thing(plain[word.start : word.end]) for word in words_of(plain)]
    named = [thing for thing in things if is_thing(thing) and _LETTER.search(thing)]
    for thing in named:
        plain = plain.replace(thing, " ")
    missing = [
        *_quotations_missing(said, sources),
        *_things_missing(named, sources),
        *_numbers_missing(plain, sources),
        *_names_missing(plain, sources),
        *_reasons_missing(text, sources),
    ]
    return list(dict.fromkeys(missing))


def _quotations_missing(said: Sequence[str], sources: Sequence[str]) -> Iterator[str]:
    flat = " ".join(map(_flat, sources))
    yield from (each for each in said if _flat(each) not in flat)


def _things_missing(named: Sequence[str], sources: Sequence[str]) -> Iterator[str]:
    written = "\n".join(sources).lower()
    yield from (each for each in named if each.lower().rstrip("/").rpartition("/")[2] not in written)


def _numbers_missing(text: str, sources: Sequence[str]) -> Iterator[str]:
    written = written_numbers(text)
    said = [word.bare for word in words_of(text)]
    counted = [word for before, word in pairwise(["", *said]) if word in _COUNTS and before not in _THE]
    if not written and not counted:
        return
    held = _numbers_of(sources) | {"1"}
    terms = {term for source in sources for term in terms_in(source)}
    words = {word.bare for source in sources for word in words_of(source)}
    held |= {number for word, number in _NUMBER_WORDS.items() if word in words}
    held |= {number for month, number in _MONTHS.items() if month in terms}
    held |= reckoned_of(sources)
    yield from (each for each in written if plain_number(each) not in held)
    yield from (each for each in counted if _COUNTS[each] not in held)


def _names_missing(text: str, sources: Sequence[str]) -> Iterator[str]:
    """Words with a capital inside a sentence. In German every noun has one."""
    if len(_CAPITALISING.intersection(word.bare for word in words_of(text))) > 1:
        return
    held = {term for source in sources for term in terms_in(source)}
    numbers = _numbers_of(sources)
    held |= {month for month, number in _MONTHS.items() if number in numbers}
    for sentence in sentences_of(text):
        before = ":"
        for word in words_of(sentence):
            written = sentence[word.start : word.end]
            name = _OWNED.sub("", bare_thing(written))
            is_start = _STARTS.search(before) is not None or sentence[: word.start].rstrip(" ").endswith(("-", "*", "•"))
            before = written
            is_name = name[:1].isupper() and len(name) >= _SHORTEST_NAME and not is_start
            if is_name and not (held | _TITLES).issuperset(terms_in(name)):
                yield name


def _reasons_missing(text: str, sources: Sequence[str]) -> Iterator[str]:
    """Reasons of which no source says the half. That something is not there is one that no result says."""
    held = {term for source in sources for term in terms_in(source)}
    for found in _REASON.finditer(text):
        terms = set(terms_in(found[1])) - _LIGHT
        is_denial = any(word.bare in _NEGATIONS or word.bare.endswith(("n't", "n’t")) for word in words_of(found[1]))
        if not is_denial and 2 * len(terms - held) > len(terms):
            yield trim(found[0])


def _numbers_of(sources: Sequence[str]) -> set[str]:
    """The numbers that are written, those side by side in a row too."""
    found = [number for source in sources for number in written_numbers(source)]
    return {plain_number(part) for number in found for part in (number, *number.split(","))}


def written_numbers(text: str) -> list[str]:
    """The numbers in a text, as they are written."""
    return _NUMBER.findall(text)


def cells_in(line: str) -> list[str]:
    """The cells of a row; a line that is none as it is."""
    return _PARTED.split(line)


def _flat(text: str) -> str:
    return " ".join(word.bare for word in words_of(text))


def plain_number(number: str) -> str:
    """A number without separators of thousands, without a nought that says nothing, and with a point before its decimals."""
    if _GROUPED.fullmatch(number):
        return re.sub("[.,]", "", number).lstrip("0") or "0"
    whole, mark, decimals = number.replace(",", ".").rpartition(".")
    if not mark or ":" in number:
        return number.lstrip("0") or "0"
    decimals = decimals.rstrip("0")
    head = whole.replace(".", "").lstrip("0") or "0"
    return f"{head}.{decimals}" if decimals else head


# ── what can be worked out ──


def reckoned_of(sources: Iterable[str]) -> set[str]:
    """The numbers that code can work out of these texts."""
    found: set[str] = set()
    amounts: list[WrittenNumber] = []
    for source in sources:
        lines = [line for line in lines_of(source)[:_MOST_LINES] if line.strip(" ")]
        found |= _counts_in(lines)
        columns: dict[tuple[int, str], list[WrittenNumber]] = {}
        for line in lines:
            numbers = [number for cell in cells_in(line) for number in numbers_in(cell)]
            amounts += [each for each in numbers if each.unit or not each.digits.isdigit()]
            for place, number in enumerate(numbers):
                for group in ("", *dict.fromkeys(terms_in(line))):
                    columns.setdefault((place, group), []).append(number)
        for column in columns.values():
            found |= _sums_of(column)
    return found | _pairs_of(amounts)


def _counts_in(lines: Sequence[str]) -> set[str]:
    """How many lines there are, without a heading too, how many begin alike, and how long a list in one is."""
    terms = Counter(term for line in lines for term in set(terms_in(line)))
    begun = Counter(line.split(" ")[0] for line in lines)
    listed = [len(line.split(",")) for line in lines]
    marked = Counter(line[:3] for line in lines)
    counts = {len(lines), len(lines) - 1, *terms.values(), *begun.values(), *marked.values(), *listed}
    return {str(count) for count in counts if count > 1}


def _sums_of(column: Sequence[WrittenNumber]) -> set[str]:
    read = read_quantities([WrittenNumber(each.text, each.negative, each.digits, "") for each in column])
    if read is None or len(column) < 2:
        return set()
    total = add(read[0])
    return {plain_number(as_written(total)), plain_number(as_written(divide(total, len(column))[0]))}


def _pairs_of(amounts: Sequence[WrittenNumber]) -> set[str]:
    """What two amounts come to, or differ by; nothing where there are so many that any number would be among them."""
    several = {each.digits: WrittenNumber(each.text, False, each.digits, "") for each in amounts}
    read = read_quantities(list(several.values()))
    if read is None or len(several) > _MOST_AMOUNTS:
        return set()
    pairs = list(combinations(read[0], 2))
    results = [add([one, other]) for one, other in pairs]
    results += [add([one, Quantity(-other.units, other.scale)]) for one, other in pairs]
    return {plain_number(as_written(Quantity(abs(each.units), each.scale))) for each in results}
