"""A small, true history to record: one person, one session, one conversation, and calls of every kind.

Times are made up and rise by themselves, so that the same history always has the same bytes.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gateway.core import ledger as steps
from gateway.core.approval import Approval, Grant, RuleReason, build_statement, digest_of_statement
from gateway.core.canonical import Json, canonical_bytes, parse
from gateway.core.ledger import Entry, Message, Passkey, ToolResult
from gateway.core.model import ModelRef, Principal, PublishedTool, Session, Snapshot, ToolCall, ToolRequest, ToolSpec, bind
from gateway.core.quorum import Needs
from gateway.core.results import digest_of_output
from gateway.core.vocabulary import (
    ApprovalKind,
    ApprovalStatus,
    Category,
    Decision,
    GrantScope,
    Label,
    Outcome,
    PermissionMode,
    Profile,
    Reason,
    Role,
    Trust,
)

FAR = 4_000_000_000_000
WHY = (RuleReason("policy.write", "Writing asks — first."),)
OPERATOR = Principal("prn_1", "Ada Übermut", Profile.OPERATOR)
PASSKEY = Passkey(
    id=b"\x00credential",
    principal_id=OPERATOR.id,
    public_key=b"\xa5cose",
    sign_count=3,
    backup_eligible=True,
    backed_up=False,
    user_handle=b"handle\xff",
    transports=("internal", "hybrid"),
    name="Laptop",
    created_at=1_000,
)


def tool(name: str, category: Category) -> ToolSpec:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": False}
    return ToolSpec(name, f"{name} — a tool", "workspace", name, schema, category, "builtin", title=name.title())


READ, WRITE, DELETE = (
    tool("read_file", Category.READ),
    tool("write_file", Category.WRITE),
    tool("delete_file", Category.DESTRUCTIVE),
)
PUBLISHED = (
    PublishedTool(READ, PermissionMode.AUTO),
    PublishedTool(WRITE, PermissionMode.CONSENT),
    PublishedTool(DELETE, PermissionMode.STEP_UP),
)


@dataclass(slots=True)
class History:
    """Makes entries that fit together. Nothing is recorded here; whoever asks for entries appends them."""

    now: int = 1_795_000_000_000
    conversation_id: str = "cnv_1"
    turn_id: str = "trn_1"
    session: Session = field(
        default_factory=lambda: Session("ses_1", OPERATOR, "cse_1", ("label:internal",), Label.INTERNAL, 5, FAR)
    )

    def tick(self) -> int:
        self.now += 1
        return self.now

    def beginning(self) -> Sequence[Entry]:
        """Everything before the first turn."""
        return (
            steps.GatewayStarted(self.tick(), "0.1.0", "a" * 64, 0),
            steps.EnrolmentOffered(self.tick(), "token-hash", OPERATOR.name, OPERATOR.profile, FAR),
            steps.PrincipalEnrolled(self.tick(), "token-hash", OPERATOR, PASSKEY),
            steps.ConsoleSessionStarted(self.tick(), "cse_1", "console-hash", OPERATOR.id, FAR),
            steps.AgentSessionStarted(self.tick(), self.session, "agent-hash"),
            steps.ConversationOpened(self.tick(), self.conversation_id, OPERATOR.id, "A title"),
            steps.TurnBegun(self.tick(), OPERATOR.id, self.snapshot, "model-1"),
        )

    @property
    def snapshot(self) -> Snapshot:
        return Snapshot(
            id=f"snp_{self.turn_id}",
            session_id=self.session.id,
            connection_id="con_1",
            conversation_id=self.conversation_id,
            turn_id=self.turn_id,
            turn_index=0,
            issued_at=5,
            expires_at=FAR,
            policy_version="a" * 64,
            tools=PUBLISHED,
        )

    def request(self, call_id: str, spec: ToolSpec = READ, arguments: Mapping[str, Json] | None = None) -> ToolRequest:
        snapshot = self.snapshot
        return bind(
            ToolCall(call_id, spec.name, {"path": "notes/Ä.txt"} if arguments is None else arguments),
            session=self.session,
            connection_id="con_1",
            conversation_id=self.conversation_id,
            turn_id=self.turn_id,
            snapshot_id=snapshot.id,
            snapshot_digest=snapshot.digest,
            model=ModelRef("model-1", "llama", "nonce", claimed=False),
            received_at=self.tick(),
        )

    def message(self, index: int, content: str = "hello", **further: Json) -> steps.MessageAppended:
        message = Message(self.conversation_id, self.turn_id, index, Role.USER, content, "claimed", self.tick(), **further)
        return steps.MessageAppended(message.at, OPERATOR.id, message)

    def intend(
        self,
        request: ToolRequest,
        decision: Decision = Decision.AUTO,
        *,
        approval_id: str | None = None,
        grant_id: str | None = None,
    ) -> steps.CallIntended:
        spec = self.snapshot.by_name[request.tool].spec
        return steps.CallIntended(self.tick(), request, self.snapshot, spec.digest, decision, WHY, approval_id, grant_id)

    def close(
        self, request: ToolRequest, result: ToolResult | None = None, decision: Decision = Decision.AUTO, *, ran: bool = True
    ) -> steps.CallClosed:
        spec = self.snapshot.by_name[request.tool].spec
        result = result or self.result(request.call_id)
        return steps.CallClosed(self.tick(), request, self.snapshot, spec.digest, decision, WHY, result, ran)

    def refuse(self, request: ToolRequest, outcome: Outcome = Outcome.REFUSED_BY_POLICY) -> steps.CallClosed:
        """A refusal before anything was checked: no snapshot, no descriptor."""
        result = replace(self.result(request.call_id), outcome=outcome, reason=Reason.STALE_SNAPSHOT, error="stale")
        return steps.CallClosed(self.tick(), request, None, None, Decision.FORBIDDEN, (), result, False)

    def result(self, call_id: str, content: str = "the content", structured: Json = None) -> ToolResult:
        return ToolResult(
            call_id=call_id,
            outcome=Outcome.OK,
            reason=None,
            content=content,
            structured=structured,
            error=None,
            truncated=True,
            redactions=2,
            labels=("label:internal", "mark"),
            trust=Trust.UNTRUSTED,
            duration_ms=12,
            receipt_id=f"rcp_{call_id}",
            result_digest=digest_of_output(content, structured),
        )

    def ask(
        self, request: ToolRequest, approval_id: str, kind: ApprovalKind = ApprovalKind.CONSENT, expires_at: int = FAR
    ) -> steps.ApprovalRequested:
        at = self.tick()
        snapshot = self.snapshot
        statement = build_statement(
            request,
            approval_id=approval_id,
            nonce="nonce",
            kind=kind,
            turn_index=snapshot.turn_index,
            descriptor_digest=snapshot.by_name[request.tool].spec.digest,
            policy_version=snapshot.policy_version,
            issued_at=at,
            expires_at=expires_at,
        )
        approval = Approval(
            id=approval_id,
            kind=kind,
            principal_id=OPERATOR.id,
            session_id=request.session_id,
            conversation_id=request.conversation_id,
            turn_id=request.turn_id,
            call_id=request.call_id,
            tool=request.tool,
            arguments=request.arguments,
            summary="Write “notes”",
            requester=OPERATOR.name,
            effects=("Changes a file",),
            because=WHY,
            needs=Needs(presence=True),
            offers=(GrantScope.ONCE, GrantScope.TURN),
            statement=statement,
            statement_digest=digest_of_statement(statement),
            requested_at=at,
            expires_at=expires_at,
        )
        return steps.ApprovalRequested(at, request, snapshot, approval)

    def answer(self, asked: steps.ApprovalRequested, status: ApprovalStatus = ApprovalStatus.APPROVED) -> steps.ApprovalResolved:
        approval = asked.approval
        person = status in (ApprovalStatus.APPROVED, ApprovalStatus.DENIED)
        signed = status is ApprovalStatus.APPROVED and approval.kind is ApprovalKind.STEP_UP
        return steps.ApprovalResolved(
            at=self.tick(),
            approval_id=approval.id,
            call_id=approval.call_id,
            conversation_id=approval.conversation_id,
            status=status,
            approver_id=OPERATOR.id if person else None,
            console_session_id="cse_1" if person else None,
            credential_id=PASSKEY.id if signed else None,
            assertion=assertion_over(approval.statement_digest) if signed else None,
        )

    def grant(self, asked: steps.ApprovalRequested, grant_id: str, *, freed: Sequence[str] = (), max_uses: int = 2) -> Grant:
        approval = asked.approval
        arguments: dict[str, Json] = parse(asked.request.arguments)
        return Grant(
            id=grant_id,
            approval_id=approval.id,
            principal_id=OPERATOR.id,
            session_id=approval.session_id,
            conversation_id=approval.conversation_id,
            turn_id=approval.turn_id,
            scope=GrantScope.TURN,
            tool=approval.tool,
            descriptor_digest=asked.snapshot.by_name[approval.tool].spec.digest,
            pins={name: canonical_bytes(value) for name, value in arguments.items() if name not in freed},
            freed=tuple(freed),
            issued_at=self.tick(),
            expires_at=FAR,
            max_uses=max_uses,
        )

    def whole(self) -> Sequence[Sequence[Entry]]:
        """A log with something of everything, as submissions."""
        read = self.request("call-read")
        write, again = self.request("call-write", WRITE), self.request("call-again", WRITE)
        asked = self.ask(write, "apr_write")
        grant = self.grant(asked, "grt_1", max_uses=5)
        delete = self.request("call-delete", DELETE)
        signed = self.ask(delete, "apr_delete", ApprovalKind.STEP_UP)
        denied = self.request("call-denied", WRITE)
        refused = self.ask(denied, "apr_denied")
        lost = self.request("call-lost")
        consented, stepped = Decision.CONSENTED, Decision.STEP_UP_SUCCEEDED
        return (
            self.beginning(),
            (self.message(0, "What is in notes?"),),
            (self.intend(read),),
            (self.close(read, self.result("call-read", "two files", {"count": 2, "share": 0.5})),),
            (steps.ConversationTainted(self.tick(), self.conversation_id, OPERATOR.id, 1, 2, "call-read"),),
            (asked,),
            (self.answer(asked), steps.GrantIssued(self.tick(), grant), self.intend(write, consented, approval_id="apr_write")),
            (self.close(write, decision=consented),),
            (self.intend(again, consented, grant_id="grt_1"),),
            (self.close(again, decision=consented),),
            (steps.GrantRevoked(self.tick(), "grt_1", OPERATOR.id, "person"),),
            (signed,),
            (steps.AssertionRefused(self.tick(), "apr_delete", "call-delete", self.conversation_id, OPERATOR.id, "signature"),),
            (
                steps.PasskeyUsed(self.tick(), OPERATOR.id, PASSKEY.id, 4, True),
                self.answer(signed),
                self.intend(delete, stepped, approval_id="apr_delete"),
            ),
            (self.close(delete, decision=stepped),),
            (refused,),
            (self.answer(refused, ApprovalStatus.DENIED), self.close(denied, decision=Decision.DENIED, ran=False)),
            (self.refuse(self.request("call-stale")),),
            (steps.CallRefusedUnrecorded(self.tick(), self.request("call-read", WRITE), self.result("call-read")),),
            (self.intend(lost),),
            (
                steps.CallFoundUnknown(self.tick(), OPERATOR.id, self.conversation_id, "call-lost", "rcp_lost"),
                steps.GatewayStarted(self.tick(), "0.1.0", "a" * 64, 1),
            ),
            (steps.TurnEnded(self.tick(), OPERATOR.id, self.conversation_id, self.turn_id, "ended", {"tokens": 12.5}),),
        )


def assertion_over(statement_digest: str) -> dict[str, Json]:
    """An assertion as far as the log is concerned: client data whose challenge is the statement's digest."""
    challenge = _base64url(bytes.fromhex(statement_digest))
    client_data = canonical_bytes({"type": "webauthn.get", "challenge": challenge, "origin": "http://console.localhost"})
    return {"id": _base64url(PASSKEY.id), "response": {"clientDataJSON": _base64url(client_data), "signature": "AA"}}


def _base64url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
