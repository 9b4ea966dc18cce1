"""A model's words, held against the record before a person sees them: when they are whole, and while they are written."""

from __future__ import annotations

from typing import Final

from gateway.agent.browser import trim
from gateway.agent.claims import ClaimJudge, TurnRecord, is_short_answer, without_false_claims
from gateway.agent.copy import Copy
from gateway.agent.sentences import sentences_of
from gateway.agent.unread import unread_file, without_content

_NOT_REFUSED: Final = frozenset({"ok", "invalidArguments", "unknownTool", "executionError"})
"""Outcomes of a call that was made, or that the model got wrong and may have made again."""


def hold_to_record(text: str, record: TurnRecord, copy: Copy) -> str:
    """A text without what it claims and no call did, and without what it tells of a file that was not read.

    Where nothing is left, the loop says so in its own words, and names what was refused rather than what was done. What it says
    itself of a call that did not run stays.
    """
    own = _own_words(text, record, copy)
    if own:
        before, _, after = text.partition(own)
        rest = [trim(without_false_claims(each, record)) for each in (before, after)]
        return "\n\n".join(each for each in (rest[0], own, rest[1]) if each)
    file = unread_file(record.wish or record.message, [*record.earlier, *record.closed], record.tools)
    if file is not None and trim(text):
        told = without_content(text, record.closed)
        if told != text:
            rest = without_false_claims(told, record)
            return "\n\n".join(each for each in (rest, copy.say("unread", file=file)) if trim(each))
    kept = without_false_claims(text, record)
    if trim(kept) or kept == text:
        return kept
    refused = [each for each in record.closed if each.result["outcome"] not in _NOT_REFUSED]
    if refused:
        return "\n\n".join(dict.fromkeys(copy.explain_outcome(each.call["name"], each.result) for each in refused))
    ran = next((each for each in reversed(record.closed) if each.result["outcome"] == "ok"), None)
    last = ran or next(reversed(record.closed), None)
    return copy.say("unrecorded") if last is None else copy.explain_outcome(last.call["name"], last.result)


def _own_words(text: str, record: TurnRecord, copy: Copy) -> str:
    """The sentence of the loop's own about a call without a result that stands in a text; empty where there is none."""
    stopped = (each for each in record.closed if each.result["outcome"] != "ok")
    return next((own for each in stopped if (own := copy.explain_outcome(each.call["name"], each.result)) in text), "")


class ShownBeginning:
    """How much of a text that is still being written may be shown already: what stands before the first sentence in doubt.

    Where a change was asked for and none is on record, a sentence is in doubt until it is whole.
    """

    def __init__(self, record: TurnRecord) -> None:
        self._judge = ClaimJudge(record)
        self._is_unread = unread_file(record.wish or record.message, [*record.earlier, *record.closed], record.tools) is not None
        self._sure = 0

    def length(self, text: str) -> int:
        """Its length. Each text goes on where the one before ended."""
        if self._is_unread:
            return 0
        is_short = is_short_answer(text)
        for sentence in sentences_of(text[self._sure :]):
            is_whole = trim(sentence[-1]) == ""
            if (self._judge.is_undone and not is_whole) or self._judge.is_false(sentence, is_short=is_short):
                return self._sure
            if is_whole:
                self._sure += len(sentence)
        return len(text)
