"""Rollouts on disk: what was said, called and answered in a conversation, with the token ids of its model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gateway.adapters.inference.factory import TokenKeepingBackend
from gateway.adapters.storage.trajectories import TrajectoryFolder
from gateway.agent.events import AgentEvent, TurnEndedEvent
from gateway.agent.ports import ChatMessage
from gateway.agent.recorder import TrajectoryRecorder
from gateway.agent.rollout import Rollout
from gateway.agent.trajectory import TokenIds
from gateway.application import Application
from gateway.core.errors import Misconfigured


class TrajectoryKeeper:
    """Follows one conversation and writes its file anew after each turn, so that no more than a turn can be lost.

    `fault` says why a file could not be written; the conversation continues without it.
    """

    def __init__(self, folder: TrajectoryFolder, task: str) -> None:
        self._folder = folder
        self._task = task
        self._recorder: TrajectoryRecorder | None = None
        self.fault: str | None = None

    async def begin(self, application: Application) -> Callable[[], TokenIds | None]:
        """Before anything is said; returns the function that takes the token ids of an answer, which only a model on this
        machine reports."""
        models, ports = await application.models.models(), application.gateway.ports
        rollout = Rollout(
            id=ports.entropy.identifier("rollout-"),
            task=self._task,
            model=models[0].id if models else "",
            started_at=ports.clock.now(),
        )
        self._recorder = TrajectoryRecorder(rollout)
        return application.models.keep_tokens() if isinstance(application.models, TokenKeepingBackend) else lambda: None

    def hear(self, event: AgentEvent) -> None:
        """An event of the loop."""
        self._begun.hear(event)
        if isinstance(event, TurnEndedEvent):
            try:
                self._folder.write(self._begun.trajectory)
            except Misconfigured as error:
                self.fault = self.fault or error.message

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: TokenIds | None) -> None:
        """What a model really wrote."""
        self._begun.wrote(prompt, text, tokens)

    def faulted(self, reason: str) -> None:
        """Why it was asked again."""
        self._begun.faulted(reason)

    @property
    def _begun(self) -> TrajectoryRecorder:
        assert self._recorder is not None, "the conversation begins with `begin`"
        return self._recorder
