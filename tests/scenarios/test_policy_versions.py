"""The life of a policy version at the running gateway: signed on the console, by the right people, over what they were shown.

One gateway keeps its policy in the database, and every attack goes to it over its sockets.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from tests.harness.damage import unwritable
from tests.harness.person import Person, Turn
from tests.harness.socket import Socket, refused
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOTE_FREELY = """
@id("test.note-freely")
@why("Notes are harmless here, so they run at once")
permit (
  principal in Countersign::Profile::"operator",
  action == Countersign::Action::"invoke",
  resource == Countersign::Tool::"note"
);
"""
NO_BABBLE = """
@id("test.no-babble")
@why("Nobody babbles while this is tested")
forbid (principal, action, resource == Countersign::Tool::"babble");
"""
NOTHING = """
@id("test.nothing")
@why("Nobody may do anything at all")
forbid (principal, action, resource);
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    async with stage(tmp_path_factory.mktemp("versions"), COUNTERSIGN_POLICY_SOURCE="database") as scene:
        yield scene


@dataclass(frozen=True)
class Texts:
    """A policy as the console hands it out."""

    version: str
    documents: Mapping[str, str]

    @classmethod
    async def active(cls, console: Socket) -> Texts:
        got = await console.call("policy/get")
        assert got["source"] == "database"
        return cls(got["version"], {each["name"]: each["text"] for each in got["documents"]})

    def draft(self, added: str = "", **changed: str) -> list[dict[str, str]]:
        texts = {**self.documents, **changed}
        texts["default.cedar"] += added
        return [{"name": name, "text": text} for name, text in texts.items()]


def sign(person: Person, opened: Mapping[str, Any]) -> dict[str, Any]:
    """The passkey's answer to what was opened."""
    return person.authenticator.get(opened["passkeyOptions"])


async def propose(console: Socket, texts: Texts, added: str, reason: str = "for the test") -> Any:
    return await console.call("policy/propose", {"base": texts.version, "reason": reason, "documents": texts.draft(added)})


async def publish(person: Person, console: Socket, added: str) -> str:
    """Publish the policy in force with something added; the version."""
    answer = await propose(console, await Texts.active(console), added)
    assert answer["outcome"] == "proposed", answer
    signed = await console.call("policy/sign", signing(person, answer["opened"]))
    assert signed["outcome"] == "published", signed
    return str(signed["version"])


def signing(person: Person, opened: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"proposalId": opened["proposal"]["proposalId"], "assertion": sign(person, opened), **more}


async def roll_back(person: Person, console: Socket, version: str) -> None:
    base = (await Texts.active(console)).version
    answer = await console.call("policy/propose", {"base": base, "reason": "back to what it was", "version": version})
    assert answer["outcome"] == "proposed", answer
    assert (await console.call("policy/sign", signing(person, answer["opened"])))["outcome"] == "published"


async def test_a_signed_version_is_in_force_on_the_open_tab_and_can_be_rolled_back(scene: Scene) -> None:
    first = await Texts.active(scene.console)
    turn = await scene.begin()
    assert (await turn.invoke("babble", {"size": 1}))["outcome"] == "ok"
    version = await publish(scene.ada, scene.console, NO_BABBLE)
    await scene.shell.notification("policy/changed", policyVersion=version)
    stale = await turn.invoke("babble", {"size": 2})
    assert (stale["outcome"], stale["reason"]) == ("refusedByPolicy", "policyChanged")
    refreshed = await scene.shell.call(
        "turns/refresh", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
    )
    now = Turn(scene.shell, turn.conversation_id, refreshed["snapshot"], calls=9)
    assert (await now.invoke("babble", {"size": 3}))["reason"] == "forbidden"
    await roll_back(scene.ada, scene.console, first.version)
    assert (await Texts.active(scene.console)).version == first.version
    assert (await (await scene.begin()).invoke("babble", {"size": 4}))["outcome"] == "ok"
    history = await scene.console.call("policy/history")
    assert [each["version"] for each in history["versions"]] == [first.version, version, first.version]
    newest, middle, oldest = history["versions"]
    assert (newest["reason"], middle["reason"]) == ("back to what it was", "for the test")
    assert newest["signers"] == middle["signers"] != []
    assert (oldest["signers"], "reason" in oldest) == ([], False)


async def test_of_two_editors_the_second_gets_a_conflict_with_the_text_in_force(scene: Scene) -> None:
    begun = await Texts.active(scene.console)
    version = await publish(scene.ada, scene.console, NO_BABBLE)
    late = await propose(scene.console, begun, "\n// another edit\n")
    assert (late["outcome"], late["active"]["version"]) == ("conflict", version)
    assert NO_BABBLE in next(each["text"] for each in late["active"]["documents"] if each["name"] == "default.cedar")
    await roll_back(scene.ada, scene.console, begun.version)
    # One that was proposed before and is signed after, too.
    early = await propose(scene.console, begun, "\n// an early edit\n")
    await publish(scene.ada, scene.console, NO_BABBLE)
    outcome = await scene.console.call("policy/sign", signing(scene.ada, early["opened"]))
    assert (outcome["outcome"], "active" in outcome) == ("conflict", True)
    await scene.console.call("policy/withdraw", {"proposalId": early["opened"]["proposal"]["proposalId"]})
    await roll_back(scene.ada, scene.console, begun.version)


async def test_only_a_fresh_signature_over_the_shown_statement_counts(scene: Scene) -> None:
    texts = await Texts.active(scene.console)
    one, other = [(await propose(scene.console, texts, f"\n// {name}\n"))["opened"] for name in ("one", "other")]
    swapped = {**signing(scene.ada, one), "proposalId": other["proposal"]["proposalId"]}
    assert await refused(scene.console, "policy/sign", swapped) == "assertionInvalid"
    thief = Person.at(scene.gateway)
    thief.authenticator.create({**_creation(scene), "challenge": "AAAA"})
    stolen = {
        **signing(scene.ada, other),
        "assertion": thief.authenticator.get(other["passkeyOptions"] | {"allowCredentials": []}),
    }
    assert await refused(scene.console, "policy/sign", stolen) == "assertionInvalid"
    answer = signing(scene.ada, one)
    assert (await scene.console.call("policy/sign", answer))["outcome"] == "published"
    assert await refused(scene.console, "policy/sign", answer) == "not_found"
    replayed = {**answer, "proposalId": other["proposal"]["proposalId"]}
    assert await refused(scene.console, "policy/sign", replayed) == "assertionInvalid"
    await scene.console.call("policy/withdraw", {"proposalId": other["proposal"]["proposalId"]})
    events = await scene.console.call("audit/list", {"filter": {"event": "policy-signature:refused"}})
    assert len(events["entries"]) == 3
    await roll_back(scene.ada, scene.console, texts.version)


def _creation(scene: Scene) -> dict[str, Any]:
    host = urlsplit(scene.gateway.console_origin).hostname
    return {"rp": {"id": host, "name": "x"}, "user": {"id": "dGhpZWY", "name": "t", "displayName": "t"}}


async def test_the_agent_origin_and_guests_have_no_part_in_it(scene: Scene) -> None:
    texts = await Texts.active(scene.console)
    asked = {"base": texts.version, "reason": "let me", "documents": texts.draft(NOTE_FREELY)}
    guest = await scene.another("Eve", "guest")
    eve = await guest.console()
    asks: list[tuple[str, dict[str, Any]]] = [
        ("policy/get", {}),
        ("policy/history", {}),
        ("policy/validate", {"documents": asked["documents"]}),
        ("policy/compare", {"documents": asked["documents"]}),
        ("policy/rehearse", {"documents": asked["documents"], "days": 1}),
        ("policy/stop-rehearsal", {}),
        ("policy/shadow", {}),
        ("policy/start-shadow", {"documents": asked["documents"], "why": "let me"}),
        ("policy/stop-shadow", {}),
        ("policy/propose", asked),
        ("policy/proposals", {}),
        ("policy/open", {"proposalId": "pol_x"}),
        ("policy/sign", {"proposalId": "pol_x", "assertion": {}}),
        ("policy/withdraw", {"proposalId": "pol_x"}),
        ("policy/freeze", {"why": "because"}),
        ("policy/thaw-question", {}),
        ("policy/thaw", {"assertion": {}}),
    ]
    for method, params in asks:
        assert await refused(scene.shell, method, params) == "unknown_method"
        assert await refused(eve, method, params) == "operatorOnly"
    await guest.leave()


async def test_a_draft_is_told_its_faults_and_its_cases_and_none_of_them_can_be_proposed(scene: Scene) -> None:
    texts = await Texts.active(scene.console)
    broken = texts.draft('\n@id("x.broken")\n@why("It is broken here")\npermit (principal, action, resource\n;\n')
    check = await scene.console.call("policy/validate", {"documents": broken})
    (fault,) = check["faults"]
    place = texts.documents["default.cedar"].count("\n") + 5
    assert (fault["severity"], fault["file"], fault["line"], fault["column"]) == ("error", "default.cedar", place, 1)
    assert "version" not in check
    proposal = {"base": texts.version, "reason": "no", "documents": broken}
    assert (await scene.console.call("policy/propose", proposal))["outcome"] == "invalid"
    nothing = await scene.console.call("policy/validate", {"documents": texts.draft(NOTHING)})
    assert nothing["cases"]["failed"] > 0
    against = {"base": texts.version, "reason": "no", "documents": texts.draft(NOTHING)}
    assert (await scene.console.call("policy/propose", against))["outcome"] == "casesFail"
    empty = await scene.console.call("policy/validate", {"documents": texts.draft(**{"default.cedar": "// nothing"})})
    assert "no rule" in empty["faults"][0]["message"]
    unknown = await scene.console.call("policy/validate", {"documents": texts.draft(NO_BABBLE.replace("babble", "nosuch"))})
    assert [(each["severity"], "nosuch" in each["message"]) for each in unknown["faults"]] == [("warning", True)]
    assert (await Texts.active(scene.console)).version == texts.version
    assert await refused(scene.console, "policy/propose", {**against, "reason": " "}) == "reason"
    assert await refused(scene.console, "policy/get", {"version": "0" * 64}) == "not_found"


def many_rules(count: int) -> str:
    return "".join(f'@id("m{number}")@why("m")forbid(principal,action,resource);\n' for number in range(count))


async def test_too_many_rules_are_refused_with_their_place_and_the_policy_in_force_stays(scene: Scene, tmp_path: Path) -> None:
    texts = await Texts.active(scene.console)
    place = 2_000 - sum(text.count("@id(") for name, text in texts.documents.items() if name.endswith(".cedar")) + 1
    # A message to the gateway holds 256 KiB, so more come by files alone.
    check = await scene.console.call("policy/validate", {"documents": texts.draft(**{"many.cedar": many_rules(2_000)})})
    (fault,) = check["faults"]
    assert (fault["file"], fault["line"], fault["column"]) == ("many.cedar", place, 1)
    assert "at most 2,000 rules" in fault["message"]
    folder = tmp_path / "policy"
    (folder / "cases").mkdir(parents=True)
    for each in texts.draft(**{"many.cedar": many_rules(10_000)}):
        (folder / each["name"]).write_text(each["text"])
    code, output = await scene.gateway.run("policy", "check", "--policy", str(folder))
    assert (code, f"many.cedar:{place}:1: error: a policy may have at most 2,000 rules" in output) == (2, True), output
    assert (await Texts.active(scene.console)).version == texts.version


async def test_a_policy_that_forbids_its_author_has_to_be_confirmed(scene: Scene) -> None:
    texts = await Texts.active(scene.console)
    case = '[[case]]\nabout = "Nobody does anything"\nprofile = "operator"\ntool = { category = "read" }\nexpect = "forbidden"\n'
    documents = [
        *(each for each in texts.draft(NOTHING) if "cases/" not in each["name"]),
        {"name": "cases/nothing.toml", "text": case},
    ]
    asked = {"base": texts.version, "reason": "close everything", "documents": documents}
    opened = (await scene.console.call("policy/propose", asked))["opened"]
    assert opened["forbidsYou"] is True
    assert await refused(scene.console, "policy/sign", signing(scene.ada, opened)) == "forbidsItsAuthor"
    signed = await scene.console.call("policy/sign", signing(scene.ada, opened, confirmed=True))
    assert signed["outcome"] == "published"
    # Its author still reaches the console, and the decision table came with the version.
    assert [name for name in (await Texts.active(scene.console)).documents if "cases/" in name] == ["cases/nothing.toml"]
    back = await scene.console.call(
        "policy/propose", {"base": signed["version"], "reason": "open again", "documents": texts.draft()}
    )
    assert (await scene.console.call("policy/sign", signing(scene.ada, back["opened"])))["outcome"] == "published"
    assert (await Texts.active(scene.console)).documents == texts.documents


async def test_a_draft_is_compared_and_rehearsed_over_the_record(scene: Scene) -> None:
    texts = await Texts.active(scene.console)
    assert (await (await scene.begin()).invoke("babble", {"size": 5}))["outcome"] == "ok"
    same = await scene.console.call("policy/compare", {"documents": texts.draft()})
    assert (same["loosens"], same["differences"], same["loosened"]) == (False, [], [])
    tightened = await scene.console.call("policy/compare", {"documents": texts.draft(NO_BABBLE)})
    assert (tightened["loosens"], {each["change"] for each in tightened["differences"]}) == (False, {"newlyRefused"})
    longer = texts.documents["profiles.toml"].replace("calls_per_turn = ", "calls_per_turn = 9")
    loosened = await scene.console.call("policy/compare", {"documents": texts.draft(**{"profiles.toml": longer})})
    assert loosened["loosens"] is True
    assert "calls_per_turn" in loosened["loosened"][0]
    rehearsed = await scene.console.call("policy/rehearse", {"documents": texts.draft(NO_BABBLE), "days": 1})
    assert (rehearsed["unlike"], rehearsed["changes"][0]["change"]) == (0, "newlyRefused")
    assert (await scene.console.call("policy/stop-rehearsal"))["stopped"] is False


async def test_the_shell_of_the_host_proposes_and_the_console_signs(scene: Scene) -> None:
    texts = await Texts.active(scene.console)
    folder = scene.gateway.home / "policy"
    rules = folder / "default.cedar"
    before = rules.read_text()
    rules.write_text(before + NO_BABBLE)
    code, output = await scene.gateway.run("policy", "publish", str(folder), "--reason", "from the shell")
    rules.write_text(before)
    assert (code, "waits for one signature" in output) == (0, True), output
    (waiting,) = (await scene.console.call("policy/proposals"))["proposals"]
    assert (waiting["author"], waiting["reason"], waiting["signers"]) == ("command line", "from the shell", [])
    assert (await Texts.active(scene.console)).version == texts.version
    opened = await scene.console.call("policy/open", {"proposalId": waiting["proposalId"]})
    assert (await scene.console.call("policy/sign", signing(scene.ada, opened)))["outcome"] == "published"
    code, output = await scene.gateway.run("policy", "reload")
    assert (code, "keeps its policy in the database" in output) == (2, True), output
    code, output = await scene.gateway.run("policy", "rollback", texts.version[:12], "--reason", "never mind")
    assert code == 0, output
    (waiting,) = (await scene.console.call("policy/proposals"))["proposals"]
    opened = await scene.console.call("policy/open", {"proposalId": waiting["proposalId"]})
    assert (await scene.console.call("policy/sign", signing(scene.ada, opened)))["outcome"] == "published"
    assert (await Texts.active(scene.console)).version == texts.version


async def test_a_freeze_from_the_shell_holds_at_once_and_over_a_restart_until_a_passkey_ends_it(scene: Scene) -> None:
    turn = await scene.begin()
    waiting = await turn.start("note", {"what": "milk"}, "write-1")
    approval_id = await scene.asked("write-1")
    scene.console.notifications.clear()
    code, output = await scene.gateway.run("policy", "freeze", "something is wrong")
    assert (code, "Frozen since" in output) == (0, True), output
    state = await scene.console.notification("policy/state")
    assert state["freeze"]["why"] == "something is wrong"
    answer = await waiting
    assert (answer["outcome"], answer["reason"]) == ("refusedByPolicy", "policyFrozen")
    assert await refused(scene.console, "approvals/decide", {"approvalId": approval_id, "challenge": "x", "decision": "approve"})
    for tool in ("peek", "note"):
        result = await (await scene.begin()).invoke(tool, {"what": "x"})
        assert (result["outcome"], result["reason"]) == ("refusedByPolicy", "policyFrozen")
        assert "frozen" in result["error"]
    assert scene.effects(turn.conversation_id) == []
    code, output = await scene.gateway.run("policy", "thaw")
    assert (code, "passkey" in output) == (1, True), output
    await scene.ada.leave()
    await scene.gateway.kill()
    await scene.gateway.start()
    console, shell = await scene.ada.console(), await scene.ada.agent()
    result = await (await Turn.begin(shell)).invoke("peek", {"what": "x"})
    assert result["reason"] == "policyFrozen"
    question = await console.call("policy/thaw-question")
    forged = await scene.ada.console()
    assert await refused(forged, "policy/thaw", {"assertion": {"id": "x"}}) == "assertionInvalid"
    assert await refused(console, "policy/thaw", {"assertion": sign(scene.ada, question)}) == "challengeExpired"
    question = await console.call("policy/thaw-question")
    await console.call("policy/thaw", {"assertion": sign(scene.ada, question)})
    assert (await (await Turn.begin(shell)).invoke("peek", {"what": "x"}))["outcome"] == "ok"
    code, output = await scene.gateway.run("policy", "thaw")
    assert (code, "not frozen" in output) == (0, True), output
    assert await refused(console, "policy/thaw-question", {}) == "notFrozen"
    scene.console, scene.shell = console, shell


async def test_case_315_a_loosening_needs_a_second_operator_and_loses_no_signature_that_was_given(scene: Scene) -> None:
    bob = await scene.another("Bob", "operator")
    theirs = await bob.console()
    texts = await Texts.active(scene.console)
    answer = await propose(scene.console, texts, NOTE_FREELY)
    assert answer["outcome"] in ("proposed", "casesFail"), answer
    opened = answer["opened"]
    assert (opened["proposal"]["needed"], opened["comparison"]["loosens"]) == (2, True)
    first = await scene.console.call("policy/sign", signing(scene.ada, opened))
    assert (first["outcome"], first["missing"]) == ("signed", 1)
    assert await refused(scene.console, "policy/sign", signing(scene.ada, opened)) == "alreadySigned"
    # Somebody else's answer is not theirs.
    assert await refused(theirs, "policy/sign", signing(scene.ada, opened)) == "assertionInvalid"
    assert (await Texts.active(scene.console)).version == texts.version
    second = await theirs.call("policy/open", {"proposalId": opened["proposal"]["proposalId"]})
    assert second["statementDigest"] == opened["statementDigest"]
    # The last one comes when it cannot be recorded: case 315.
    with unwritable(scene.gateway.state, "policy:published"):
        assert await refused(theirs, "policy/sign", signing(bob, second)) == "ledger_unavailable"
    assert (await Texts.active(scene.console)).version == texts.version
    (kept,) = (await scene.console.call("policy/proposals"))["proposals"]
    assert len(kept["signers"]) == 1
    done = await theirs.call("policy/sign", signing(bob, second))
    assert (done["outcome"], done["version"]) == ("published", opened["proposal"]["version"])
    assert (await (await Turn.begin(scene.shell)).invoke("note", {"what": "eggs"}))["outcome"] == "ok"
    newest = (await scene.console.call("policy/history"))["versions"][0]
    assert len(set(newest["signers"])) == 2
    # Tightening again takes one.
    await roll_back(scene.ada, scene.console, texts.version)
    await bob.leave()
    report = await scene.console.call("audit/verify")
    assert report["verified"], report


async def test_a_tampered_version_is_not_used_and_what_takes_its_place_is_frozen(scene: Scene) -> None:
    newest, before = (await scene.console.call("policy/history"))["versions"][:2]
    await scene.ada.leave()
    assert await scene.gateway.stop() == 0
    database = sqlite3.connect(scene.gateway.state / "ledger.db")
    with database:
        (payload,) = database.execute("SELECT payload FROM leaves WHERE position = ?", (newest["index"],)).fetchone()
        changed = bytes(payload).replace(b"forbid", b"permit", 1)
        assert changed != bytes(payload)
        database.execute("UPDATE leaves SET payload = ? WHERE position = ?", (changed, newest["index"]))
    database.close()
    await scene.gateway.start()
    console, shell = await scene.ada.console(), await scene.ada.agent()
    got = await console.call("policy/get")
    assert got["version"] == before["version"]
    assert newest["version"][:12] in got["freeze"]["why"]
    assert (await (await Turn.begin(shell)).invoke("note", {"what": "x"}))["reason"] == "policyFrozen"
