"""The numbers of the loop, read once from `loop/limits.json`, which the loop in the browser reads too.

What each number means stands where it is used. A missing or an unknown number stops the import with a TypeError.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gateway.shipped import loop_fields


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """One field for each number of `loop/limits.json`."""

    repairs: int
    nudges: int
    rounds: int
    calls_per_reply: int
    plan_steps: int
    repeated_cycle_calls: int
    reply_characters: int
    reply_pieces: int
    tool_name_characters: int
    quoted_reply_characters: int
    mistake_characters: int
    plan_characters: int
    json_lane_tokens: int
    json_lane_margin: int
    native_lane_tokens: int
    native_lane_margin: int
    native_lane_growth: int
    held_word_characters: int
    summary_tokens: int
    summary_margin: int
    model_waits: int
    model_wait_seconds: float
    broken_reply_retries: int
    model_error_characters: int
    characters_per_token: int
    characters_per_dense_token: int
    message_tokens: int
    image_tokens: int
    shown_images: int
    turns_dropped_together: int
    result_share: float
    result_least_share: float
    result_note_characters: int
    omission_note_characters: int
    compaction_start: float
    compaction_goal: float
    compaction_gain_tokens: int
    summary_characters: int
    transcript_line_characters: int
    abilities_told: int
    ability_characters: int
    shown_tools: int
    name_weight: int
    term_saturation: float
    length_share: float
    passage_lines: int
    place_lines: int
    kept_note_characters: int
    excerpt_lines: int
    excerpt_characters: int
    closest_lines: int
    addends_shown: int
    further_reads: int
    found_files: int
    gathered_files: int
    copied_strings: int
    found_names: int
    focus_characters: int
    focus_result_characters: int
    actions: int
    action_characters: int
    progress_line_characters: int
    filler_words: int
    planner_prompt_tokens: int
    planner_past_characters: int
    planner_observation_characters: int
    planner_named_tools: int
    planner_name_characters: int


LIMITS: Final = LoopLimits(**loop_fields("limits"))
