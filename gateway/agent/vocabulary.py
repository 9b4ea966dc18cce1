"""The words that the loop knows a person's language by, read once from `loop/vocabulary.json`, which the browser reads too.

What each list is for stands where it is used. A missing or an unknown list stops the import with a TypeError.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from gateway.shipped import loop_fields

_Words: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoopVocabulary:
    """One field for each list of `loop/vocabulary.json`. What people say is in lower case."""

    cues: _Words
    fillers: _Words
    reading_on: _Words
    conditions: _Words
    figure_references: _Words
    file_references: _Words
    common_terms: _Words
    acts: Mapping[str, Mapping[str, Sequence[str]]]
    claim_helpers: _Words
    claim_adverbs: _Words
    claim_subjects: _Words
    claim_openings: _Words
    claim_pronouns: _Words
    completions: _Words
    negations: _Words
    modals: _Words
    place_questions: _Words
    question_words: _Words
    asking_words: _Words
    collected_kinds: Mapping[str, _Words]
    still_words: _Words
    ticked_words: _Words
    lists_for: Mapping[str, _Words]
    filling_verbs: _Words
    obliged_words: _Words
    obliged_leads: _Words
    explaining_verbs: _Words
    summary_words: _Words
    search_phrases: _Words
    opening_verbs: _Words
    document_nouns: _Words
    no_folders: _Words
    bare_files: _Words
    meant_by: _Words
    helpers: _Words
    described_nouns: _Words
    described_by: _Words
    content_verbs: _Words
    about_words: _Words
    described_ends: _Words
    articles: _Words
    picks: Mapping[str, _Words]
    picked_nouns: _Words
    kind_folders: Mapping[str, _Words]
    figures: Mapping[str, _Words]
    figure_nouns: _Words
    counted_nouns: Mapping[str, _Words]
    total_labels: _Words
    identifiers: _Words
    units: _Words
    project_verbs: _Words
    project_words: _Words
    settling_verbs: _Words
    naming_questions: _Words
    same_columns: tuple[_Words, ...]
    same_words: Mapping[str, _Words]
    newest_words: _Words
    light_words: _Words
    whole_words: _Words
    same_things: tuple[_Words, ...]
    weak_words: _Words
    owners: _Words
    speakers: _Words
    asking_phrases: _Words
    yes_no_words: _Words
    classifying_words: _Words
    known_words: _Words
    choosing_words: _Words
    vague_words: _Words
    advice_modals: _Words
    general_links: _Words
    leading_prepositions: _Words
    measures: _Words
    past_helpers: _Words
    plan_questions: _Words
    turned_away: _Words
    question_openers: _Words
    link_words: _Words
    phrase_ends: _Words
    passing_words: _Words
    participles: _Words
    attributes: _Words
    superlatives: _Words
    world_nouns: _Words
    world_verbs: _Words
    unmarked: Mapping[str, str]
    often_typed: _Words
    composing_orders: _Words
    composed_texts: _Words
    praises: _Words
    tellers: _Words
    told_of: _Words
    stating_words: _Words
    composed_counts: _Words
    sentence_joins: _Words
    wanting_words: _Words
    no_slips: _Words
    dealings: _Words
    comparing_words: _Words
    before_figures: _Words
    log_levels: Mapping[str, _Words]
    spending_files: _Words
    told_attributes: _Words
    level_leads: _Words
    level_nouns: _Words
    level_links: _Words
    level_places: _Words
    level_asks: _Words
    shown_picks: _Words
    held_leads: _Words
    never_named: _Words
    site_endings: _Words
    named_by: _Words
    viewing_verbs: _Words
    named_papers: _Words
    holding_verbs: _Words
    places: _Words
    pointing_words: _Words
    folder_nouns: _Words
    inside_words: _Words
    placing_words: _Words
    naming_words: _Words
    removing_verbs: _Words
    search_verbs: _Words
    meaning_words: _Words
    pointers: _Words
    words_after_it: _Words
    slot_nouns: Mapping[str, _Words]
    url_arguments: _Words
    path_arguments: _Words
    query_arguments: _Words
    day_arguments: _Words
    time_arguments: _Words
    amount_arguments: _Words
    ahead_arguments: _Words
    limit_arguments: _Words
    limiting_words: _Words
    untelling_words: _Words
    weekdays: _Words
    months: tuple[_Words, ...]
    number_words: Mapping[str, int]
    near_days: Mapping[str, int]
    currency_signs: Mapping[str, str]
    currency_words: Mapping[str, str]
    currency_codes: _Words
    currency_stems: _Words
    template_brackets: _Words
    template_tags: _Words
    schema_keywords: _Words
    plural_articles: _Words
    described_leads: _Words
    moving_links: _Words
    kept_leads: _Words
    one_links: _Words
    keeping_verbs: _Words
    adding_verbs: _Words
    discarding_verbs: _Words
    moving_verbs: _Words
    putting_verbs: _Words
    pointed_files: _Words
    keeping_links: _Words
    leaning_words: _Words
    kept_nouns: _Words
    whole_nouns: _Words
    empty_asks: _Words
    finding_out: _Words
    ending_asks: _Words
    ending_tails: _Words
    everywhere: _Words
    ending_links: _Words
    file_endings: _Words
    homely_nouns: _Words
    owned_heads: _Words
    relatives: _Words
    labelled_attributes: _Words
    other_labels: _Words
    picture_kinds: _Words
    picture_endings: _Words
    looking_verbs: _Words
    listing_phrases: _Words
    plain_listing_words: _Words
    placeless_words: _Words
    standing_words: _Words
    spoken_names: _Words
    line_leads: _Words
    line_joints: _Words
    looking_phrases: _Words
    line_places: Mapping[str, int]
    excepting_words: _Words
    contracted_verbs: _Words
    negated_words: Mapping[str, str]
    passed_over: _Words
    yes_marks: _Words
    no_marks: _Words
    done_words: _Words
    noun_leads: _Words
    time_picks: Mapping[str, _Words]
    unpicked_nouns: _Words
    event_nouns: _Words
    dated_papers: _Words
    dated_by: _Words
    given_nouns: _Words
    order_negations: _Words
    unnegated: _Words
    sparing_words: _Words
    placing_verbs: _Words
    let_be: _Words
    whole_verbs: _Words
    end_places: _Words
    part_verbs: _Words
    keeping_helpers: _Words
    state_words: _Words
    setting_verbs: _Words
    kept_things: _Words
    world_names: _Words
    own_attributes: _Words
    plan_attributes: _Words
    charge_verbs: _Words
    help_refusals: _Words
    named_links: _Words
    untold_adjectives: _Words
    further: _Words
    compared_by: Mapping[str, _Words]
    comparing_verbs: _Words
    served_nouns: _Words
    serving_verbs: _Words
    all_words: _Words
    strange_words: _Words
    settled_words: _Words
    reckoning_leads: _Words
    reckoning_signs: Mapping[str, str]
    setting_places: _Words
    rewriting_verbs: _Words
    shown_files: _Words
    group_articles: _Words
    entering_verbs: _Words
    entry_links: _Words
    list_nouns: _Words
    spoken_verbs: _Words
    telling_links: _Words
    summing_verbs: _Words
    ranking_verbs: _Words
    switch_words: Mapping[str, str]
    ticking_verbs: _Words
    ticked_states: _Words
    striking_verbs: _Words
    entry_nouns: _Words
    entry_lists: _Words
    enabling_verbs: _Words
    disabling_verbs: _Words
    switch_nouns: _Words
    switch_keys: _Words
    aged_picks: Mapping[str, str]
    unnamed_files: _Words
    clearing_verbs: _Words
    files_whole: _Words
    copying_verbs: _Words
    shown_lists: _Words
    copy_links: _Words
    copy_namings: _Words
    folder_links: _Words
    untold_entries: _Words
    entry_places: _Words
    no_targets: _Words
    judged_nouns: _Words
    live_phrases: _Words
    titles: _Words
    capitalising_words: _Words
    taking_words: _Words
    having_verbs: _Words
    reason_links: _Words
    correcting_words: _Words
    meant_verbs: _Words
    repeated_acts: _Words
    part_changers: _Words
    contractions: _Words
    mentioning_verbs: _Words
    vague_mentioning: _Words
    unmentioned_words: _Words
    mentioned_words: _Words
    counted_again: _Words
    shown_again: _Words
    undoing_phrases: _Words
    taken_ends: _Words
    repeating_tails: _Words
    loose_verbs: _Words
    whole_files: _Words
    named_by_parts: _Words
    asked_leads: _Words
    asked_openers: _Words
    asked_articles: _Words
    asked_ends: _Words
    more_places: Mapping[str, int]
    follow_leads: _Words


VOCABULARY: Final = LoopVocabulary(**loop_fields("vocabulary"))


def any_of(words: Iterable[str]) -> str:
    """The alternatives of a regular expression, longer ones first, so that none hides another that begins with it."""
    return "|".join(re.escape(word).replace(r"\ ", " ") for word in sorted(words, key=len, reverse=True))
