"""What a policy was asked about a call, and what it answered: enough to put the same question to another policy."""

from __future__ import annotations

from typing import NamedTuple

from gateway.core.canonical import Json
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.moment import UNTOLD, Moment, restore_moment
from gateway.core.vocabulary import Category, PermissionMode, Profile, Trust


class Question(NamedTuple):
    """All of a call that a rule can look at. `label` is the higher of session and conversation, `taint` 1 after untrusted
    content. Whatever a policy is told beside these belongs in here too: a rehearsal knows nothing else."""

    principal: Principal
    spec: ToolSpec
    facts: CallFacts
    taint: int
    label: int
    moment: Moment = UNTOLD


class Judgement(NamedTuple):
    """A question with the answer of the policy in force: a mode, and the ids of the rules that it names."""

    question: Question
    mode: PermissionMode
    rules: tuple[str, ...]

    def described(self) -> dict[str, Json]:
        """What a record keeps of it, beside the person and the tool's name, which its leaf names."""
        question = self.question
        spec, facts = question.spec, question.facts
        reported: dict[str, Json] = {}
        if facts.path is not None:
            reported["path"] = facts.path
        if facts.host is not None:
            reported["host"] = facts.host
        if facts.bytes is not None:
            reported["bytes"] = facts.bytes
        if facts.recursive is not None:
            reported["recursive"] = facts.recursive
        if facts.second_path is not None:
            reported["secondPath"] = facts.second_path
        return {
            "mode": self.mode.value,
            "rules": self.rules,
            "profile": question.principal.profile.value,
            "taint": question.taint,
            "label": question.label,
            "category": spec.category.value,
            "network": spec.network,
            "source": spec.source,
            "interface": spec.interface_id,
            "trust": spec.trust.value,
            "facts": reported,
            **({} if question.moment == UNTOLD else {"moment": question.moment.told()}),
        }


def restore_judgement(described: dict[str, Json], principal_id: str, tool: str) -> Judgement:
    """The judgement that `described` describes. Raises KeyError, TypeError or ValueError for what no gateway wrote."""
    facts = described["facts"]
    spec = ToolSpec(
        name=tool,
        description="",
        interface_id=described["interface"],
        method_name=tool,
        param_schema={},
        category=Category(described["category"]),
        source=described["source"],
        network=described["network"],
        # Not in records of before rules could look at it.
        trust=Trust(described.get("trust", Trust.UNTRUSTED)),
    )
    question = Question(
        principal=Principal(principal_id, principal_id, Profile(described["profile"])),
        spec=spec,
        facts=CallFacts(
            path=facts.get("path"),
            host=facts.get("host"),
            bytes=facts.get("bytes"),
            recursive=facts.get("recursive"),
            second_path=facts.get("secondPath"),
        ),
        taint=described["taint"],
        label=described["label"],
        moment=restore_moment(described.get("moment", {})),
    )
    return Judgement(question, PermissionMode(described["mode"]), tuple(described["rules"]))
