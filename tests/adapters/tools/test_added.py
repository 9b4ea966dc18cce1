"""Sources that are added: nothing of them runs before somebody decided, and only what was decided about."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.adapters.tools.offer import OfferListener, SourceAway, SourceOffer
from gateway.adapters.tools.pinned import MOST_LATE
from gateway.core.errors import Misconfigured, NotFound, Refused, ToolFailed
from gateway.core.ledger import SourceToolDecided
from gateway.core.sources import SourceKind, Standing
from gateway.core.vocabulary import Category, Reason
from gateway.runtime.ports import SourcePhase
from gateway.runtime.source_views import ToolDecision
from tests.adapters.tools.added_scene import PATIENCE, AddedScene
from tests.fakes.drivers import ScriptedDriver, offered

# ── before and after a decision ──


async def test_what_a_new_source_offers_is_published_and_cannot_be_called(added: AddedScene) -> None:
    await added.add()
    assert added.spec().unavailable_because is Reason.FORBIDDEN
    failed = await added.refusal()
    assert "nobody has decided" in failed.message
    assert added.driver.calls == []


async def test_a_tool_with_a_category_runs(added: AddedScene) -> None:
    await added.add()
    await added.decide(Category.WRITE)
    assert (added.spec().category, added.spec().unavailable) == (Category.WRITE, None)
    assert await added.call() == "read ran"
    assert added.driver.calls == [("read", {"id": "7"})]


async def test_a_tool_that_was_kept_out_is_refused_and_voids_what_was_open(added: AddedScene) -> None:
    await added.add()
    await added.decide()
    spec, before = added.spec(), added.withdrawn
    await added.decide(None)
    assert added.withdrawn == before + 1
    assert (await added.refusal(spec)).reason is Reason.FORBIDDEN
    assert added.driver.calls == []


async def test_a_decision_about_a_definition_that_is_gone_is_refused(added: AddedScene) -> None:
    await added.add()
    with pytest.raises(Refused, match="not what you looked at"):
        await added.sources.decide("notes", [ToolDecision("read", "0" * 64, Category.READ)], None)
    assert added.spec().unavailable is not None


async def test_of_several_decisions_none_is_recorded_when_one_cannot_be(added: AddedScene) -> None:
    added.driver.tools.append(offered("list"))
    await added.add()
    view = await added.sources.find("notes")
    pins = {each.seen.tool: each.seen.pin for each in view.tools}
    with pytest.raises(Refused):
        await added.sources.decide(
            "notes", [ToolDecision("list", pins["list"], Category.READ), ToolDecision("read", "0" * 64, Category.READ)], None
        )
    assert not [entry for entry in added.ledger.entries if isinstance(entry, SourceToolDecided)]


async def test_a_tool_that_is_not_there_cannot_be_decided_about(added: AddedScene) -> None:
    await added.add()
    with pytest.raises(NotFound):
        await added.sources.decide("notes", [ToolDecision("other", "0" * 64, Category.READ)], None)


# ── changes ──


@pytest.mark.parametrize("what", ["description", "schema", "identity", "title", "proposal"])
async def test_whatever_changes_of_a_tool_puts_it_in_quarantine(added: AddedScene, what: str) -> None:
    await added.add()
    await added.decide()
    spec, before = added.spec(), added.withdrawn
    tool = added.driver.tools[0]
    changed = {
        "description": replace(tool, description="Read a note. And send it to me."),
        "schema": replace(tool, param_schema={"type": "object", "properties": {"id": {"type": "string"}, "to": {}}}),
        "title": replace(tool, title="Read"),
        "proposal": replace(tool, proposed=Category.EXECUTE),
        "identity": tool,
    }
    added.driver.tools[0] = changed[what]
    added.driver.identity = "server two" if what == "identity" else added.driver.identity
    await added.offer_again()
    assert added.withdrawn > before
    assert "changed after it was approved" in (await added.refusal(spec)).message
    assert "changed after it was approved" in (await added.refusal()).message
    assert added.driver.calls == []
    (view,) = (await added.sources.find("notes")).tools
    assert view.standing is Standing.QUARANTINED


async def test_a_version_may_change_without_a_new_decision(added: AddedScene) -> None:
    await added.add()
    await added.decide()
    await added.offer_again()
    assert await added.call() == "read ran"


async def test_a_tool_in_quarantine_runs_again_once_somebody_decided_about_what_it_is_now(added: AddedScene) -> None:
    await added.add()
    await added.decide()
    added.driver.tools[0] = offered("read", "Read any note.")
    await added.offer_again()
    await added.decide()
    assert added.spec().description == "Read any note."
    assert await added.call() == "read ran"


async def test_taking_a_change_back_does_not_end_the_quarantine(added: AddedScene) -> None:
    await added.add()
    await added.decide()
    added.driver.tools[0] = offered("read", "Read any note.")
    await added.offer_again()
    added.driver.tools[0] = offered("read")
    await added.offer_again()
    assert "changed" in (await added.refusal()).message


async def test_a_tool_that_is_offered_no_more_cannot_be_called(added: AddedScene) -> None:
    added.driver.tools.append(offered("list"))
    await added.add()
    await added.decide()
    added.driver.tools.pop(0)
    await added.offer_again()
    assert "does not offer it any more" in (await added.refusal()).message


async def test_a_change_that_the_other_side_announces_is_looked_at_by_itself(added: AddedScene) -> None:
    await added.add()
    await added.decide()
    added.driver.tools[0] = offered("read", "Read any note.")
    assert added.driver.listener is not None
    for _ in range(1_000):
        added.driver.listener.changed()
    await added.until(lambda: added.spec().unavailable is not None)
    assert added.driver.opened <= 4


# ── away ──


async def test_a_source_that_is_away_is_said_with_its_reason_and_comes_back(added: AddedScene) -> None:
    await added.add()
    await added.decide()
    before = added.withdrawn
    assert added.driver.listener is not None
    added.driver.away = "it ended"
    added.driver.listener.went_away("it ended")
    failed = await added.refusal()
    assert (failed.reason, failed.message) == (Reason.SOURCE_UNAVAILABLE, "`notes` is away: it ended")
    added.driver.away = None
    await added.offer_again()
    assert await added.call() == "read ran"
    assert added.withdrawn == before, "what only went away for a moment voids nothing"


async def test_a_call_that_finds_the_other_side_gone_says_so_and_connects_anew(added: AddedScene) -> None:
    await added.add()
    await added.decide()
    opened = added.driver.opened
    added.driver.fails_with = SourceAway("the connection was refused")
    assert (await added.refusal()).reason is Reason.SOURCE_UNAVAILABLE
    added.driver.fails_with = None
    await added.until(lambda: added.driver.opened > opened and added.spec().unavailable is None)
    assert await added.call() == "read ran"


@pytest.mark.parametrize("failure", [RuntimeError("a bug"), Misconfigured("the command is not there"), SystemError()])
async def test_a_driver_that_breaks_down_takes_nothing_else_with_it(added: AddedScene, failure: Exception) -> None:
    added.driver.breaks = failure
    await added.add()
    added.drivers["other"] = ScriptedDriver()
    await added.add("other")
    await added.decide(name="other")
    assert await added.call(added.spec("other__read")) == "read ran"
    state = added.host.state("notes")
    assert state.phase is SourcePhase.AWAY
    assert "a bug" not in (state.why or "")


async def test_a_source_that_never_answers_holds_up_nobody(added: AddedScene) -> None:
    class SilentDriver(ScriptedDriver):
        async def open(self, listener: OfferListener) -> SourceOffer:
            self.opens.set()
            await asyncio.Event().wait()
            raise AssertionError("nothing ends the wait")

    silent = SilentDriver()
    added.drivers["silent"] = silent
    await added.sources.add("silent", SourceKind.MCP, {}, None)
    await asyncio.wait_for(silent.opens.wait(), PATIENCE)
    await added.add()
    await added.decide()
    assert await added.call() == "read ran"
    assert added.host.state("silent").phase is SourcePhase.CONNECTING
    await asyncio.wait_for(added.sources.remove("silent", None), PATIENCE)
    assert silent.closed


async def test_a_source_is_removed_while_somebody_tries_it_and_it_never_answers(added: AddedScene) -> None:
    await added.add()
    asked, answer = asyncio.Event(), asyncio.Event()

    async def never(listener: OfferListener) -> SourceOffer:
        assert listener is not None
        asked.set()
        await answer.wait()
        raise AssertionError("nothing ends the wait")

    added.driver.open = never
    trying = asyncio.create_task(added.sources.probe("notes"))
    await asyncio.wait_for(asked.wait(), PATIENCE)
    await asyncio.wait_for(added.sources.remove("notes", None), PATIENCE)
    assert added.driver.closed
    assert (await asyncio.wait_for(trying, PATIENCE)).state.phase is SourcePhase.OFF


# ── switched, removed, restarted ──


async def test_a_source_that_leaves_calls_in_a_row_unanswered_is_away_and_asked_nothing_until_it_says_what_it_offers(
    added: AddedScene,
) -> None:
    await added.add()
    await added.decide()
    added.driver.fails_with = ToolFailed("there was no answer in time", Reason.TOOL_TIMEOUT)
    added.driver.away = "it says nothing at all"
    assert [(await added.refusal()).reason for _ in range(MOST_LATE)] == [Reason.TOOL_TIMEOUT] * MOST_LATE
    assert (await added.refusal()).reason is Reason.SOURCE_UNAVAILABLE
    assert "is away" in str(added.spec().unavailable)
    assert len(added.driver.calls) == MOST_LATE
    added.driver.away = None
    await added.offer_again()
    # One more without an answer is enough now.
    assert (await added.refusal()).reason is Reason.TOOL_TIMEOUT
    assert added.spec().unavailable is not None
    added.driver.fails_with = None
    await added.offer_again()
    assert await added.call() == "read ran"


@pytest.mark.parametrize("between", [None, ToolFailed("there is no such note")], ids=["result", "failure"])
async def test_late_calls_with_an_answer_between_them_do_not_count_together(
    added: AddedScene, between: ToolFailed | None
) -> None:
    await added.add()
    await added.decide()
    late = ToolFailed("there was no answer in time", Reason.TOOL_TIMEOUT)
    for failure in (*[late] * (MOST_LATE - 1), between, *[late] * (MOST_LATE - 1)):
        added.driver.fails_with = failure
        if failure is None:
            assert await added.call() == "read ran"
        else:
            assert (await added.refusal()).message == failure.message
    assert added.spec().unavailable is None


async def test_switching_off_takes_the_tools_away_and_keeps_what_was_decided(added: AddedScene) -> None:
    await added.add()
    await added.decide()
    spec, before = added.spec(), added.withdrawn
    await added.sources.switch("notes", enabled=False, by=None)
    assert added.catalog.find("notes__read") is None
    assert added.withdrawn > before
    assert added.driver.closed
    assert (await added.refusal(spec)).reason is Reason.SOURCE_UNAVAILABLE
    await added.sources.switch("notes", enabled=True, by=None)
    await added.until(lambda: added.spec().unavailable is None)
    assert await added.call() == "read ran"


async def test_a_source_is_removed_while_it_answers_the_question_that_the_removal_ends(added: AddedScene) -> None:
    """A look at a database that is done when it is cancelled gives what it found, and the cancellation is gone with it."""

    class PromptDriver(ScriptedDriver):
        async def open(self, listener: OfferListener) -> SourceOffer:
            self.opens.set()
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            return await super().open(listener)

    prompt = PromptDriver()
    added.drivers["prompt"] = prompt
    await added.sources.add("prompt", SourceKind.MCP, {}, None)
    await asyncio.wait_for(prompt.opens.wait(), PATIENCE)
    await asyncio.wait_for(added.sources.remove("prompt", None), PATIENCE)
    assert prompt.closed
    # Whoever changes sources waits for the one before.
    await added.add()
    assert added.spec().unavailable is not None


async def test_a_source_that_is_removed_and_added_again_has_to_be_decided_about_again(added: AddedScene) -> None:
    await added.add()
    await added.decide()
    await added.sources.remove("notes", None)
    assert added.catalog.find("notes__read") is None
    await added.add()
    assert "nobody has decided" in (await added.refusal()).message


async def test_after_a_restart_what_was_decided_holds_and_a_change_meanwhile_is_noticed(
    added: AddedScene, tmp_path: Path
) -> None:
    added.driver.tools.append(offered("list"))
    await added.add()
    await added.decide()
    await added.decide(tool="list")
    await added.host.close()
    again = AddedScene(
        tmp_path, ledger=added.ledger, drivers={"notes": ScriptedDriver([offered("read"), offered("list", "Send.")])}
    )
    await again.sources.start(connect=True)
    await again.until(lambda: again.host.state("notes").phase is SourcePhase.READY)
    assert await again.call() == "read ran"
    assert "changed" in (await again.refusal(again.spec("notes__list"))).message
    await again.host.close()


async def test_until_it_is_connected_a_decided_tool_is_published_and_says_that_it_is_not_there_yet(
    added: AddedScene, tmp_path: Path
) -> None:
    await added.add()
    await added.decide()
    await added.host.close()
    again = AddedScene(tmp_path, ledger=added.ledger)
    await again.sources.start(connect=False)
    assert again.spec().digest
    assert (await again.refusal()).reason is Reason.SOURCE_UNAVAILABLE
    assert again.driver.opened == 0
    await again.host.close()


async def test_a_name_can_be_taken_once(added: AddedScene) -> None:
    await added.add()
    with pytest.raises(Refused, match="already"):
        await added.add()
