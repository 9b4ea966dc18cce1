"""The console's method that says why the policy decides as it does (docs/PROTOCOL.md section 6), for operators. It runs nothing:
of an imagined call its tool is asked for the facts alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from gateway.core.errors import InvalidParams, NotFound, Refused, ToolFailed
from gateway.core.judgement import Judgement, Question, restore_judgement
from gateway.core.model import Principal
from gateway.core.moment import Moment
from gateway.core.vocabulary import Label
from gateway.protocol import explain_methods as wire
from gateway.runtime.gateway import Gateway
from gateway.runtime.policy_explanation import ExplainedRule, Explanation, explain_call, judge_question
from gateway.runtime.ports import AuditQuery, PolicyDraft
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.policies import PolicyMethods
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow
from gateway.server.methods.views import LABEL_NAMES

_PAGE: Final = 200
"""Records of a conversation that are looked through at once."""


class ExplanationMethods:
    """The handler."""

    def __init__(self, gateway: Gateway, policies: PolicyMethods) -> None:
        self._gateway = gateway
        self._policies = policies

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The row of the console's table."""
        return {"policy/explain": MethodRow(self.explain, Concurrency.AT_ONCE, MethodPermission.OPERATOR)}

    async def explain(self, _caller: ConsoleCaller, params: wire.CallExplaining) -> wire.CallExplanation:
        """A call that was made, under the version that judged it, or one that is imagined, under the one in force."""
        workshop = self._policies.workshop
        if (params.call is None) == (params.imagined is None):
            raise InvalidParams("give either a `call` or one that is `imagined`")
        active = workshop.active
        if params.imagined is not None:
            return _view(await self._explain(active, self._imagine(params.imagined)), None)
        assert params.call is not None
        judgement, version = await self._find(params.call)
        if version == active.version:
            return _view(await self._explain(active, judgement.question), None)
        policy = await asyncio.to_thread(workshop.load, await self._policies.find_documents(version))
        told = await self._explain(policy, judgement.question)
        return _view(told, judge_question(active, judgement.question).mode.value)

    async def _explain(self, policy: PolicyDraft, asked: Question) -> Explanation:
        workshop = self._policies.workshop
        return await asyncio.to_thread(lambda: explain_call(policy, workshop.read(policy), asked))

    def _imagine(self, imagined: wire.ImaginedCall) -> Question:
        toolbox = self._gateway.ports.toolbox
        spec = toolbox.find(imagined.tool)
        if spec is None:
            raise NotFound("no tool has that name")
        faults = toolbox.find_faults(spec, imagined.arguments)
        if faults:
            raise Refused("arguments", f"the arguments do not fit the tool: {faults[0].message}", 400)
        person = Principal(imagined.person, imagined.person, imagined.profile)
        moment = Moment(1, 1, frozenset(), imagined.minute_of_day, imagined.weekday)
        label = Label[imagined.label.upper()]
        try:
            facts = toolbox.facts(spec, imagined.arguments)
        except ToolFailed as error:
            raise Refused("arguments", error.message, 400) from None
        return Question(person, spec, facts, int(imagined.tainted), label, moment)

    async def _find(self, call: wire.RecordedCallRef) -> tuple[Judgement, str]:
        """What was asked about a call, and the version that was. Raises NotFound, also while a person is still asked."""
        records, before = self._gateway.ports.records, None
        while rows := await records.audit(AuditQuery(conversation_id=call.conversation_id, before=before, limit=_PAGE)):
            for row in rows:
                if row.body.get("callId") == call.call_id and row.payload is not None and "judged" in row.payload:
                    judged = restore_judgement(dict(row.payload["judged"]), row.body["principalId"], row.body["tool"])
                    return judged, str(row.body["policyVersion"])
            before = rows[-1].index
        # One that waits for a person is on record with its answer; until then it waits under the policy in force.
        waiting = self._gateway.find_judgement(call.conversation_id, call.call_id)
        if waiting is None:
            raise NotFound("the record does not hold what the policy was asked about that call")
        return waiting, self._policies.workshop.active.version


def _view(told: Explanation, now: str | None) -> wire.CallExplanation:
    asked, facts = told.asked, told.asked.facts
    reported = {
        "path": facts.path,
        "secondPath": facts.second_path,
        "host": facts.host,
        "bytes": facts.bytes,
        "recursive": facts.recursive,
    }
    return wire.CallExplanation.model_validate(
        {
            "version": told.version,
            "tool": asked.spec.name,
            "category": asked.spec.category,
            "profile": asked.principal.profile,
            "person": asked.principal.id,
            "facts": {name: value for name, value in reported.items() if value is not None},
            "tainted": bool(asked.taint),
            "label": LABEL_NAMES[asked.label],
            "mode": told.verdict.mode,
            "rules": tuple(map(_view_rule, told.rules)),
            "changes": tuple(
                wire.WireExplainedChange(
                    what=each.what,
                    value=each.value,
                    mode=each.verdict.mode,
                    rules=tuple(rule.id for rule in each.verdict.because),
                )
                for each in told.changes
            ),
            "now": now,
        }
    )


def _view_rule(rule: ExplainedRule) -> wire.WireExplainedRule:
    source = rule.source
    if source is None:
        return wire.WireExplainedRule(id=rule.id, why=rule.why)
    return wire.WireExplainedRule(
        id=rule.id, why=rule.why, file=source.file, line=source.line, text=source.text, obliges=dict(source.obliges)
    )
