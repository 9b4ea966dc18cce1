"""The event stream and the transcript: the loop's events as lines of JSON, in the words of requirements 000-34 and 000-35."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, TypeAlias, cast

import orjson

from gateway.agent.attached import without_bytes
from gateway.agent.events import (
    AgentEvent,
    AssistantSaidEvent,
    CallClosedEvent,
    CallProposedEvent,
    CallSentEvent,
    NoticeRaisedEvent,
    TurnBegunEvent,
    TurnEndedEvent,
    TurnSteeredEvent,
)
from gateway.agent.messages import Call, Result
from gateway.agent.ports import ChatMessage
from gateway.agent.trajectory import TokenIds
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured

JsonLine: TypeAlias = dict[str, Any]


class EventRecorder:
    """Turns events into lines: `stream` gets those of the event stream, `keep` those and what only a transcript holds.

    An answer is written once its turn is over, because a model may say something and continue to work.
    """

    def __init__(
        self, stream: Callable[[JsonLine], None] | None, keep: Callable[[JsonLine], None] | None, clock: Callable[[], float]
    ) -> None:
        self._stream = stream or _pass_over
        self._keep = keep or _pass_over
        self._clock = clock
        self._step = 0
        self._calls: dict[str, tuple[Call, float]] = {}
        self._said: list[str] = []

    def hear(self, event: AgentEvent) -> None:
        """An event of the loop."""
        match event:
            case TurnBegunEvent(text=text):
                self._step = 0
                self._said.clear()
                self._write({"type": "user", "text": text})
            case TurnSteeredEvent(text):
                self._write({"type": "user", "text": text})
            case CallProposedEvent(call):
                self._calls[call["id"]] = (call, self._clock())
            case CallSentEvent(call_id) if call_id in self._calls:
                self._calls[call_id] = (self._calls[call_id][0], self._clock())
            case CallClosedEvent(call_id, result) if call_id in self._calls:
                call, sent = self._calls.pop(call_id)
                self._write(describe_call(call, result, self._clock() - sent))
                self._keep(describe_result(call, result))
            case AssistantSaidEvent(content):
                self._said.append(content)
            case NoticeRaisedEvent(tone, text):
                self._keep({"type": "notice", "tone": tone.value, "text": text})
            case TurnEndedEvent(ending):
                if self._said:
                    self._write({"type": "answer", "text": "\n\n".join(self._said)})
                self._keep({"type": "end", "ending": ending.value})
            case _:
                pass

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: TokenIds | None) -> None:
        """What the model really wrote."""
        self._write({"type": "assistant", "step": self._step, "raw": text})
        self._step += 1

    def faulted(self, reason: str) -> None:
        """Why it was asked again."""
        self._keep({"type": "fault", "step": self._step - 1, "reason": reason})

    def _write(self, line: JsonLine) -> None:
        self._stream(line)
        self._keep(line)


def _pass_over(_line: JsonLine) -> None:
    """Nobody reads this."""


def describe_call(call: Call, result: Result, seconds: float) -> JsonLine:
    """A closed call as the result of a process: a tool that is no program has its content for output, and a call that never
    ran has no exit code."""
    run = run_of(result)
    return {
        "type": "tool_call",
        "tool": call["name"],
        "arguments": without_bytes(call)["arguments"],
        "stdout": run.get("stdout", result["content"] if result["outcome"] == "ok" else ""),
        "exit_code": run.get("exit_code", 0 if result["outcome"] == "ok" else None),
        "duration_sec": run.get("duration_sec", round(result.get("durationMs", seconds * 1000) / 1000, 3)),
    }


def describe_result(call: Call, result: Result) -> JsonLine:
    """The result of the call, as the gateway gave it and as the model got it."""
    members = ("outcome", "reason", "error", "content", "structured", "truncated", "trust", "redactions", "auditSeq", "receiptId")
    return {
        "type": "tool_result",
        "call_id": call["id"],
        "tool": call["name"],
        **{name: result[name] for name in members if name in result},
    }


def run_of(result: Result) -> Mapping[str, Any]:
    """What a program left: `stdout`, `stderr`, `exit_code`, `duration_sec`. Empty for tools that are no programs."""
    structured: Any = result.get("structured")
    if isinstance(structured, dict) and "exit_code" in structured and "stdout" in structured:
        return cast("dict[str, Any]", structured)
    return {}


_APPEND: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""No link is followed and no pipe waited at: a tool may have left one where the file lies, and words of a model would go
wherever it leads."""


class Transcript:
    """A file of lines, appended to and readable by its owner alone. `fault` says why it could not be written."""

    def __init__(self, path: Path) -> None:
        self._name = escape(path.name)
        try:
            descriptor = os.open(path, _APPEND, 0o600)
        except OSError as error:
            raise Misconfigured(self._complain(error)) from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise Misconfigured(f"the transcript `{self._name}` is not a file")
        self._file: IO[str] = os.fdopen(descriptor, "w", encoding="utf-8")
        self.fault: str | None = None

    def keep(self, line: JsonLine) -> None:
        """Write a line, at once."""
        try:
            self._file.write(f"{orjson.dumps(line).decode()}\n")
            self._file.flush()
        except OSError as error:
            self.fault = self.fault or self._complain(error)

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _complain(self, error: OSError) -> str:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        return f"the transcript `{self._name}` cannot be written: {why}"
