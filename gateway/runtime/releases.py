"""Whether a result may leave: to whoever holds the connection, and to the models that the conversation may still be put before.

A result that has reached a tab can be put into a prompt later. So a model counts as a recipient as long as the policy lets it be
asked at the label that the result gives the conversation, whether one is being asked now or not.
"""

from __future__ import annotations

from collections.abc import Iterable

from gateway.core.labels import Exposure, expose
from gateway.core.model import ToolRequest
from gateway.core.obligations import Recipient, Release
from gateway.core.vocabulary import Label, PermissionMode, Runner, Trust
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.conversation import Conversation
from gateway.runtime.exposures import Exposures
from gateway.runtime.ports import PolicyEngine


class Releases:
    """Says why a result is withheld."""

    def __init__(self, *, policy: PolicyEngine, exposures: Exposures, connections: ConnectionRegistry) -> None:
        self._policy = policy
        self._exposures = exposures
        self._connections = connections

    def find_withheld(
        self, conversation: Conversation, request: ToolRequest, release: Release, labels: Iterable[str]
    ) -> str | None:
        """Why nothing with these labels may leave, in one sentence for the model and the person; None if it may."""
        if not release.bounds:
            return None
        label = expose(Exposure(), Trust.TRUSTED, labels).label
        for recipient, _ in release.bounds:
            if not release.allows(recipient, label) and self._receives(recipient, conversation, request, label):
                named = Label(label).name.lower()
                return f"the policy does not let what is labelled {named} go to the {_NAMES[recipient]}; the result was withheld"
        return None

    def _receives(self, recipient: Recipient, conversation: Conversation, request: ToolRequest, label: int) -> bool:
        live = self._connections.find(request.session_id)
        match recipient:
            case Recipient.BROWSER:
                connection = self._connections.connection(request.session_id, request.connection_id)
                return connection is None or connection.runner is not Runner.GATEWAY
            case Recipient.LOCAL_MODEL | Recipient.REMOTE_MODEL if live is not None:
                subject = self._exposures.subject(live.session)
                local, highest = recipient is Recipient.LOCAL_MODEL, max(label, conversation.exposure.label)
                return self._policy.may_infer(subject, local=local, label=highest).mode is PermissionMode.AUTO
            case _:
                return True


_NAMES = {
    Recipient.BROWSER: "browser or another client",
    Recipient.LOCAL_MODEL: "models on this machine",
    Recipient.REMOTE_MODEL: "models of remote providers",
}
