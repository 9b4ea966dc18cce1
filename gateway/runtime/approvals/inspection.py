"""What a question shows besides what is signed: the author's order of the arguments, and what the call would change now."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from gateway.core.approval import Approval
from gateway.core.errors import ToolFailed
from gateway.core.preview import Preview
from gateway.core.results import MAX_FAILURE
from gateway.runtime.ports import ASKED_BY, Toolbox


@dataclass(frozen=True, slots=True)
class CallObstacle:
    """The call could not work as things are."""

    message: str


def order_arguments(toolbox: Toolbox, tool: str, names: Collection[str]) -> tuple[str, ...]:
    """The arguments' names as the tool's author wrote them; what is signed or stored has them in the order of the alphabet."""
    spec = toolbox.find(tool)
    written = () if spec is None else spec.param_schema.get("properties", {})
    return tuple(dict.fromkeys((*(name for name in written if name in names), *names)))


async def preview_call(toolbox: Toolbox, approval: Approval) -> Preview | CallObstacle | None:
    """What the call would change as things are now; None where its tool cannot tell, or is not the one that was asked about."""
    spec = toolbox.find(approval.tool)
    if spec is None or spec.digest != approval.read_statement()["descriptorDigest"]:
        return None
    # Of whoever asks for the call, like the preview before it was asked about: whoever answers looks at what others made slow.
    token = ASKED_BY.set(approval.principal_id)
    try:
        return await toolbox.preview(spec, approval.parsed_arguments)
    except ToolFailed as failure:
        return CallObstacle(failure.message[:MAX_FAILURE])
    finally:
        ASKED_BY.reset(token)
