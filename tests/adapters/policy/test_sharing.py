"""Whatever a call is and whenever it is made: the verdict that it shares is the one that it gets afresh.

Both engines get the same generated policy and the same calls. One remembers and shares; the other asks Cedar about each call as
it is. Names, paths and hosts are spelt in the ways in which two of them are the same to people and not to a rule, or the reverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.moment import Moment
from gateway.core.vocabulary import Category, Profile, Trust
from gateway.runtime.ports import PolicySubject
from tests.adapters.policy.test_likeness import ACTIONS, enact, quote, tell_all_apart, write

SPELLINGS = (
    *("notes/a", "notes/a/", "Notes/a", "notes//a", "notes/./a", "notes/ä", "notes/a\u0308", "notes/a\u200b", "notes/а", "notes"),
    *("::1", "[::1]", "0:0:0:0:0:0:0:1", "127.0.0.1", "127.0.0.1:80", "127.1", "example.org", "example.org.", "EXAMPLE.org"),
    *("x", "xn--bcher-kva.example", "", "*"),
)
SIZES = (0, 1, 4095, 4096, 4097, 2**53 - 1)
COUNTS = (0, 1, 2, 3, 9)
MINUTES = (0, 539, 540, 1019, 1020, 1439)

spellings = st.sampled_from(SPELLINGS)
# No rule may hold an invisible character as it is.
literals = spellings.map(lambda text: quote(text.replace("\u200b", "\\u{200b}")))
lists = st.lists(literals, min_size=1, max_size=3).map(lambda each: f"[{', '.join(each)}]")
patterns = st.sampled_from(("notes/*", "*a", "*.org", "127.*", "*:*", "N*", "*ä", "\\*", "*")).map(quote)
of_texts = st.builds(
    "{} {} {}".format,
    st.sampled_from(("resource.name", "resource.source", "resource.interface")),
    st.sampled_from(("==", "!=")),
    literals,
)


def reported(name: str, condition: str) -> str:
    """A condition over a fact, where it is reported; `@` stands for it."""
    return f"context.facts has {name} && {condition.replace('@', f'context.facts.{name}')}"


of_facts = st.one_of(
    st.builds(reported, st.sampled_from(("path", "host")), literals.map("@ == {}".format)),
    st.builds(reported, st.sampled_from(("path", "host")), patterns.map("@ like {}".format)),
    st.builds(reported, st.sampled_from(("path", "host")), lists.map("{}.contains(@)".format)),
    st.builds(reported, st.just("host"), st.just("principal.autoHosts.contains(@)")),
    st.builds(reported, st.just("path"), st.just("context.toolsUsed.contains(@)")),
    st.builds(reported, st.just("bytes"), st.sampled_from(SIZES).map("@ > {}".format)),
    st.builds(reported, st.just("bytes"), st.sampled_from(SIZES).map("@ == {}".format)),
    st.builds(reported, st.just("recursive"), st.just("@")),
)
of_moments = st.one_of(
    st.builds("context.callsInTurn {} {}".format, st.sampled_from((">", "==", "<=")), st.sampled_from(COUNTS)),
    st.sampled_from(COUNTS).map("context.callsInSession > {}".format),
    st.sampled_from(MINUTES).map("context.minuteOfDay >= {}".format),
    st.sampled_from(MINUTES).map("context.minuteOfDay < {}".format),
    st.just("[6, 7].contains(context.weekday)"),
    st.just("context.argumentsFromUntrusted"),
    st.just('resource.trust == "untrusted"'),
    st.just("context.taint == 1"),
    st.just("context.publishing"),
    st.sampled_from((0, 1, 2, 3)).map("context.label >= {}".format),
    literals.map("context.toolsUsed.contains({})".format),
    lists.map("context.toolsUsed.containsAll({})".format),
    lists.map("context.toolsUsed.containsAny({})".format),
    lists.map("{}.containsAll(context.toolsUsed)".format),
    st.just("context.toolsUsed.contains(resource.name)"),
    st.just("context.toolsUsed.isEmpty()"),
)
conditions = st.one_of(of_texts, of_facts, of_moments)
joined = st.builds("({}) {} ({})".format, conditions, st.sampled_from(("&&", "||")), conditions)
bodies = st.tuples(
    st.sampled_from(("permit", "permit", "forbid")),
    st.sampled_from(ACTIONS),
    st.just("resource"),
    st.sampled_from(("when", "unless")),
    st.one_of(conditions, joined),
)


def make_tool(name: str, source: str, interface: str, category: Category, trust: Trust) -> ToolSpec:
    return ToolSpec(name, "", interface, name, {}, category, source, network=False, trust=trust)


tools = st.builds(
    make_tool,
    spellings,
    spellings,
    spellings,
    st.sampled_from((Category.READ, Category.NETWORK)),
    st.sampled_from(Trust),
)
facts = st.one_of(
    st.none(),
    st.builds(
        CallFacts,
        path=st.one_of(st.none(), spellings),
        host=st.one_of(st.none(), spellings),
        bytes=st.one_of(st.none(), st.sampled_from(SIZES)),
        recursive=st.sampled_from((None, True, False)),
        second_path=st.one_of(st.none(), st.none(), spellings),
    ),
)
moments = st.builds(
    Moment,
    calls_in_turn=st.sampled_from(COUNTS),
    calls_in_session=st.sampled_from(COUNTS),
    tools_used=st.frozensets(spellings, max_size=3),
    minute_of_day=st.sampled_from(MINUTES),
    weekday=st.integers(1, 7),
    arguments_from_untrusted=st.booleans(),
)
calls = st.tuples(tools, facts, st.sampled_from((Profile.OPERATOR, Profile.GUEST)), st.integers(0, 1), st.integers(0, 3), moments)


def judge_afresh(policy: CedarPolicy) -> None:
    """Have the engine remember nothing, and take every call for what it is."""
    tell_all_apart(policy)
    in_force: Any = policy._in_force  # pyright: ignore[reportPrivateUsage] (nothing else can keep it from remembering)
    in_force._remember_tool = in_force._judge_tool
    in_force.reading.reduce = lambda moment: moment  # pyright: ignore[reportUnknownLambdaType]


def neighbours(one: Any, other: Any) -> Iterator[Any]:
    """The one call as the other in one thing alone, which is what a shared verdict could overlook."""
    for at in range(len(one)):
        yield (*one[:at], other[at], *one[at + 1 :])
    if one[1] is not None and other[1] is not None:
        for name in ("path", "host", "bytes", "recursive", "second_path"):
            yield (one[0], replace(one[1], **{name: getattr(other[1], name)}), *one[2:])
    if one[1] is not None:
        yield from ((one[0], replace(one[1], bytes=size), *one[2:]) for size in SIZES)
    for name in Moment._fields:
        yield (*one[:5], one[5]._replace(**{name: getattr(other[5], name)}))


@settings(max_examples=60, deadline=None, phases=(Phase.reuse, Phase.generate))
@given(st.lists(bodies, min_size=1, max_size=3), st.lists(calls, min_size=3, max_size=4))
def test_no_two_calls_share_a_verdict_that_one_of_them_would_not_get_afresh(made: list[Any], asked: list[Any]) -> None:
    rules = [write(number, body) for number, body in enumerate(made)]
    shared, afresh = enact(rules), enact(rules)
    judge_afresh(afresh)
    near = [each for one, other in pairwise(asked) for each in neighbours(one, other)]
    for spec, call, profile, taint, label, moment in (*asked, *near):
        subject = PolicySubject(Principal("prn_ada", "Ada", profile), 0, moment)
        expected = afresh.judge(subject, spec, call, taint=taint, label=label)
        assert shared.judge(subject, spec, call, taint=taint, label=label) == expected, (rules, spec, call, moment)
