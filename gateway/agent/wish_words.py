"""The words by which a message is taken apart into wishes, read once from `loop/wishes.json`, which the browser reads too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from gateway.shipped import loop_fields

_Words: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoopWishWords:
    """One field for each list of `loop/wishes.json`, in lower case. What each is for stands where it is used."""

    imperatives: _Words
    commands: _Words
    synonyms: _Words
    irregular_forms: Mapping[str, str]
    prepositional: _Words
    particles: _Words
    prepositions: _Words
    reaching: _Words
    determiners: _Words
    openers: _Words
    asides: _Words
    remarks: _Words
    tails: _Words
    fillers: _Words
    adverbs: _Words
    joiners: _Words
    beings: _Words
    sequels: _Words
    done_openings: _Words
    done_words: _Words
    done_ends: _Words
    done_things: _Words
    time_words: _Words
    subjects: _Words
    asking: _Words
    telling: _Words
    pronouns: _Words
    backwards: _Words
    possessives: _Words
    targets: _Words
    results: _Words
    collective: _Words
    negations: _Words
    text_verbs: _Words
    composing_verbs: _Words
    reading_verbs: _Words
    statements: _Words
    sources: _Words
    sharing: _Words
    wondering: _Words
    reason_openings: _Words
    may_be: _Words
    code_endings: _Words
    defining_leads: _Words
    binding_words: _Words
    defining_words: _Words
    code_kinds: _Words
    code_files: _Words
    returning_verbs: _Words
    yielding_verbs: _Words
    body_verbs: _Words
    ending_words: _Words
    defined_words: _Words
    defining_verbs: _Words
    used_words: _Words
    using_verbs: _Words
    duty_verbs: _Words
    kept_places: _Words
    dealt_with: _Words
    listing_verbs: _Words
    listed_things: _Words


WISH_WORDS: Final = LoopWishWords(**loop_fields("wishes"))
