"""What the records say about one call, in sentences for somebody who was not there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from gateway.core.approval import RULE_FAILED, RULE_FAILED_WHY
from gateway.core.canonical import Json
from gateway.core.effects import escape, escape_unseen
from gateway.core.ledger import (
    ApprovalGiven,
    ApprovalRequested,
    ApprovalResolved,
    AssertionRefused,
    BreakGlassUsed,
    CallClosed,
    CallFoundUnknown,
    CallIntended,
    CallRefusedUnrecorded,
    GrantIssued,
    LateResultDiscarded,
    RecordsErased,
    TurnBegun,
)
from gateway.core.quorum import read_needs
from gateway.core.times import rfc3339
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, Label, PermissionMode, Runner
from gateway.runtime.ports import AuditRow
from gateway.runtime.recorded_forms import reading_record

SHOWN: Final = 400
"""Characters of arguments and of a result that are quoted: a terminal's few lines. `audit show --json` has all of them."""

_SHORT: Final = 12

Why = Callable[[str, str], str | None]
"""The words of a rule, by policy version and rule id; None where the policy's texts are not on record."""


@dataclass(frozen=True, slots=True)
class Background:
    """What is known beside the records of the call itself. `title` is None for a conversation that was deleted, and empty where
    titles are not known, as in a receipt. `offered` is how many tools its snapshot had."""

    title: str | None
    request: str | None
    names: Mapping[str, str]
    why: Why
    offered: int | None
    size: int
    """Records that the newest checkpoint covers."""


def tell_call(rows: Sequence[AuditRow], call_id: str, background: Background) -> list[str]:
    """The account of a call, a sentence or two for each step. `rows` are the records of its conversation, oldest first.

    Raises LedgerDamaged for a record that this version does not know.
    """
    own = [row for row in rows if row.body.get("callId") == call_id]
    with reading_record(own[0].index):
        lines = _tell_proposal(own[0], rows, background)
    named: set[str] = set()
    for row in own:
        with reading_record(row.index):
            if row.body["event"] in (CallIntended.EVENT, CallClosed.EVENT, ApprovalRequested.EVENT):
                # Asked once more after a wait, the policy may have said the same; that is not told twice.
                told = [line for line in _tell_judgement(row, background) if line not in named]
                named.update(told)
                lines += told
            lines += _tell_step(row, rows, background)
    told_by = _find_erasures(own, rows)
    lines += [_tell_erasure(row, own, background) for row in told_by]
    own = sorted({row.index: row for row in (*own, *told_by)}.values(), key=lambda row: row.index)
    places = ", ".join(str(row.index) for row in own)
    covered = "all of them are" if own[-1].index < background.size else "not all of them are"
    lines.append(
        f"This is from the records {places}; {covered} covered by the newest checkpoint, over {background.size} records."
        " `countersign audit verify` checks that none of them was changed."
    )
    # A receipt's records may be anybody's, who signed with a key of their own: none of their words may act on a terminal.
    return [escape_unseen(line) for line in lines]


def _find_erasures(own: Sequence[AuditRow], rows: Sequence[AuditRow]) -> list[AuditRow]:
    """The records that say of some of these that they were erased: of the call, of its conversation or of the person."""
    places = {row.index for row in own}
    return [row for row in rows if row.body["event"] == RecordsErased.EVENT and not places.isdisjoint(row.body["records"])]


def _tell_erasure(row: AuditRow, own: Sequence[AuditRow], background: Background) -> str:
    body = row.body
    erased = set(body["records"])
    places = ", ".join(str(each.index) for each in own if each.index in erased)
    by = "" if body["principalId"] is None else f" by {_person(body['principalId'], background)}"
    return (
        f"At {rfc3339(body['at'])} what the records {places} held was erased{by} ({body['reason']}); record {row.index} says so."
    )


def _tell_proposal(row: AuditRow, rows: Sequence[AuditRow], background: Background) -> list[str]:
    body, payload = row.body, row.payload
    title = _tell_title(background.title)
    turn = "" if body.get("turnIndex") is None else f", turn {body['turnIndex'] + 1}"
    tool = body.get("tool") or (payload or {}).get("tool")
    received = body["at"] if payload is None else payload.get("receivedAt", body["at"])
    named = "a tool whose name was erased" if tool is None else f"`{escape(str(tool))}`"
    runner = _RUNNERS.get(str(body.get("runner")), "by an unknown kind of loop")
    whose = f"on behalf of {_person(body['principalId'], background)}, {runner}, with {_model(row, rows)}"
    lines = [
        f"Call `{escape(body['callId'])}` of {named}, in {title} ({body['conversationId']}){turn}.",
        f"It was proposed at {rfc3339(received)} {whose}.",
    ]
    if background.request is not None:
        lines.append(f"What the person had written, as the loop says: “{_quote(background.request)}”")
    if payload is None:
        lines.append("What it was to do was erased.")
    elif "arguments" in payload:
        lines.append(f"Its arguments: {_quote(orjson.dumps(payload['arguments']).decode())}")
    if body.get("permission") is not None:
        offered = "" if background.offered is None else f", one of {background.offered} tools,"
        lines.append(
            f"The turn offered it{offered} as `{body['permission']}`: snapshot {_cut(body['snapshotDigest'])},"
            f" definition {_cut(body['descriptorDigest'])}."
        )
    return lines


def _tell_title(title: str | None) -> str:
    match title:
        case None:
            return "a conversation that was deleted"
        case "":
            return "the conversation"
        case _:
            return f"the conversation “{escape(title)}”"


_RUNNERS: Final[Mapping[str, str]] = {
    Runner.BROWSER: "by the loop of a browser tab",
    Runner.GATEWAY: "by a loop on the gateway's machine",
    Runner.MCP_CLIENT: "by an MCP client",
}


def _model(row: AuditRow, rows: Sequence[AuditRow]) -> str:
    claimed: Mapping[str, Json] = (row.payload or {}).get("model") or {}
    if row.body.get("modelId") is not None:
        backend = f" at {escape(str(claimed['backend']))}" if claimed.get("backend") else ""
        return f"the model `{escape(row.body['modelId'])}`{backend}, whose token the gateway gave"
    if claimed.get("id"):
        return f"a model that called itself `{escape(str(claimed['id']))}`, which nothing confirms"
    begun = [each for each in rows if each.body["event"] == TurnBegun.EVENT and each.body["turnId"] == row.body["turnId"]]
    if begun and begun[0].body["modelId"] is not None:
        return f"no model of its own on record; the turn began with `{escape(begun[0].body['modelId'])}`"
    return "no model on record: a person may have typed it"


def _tell_judgement(row: AuditRow, background: Background) -> list[str]:
    body = row.body
    judged: Mapping[str, Json] | None = None if row.payload is None else row.payload.get("judged")
    rules: Sequence[str] = body.get("because") or (() if judged is None else judged["rules"])
    version = body.get("policyVersion")
    if version is None:
        return []
    lines: list[str] = []
    if judged is not None:
        facts = {**judged["facts"], "label": Label(judged["label"]).name.lower(), "profile": judged["profile"]}
        told = ", ".join(f"{name} {_quote(str(value))}" for name, value in facts.items())
        taint = "after" if judged["taint"] else "before"
        lines.append(f"The policy was asked about: {told}; {taint} the conversation held untrusted content.")
        lines.append(f"It said {_MODES[PermissionMode(judged['mode'])]}.")
    if rules:
        lines.append(f"Policy {_cut(version)} decided by {_list(rules, version, background)}.")
    elif judged is not None:
        lines.append(f"Under policy {_cut(version)} no rule permits it, so it is forbidden.")
    return lines


_MODES: Final = {
    PermissionMode.AUTO: "that it may run by itself",
    PermissionMode.CONSENT: "that a person must consent",
    PermissionMode.STEP_UP: "that a person must sign it with a passkey",
    PermissionMode.FORBIDDEN: "no",
}


def _list(rules: Sequence[str], version: str, background: Background) -> str:
    told: list[str] = []
    for rule in rules:
        why = RULE_FAILED_WHY if rule == RULE_FAILED else background.why(version, rule)
        told.append(f"`{escape(rule)}`" if why is None else f"`{escape(rule)}` ({escape(why)})")
    return ", ".join(told)


def _tell_step(row: AuditRow, rows: Sequence[AuditRow], background: Background) -> list[str]:
    body = row.body
    when = rfc3339(body["at"])
    match body["event"]:
        case ApprovalRequested.EVENT:
            wanted = "to sign it with a passkey" if body["kind"] == ApprovalKind.STEP_UP else "for consent"
            asked = f"At {when} {_person(body['principalId'], background)} was asked {wanted}."
            several = _tell_approvers(body, background)
            return [f"{asked}{several} The statement's digest is {body['statementDigest']}."]
        case ApprovalGiven.EVENT:
            return [f"{_tell_yes(row, background)} Others still had to approve it."]
        case BreakGlassUsed.EVENT:
            return [_tell_break_glass(row, background)]
        case ApprovalResolved.EVENT:
            return [_tell_answer(row, background)]
        case AssertionRefused.EVENT:
            return [f"At {when} an answer with a passkey did not verify ({body['reason']}), and the question ended with that."]
        case CallIntended.EVENT:
            return [f"At {when} it was put on record that it would run{_authority(row, rows)}, before it ran."]
        case CallClosed.EVENT | CallFoundUnknown.EVENT:
            return _tell_outcome(row)
        case CallRefusedUnrecorded.EVENT:
            return [f"At {when} the same id came with other content; that was refused and changed nothing."]
        case LateResultDiscarded.EVENT:
            return [f"At {when} its tool ended after all; the result was thrown away."]
        case _:
            return []


def _tell_answer(row: AuditRow, background: Background) -> str:
    body = row.body
    when = rfc3339(body["at"])
    match ApprovalStatus(body["status"]):
        case ApprovalStatus.APPROVED:
            return _tell_yes(row, background)
        case ApprovalStatus.DENIED:
            return f"At {when} {_person(body['principalId'], background)} said no."
        case ApprovalStatus.EXPIRED:
            return f"At {when} the question ran out without an answer."
        case status:
            return f"At {when} the question ended: {status.value}."


def _tell_yes(row: AuditRow, background: Background) -> str:
    body = row.body
    over = "over that statement with the reason" if body.get("alone", False) else "over that digest"
    key = "" if body["credentialId"] is None else f" with the passkey {body['credentialId']}, {over},"
    who = _person(body["principalId"], background)
    return f"At {rfc3339(body['at'])} {who} approved{key} on the console ({body['consoleSessionId']})."


def _tell_approvers(body: Mapping[str, Json], background: Background) -> str:
    if "approvers" not in body:
        return ""
    needs = read_needs(body["approvers"])
    people = "one person has" if needs.approvers == 1 else f"{needs.approvers} different people have"
    pool = "" if needs.pool is None else f" of {', '.join(_person(each, background) for each in needs.pool)}"
    other = ", and not the one who asked" if needs.requester_excluded else ""
    return f" It takes the passkeys of several: {people} to approve{pool}{other}."


def _tell_break_glass(row: AuditRow, background: Background) -> str:
    body = row.body
    reason = "a reason that was erased" if row.payload is None else f"this reason: “{_quote(row.payload['reason'])}”"
    who = _person(body["principalId"], background)
    return f"WARNING: at {rfc3339(body['at'])} {who} did alone what takes several people, signed with a passkey, for {reason}."


def _authority(row: AuditRow, rows: Sequence[AuditRow]) -> str:
    body = row.body
    if body["approvalId"] is not None:
        return f" on that approval ({body['approvalId']})"
    if body["grantId"] is not None:
        given = [each for each in rows if each.body["event"] == GrantIssued.EVENT and each.body["grantId"] == body["grantId"]]
        since = f", given at {rfc3339(given[0].body['at'])} with approval {given[0].body['approvalId']}" if given else ""
        return f" under the grant {body['grantId']}{since}"
    return " by itself"


def _tell_outcome(row: AuditRow) -> list[str]:
    body, payload = row.body, row.payload
    when = rfc3339(body["at"])
    reason = "" if body["reason"] is None else f" ({body['reason']})"
    ran = body.get("executed", True)
    took = "" if not ran or body["durationMs"] is None else f" after {body['durationMs']} ms"
    told = "ended" if ran else "was closed without having run"
    lines = [f"At {when} it {told}{took}: {body['outcome']}{reason}."]
    if payload is None:
        return [*lines, "Its result was erased."]
    result: Mapping[str, Json] = payload["result"]
    text = str(result["content"] or result["error"] or "")
    if text:
        lines.append(f"Its result began: {_quote(text)}" if len(text) > SHOWN else f"Its result: {_quote(text)}")
    marks = [
        f"{body['trust']} content",
        *(["cut to its limit"] if body["truncated"] else []),
        *([f"{body['redactions']} secrets taken out"] if body["redactions"] else []),
    ]
    return [*lines, f"It counted as {', '.join(marks)}."] if ran else lines


def _person(principal_id: str | None, background: Background) -> str:
    if principal_id is None:
        return "nobody"
    name = background.names.get(principal_id)
    return principal_id if name is None else f"{escape(name)} ({principal_id})"


def _quote(text: str) -> str:
    shown = escape(text)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}… ({len(shown)} characters)"


def _cut(digest: str | None) -> str:
    return "unknown" if digest is None else digest[:_SHORT]
