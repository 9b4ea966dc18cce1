"""What a running gateway does about its policy for other commands of this machine, over its control socket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from gateway.application import Application
from gateway.core.canonical import Json
from gateway.core.errors import InvalidParams, Misconfigured, Refused
from gateway.core.model import ToolSpec
from gateway.core.times import rfc3339
from gateway.core.vocabulary import Trust
from gateway.policy_records import describe_excess
from gateway.runtime.policies import PolicySource, ProposalAnswer, ShadowState
from gateway.runtime.ports import PolicyFreeze
from gateway.runtime.rehearsal import ModeChange
from gateway.server.control import Answerer

NAMED: Final = 10
"""Calls that are named for each kind of difference."""


def policy_commands(application: Application) -> Mapping[str, Answerer]:
    """Each command and the function that answers it."""
    publishing, freezing = application.policies.publishing, application.policies.freezing
    shadow = application.policies.shadow

    async def freeze(asked: Mapping[str, Json]) -> Json:
        # Where no gateway runs, nothing was started that knows of an earlier one.
        await freezing.restore()
        try:
            return _describe_freeze(await freezing.freeze(str(asked.get("why", ""))))
        except Refused as error:
            raise InvalidParams(error.message) from None

    async def state(_asked: Mapping[str, Json]) -> Json:
        await freezing.restore()
        holding = freezing.holding
        return {
            "version": publishing.workshop.active.version,
            "excess": describe_excess(publishing.workshop.active),
            "source": publishing.source.value,
            "freeze": None if holding is None else _describe_freeze(holding),
            "proposals": [
                {
                    "id": each.id,
                    "version": each.draft.version,
                    "author": each.author,
                    "reason": each.reason,
                    "needed": each.needed,
                    "signed": len(each.signed),
                    "loosens": each.comparison.loosens,
                }
                for each in publishing.proposals()
            ],
            "console": application.origins.console,
        }

    async def list_tools(_asked: Mapping[str, Json]) -> Json:
        views = await application.sources.list()
        offered = {spec.name for spec in application.gateway.ports.toolbox.specs()}
        return sorted(offered | {tool.seen.name for view in views for tool in view.tools})

    async def describe_tool(asked: Mapping[str, Json]) -> Json:
        spec = next((each for each in application.gateway.ports.toolbox.specs() if each.name == asked.get("tool")), None)
        return None if spec is None else describe_kind(spec)

    async def propose(asked: Mapping[str, Json]) -> Json:
        if publishing.source is PolicySource.FILES:
            raise Misconfigured("this gateway keeps its policy in files; change them and run `countersign policy reload`")
        documents, cases = _texts(asked, "documents"), asked.get("cases")
        table = None if cases is None else _texts(asked, "cases")
        base = str(asked.get("base") or publishing.workshop.active.version)
        answer = await publishing.propose(documents, table, base=base, reason=str(asked.get("reason", "")), author=None)
        return _describe_answer(answer, application.origins.console)

    async def start_shadow(asked: Mapping[str, Json]) -> Json:
        await shadow.restore()
        try:
            documents = _texts(asked, "documents")
            if asked.get("added"):
                documents = {**publishing.workshop.active.documents, **documents}
            await shadow.start(documents, str(asked.get("why", "")), None)
        except Refused as error:
            raise InvalidParams(error.message) from None
        return _describe_shadow(await shadow.look(stretches=0))

    async def look_at_shadow(_asked: Mapping[str, Json]) -> Json:
        await shadow.restore()
        return _describe_shadow(await shadow.look())

    async def stop_shadow(_asked: Mapping[str, Json]) -> Json:
        await shadow.restore()
        try:
            return _describe_shadow(await shadow.stop(None))
        except Refused as error:
            raise InvalidParams(error.message) from None

    return {
        "policy-freeze": freeze,
        "policy-state": state,
        "policy-tools": list_tools,
        "policy-tool": describe_tool,
        "policy-propose": propose,
        "policy-shadow-start": start_shadow,
        "policy-shadow": look_at_shadow,
        "policy-shadow-stop": stop_shadow,
    }


def describe_kind(spec: ToolSpec) -> Mapping[str, Json]:
    """What of a tool policies look at."""
    return {"category": spec.category.value, "network": spec.network, "trusted": spec.trust is Trust.TRUSTED}


def _texts(asked: Mapping[str, Json], name: str) -> Mapping[str, str]:
    texts = asked.get(name)
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in cast("dict[str, Json]", texts).values()):
        raise InvalidParams(f"`{name}` is an object of texts")
    return cast("dict[str, str]", texts)


def _describe_shadow(state: ShadowState | None) -> Json:
    if state is None:
        return None
    result = state.result
    return {
        "version": state.shadow.version,
        "at": rfc3339(state.shadow.at),
        "behind": state.behind,
        "judged": result.judged,
        "unjudged": {why.value: count for why, count in result.unjudged.items()},
        "unlike": result.unlike_count,
        "differences": {change.value: result.differences[change] for change in ModeChange},
        "examples": [
            {
                "change": change.value,
                "conversationId": each.decision.conversation_id,
                "callId": each.decision.call_id,
                "tool": each.decision.tool,
                "before": each.before.value,
                "after": each.after.value,
                "rules": list(each.rules),
            }
            for change, found in result.examples.items()
            for each in found[:NAMED]
        ],
    }


def _describe_freeze(freeze: PolicyFreeze) -> dict[str, Json]:
    return {"id": freeze.id, "at": rfc3339(freeze.at), "why": freeze.why}


def _describe_answer(answer: ProposalAnswer, console: str) -> dict[str, Json]:
    report, proposal = answer.report, None if answer.proposal is None else answer.proposal.proposal
    return {
        "faults": [
            {
                "severity": each.severity.value,
                "file": each.file,
                "line": each.line,
                "column": each.column,
                "message": each.message,
            }
            for each in answer.faults
        ],
        "cases": None if report is None else {"total": report.total, "failed": [each.about for each in report.failures]},
        "conflict": None if answer.conflict is None else answer.conflict.version,
        "unchanged": answer.unchanged,
        "proposal": None
        if proposal is None
        else {"id": proposal.id, "version": proposal.draft.version, "needed": proposal.needed, "page": f"{console}/policy"},
    }
