"""Which browser a test runs in: both, unless it stands here with what keeps it in Chromium."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Exemption(NamedTuple):
    """Why a test, or a module of them, runs in Chromium alone.

    `sign` is what shows that this still holds: words that stand in its source, or, where the reason is its cost, the name of a
    test that tells the same of Firefox and runs there.
    """

    why: str
    sign: str


_LAYOUT = "Axe and pictures; each page of the console is looked at on a phone in both."
_LOOP = "What the loop does with a model's replies is the same script in either browser, and takes minutes."
_GATEWAY = "What it tells of is the gateway's; the pages and dialogs of the console are opened in both."
_EVERY_PAGE = "test_sizes::test_every_page_of_the_console_at_every_size"
_COMPOSER = "test_composer::test_a_call_is_filled_in_and_one_that_waits_is_changed_before_anybody_decides"
_APPROVAL = "test_approving::test_the_whole_way_can_be_gone_by_keyboard"

CHROMIUM_ONLY: Mapping[str, Exemption] = {
    "test_appearance": Exemption(_LAYOUT, _EVERY_PAGE),
    "test_pictures": Exemption("Pixels are compared with those that Chromium draws.", "tests.e2e.album"),
    "test_default_model": Exemption(_LOOP, _COMPOSER),
    "test_small_model": Exemption(_LOOP, _COMPOSER),
    "test_examples": Exemption(_LOOP, _COMPOSER),
    "test_many_tools": Exemption(_LOOP, _COMPOSER),
    "test_long_calls": Exemption(_GATEWAY, _COMPOSER),
    "test_source_sign_in": Exemption(_GATEWAY, _APPROVAL),
    "test_policy_editor": Exemption(_GATEWAY, _APPROVAL),
    "test_sources": Exemption(_GATEWAY, _EVERY_PAGE),
    "test_several_approvers": Exemption(_GATEWAY, _APPROVAL),
    "test_operator_settings": Exemption(_GATEWAY, _EVERY_PAGE),
    "test_device": Exemption(_GATEWAY, _APPROVAL),
    "test_german": Exemption("What is read is the catalogue, which is the same in either.", _EVERY_PAGE),
    "test_people": Exemption(_GATEWAY, _EVERY_PAGE),
    "test_main_story": Exemption("What is heard is read from the tree that Chromium gives to screen readers.", "screen_reader"),
    "test_elicitation": Exemption(_GATEWAY, _COMPOSER),
    "test_long_conversation": Exemption("It counts the shifts of layout that Chromium reports.", "layout-shift"),
    "test_sizes::test_a_question_can_be_read_and_answered_at_every_size": Exemption(_LAYOUT, _EVERY_PAGE),
    "test_sizes::test_the_composer_and_stop_are_in_sight_in_the_lowest_window_while_a_question_waits": Exemption(
        _LAYOUT, _EVERY_PAGE
    ),
    "test_sizes::test_long_names_of_tools_and_files_leave_each_page_its_width": Exemption(_LAYOUT, _EVERY_PAGE),
    "test_sizes::test_the_empty_shell_at_every_size": Exemption(_LAYOUT, _EVERY_PAGE),
    "test_sizes::test_the_two_faces_come_from_here_and_the_console_can_be_installed": Exemption(_LAYOUT, _EVERY_PAGE),
    "test_attention::test_notifications_are_offered_with_the_first_question_and_say_nothing_that_a_model_wrote": Exemption(
        "Where the keyboard goes after the offer is told of a window in front; Firefox has one in front at a time.",
        "to_be_focused()",
    ),
    "test_web_push": Exemption("The message of a push service is handed to the worker by CDP.", "new_cdp_session"),
    "test_ceremonies::test_an_answer_without_verification_touch_or_signature_is_refused_by_the_gateway": Exemption(
        "A passkey that forges its answers is CDP's.", "passkey.forge("
    ),
    "test_ceremonies::test_a_passkey_that_nobody_touches_leaves_the_approval_open_until_the_turn_is_stopped": Exemption(
        "A passkey that waits for a touch is CDP's; the one of Firefox answers at once.", "passkey.await_touch("
    ),
}
"""By module, or by module and test."""


def exemption(module: str, test: str) -> Exemption | None:
    """What keeps a test of a module, such as `test_reading`, in Chromium."""
    return CHROMIUM_ONLY.get(f"{module}::{test}") or CHROMIUM_ONLY.get(module)


IN_EACH_RUN = frozenset(("test_approving", "test_composer", "test_compromised_shell", "test_sizes"))
"""The modules that run in Firefox whenever the suite does: what guards the person, and what depends most on a browser. The others
do by `make firefox`, for without a graphics card a test takes five seconds of a processor, and the suite has 25 minutes."""


def browsers_for(module: str, test: str) -> Sequence[str]:
    """Where a test runs. `$COUNTERSIGN_BROWSERS` says which browsers, each for all that it can run."""
    chosen = os.environ.get("COUNTERSIGN_BROWSERS")
    if chosen is None:
        chosen = "chromium firefox" if module in IN_EACH_RUN else "chromium"
    return [name for name in chosen.split() if name == "chromium" or exemption(module, test) is None]
