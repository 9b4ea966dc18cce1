"""What leaves say about a request: the parts that the entries of calls and of approvals share."""

from __future__ import annotations

from gateway.core.audit import header
from gateway.core.canonical import Json, canonical_bytes, own_bytes
from gateway.core.judgement import Judgement
from gateway.core.model import ModelRef, Snapshot, ToolRequest


def identify_call(event: str, at: int, request: ToolRequest) -> dict[str, Json]:
    """Whose call it is, and in which turn."""
    return {
        **header(event, at, request.principal.id),
        "sessionId": request.session_id,
        "conversationId": request.conversation_id,
        "turnId": request.turn_id,
        "callId": request.call_id,
    }


def describe_call(
    event: str, at: int, request: ToolRequest, snapshot: Snapshot | None, descriptor_digest: str | None
) -> dict[str, Json]:
    """Whose call, in which turn, of which tool. What only the client says (name, snapshot, model) is payload.

    A call that has a snapshot was checked against it, and one that has a descriptor was found in it: from there on, what the
    request says of them is the gateway's own knowledge.
    """
    published = None if snapshot is None else snapshot.by_name.get(request.tool)
    return {
        **identify_call(event, at, request),
        "runner": request.runner.value,
        "turnIndex": None if snapshot is None else snapshot.turn_index,
        "snapshotDigest": None if snapshot is None else request.snapshot_digest,
        "policyVersion": None if snapshot is None else snapshot.policy_version,
        "tool": None if published is None and descriptor_digest is None else request.tool,
        "permission": None if published is None else published.permission.value,
        "descriptorDigest": published.spec.digest if descriptor_digest is None and published else descriptor_digest,
        "modelId": None if request.model is None or request.model.claimed else request.model.id,
        **({} if request.plan is None else {"after": request.plan.after}),
    }


def payload_of_intent(request: ToolRequest, judgement: Judgement | None) -> bytes:
    """The arguments, spliced in: their bytes are canonical already, and canonical order puts them first."""
    members: dict[str, Json] = {"connectionId": request.connection_id, "receivedAt": request.received_at}
    if judgement is not None:
        members["judged"] = judgement.described()
    if request.model is not None:
        members["model"] = _describe_model(request.model)
    return b'{"arguments":%b,%b' % (request.arguments, own_bytes(members)[1:])


def payload_of_proposal(request: ToolRequest, **further: Json) -> bytes:
    """The call as the client put it."""
    return canonical_bytes(
        {
            "arguments": request.parsed_arguments,
            "connectionId": request.connection_id,
            "model": None if request.model is None else _describe_model(request.model),
            "receivedAt": request.received_at,
            "snapshotDigest": request.snapshot_digest,
            "snapshotId": request.snapshot_id,
            "tool": request.tool,
            **further,
        }
    )


def _describe_model(model: ModelRef) -> dict[str, Json]:
    return {"id": model.id, "backend": model.backend, "nonce": model.nonce, "claimed": model.claimed}
