"""The real gateway, with an observer that kills the process at one step of one call. Runs first in its process."""

from __future__ import annotations

import os
import signal
import sys

from gateway.adapters.telemetry.metrics import Metrics
from gateway.runtime.ports import Step
from gateway.serving import run
from gateway.settings_reading import load_settings


class Assassin(Metrics):
    """The Observer port: SIGKILL when the call named by DIE_CALL reaches DIE_AT."""

    def step(self, step: Step, call_id: str) -> None:
        """Count, or die."""
        super().step(step, call_id)
        if call_id == os.environ["DIE_CALL"] and step.value == os.environ["DIE_AT"]:
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    run(load_settings(), metrics=Assassin())
    sys.exit()
