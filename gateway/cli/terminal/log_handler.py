"""The gateway's log while an agent runs, shown beside the conversation and escaped like it."""

from __future__ import annotations

import logging
import traceback

from gateway.cli.terminal.screen import Screen


class ScreenLogHandler(logging.Handler):
    """A log handler that writes to the screen. Messages and traces hold words of models and tools like anything else."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(logging.WARNING)
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        """A sentence, and below it the traceback, for the author of the tool."""
        self._screen.say(f"! {record.getMessage()}")
        if record.exc_info:
            self._screen.block("".join(traceback.format_exception(*record.exc_info)).rstrip("\n"))
