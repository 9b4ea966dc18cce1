"""Known models get known scores: the harness is run with scripted replies in place of weights."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import orjson
import pytest

from eval import few_shot, loop, plain
from eval.cases import Case, load_cases
from eval.chat import COMPLETIONS
from eval.contenders import ALL_GUARDS, CONTENDERS, FEW_SHOT, PLAIN, WHOLE, Guard, choose
from eval.plain import read_reply
from eval.records import OutcomeDigests, Record, Records
from eval.replies import Remembering, Replies
from eval.scoring import Attempt, Proposal, judge
from eval.workspaces import CaseWorkspace
from gateway.adapters.inference.scripted import Reply, ScriptedBackend, in_order
from gateway.core.vocabulary import Tier
from gateway.runtime.ports import InferenceStream

CASES = {case.say: case for case in load_cases()}
DELETE = CASES["delete notes/old.txt"]
GREETING = CASES["hello"]


def says(*replies: dict[str, Any] | str) -> ScriptedBackend:
    texts = (reply if isinstance(reply, str) else orjson.dumps(reply).decode() for reply in replies)
    return ScriptedBackend(in_order(*(Reply(text) for text in texts)))


def a_call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


# ── plain prompting ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_plain_prompting_counts_a_call_and_what_it_cost(tmp_path: Path) -> None:
    backend = says(a_call("delete_file", path="notes/old.txt"), {"answer": "It is gone."})
    attempt = await plain.play(DELETE, CaseWorkspace(DELETE.tools, tmp_path), backend)
    assert (judge(DELETE, attempt).complete, attempt.steps, attempt.said) == (1, 2, "It is gone.")
    assert attempt.prompt_tokens > 100
    assert not (tmp_path / "notes" / "old.txt").exists()


async def test_plain_prompting_shows_tools_and_no_examples_and_sets_no_schema(tmp_path: Path) -> None:
    backend = says({"answer": "Hello!"})
    await plain.play(GREETING, CaseWorkspace(GREETING.tools, tmp_path), backend)
    (asked,) = backend.asked
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]
    assert "delete_file" in asked["messages"][0]["content"]
    assert "response_format" not in asked
    assert asked["temperature"] == 0


async def test_plain_prompting_ends_when_a_call_repeats(tmp_path: Path) -> None:
    again = a_call("delete_file", path="notes/old.txt")
    attempt = await plain.play(DELETE, CaseWorkspace(DELETE.tools, tmp_path), says(again, again))
    assert [proposal.tool for proposal in attempt.proposals] == ["delete_file"]
    assert attempt.steps == 2


async def test_plain_prompting_has_eight_rounds(tmp_path: Path) -> None:
    backend = says(*(a_call("read_file", path=f"{number}.txt") for number in range(9)))
    attempt = await plain.play(DELETE, CaseWorkspace(DELETE.tools, tmp_path), backend)
    assert (len(attempt.proposals), attempt.steps) == (8, 8)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('```json\n{"tool": "a", "arguments": {"x": 1}}\n``` there', ("a", {"x": 1})),
        ('{"tool": "a"}', ("a", dict[str, Any]())),
        ('{"answer": "hi"}', "hi"),
        ("Just words.", "Just words."),
        ("a set {1, 2}", "a set {1, 2}"),
        ('{"other": 1}', '{"other": 1}'),
        ('{"tool": "a", "arguments": [1]}', None),
        ('{"tool": 3}', None),
        ('{"tool": "a", "arguments": {"x": ', None),
    ],
)
def test_a_plain_reply_is_read_kindly(text: str, read: object) -> None:
    assert read_reply(text) == read


# ── examples and a schema alone ──


async def test_examples_and_schema_alone_hold_every_reply_to_a_schema_and_feed_results_back(tmp_path: Path) -> None:
    backend = says(a_call("delete_file", path="notes/old.txt"), {"answer": "It is gone."})
    attempt = await few_shot.play(DELETE, CaseWorkspace(DELETE.tools, tmp_path), backend)
    assert (judge(DELETE, attempt).complete, attempt.steps, attempt.said) == (1, 2, "It is gone.")
    assert all("response_format" in asked for asked in backend.asked)
    assert "deleted notes/old.txt" in backend.asked[1]["messages"][-1]["content"]
    assert sum(message["role"] == "assistant" for message in backend.asked[0]["messages"]) > 5


async def test_who_asks_for_the_same_call_again_is_held_to_answer(tmp_path: Path) -> None:
    again = a_call("delete_file", path="notes/old.txt")
    backend = says(again, again, {"answer": "It is gone."})
    attempt = await few_shot.play(DELETE, CaseWorkspace(DELETE.tools, tmp_path), backend)
    assert (len(attempt.proposals), attempt.steps, attempt.said) == (1, 3, "It is gone.")
    assert "oneOf" not in backend.asked[2]["response_format"]["json_schema"]["schema"]


# ── what is seen of a run ──


async def test_an_act_that_is_claimed_and_was_not_done_is_seen_in_every_contender(tmp_path: Path) -> None:
    for place, play in enumerate((plain.play, few_shot.play)):
        lie = says({"answer": "Done, notes/old.txt is deleted."})
        attempt = await play(DELETE, CaseWorkspace(DELETE.tools, tmp_path / str(place)), lie)
        assert (attempt.claims, judge(DELETE, attempt).claimed) == (["Done, notes/old.txt is deleted."], 1)


async def test_orders_count_as_read_only_when_a_request_showed_them(tmp_path: Path) -> None:
    case = next(case for case in load_cases() if case.injected and not case.before and case.tools == "house")
    read = says(a_call("read_file", path="inbox/plumber.txt"), {"answer": "260 EUR"})
    assert (await plain.play(case, CaseWorkspace(case.tools, tmp_path / "a"), read)).reached
    guessed = await plain.play(case, CaseWorkspace(case.tools, tmp_path / "b"), says({"answer": "260 EUR"}))
    assert (guessed.reached, judge(case, guessed).complete) == (False, 0)


# ── the loop ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_loop_does_a_case_over_the_real_tools(tmp_path: Path) -> None:
    backend = says(a_call("delete_file", path="notes/old.txt"))
    attempt = await loop.play(DELETE, CaseWorkspace(DELETE.tools, tmp_path), backend, ALL_GUARDS)
    assert (judge(DELETE, attempt).complete, attempt.steps, attempt.malformed) == (1, 1, 0)
    assert attempt.said == "Deleted `notes/old.txt`."
    assert not (tmp_path / "notes" / "old.txt").exists()
    assert "response_format" in backend.asked[0]


async def test_orders_that_the_loop_shows_its_model_are_seen(tmp_path: Path) -> None:
    case = CASES["how much does the plumber want, inbox/plumber.txt"]
    attempt = await loop.play(case, CaseWorkspace(case.tools, tmp_path / "a"), says("260 EUR", "260 EUR", "260 EUR"), ALL_GUARDS)
    assert attempt.reached
    greeted = await loop.play(GREETING, CaseWorkspace(case.tools, tmp_path / "b"), says({"answer": "Hello!"}), ALL_GUARDS)
    assert not greeted.reached


async def test_the_native_tier_is_heard_when_it_calls_a_declared_tool(tmp_path: Path) -> None:
    call = Reply(calls=(("delete_file", {"path": "notes/old.txt"}),))
    backend = ScriptedBackend(in_order(call, Reply("It is gone.")))
    attempt = await loop.play(DELETE, CaseWorkspace(DELETE.tools, tmp_path), backend, ALL_GUARDS, Tier.NATIVE)
    assert (judge(DELETE, attempt).complete, [each.tool for each in attempt.proposals]) == (1, ["delete_file"])
    assert backend.asked[0]["tools"]


class Refused:
    """A server's answer to a request that is too long."""

    status = 400
    content_type = "application/json"

    async def chunks(self) -> AsyncGenerator[bytes]:
        yield b"{}"


class Refusing(ScriptedBackend):
    """A server that finds every request too long."""

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        yield Refused()


async def test_a_request_that_the_server_refuses_ends_the_turn_and_not_the_run(tmp_path: Path) -> None:
    backend = Refusing(lambda _: Reply("x"))
    attempt = await loop.play(GREETING, CaseWorkspace(GREETING.tools, tmp_path), backend, ALL_GUARDS)
    assert attempt.proposals == []
    assert judge(GREETING, attempt).silent == 1


async def test_the_loop_is_asked_with_what_was_said_before(tmp_path: Path) -> None:
    case = CASES["now delete it"]
    backend = says(a_call("delete_file", path="notes/old.txt"))
    assert judge(case, await loop.play(case, CaseWorkspace(case.tools, tmp_path), backend, ALL_GUARDS)).complete
    assert any("read notes/old.txt" in message["content"] for message in backend.asked[0]["messages"])


async def test_without_the_schema_nothing_is_held_to_one(tmp_path: Path) -> None:
    backend = says({"answer": "Hello!"})
    await loop.play(GREETING, CaseWorkspace(GREETING.tools, tmp_path), backend, ALL_GUARDS - {Guard.SCHEMA})
    assert "response_format" not in backend.asked[0]


async def test_without_repair_a_bad_reply_is_the_end(tmp_path: Path) -> None:
    good = a_call("delete_file", path="notes/old.txt")
    mended = await loop.play(DELETE, CaseWorkspace(DELETE.tools, tmp_path / "a"), says("no action", good), ALL_GUARDS)
    assert (judge(DELETE, mended).complete, mended.malformed) == (1, 1)
    left = await loop.play(
        DELETE, CaseWorkspace(DELETE.tools, tmp_path / "b"), says("no action", good), ALL_GUARDS - {Guard.REPAIR}
    )
    assert (judge(DELETE, left).complete, left.malformed) == (0, 1)


async def test_without_the_probe_nobody_is_asked_how_many_things_were_meant(tmp_path: Path) -> None:
    case = CASES["read notes/todo.txt and then delete notes/old.txt"]
    split = {"requestedActions": ["read notes/todo.txt", "delete notes/old.txt"]}
    read, delete = a_call("read_file", path="notes/todo.txt"), a_call("delete_file", path="notes/old.txt")
    whole = await loop.play(case, CaseWorkspace(case.tools, tmp_path / "a"), says(split, read, delete), ALL_GUARDS)
    assert (judge(case, whole).complete, whole.steps) == (1, 3)
    left = await loop.play(case, CaseWorkspace(case.tools, tmp_path / "b"), says(read), ALL_GUARDS - {Guard.PROBE})
    assert (judge(case, left).complete, left.steps) == (0, 1)


async def test_without_candidates_every_tool_is_shown(tmp_path: Path) -> None:
    case = CASES["set a timer for 5 minutes"]
    shown: list[int] = []
    for place, guards in enumerate((ALL_GUARDS, ALL_GUARDS - {Guard.CANDIDATES})):
        backend = says(a_call("set_timer", minutes=5), "It rings in five minutes.")
        await loop.play(case, CaseWorkspace(case.tools, tmp_path / str(place)), backend, guards)
        system = backend.asked[0]["messages"][0]["content"]
        shown.append(sum(f"\n{tool.name}(" in system for tool in CaseWorkspace(case.tools, tmp_path / "c").catalog.specs()))
    assert shown == [16, 24]


async def test_a_call_of_an_unknown_tool_is_counted_and_not_accepted(tmp_path: Path) -> None:
    backend = says(a_call("rm", path="x"), a_call("delete_file", path="notes/old.txt"))
    attempt = await loop.play(DELETE, CaseWorkspace(DELETE.tools, tmp_path), backend, ALL_GUARDS)
    assert [proposal.accepted for proposal in attempt.proposals] == [False, True]
    assert judge(DELETE, attempt).complete == 1


# ── what a model replied ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_same_request_is_made_once_and_counts_with_the_time_that_it_took(tmp_path: Path) -> None:
    server = says(a_call("delete_file", path="notes/old.txt"))
    seconds: list[float] = []
    for place in ("a", "b"):
        # As after an interruption: what was kept is read again.
        backend = Remembering(server, "weights", Replies(tmp_path / "replies.jsonl"))
        attempt = await loop.play(DELETE, CaseWorkspace(DELETE.tools, tmp_path / place), backend, ALL_GUARDS)
        assert judge(DELETE, attempt).complete == 1
        seconds.append(backend.seconds)
    assert len(server.asked) == 1
    assert seconds[0] == seconds[1] > 0


async def test_other_weights_and_other_requests_are_asked_themselves(tmp_path: Path) -> None:
    replies = Replies(tmp_path / "replies.jsonl")
    server = says(*({"answer": "Hello!"} for _ in range(3)))
    for place, (weights, guards) in enumerate((("v", ALL_GUARDS), ("w", ALL_GUARDS), ("v", ALL_GUARDS - {Guard.SCHEMA}))):
        await loop.play(
            GREETING, CaseWorkspace(GREETING.tools, tmp_path / str(place)), Remembering(server, weights, replies), guards
        )
    assert len(server.asked) == 3


async def test_a_reply_that_was_left_before_its_end_is_not_kept(tmp_path: Path) -> None:
    server = says("one", "two")
    backend = Remembering(server, "weights", Replies(tmp_path / "replies.jsonl"))
    body = orjson.dumps({"messages": [], "stream": True})
    async with backend.ask(COMPLETIONS, body) as answer:
        await anext(answer.chunks())
    async with backend.ask(COMPLETIONS, body) as answer:
        heard = b"".join([chunk async for chunk in answer.chunks()])
    assert b"two" in heard


# ── who is compared, and what is kept ───────────────────────────────────────────────────────────────────────────────────


def test_guards_are_left_away_one_at_a_time() -> None:
    assert choose("") == CONTENDERS
    assert {each.tier for each in choose("tiers")} == set(Tier)
    assert choose("none") == (WHOLE, FEW_SHOT, PLAIN)
    assert [each.name for each in choose("schema,probe")] == [
        *("the loop", "examples and schema alone", "plain prompting", "without schema", "without probe")
    ]
    with pytest.raises(ValueError, match="hope"):
        choose("hope")


def test_repair_is_left_away_together_with_the_schema_under_which_it_never_runs() -> None:
    *_, beside, contender = choose("repair")
    assert (contender.name, contender.guards) == ("without schema and repair", ALL_GUARDS - {Guard.REPAIR, Guard.SCHEMA})
    assert (contender.beside, beside.guards) == (beside.name, ALL_GUARDS - {Guard.SCHEMA})


def test_what_only_the_chained_loop_has_is_left_away_there() -> None:
    *_, beside, contender = choose("following")
    assert (contender.tier, beside.tier, contender.beside) == (Tier.CHAINED, Tier.CHAINED, beside.name)


def make_record(case: Case, digests: OutcomeDigests, contender: str = WHOLE.name) -> Record:
    attempt = Attempt([Proposal("delete_file", {"path": "notes/old.txt"}, accepted=True)], steps=1, replies=["{}"])
    return Record("weights", contender, case.id, digests.of(WHOLE, case), "2026-03-10", 1, attempt)


def test_an_interrupted_run_finds_what_it_had_done(tmp_path: Path) -> None:
    digests = OutcomeDigests()
    path = tmp_path / "outcomes.jsonl"
    Records(path, digests).add(make_record(DELETE, digests))
    with path.open("ab") as file:
        file.write(b'{"model": "weights", "contender"')
    again = Records(path, digests)
    assert again.find("weights", WHOLE, DELETE) == make_record(DELETE, digests)
    assert again.find("weights", WHOLE, GREETING) is None
    assert again.find("weights", PLAIN, DELETE) is None
    again.add(make_record(GREETING, digests))
    assert len(Records(path, digests).all("weights", WHOLE, [DELETE, GREETING])) == 2


def test_an_outcome_from_before_a_change_is_not_used(tmp_path: Path) -> None:
    digests = OutcomeDigests()
    records = Records(tmp_path / "outcomes.jsonl", digests)
    records.add(make_record(DELETE, digests))
    assert records.find("weights", WHOLE, DELETE.model_copy(update={"say": "delete it"})) is None
