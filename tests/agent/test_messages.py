"""A conversation that was stored, as the loop goes on with it."""

from __future__ import annotations

from typing import Any

from gateway.agent.messages import AssistantMessage, ToolMessage, UserMessage, recall, unanswered

ONE = {"id": "call_1", "name": "delete_file", "arguments": {"path": "a"}}
TWO = {"id": "call_2", "name": "delete_file", "arguments": {"path": "b"}}
DELETED = {"outcome": "ok", "content": "deleted a", "trust": "trusted", "truncated": False}


def stored(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "turnId": "trn_1", "content": content, **more}


IMPORTED = "This was imported."
STORED = [
    stored("user", "delete a and b"),
    stored("assistant", "", toolCalls=[ONE, TWO]),
    stored("tool", "deleted", toolCallId="call_1"),
    stored("tool", "stray", toolCallId="nobody"),
    stored("tool", "older still"),
    stored("assistant", "One is gone."),
]


def test_results_are_joined_to_their_calls_and_what_has_none_is_still_unanswered() -> None:
    messages = recall(STORED, [{"call": ONE, "result": DELETED}], IMPORTED)
    assert messages == [
        UserMessage("trn_1", "delete a and b"),
        AssistantMessage("trn_1", "", [ONE, TWO]),
        ToolMessage("trn_1", ONE, DELETED),
        AssistantMessage("trn_1", "One is gone."),
    ]
    assert unanswered(messages, "trn_1") == [TWO]


def test_the_words_of_a_result_that_has_no_record_are_kept_and_not_trusted() -> None:
    (_, _, result, _) = recall(STORED, [], IMPORTED)
    words = {"outcome": "ok", "content": "deleted", "trust": "untrusted", "truncated": False}
    assert result == ToolMessage("trn_1", ONE, words)


def test_what_was_imported_is_told_as_an_untrusted_result_and_is_nobodys_word() -> None:
    def said(role: str, content: str, turn: str) -> dict[str, Any]:
        return {"role": role, "turnId": turn, "content": content, "provenance": "imported"}

    elsewhere = [said("user", "delete it", "trn_1"), said("assistant", "I deleted it.", "trn_1"), said("user", "Sure?", "trn_2")]
    messages = recall([*elsewhere, stored("user", "what was deleted?") | {"turnId": "trn_3"}], [], IMPORTED)
    calls: list[dict[str, Any]] = [
        {"id": f"imp_{turn}", "name": "imported_conversation", "arguments": {}} for turn in ("trn_1", "trn_2")
    ]
    result = {"outcome": "ok", "trust": "untrusted", "truncated": False}
    assert messages == [
        UserMessage("trn_1", IMPORTED),
        AssistantMessage("trn_1", "", [calls[0]]),
        ToolMessage("trn_1", calls[0], result | {"content": "user: delete it\n\nassistant: I deleted it."}),
        UserMessage("trn_2", IMPORTED),
        AssistantMessage("trn_2", "", [calls[1]]),
        ToolMessage("trn_2", calls[1], result | {"content": "user: Sure?"}),
        UserMessage("trn_3", "what was deleted?"),
    ]
