"""The console origin's methods (protocol.md section 6, and what its pages show).

Whoever calls is a person who signed in with a passkey. People decide over their own approvals, grants and passkeys only;
the whole log, the policy and the list of people are for operators.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from gateway.core.approval import Approval
from gateway.core.canonical import Json
from gateway.core.errors import Refused
from gateway.core.model import Principal, PublishedTool, ToolSpec
from gateway.core.times import rfc3339
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, GrantScope, PermissionMode, Profile
from gateway.protocol import console_methods as wire
from gateway.protocol.agent_methods import GrantList, GrantRef
from gateway.protocol.frames import CONSOLE
from gateway.protocol.wire import Nothing
from gateway.runtime.connections import ConsoleConnection
from gateway.runtime.gateway import Gateway
from gateway.runtime.passkeys import PasskeyDesk
from gateway.runtime.ports import AuditQuery, ConsoleSession, PolicySubject
from gateway.server.methods.encoding import decode_credential_id, read_index
from gateway.server.methods.table import Method, Pace, tabulate
from gateway.server.methods.verification import AuditVerifier
from gateway.server.methods.views import (
    view_approval,
    view_audit_row,
    view_grant,
    view_limits,
    view_passkey,
    view_principal,
    view_tool,
)

AUDIT_PAGE = 100
"""Rows of the log when the page does not say."""


@dataclass(frozen=True, slots=True)
class ConsoleCaller:
    """Who asks on a console socket."""

    connection: ConsoleConnection
    session: ConsoleSession

    @property
    def principal(self) -> Principal:
        """The person."""
        return self.session.principal


class ConsoleMethods:
    """The handlers."""

    def __init__(self, gateway: Gateway, passkeys: PasskeyDesk, verifier: AuditVerifier, *, agent_origin: str) -> None:
        self._gateway = gateway
        self._passkeys = passkeys
        self._verifier = verifier
        self._agent_origin = agent_origin

    def table(self) -> Mapping[str, Method[ConsoleCaller]]:
        """Every method of the console."""
        return tabulate(
            CONSOLE,
            {
                "session/describe": (self.describe_session, Pace.AT_ONCE),
                "approvals/list": (self.list_approvals, Pace.AT_ONCE),
                "approvals/get": (self.get_approval, Pace.AT_ONCE),
                "approvals/decide": (self.decide_approval, Pace.AT_ONCE),
                "grants/list": (self.list_grants, Pace.AT_ONCE),
                "grants/revoke": (self.revoke_grant, Pace.AT_ONCE),
                "passkeys/list": (self.list_passkeys, Pace.AT_ONCE),
                "passkeys/rename": (self.rename_passkey, Pace.IN_ORDER),
                "passkeys/remove": (self.remove_passkey, Pace.IN_ORDER),
                "audit/list": (self.list_audit, Pace.AT_ONCE),
                "audit/verify": (self.verify_audit, Pace.IN_ORDER),
                "principals/list": (self.list_principals, Pace.AT_ONCE),
                "policy/describe": (self.describe_policy, Pace.AT_ONCE),
            },
        )

    async def describe_session(self, caller: ConsoleCaller, _params: Nothing) -> wire.ConsoleDescription:
        """Who is signed in."""
        session = caller.session
        return wire.ConsoleDescription(
            session=wire.ConsoleSessionView(
                id=session.id,
                principal=session.principal.id,
                principal_name=session.principal.name,
                profile=session.principal.profile,
                expires_at=rfc3339(session.expires_at),
            ),
            connection_id=caller.connection.id,
            agent_origin=self._agent_origin,
        )

    # ── approvals and grants ──

    async def list_approvals(self, caller: ConsoleCaller, params: wire.ApprovalPage) -> wire.ApprovalList:
        """One's own, newest first."""
        approvals = await self._gateway.approvals.list(caller.principal.id)
        wanted = [each for each in approvals if params.status == "all" or each.status is ApprovalStatus.PENDING]
        return wire.ApprovalList(approvals=tuple(map(view_approval, wanted)))

    async def get_approval(self, caller: ConsoleCaller, params: wire.ApprovalRef) -> wire.ApprovalQuestion:
        """What is asked, exactly, and a challenge for one answer."""
        approval, statement, challenge = await self._gateway.approvals.get(caller.session, params.approval_id)
        return wire.ApprovalQuestion(
            approval=view_approval(approval),
            statement=dict(statement),
            challenge=challenge,
            passkey_options=None if challenge is None else await self._passkey_options(caller, approval),
        )

    async def decide_approval(self, caller: ConsoleCaller, params: wire.ApprovalAnswer) -> wire.ApprovalDecided:
        """Take the person's answer; returns once it is durable."""
        decided = await self._gateway.approvals.decide(
            caller.session,
            params.approval_id,
            challenge=params.challenge,
            approve=params.decision == "approve",
            scope=params.scope,
            freed=await self._freed(caller, params),
            assertion=params.assertion,
        )
        return wire.ApprovalDecided(
            approval=view_approval(decided.approval),
            grant=None if decided.grant is None else view_grant(decided.grant),
        )

    async def list_grants(self, caller: ConsoleCaller, _params: Nothing) -> GrantList:
        """Every yes of this person that still stands, over all their sessions."""
        grants = await self._gateway.grants.of_principal(caller.principal.id)
        return GrantList(grants=tuple(map(view_grant, grants)))

    async def revoke_grant(self, caller: ConsoleCaller, params: GrantRef) -> Nothing:
        """Take a yes back."""
        await self._gateway.grants.revoke(caller.principal.id, params.grant_id)
        return Nothing()

    # ── passkeys ──

    async def list_passkeys(self, caller: ConsoleCaller, _params: Nothing) -> wire.PasskeyList:
        """One's own."""
        passkeys = await self._passkeys.passkeys(caller.session)
        return wire.PasskeyList(passkeys=tuple(map(view_passkey, passkeys)))

    async def rename_passkey(self, caller: ConsoleCaller, params: wire.PasskeyName) -> Nothing:
        """Another name."""
        await self._passkeys.rename(caller.session, decode_credential_id(params.passkey_id), params.name)
        return Nothing()

    async def remove_passkey(self, caller: ConsoleCaller, params: wire.PasskeyRef) -> Nothing:
        """Take one away, after a fresh answer with a passkey."""
        await self._passkeys.remove(caller.session, decode_credential_id(params.passkey_id))
        return Nothing()

    # ── the log, people, the policy ──

    async def list_audit(self, caller: ConsoleCaller, params: wire.AuditPage) -> wire.AuditList:
        """The log, newest first: all of it for operators, one's own entries for everybody else."""
        wanted = params.filter or wire.AuditFilter()
        limit = params.limit or AUDIT_PAGE
        records = self._gateway.ports.records
        rows = await records.audit(
            AuditQuery(
                principal_id=wanted.principal_id if _is_operator(caller) else caller.principal.id,
                conversation_id=wanted.conversation_id,
                event=wanted.event,
                tool=wanted.tool,
                outcome=wanted.outcome,
                before=read_index(params.cursor),
                limit=limit + 1,
            )
        )
        page = rows[:limit]
        return wire.AuditList(
            entries=tuple(map(view_audit_row, page)),
            size=await records.audit_size(),
            next_cursor=str(page[-1].index) if len(rows) > limit else None,
        )

    async def verify_audit(self, caller: ConsoleCaller, _params: Nothing) -> wire.AuditVerification:
        """Hash the whole log again."""
        _require_operator(caller)
        return await self._verifier.verify()

    async def list_principals(self, caller: ConsoleCaller, _params: Nothing) -> wire.PrincipalList:
        """Everybody who is enrolled."""
        _require_operator(caller)
        principals = await self._gateway.ports.records.principals()
        return wire.PrincipalList(principals=tuple(map(view_principal, principals)))

    async def describe_policy(self, caller: ConsoleCaller, _params: Nothing) -> wire.PolicyDescription:
        """The policy in force and what it makes of every tool."""
        _require_operator(caller)
        policy = self._gateway.ports.policy
        return wire.PolicyDescription(
            version=policy.version,
            rules=tuple(wire.RuleReason(id=rule.id, why=rule.why) for rule in policy.rules()),
            profiles=tuple(view_limits(profile, policy.limits(profile)) for profile in Profile),
            tools=tuple(self._describe_tool(caller.principal, spec) for spec in self._gateway.ports.toolbox.specs()),
        )

    # ── inside ──

    async def _passkey_options(self, caller: ConsoleCaller, approval: Approval) -> dict[str, Json] | None:
        if approval.kind is not ApprovalKind.STEP_UP and not approval.needs.presence:
            return None
        try:
            return dict(await self._gateway.approvals.assertion_options(caller.session, approval.id))
        except Refused:
            # Without a passkey there is no way to say yes, and the page says so; no is still an answer.
            return None

    async def _freed(self, caller: ConsoleCaller, answer: wire.ApprovalAnswer) -> tuple[str, ...]:
        """The arguments that the person left open: those that were shown and are not pinned."""
        if answer.pins is None or answer.decision == "deny" or answer.scope is GrantScope.ONCE:
            return ()
        approvals = await self._gateway.approvals.list(caller.principal.id)
        approval = next((each for each in approvals if each.id == answer.approval_id), None)
        if approval is None:
            return ()
        shown: dict[str, Json] = orjson.loads(approval.arguments)
        unknown = [name for name in answer.pins if name not in shown]
        if unknown:
            raise Refused("pins", "only arguments that were shown can be pinned", 409)
        return tuple(name for name in shown if name not in answer.pins)

    def _describe_tool(self, asker: Principal, spec: ToolSpec) -> wire.PolicyTool:
        def mode(principal: Principal) -> PermissionMode:
            subject = PolicySubject(principal, 0)
            return self._gateway.ports.policy.judge(subject, spec, None, taint=0, label=0).mode

        modes = {profile: mode(Principal("", "", profile)) for profile in Profile}
        return wire.PolicyTool(
            descriptor=view_tool(PublishedTool(spec, mode(asker))),
            modes=wire.ToolModes(
                operator=modes[Profile.OPERATOR], guest=modes[Profile.GUEST], anonymous=modes[Profile.ANONYMOUS]
            ),
            unavailable=spec.unavailable,
        )


def _is_operator(caller: ConsoleCaller) -> bool:
    return caller.principal.profile is Profile.OPERATOR


def _require_operator(caller: ConsoleCaller) -> None:
    if not _is_operator(caller):
        raise Refused("operatorOnly", "this is for operators")
