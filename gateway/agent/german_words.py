"""What the loop says by itself, in German, to somebody who speaks German to it.

The loop works with its English sentences: they go to the model with the rest of the conversation, and are known again by their
words. They become German when they are said. What a fence holds is a file's, and stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, cast

from gateway.shipped import read_loop_file

_NOUNS: Final = [name for name, text in read_loop_file("copy")["says"].items() if re.fullmatch("[a-z]+", text)]
_CANCELLED: Final = ("unheard", "endedBefore", "endedDuring", "earlierFailed")
"""Why a call was cancelled: the loop's own words and those of the gateway, which speaks English."""

_NO_SENTENCE: Final = frozenset((*_NOUNS, *_CANCELLED, "workspace", "totalsLeftOut", "importedTurn"))
"""Words for the blanks of other sentences, and what only the model reads."""

_BLANK: Final = re.compile(r"\{(\w+)\}")
_FENCE: Final = re.compile("`{3,}")
_CITED: Final = re.compile(r"(\(`[^`]*`(?:, )?)(?:line(s?)( [0-9–, ]*[0-9]))?(?:(, )?column( `[^`]*`))?\)")


def in_german(text: str) -> str:
    """A text with each sentence of the loop's own in German."""
    fence = ""
    lines: list[str] = []
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if line == fence else fence
            lines.append(line)
        elif mark is not None:
            fence = mark[0]
            lines.append(line)
        else:
            lines.append(_translate(line))
    return "\n".join(lines)


@cache
def _sentences() -> list[tuple[re.Pattern[str], str]]:
    """The pattern of each sentence with the German one. Of two that fit, that with more words of its own is the one said."""
    pairs = _paired(read_loop_file("copy"), read_loop_file("copy.de"))
    pairs += _paired({"fixed": read_loop_file("prompts")["report"]["fixed"]}, {"fixed": read_loop_file("copy.de")["fixed"]})
    pairs.sort(key=lambda pair: -len(_BLANK.sub("", pair[0])))
    return [(_pattern_of(english), german) for english, german in pairs]


def _paired(english: Mapping[str, Any], german: Mapping[str, Any]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, text in english.items():
        if isinstance(text, Mapping):
            pairs += _paired(cast("Mapping[str, Any]", text), german[name])
        elif name not in _NO_SENTENCE:
            pairs.append((text, german[name]))
    return pairs


def _says(language: str) -> Mapping[str, str]:
    return read_loop_file(language)["says"]


def _blanks() -> dict[str, str]:
    """What stands in a blank, where that is less than any words of a line."""
    says = _says("copy")
    return {
        "tool": "`[^`]+`",
        "count": "[0-9]+",
        "rest": "[0-9]+|`.+`",
        "names": "`.+`",
        "place": f"`[^`]*`|{says['workspace']}",
        "noun": "|".join(says[name] for name in _NOUNS),
        "sign": "[=≈]",
        "why": r"\.|: .+",
    }


def _pattern_of(sentence: str) -> re.Pattern[str]:
    """Behind a sentence may stand where it is in a file, or what went wrong, that sums are left out, and what is quoted below."""
    blanks, seen = _blanks(), set[str]()
    pieces: list[str] = []
    for at, part in enumerate(_BLANK.split(sentence)):
        if at % 2 == 0:
            pieces.append(re.escape(part))
        else:
            pieces.append(f"(?P={part})" if part in seen else f"(?P<{part}>{blanks.get(part, '.+?')})")
            seen.add(part)
    sums = re.escape(_says("copy")["totalsLeftOut"])
    return re.compile(rf"^{''.join(pieces)}(?P<_cited> \(.+\))?(?P<_sums>\. {sums})?(?P<_end>:?)$")


def _translate(line: str) -> str:
    for pattern, german in _sentences():
        found = pattern.fullmatch(line)
        if found is not None:
            said = _BLANK.sub(lambda blank, held=found: _filled(blank[1], held[blank[1]]), german)
            sums = f". {_says('copy.de')['totalsLeftOut']}" if found["_sums"] else ""
            return f"{said}{_cited_in(found['_cited'] or '')}{sums}{found['_end']}"
    return _cited_in(line)


def _filled(name: str, value: str) -> str:
    english, german = _says("copy"), _says("copy.de")
    known = next((each for each in (*_NOUNS, "workspace") if english[each] == value), None)
    if name in ("noun", "place") and known is not None:
        return german[known]
    if name == "why":
        return next((f": {german[each]}." for each in _CANCELLED if value == f": {english[each]}."), value)
    if name == "abilities":
        for ability, told in read_loop_file("german")["abilities"].items():
            value = value.replace(ability, told)
        return re.sub(" and (?=[^,]*$)", " und ", value)
    return re.sub(r"` and `(?=[^`]*`$)", "` und `", value) if name == "names" else value


def _cited_in(line: str) -> str:
    """Where something stands: "(`costs.csv`, Zeilen 2–3, Spalte `amount`)"."""

    def told(found: re.Match[str]) -> str:
        lines = f"Zeile{'n' if found[2] else ''}{found[3]}" if found[3] else ""
        column = f"{found[4] or ''}Spalte{found[5]}" if found[5] else ""
        return f"{found[1]}{lines}{column})"

    return _CITED.sub(told, line)
