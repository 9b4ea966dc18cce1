"""A model gets the loop that it carried when it was tried, within its requests."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from gateway.adapters.inference import tier_probe
from gateway.adapters.inference.tier_probe import MAX_REQUESTS, PER_TIER, TierProbe, probe_tier
from gateway.agent.ports import CallDelta, Chat, ChatDelta, ChatFailure, ChatFailureKind, ChatRequest, TextDelta
from gateway.agent.trial import TRIALS, Trial
from gateway.core.vocabulary import Tier

ANSWERS = ("It leaks near the gate.", "Done.", "A kite at the harbour.", "Bye.")
ARGUMENTS = {"search_files": "query", "save_expense": "merchant"}


@dataclass
class Model:
    """Does what each trial wants, in the loops that it knows; `weak` are the places of trials that it answers at once."""

    knows: frozenset[Tier]
    weak: Sequence[int] = ()
    fails: Mapping[Tier, ChatFailureKind] = field(default_factory=dict[Tier, ChatFailureKind])
    asked: list[Tier] = field(default_factory=list[Tier])

    async def __call__(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        tier = Tier.NATIVE if request.tools else Tier.CHAINED
        self.asked.append(tier)
        if tier in self.fails:
            raise ChatFailure(self.fails[tier], "no")
        # Wishes that stand by themselves are asked for one by one.
        said, place = max(
            (at, place)
            for at, each in enumerate(request.messages)
            for place, trial in enumerate(TRIALS)
            if each["role"] == "user" and each["content"] in trial.say
        )
        made = sum(each["role"] == "assistant" for each in request.messages[said:])
        wanted = [call for call in TRIALS[place].calls if call[1] in request.messages[said]["content"]]
        calls = [] if place in self.weak or tier not in self.knows else wanted[made:]
        answer = ANSWERS[place] if tier in self.knows and place not in self.weak else "Certainly"
        if not calls:
            yield TextDelta(answer if tier is Tier.NATIVE else json.dumps({"answer": answer}))
            return
        name, value = calls[0]
        arguments = {ARGUMENTS.get(name, "path"): value, **({"amount": "7.20"} if name == "save_expense" else {})}
        if tier is Tier.NATIVE:
            yield CallDelta(0, name, json.dumps(arguments))
        else:
            yield TextDelta(json.dumps({"tool": name, "arguments": arguments}))


async def probe(model: Model, *, takes_tools: bool = True) -> TierProbe:
    return await probe_tier(model, takes_tools=takes_tools, context_tokens=4096, report=lambda tier, made, most: None)


async def test_a_model_that_calls_declared_tools_is_native_and_is_not_tried_further() -> None:
    model = Model(frozenset({Tier.NATIVE, Tier.CHAINED}))
    assert await probe(model) == TierProbe(Tier.NATIVE, len(model.asked), native=4, chained=None, single=None)
    assert set(model.asked) == {Tier.NATIVE}


async def test_a_model_that_goes_on_from_results_as_json_is_chained() -> None:
    found = await probe(Model(frozenset({Tier.CHAINED})))
    assert (found.tier, found.chained) == (Tier.CHAINED, 4)


@pytest.mark.parametrize(("weak", "tier"), [([0], Tier.CHAINED), ([0, 1], Tier.SINGLE), ([2, 3], Tier.CHAINED)])
async def test_one_of_four_tasks_may_fail(weak: list[int], tier: Tier) -> None:
    # Words are all that the last task wants, so a model that only answers does that one.
    assert (await probe(Model(frozenset({Tier.CHAINED}), weak))).tier is tier


@pytest.mark.parametrize(
    ("native", "chained", "single", "tier"),
    [
        (4, 4, 4, Tier.NATIVE),
        (3, 4, 4, Tier.CHAINED),
        (3, 2, 2, Tier.NATIVE),
        (3, 3, 2, Tier.CHAINED),
        (2, 3, 3, Tier.SINGLE),
        (3, 3, 4, Tier.SINGLE),
        (2, 2, 0, Tier.SINGLE),
    ],
)
async def test_the_loop_with_the_most_tasks_is_taken_and_of_two_alike_the_simpler(
    monkeypatch: pytest.MonkeyPatch, native: int, chained: int, single: int, tier: Tier
) -> None:
    does = {Tier.NATIVE: native, Tier.CHAINED: chained, Tier.SINGLE: single}

    async def play(trial: Trial, chat: Chat, tier: Tier, context_tokens: int) -> bool:
        return TRIALS.index(trial) < does[tier]

    monkeypatch.setattr(tier_probe, "play", play)
    found = await probe(Model(frozenset()))
    assert found.tier is tier
    if tier is Tier.SINGLE and max(native, chained) < 3:
        assert found.single is None


async def test_a_model_whose_template_takes_no_tools_is_not_asked_with_them() -> None:
    model = Model(frozenset({Tier.NATIVE}))
    found = await probe(model, takes_tools=False)
    assert (found.tier, found.native) == (Tier.SINGLE, None)
    assert set(model.asked) == {Tier.CHAINED}


async def test_a_loop_is_given_up_once_it_cannot_pass() -> None:
    model = Model(frozenset())
    assert (await probe(model)).tier is Tier.SINGLE
    assert len(model.asked) < PER_TIER


async def test_no_model_is_asked_more_often_than_the_limit() -> None:
    class Babbler:
        asked = 0

        async def __call__(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
            self.asked += 1
            yield TextDelta("I will list the files.")

    babbler = Babbler()
    reported: list[int] = []
    found = await probe_tier(
        babbler, takes_tools=True, context_tokens=4096, report=lambda tier, made, most: reported.append(made)
    )
    assert found.tier is Tier.SINGLE
    assert babbler.asked == found.requests <= MAX_REQUESTS
    assert reported == list(range(babbler.asked))


async def test_a_model_server_that_refuses_tools_says_something_about_its_model() -> None:
    found = await probe(Model(frozenset({Tier.CHAINED}), fails={Tier.NATIVE: ChatFailureKind.REFUSED}))
    assert (found.tier, found.native) == (Tier.CHAINED, 0)


@pytest.mark.parametrize(
    "fault",
    [
        ChatFailureKind.UNREACHABLE,
        ChatFailureKind.BROKE_OFF,
        ChatFailureKind.UNAUTHORISED,
        ChatFailureKind.MODEL_UNAVAILABLE,
    ],
    ids=str,
)
async def test_a_model_server_that_cannot_be_asked_says_nothing(fault: ChatFailureKind) -> None:
    model = Model(frozenset({Tier.NATIVE}), fails={Tier.NATIVE: fault})
    with pytest.raises(ChatFailure):
        await probe(model)
    assert len(model.asked) == 1


@pytest.mark.parametrize("fault", [ChatFailureKind.FAILED, ChatFailureKind.REFUSED], ids=str)
async def test_a_model_server_that_fails_with_tools_and_without_says_nothing(fault: ChatFailureKind) -> None:
    model = Model(frozenset({Tier.NATIVE}), fails=dict.fromkeys((Tier.NATIVE, Tier.CHAINED), fault))
    with pytest.raises(ChatFailure):
        await probe(model)
    assert model.asked.count(Tier.CHAINED) == 1
