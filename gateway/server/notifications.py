"""Notices of the runtime as notifications of the wire (docs/PROTOCOL.md section 5)."""

from __future__ import annotations

from typing import assert_never

from gateway.core.times import rfc3339
from gateway.protocol import elicitation_methods as elicited
from gateway.protocol import notifications as told
from gateway.protocol import policy_methods as policies
from gateway.protocol import setting_methods as settings
from gateway.protocol.codec import encode_notification
from gateway.runtime.notices import (
    ApprovalChangedNotice,
    ApprovalRequestedNotice,
    ApprovalResolvedNotice,
    BreakGlassNotice,
    ElicitationRequestedNotice,
    ElicitationResolvedNotice,
    GrantsChangedNotice,
    Notice,
    PolicyChangedNotice,
    PolicyStateNotice,
    RehearsalProgressNotice,
    SessionEndedNotice,
    SettingsChangedNotice,
    SnapshotRevokedNotice,
    SourcesChangedNotice,
    ToolProgressNotice,
)
from gateway.server.methods.elicitations import view_elicitation
from gateway.server.methods.policy_views import view_freeze
from gateway.server.methods.views import view_approval


def encode_notice(notice: Notice) -> bytes:
    """One frame."""
    match notice:
        case SnapshotRevokedNotice(snapshot_id, reason):
            return encode_notification("snapshot/revoked", told.SnapshotRevokedParams(snapshot_id=snapshot_id, reason=reason))
        case ApprovalRequestedNotice(approval):
            return encode_notification("approvals/requested", told.ApprovalRequestedParams(approval=view_approval(approval)))
        case ApprovalChangedNotice(approval):
            return encode_notification("approvals/changed", told.ApprovalChangedParams(approval=view_approval(approval)))
        case GrantsChangedNotice():
            return encode_notification("grants/changed", told.GrantsChangedParams())
        case BreakGlassNotice(approval_id, tool, name, at, reason):
            warned = told.BreakGlassParams(approval_id=approval_id, tool=tool, name=name, at=rfc3339(at), reason=reason)
            return encode_notification("approvals/break-glass", warned)
        case ApprovalResolvedNotice(approval_id, call_id, status, withdrawn):
            params = told.ApprovalResolvedParams(approval_id=approval_id, call_id=call_id, status=status, withdrawn=withdrawn)
            return encode_notification("approvals/resolved", params)
        case ToolProgressNotice(call_id, message, fraction):
            progress = told.ToolProgressParams(call_id=call_id, message=message, fraction=fraction)
            return encode_notification("tools/progress", progress)
        case SessionEndedNotice(reason):
            return encode_notification("session/ended", told.SessionEndedParams(reason=reason))
        case SettingsChangedNotice():
            return encode_notification("settings/changed", settings.SettingsChangedParams())
        case SourcesChangedNotice():
            return encode_notification("sources/changed", told.SourcesChangedParams())
        case PolicyChangedNotice(policy_version):
            return encode_notification("policy/changed", told.PolicyChangedParams(policy_version=policy_version))
        case PolicyStateNotice(freeze, proposals):
            state = policies.PolicyStateParams(freeze=None if freeze is None else view_freeze(freeze), proposals=proposals)
            return encode_notification("policy/state", state)
        case RehearsalProgressNotice(judged):
            return encode_notification("policy/rehearsing", policies.RehearsalProgressParams(judged=judged))
        case ElicitationRequestedNotice(elicitation):
            asked = elicited.ElicitationRequestedParams(elicitation=view_elicitation(elicitation))
            return encode_notification("elicitations/requested", asked)
        case ElicitationResolvedNotice(elicitation_id, how):
            ended = elicited.ElicitationResolvedParams(elicitation_id=elicitation_id, status=how)
            return encode_notification("elicitations/resolved", ended)
        case _:
            assert_never(notice)
