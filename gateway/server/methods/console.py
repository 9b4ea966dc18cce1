"""The console origin's methods (docs/PROTOCOL.md section 6, and the other methods of its pages).

The caller is a person who signed in with a passkey. People decide on their own approvals, grants and passkeys only;
the whole log, the policy and the list of people are for operators.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypedDict, assert_never

from gateway.core.approval import Approval
from gateway.core.budget import DAY_MS
from gateway.core.canonical import Json
from gateway.core.errors import Refused
from gateway.core.ledger import BreakGlassUsed
from gateway.core.model import Principal, PublishedTool, ToolSpec
from gateway.core.preview import Preview
from gateway.core.quorum import may_break_glass
from gateway.core.times import rfc3339
from gateway.core.vocabulary import ACTING, ApprovalStatus, ApproverStanding, PermissionMode, Profile
from gateway.protocol import console_methods as wire
from gateway.protocol.agent_methods import GrantList, GrantRef
from gateway.protocol.frames import CONSOLE
from gateway.protocol.wire import Nothing
from gateway.runtime.approvals import CallObstacle, order_arguments, preview_call
from gateway.runtime.gateway import Gateway
from gateway.runtime.passkeys import PasskeyCeremonies
from gateway.runtime.ports import AuditQuery, PolicySubject
from gateway.server.methods.audit import AuditMethods
from gateway.server.methods.backups import BackupMethods
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.clients import ClientMethods
from gateway.server.methods.elicitations import ElicitationMethods
from gateway.server.methods.encoding import decode_credential_id
from gateway.server.methods.erasures import ErasureMethods
from gateway.server.methods.explanations import ExplanationMethods
from gateway.server.methods.overview import OverviewMethods
from gateway.server.methods.people import PeopleMethods
from gateway.server.methods.plans import PlanMethods
from gateway.server.methods.policies import PolicyMethods
from gateway.server.methods.push import PushMethods
from gateway.server.methods.settings import SettingMethods
from gateway.server.methods.sources import SourceMethods
from gateway.server.methods.table import Concurrency, Method, MethodPermission, MethodRow, tabulate
from gateway.server.methods.views import (
    view_approval,
    view_broken_glass,
    view_copies,
    view_grant,
    view_limits,
    view_passkey,
    view_stopped,
    view_tool,
)

BROKEN_GLASS_SHOWN: Final = 20
"""Times that somebody acted alone that consoles warn of; the audit log has all of them."""

BROKEN_GLASS_DAYS: Final = 7


class ConsoleMethods:
    """The handlers."""

    def __init__(
        self,
        gateway: Gateway,
        passkeys: PasskeyCeremonies,
        audit: AuditMethods,
        sources: SourceMethods,
        clients: ClientMethods,
        policies: PolicyMethods,
        people: PeopleMethods,
        backups: BackupMethods,
        erasures: ErasureMethods,
        settings: SettingMethods,
        push: PushMethods,
        *,
        agent_origin: str,
    ) -> None:
        self._gateway = gateway
        self._passkeys = passkeys
        self._audit = audit
        self._sources = sources
        self._clients = clients
        self._policies = policies
        self._people = people
        self._backups = backups
        self._erasures = erasures
        self._settings = settings
        self._push = push
        self._agent_origin = agent_origin

    def table(self) -> Mapping[str, Method[ConsoleCaller]]:
        """Every method of the console."""
        return tabulate(
            CONSOLE,
            {
                "session/describe": MethodRow(self.describe_session, Concurrency.AT_ONCE, MethodPermission.ANY_READER),
                "approvals/list": MethodRow(self.list_approvals, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION),
                "approvals/get": MethodRow(self.get_approval, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION),
                "approvals/decide": MethodRow(self.decide_approval, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION),
                "turns/allow-questions": MethodRow(
                    self.allow_turn, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION, ("turn:questions-allowed",)
                ),
                "sessions/allow-questions": MethodRow(
                    self.allow_session,
                    Concurrency.AT_ONCE,
                    MethodPermission.ANY_SESSION,
                    ("agent-session:questions-allowed",),
                ),
                "grants/list": MethodRow(self.list_grants, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION),
                "grants/revoke": MethodRow(
                    self.revoke_grant, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION, ("grant:revoked",)
                ),
                "passkeys/list": MethodRow(self.list_passkeys, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION),
                "passkeys/rename": MethodRow(self.rename_passkey, Concurrency.IN_ORDER, MethodPermission.ANY_SESSION),
                "passkeys/remove": MethodRow(
                    self.remove_passkey, Concurrency.IN_ORDER, MethodPermission.ANY_SESSION, ("passkey:removed",)
                ),
                "policy/describe": MethodRow(self.describe_policy, Concurrency.AT_ONCE, MethodPermission.OPERATOR),
                **OverviewMethods(self._gateway).rows(),
                **self._audit.rows(),
                **ExplanationMethods(self._gateway, self._policies).rows(),
                **PlanMethods(self._gateway, self.get_approval).rows(),
                **ElicitationMethods(self._gateway).rows(),
                **self._sources.rows(),
                **self._clients.rows(),
                **self._policies.rows(),
                **self._people.rows(),
                **self._backups.rows(),
                **self._erasures.rows(),
                **self._settings.rows(),
                **self._push.rows(),
            },
        )

    async def describe_session(self, caller: ConsoleCaller, _params: Nothing) -> wire.ConsoleDescription:
        """The console session."""
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
            at=rfc3339(self._gateway.ports.clock.now()),
        )

    # ── approvals and grants ──

    async def list_approvals(self, caller: ConsoleCaller, params: wire.ApprovalPage) -> wire.ApprovalList:
        """The person's own, newest first."""
        approvals = await self._gateway.approvals.list(caller.principal.id, operator=_is_operator(caller))
        wanted = [each for each in approvals if params.status == "all" or each.status is ApprovalStatus.PENDING]
        stopped = self._gateway.denials.stopped(caller.principal.id)
        return wire.ApprovalList(
            approvals=tuple(map(view_approval, wanted)),
            stopped=tuple(map(view_stopped, stopped)),
            broken_glass=await self._list_broken_glass() if _is_operator(caller) else None,
        )

    async def _list_broken_glass(self) -> tuple[wire.BreakGlassView, ...]:
        records, now = self._gateway.ports.records, self._gateway.ports.clock.now()
        rows = await records.audit(AuditQuery(event=BreakGlassUsed.EVENT, limit=BROKEN_GLASS_SHOWN))
        recent = [row for row in rows if now - row.body["at"] < BROKEN_GLASS_DAYS * DAY_MS]
        names = {person.id: person.name for person in await records.principals()} if recent else {}
        return tuple(view_broken_glass(row, names) for row in recent)

    async def get_approval(self, caller: ConsoleCaller, params: wire.ApprovalRef) -> wire.ApprovalQuestion:
        """The exact statement, and a challenge for one decision."""
        approval, statement, challenge = await self._gateway.approvals.get(caller.session, params.approval_id)
        return wire.ApprovalQuestion(
            approval=view_approval(approval),
            statement=dict(statement),
            challenge=challenge,
            passkey_options=None if challenge is None else await self._passkey_options(caller, approval),
            order=order_arguments(self._gateway.ports.toolbox, approval.tool, approval.parsed_arguments),
            preview=None if challenge is None else _view_preview(await preview_call(self._gateway.ports.toolbox, approval)),
            copied=None if challenge is None else view_copies(await self._gateway.find_copies(approval)),
            background=await self._audit.tell_background(caller, approval),
            **self._view_standing(caller, approval),
        )

    def _view_standing(self, caller: ConsoleCaller, approval: Approval) -> _StandingView:
        if not approval.needs.shared:
            return {}
        operator = _is_operator(caller)
        return {
            "standing": approval.quorum.standing(caller.principal.id, operator=operator),
            "may_break_glass": may_break_glass(approval.needs, operator=operator),
        }

    async def decide_approval(self, caller: ConsoleCaller, params: wire.ApprovalAnswer) -> wire.ApprovalDecided:
        """Record the person's decision; returns when it is durable."""
        decided = await self._gateway.approvals.decide(
            caller.session,
            params.approval_id,
            challenge=params.challenge,
            approve=params.decision == "approve",
            scope=params.scope,
            pins=params.pins,
            within=params.within,
            assertion=params.assertion,
            break_glass=params.break_glass,
        )
        return wire.ApprovalDecided(
            approval=view_approval(decided.approval),
            grant=None if decided.grant is None else view_grant(decided.grant, self._gateway.ports.toolbox),
        )

    async def allow_turn(self, caller: ConsoleCaller, params: wire.OpenTurnRef) -> Nothing:
        """Let a turn ask again that the person has turned down so often that it asks nothing more."""
        await self._gateway.denials.allow_turn(caller.principal.id, params.turn_id)
        return Nothing()

    async def allow_session(self, caller: ConsoleCaller, params: wire.AgentSessionRef) -> Nothing:
        """Let a session ask again, whichever turn it is in."""
        await self._gateway.denials.allow_session(params.session_id, caller.principal.id)
        return Nothing()

    async def list_grants(self, caller: ConsoleCaller, _params: Nothing) -> GrantList:
        """The valid grants of this person, over all their sessions."""
        grants = await self._gateway.grants.of_principal(caller.principal.id)
        return GrantList(grants=tuple(view_grant(grant, self._gateway.ports.toolbox) for grant in grants))

    async def revoke_grant(self, caller: ConsoleCaller, params: GrantRef) -> Nothing:
        """Revoke a grant."""
        await self._gateway.grants.revoke(caller.principal.id, params.grant_id)
        return Nothing()

    # ── passkeys ──

    async def list_passkeys(self, caller: ConsoleCaller, _params: Nothing) -> wire.PasskeyList:
        """The person's own."""
        passkeys = await self._passkeys.passkeys(caller.session)
        return wire.PasskeyList(passkeys=tuple(map(view_passkey, passkeys)))

    async def rename_passkey(self, caller: ConsoleCaller, params: wire.PasskeyName) -> Nothing:
        """Rename one."""
        await self._passkeys.rename(caller.session, decode_credential_id(params.passkey_id), params.name)
        return Nothing()

    async def remove_passkey(self, caller: ConsoleCaller, params: wire.PasskeyRef) -> Nothing:
        """Remove one, after a recent assertion with a passkey."""
        await self._passkeys.remove(caller.session, decode_credential_id(params.passkey_id))
        return Nothing()

    # ── the policy ──

    async def describe_policy(self, caller: ConsoleCaller, _params: Nothing) -> wire.PolicyDescription:
        """The policy in force and what it makes of every tool."""
        policy = self._gateway.ports.policy
        return wire.PolicyDescription(
            version=policy.version,
            rules=tuple(wire.WireRuleReason(id=rule.id, why=rule.why) for rule in policy.rules()),
            profiles=tuple(view_limits(profile, policy.limits(profile)) for profile in ACTING),
            tools=tuple(self._describe_tool(caller.principal, spec) for spec in self._gateway.ports.toolbox.specs()),
        )

    # ── private ──

    async def _passkey_options(self, caller: ConsoleCaller, approval: Approval) -> dict[str, Json] | None:
        if not approval.needs_passkey:
            return None
        try:
            return dict(await self._gateway.approvals.assertion_options(caller.session, approval.id))
        except Refused:
            # Without a passkey the person cannot approve, and the page shows that; they can still deny.
            return None

    def _describe_tool(self, asker: Principal, spec: ToolSpec) -> wire.PolicyTool:
        def mode(principal: Principal) -> PermissionMode:
            subject = PolicySubject(principal, 0)
            return self._gateway.ports.policy.judge(subject, spec, None, taint=0, label=0).mode

        modes = {profile: mode(Principal("", "", profile)) for profile in ACTING}
        return wire.PolicyTool(
            descriptor=view_tool(PublishedTool(spec, mode(asker))),
            modes=wire.ToolModes(
                operator=modes[Profile.OPERATOR], guest=modes[Profile.GUEST], anonymous=modes[Profile.ANONYMOUS]
            ),
            recovery=spec.recovery,
            unavailable=spec.unavailable,
        )


class _StandingView(TypedDict, total=False):
    standing: ApproverStanding
    may_break_glass: bool


def _is_operator(caller: ConsoleCaller) -> bool:
    return caller.principal.profile is Profile.OPERATOR


def _view_preview(preview: Preview | CallObstacle | None) -> wire.WirePreview | None:
    match preview:
        case None:
            return None
        case CallObstacle(message):
            return wire.WirePreview(change="impossible", target="", digest="", lines=(), complete=True, obstacle=message)
        case Preview():
            return wire.WirePreview.model_validate(preview.wire())
        case _:
            assert_never(preview)
