"""What deciding costs: a call that is judged for the first time and again, a turn's tools, calls on record put to another policy,
and how long a new policy takes to reach a thousand open sockets.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

from bench.callers import start_callers
from bench.figures import Pace, median, report, report_pairs, say
from bench.limit_server import POLICY, prepare_decision
from bench.servers import raise_file_limit, start_gateway, work_folder
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import PolicyDocuments, from_texts, read_documents
from gateway.core.judgement import Judgement, Question
from gateway.core.labels import Exposure
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.moment import Moment
from gateway.core.vocabulary import Category, Label, Profile
from gateway.runtime.ports import PolicySubject, RecordedDecision, Toolbox
from gateway.runtime.publications import Publications
from gateway.runtime.rehearsal import rehearse
from gateway.server.control import SOCKET_NAME, ask_gateway

RULES, TOOLS, SOCKETS = 50, 60, 1_000
COLD, REMEMBERED, SNAPSHOTS = 60, 20_000, 10
PERSON = Principal("prn_bench", "Bench", Profile.OPERATOR)
SUBJECT = PolicySubject(PERSON, Label.PUBLIC)
TOLD = Moment(arguments_from_untrusted=False)
CATEGORIES = (Category.READ, Category.WRITE, Category.DESTRUCTIVE, Category.NETWORK, Category.EXECUTE)


async def measure(pace: Pace) -> None:
    """Processor time where nothing is waited for, the wall clock where sockets are."""
    texts = policy_of_many_rules()
    _measure_decisions(texts, pace)
    _measure_publications(texts, pace)
    _measure_replay(texts, pace)
    await _measure_activation(pace)


def policy_of_many_rules() -> PolicyDocuments:
    """The shipped policy, and as many rules about single folders as make fifty."""
    shipped = read_documents(POLICY)
    count = len(CedarPolicy(shipped).rules())
    own = "\n".join(
        f'@id("bench.folder-{number}")\n@why("Only for a benchmark")\n'
        'forbid (principal, action == Countersign::Action::"invoke", resource in Countersign::Category::"write")\n'
        f'when {{ context.facts has path && context.facts.path like "folder-{number}/*" }};'
        for number in range(RULES - count)
    )
    return from_texts({**shipped.texts(), "bench.cedar": own})


def tool(number: int) -> ToolSpec:
    """One of the tools of a snapshot."""
    name, category = f"tool_{number:02}", CATEGORIES[number % len(CATEGORIES)]
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return ToolSpec(name, f"Tool number {number}.", "bench", name, schema, category, "bench")


def _measure_decisions(texts: PolicyDocuments, pace: Pace) -> None:
    decide = prepare_decision()
    cold: list[tuple[float, float]] = []
    offered: list[float] = []
    again: list[float] = []
    for _ in range(pace.rounds):
        # A policy remembers its verdicts, also for calls that no rule tells apart: only a new one decides for the first time.
        policies = [CedarPolicy(texts) for _ in range(COLD)]
        firsts = median(_spend(partial(_judge, policy)) for policy in policies)
        cold.append((firsts * 1e3, median(_spend(partial(decide, f"tool_{number}")) for number in range(COLD)) * 1e3))
        again.append(_spend(partial(_judge_often, policies[-1])) / REMEMBERED * 1e6)
        # As at a gateway: a tool is judged for the list of its turn before any call of it.
        policies = [CedarPolicy(texts) for _ in range(COLD)]
        for policy in policies:
            policy.judge(SUBJECT, SPEC, None, taint=0, label=0)
        offered.append(median(_spend(partial(_judge, policy)) for policy in policies) * 1e3)
    report_pairs("policy/cold/p50", "ms", cold)
    report("policy/cold/offered/p50", median(offered), "ms")
    report("policy/remembered", median(again), "us")


FACTS = CallFacts(path="notes/todo.txt")
SPEC = tool(1)


def _judge(policy: CedarPolicy) -> object:
    return policy.judge(SUBJECT, SPEC, FACTS, taint=0, label=0)


def _judge_often(policy: CedarPolicy) -> None:
    for _ in range(REMEMBERED):
        policy.judge(SUBJECT, SPEC, FACTS, taint=0, label=0)


def _spend(work: Callable[[], object]) -> float:
    """Seconds of processor time of this thread: what others do on the machine counts for little."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


class _Tools:
    """The part of a toolbox that publishing asks."""

    def __init__(self) -> None:
        self._specs = tuple(map(tool, range(TOOLS)))

    def specs(self) -> tuple[ToolSpec, ...]:
        """Always the same."""
        return self._specs


def _measure_publications(texts: PolicyDocuments, pace: Pace) -> None:
    first: list[float] = []
    again: list[float] = []
    for _ in range(pace.rounds * SNAPSHOTS):
        publications = Publications(policy=CedarPolicy(texts), toolbox=cast("Toolbox", _Tools()))
        first.append(_spend(partial(_publish, publications)))
        again.append(_spend(partial(_publish, publications)))
    report(f"policy/snapshot/{TOOLS}/cold", median(first) * 1e3, "ms")
    report(f"policy/snapshot/{TOOLS}/unchanged", median(again) * 1e3, "ms")


def _publish(publications: Publications) -> object:
    return publications.publish(SUBJECT, Exposure()).written


def _measure_replay(texts: PolicyDocuments, pace: Pace) -> None:
    own, candidate = CedarPolicy(texts), CedarPolicy(read_documents(POLICY))
    rates: list[float] = []
    grown: list[float] = []
    for _ in range(pace.rounds):
        before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        result = rehearse(_decisions(own, pace.calls // 10), lambda _version: own, candidate)
        rates.append(result.judged / (time.process_time() - began))
        grown.append((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3)
        assert result.reproduced == result.judged == pace.calls // 10
    report("policy/replay", median(rates), "decisions/s of processor")
    report("policy/replay/memory", max(grown), "MB more at most")


def _decisions(policy: CedarPolicy, count: int) -> Iterator[RecordedDecision]:
    """Calls as a record tells them: people, tools and paths in turn, each with the verdict that its policy gave."""
    people = [Principal(f"prn_{number}", "Bench", Profile.OPERATOR) for number in range(40)]
    specs = [tool(number) for number in range(TOOLS)]
    for number in range(count):
        person, spec = people[number % len(people)], specs[number % TOOLS]
        question = Question(
            person, spec, CallFacts(path=f"folder-{number % 97}/{number}.txt"), int(number % 3 == 0), number % 4, TOLD
        )
        subject = PolicySubject(person, question.label, TOLD)
        verdict = policy.judge(subject, spec, question.facts, taint=question.taint, label=question.label)
        judged = Judgement(question, verdict.mode, tuple(rule.id for rule in verdict.because))
        yield RecordedDecision(
            at=number, index=number, principal_id=person.id, conversation_id="cnv", call_id=f"call_{number}", tool=spec.name,
            version=policy.version, judgement=judged, asked=False, ran=True,
        )  # fmt: skip


async def _measure_activation(pace: Pace) -> None:
    """From asking a gateway that keeps its policy in files to read it anew, until the last of the sockets was told that the
    tools of its turn are no longer those."""
    raise_file_limit()
    last: list[float] = []
    with work_folder() as home:
        async with start_gateway(home) as gateway, start_callers() as callers:
            await callers.open("ours", gateway.process.pid, gateway.target, SOCKETS)
            say(f"policy: {SOCKETS} sockets with a turn")
            rules = home / "policy" / "default.cedar"
            for number in range(pace.rounds):
                await callers.begin_turns("ours")
                # Any other text is another version, and ends what was published under the last.
                rules.write_text(f"{rules.read_text()}// {number}\n")
                await callers.listen("ours", "snapshot/revoked")
                began = time.monotonic()
                assert await ask_gateway(gateway.process.state / SOCKET_NAME, {"command": "reload"}) is not None
                last.append(await callers.heard("ours") - began)
    report(f"policy/activation/{SOCKETS}", median(last), "s")
