"""What is wrong with a policy is said with file, line and column, and the last good version stays in force.

One gateway keeps its policy in the database; drafts go to it over its sockets and from the shell beside it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.scenarios.conftest import Scene
from tests.scenarios.staging import stage
from tests.scenarios.test_policy_versions import Texts, publish, roll_back

pytestmark = pytest.mark.asyncio(loop_scope="module")

INVOKE = 'Countersign::Action::"invoke"'
FAILING = """
@id("test.fails")
@why("Nobody of this id exists")
forbid (principal, action == Countersign::Action::"invoke", resource == Countersign::Tool::"babble")
when { Countersign::Principal::"ghost".remoteModels };
"""
MISSPELT = """
@id("test.misspelt")
@why("The tool is not called so")
forbid (principal, action, resource == Countersign::Tool::"bable");
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    async with stage(tmp_path_factory.mktemp("bad-input"), COUNTERSIGN_POLICY_SOURCE="database") as scene:
        yield scene


def write(folder: Path, texts: Texts, **files: str) -> Path:
    """A folder with the policy in force, its cases and more files."""
    (folder / "cases").mkdir(parents=True)
    for name, text in {**texts.documents, **files}.items():
        (folder / name).write_text(text)
    return folder


async def test_an_unknown_tool_is_told_in_the_shell_and_in_the_editor(scene: Scene, tmp_path: Path) -> None:
    texts = await Texts.active(scene.console)
    place = texts.documents["default.cedar"].count("\n") + 4
    check = await scene.console.call("policy/validate", {"documents": texts.draft(MISSPELT)})
    (fault,) = check["faults"]
    assert (fault["severity"], fault["file"], fault["line"], fault["column"]) == ("warning", "default.cedar", place, 59)
    assert "no tool is called `bable` now" in fault["message"]
    assert fault["message"].endswith("did you mean `babble`?")
    folder = write(tmp_path / "policy", texts, **{"more.cedar": MISSPELT})
    code, output = await scene.gateway.run("policy", "check", "--policy", str(folder))
    assert (code, "more.cedar:4:59: warning: no tool is called `bable` now" in output) == (0, True), output
    assert "did you mean `babble`?" in output
    assert "The policy loads" in output


async def test_the_check_in_the_shell_reads_the_cases_too(scene: Scene, tmp_path: Path) -> None:
    folder = write(tmp_path / "policy", await Texts.active(scene.console))
    case = '[[case]]\nabout = "one"\nprofile = "operator"\ntool = { name = "bable", category = "read" }\nexpect = "auto"\n'
    (folder / "cases" / "mine.toml").write_text(case)
    code, output = await scene.gateway.run("policy", "check", "--policy", str(folder))
    assert (code, "cases/mine.toml:4:17: warning: no tool is called `bable` now" in output) == (0, True), output
    assert "did you mean `babble`?" in output
    (folder / "cases" / "mine.toml").write_text(case.replace('"read"', '"reed"'))
    code, output = await scene.gateway.run("policy", "check", "--policy", str(folder))
    assert (code, "cases/mine.toml:4:37: error: `case.0.tool.category`: input should be" in output) == (2, True), output
    assert "did you mean `read`?" in output


async def test_a_rule_that_fails_is_named_wherever_its_refusals_are_told(scene: Scene) -> None:
    before = await Texts.active(scene.console)
    await publish(scene.ada, scene.console, FAILING)
    place = before.documents["default.cedar"].count("\n") + 2
    turn = await scene.begin()
    refusal = await turn.invoke("babble", {"size": 1})
    assert (refusal["outcome"], refusal["reason"]) == ("refusedByPolicy", "forbidden")
    where = f"he rule test.fails in default.cedar, line {place} could not be evaluated"
    assert where in str(refusal), refusal
    (entry, *_) = (await scene.console.call("audit/list", {"filter": {"event": "call:closed"}}))["entries"]
    assert entry["body"]["because"] == ["policy.failed", "test.fails"]
    asked = ("audit", "explain", entry["body"]["callId"], "--conversation", turn.conversation_id)
    code, output = await scene.gateway.run(*asked)
    assert (code, "`policy.failed` (A rule of the policy could not be evaluated" in output) == (0, True), output
    assert "`test.fails` (Nobody of this id exists)" in output
    assert f"the rule `test.fails` in default.cedar, line {place} could not be evaluated" in scene.gateway.output
    assert "`policy2" not in output + scene.gateway.output
    imagined = {"tool": "babble", "arguments": {"size": 1}, "profile": "operator"}
    told = await scene.console.call("policy/explain", {"imagined": imagined})
    assert [rule["id"] for rule in told["rules"]] == ["policy.failed", "test.fails"]
    assert where in told["rules"][1]["why"]
    await roll_back(scene.ada, scene.console, before.version)


async def test_case_157_a_rule_nested_too_deeply_is_told_and_the_gateway_goes_on(scene: Scene) -> None:
    texts = await Texts.active(scene.console)
    place = texts.documents["default.cedar"].count("\n") + 4
    for inside in ("(" * 20_000 + "true" + ")" * 20_000, " && ".join(["true"] * 20_000), "!" * 20_000 + "true"):
        rule = f'\n@id("x.y")\n@why("A rule for a test")\nforbid (principal, action, resource) when {{ {inside} }};\n'
        check = await scene.console.call("policy/validate", {"documents": texts.draft(rule)})
        (fault,) = check["faults"]
        assert (fault["severity"], fault["file"], fault["line"]) == ("error", "default.cedar", place)
        asked = {"base": texts.version, "reason": "deep", "documents": texts.draft(rule)}
        assert (await scene.console.call("policy/propose", asked))["outcome"] == "invalid"
    assert (await (await scene.begin()).invoke("babble", {"size": 3}))["outcome"] == "ok"


async def test_case_169_a_rule_with_more_clauses_than_can_be_evaluated_never_comes_into_force(scene: Scene) -> None:
    texts = await Texts.active(scene.console)
    place = texts.documents["default.cedar"].count("\n") + 4 + 501
    clauses = "when { 1 == 1 && context.taint >= 0 }\n" * 3_000
    rule = f'\n@id("x.y")\n@why("A rule for a test")\nforbid (principal, action == {INVOKE}, resource)\n{clauses};\n'
    check = await scene.console.call("policy/validate", {"documents": texts.draft(rule)})
    (fault,) = check["faults"]
    assert (fault["severity"], fault["file"], fault["line"], fault["column"]) == ("error", "default.cedar", place, 1)
    asked = {"base": texts.version, "reason": "long", "documents": texts.draft(rule)}
    assert (await scene.console.call("policy/propose", asked))["outcome"] == "invalid"
    assert (await Texts.active(scene.console)).version == texts.version
    assert (await (await scene.begin()).invoke("babble", {"size": 4}))["outcome"] == "ok"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'@id("x.y")\n@why("A r\xfcle")\npermit (principal, action, resource);', "line 2, column 10: not UTF-8"),
        (b'@id("x.y")\n@why("A \0 rule")\npermit (principal, action, resource);', "line 2, column 9: an invisible character"),
        (b'@id("x.y")\n@why("A rule of mine")\npermit (principal, action resource);', "line 3, column 27: does not parse"),
    ],
    ids=["not UTF-8", "NUL", "syntax"],
)
async def test_a_file_that_is_no_policy_is_told_by_line_and_column(scene: Scene, tmp_path: Path, text: bytes, said: str) -> None:
    texts = await Texts.active(scene.console)
    folder = write(tmp_path / "policy", texts)
    (folder / "x.cedar").write_bytes(text)
    for command in (
        ("policy", "test", "--policy", str(folder)),
        ("policy", "shadow", "start", str(folder), "--why", "to try it"),
        ("policy", "shadow", "start", str(folder / "x.cedar"), "--why", "to try it"),
    ):
        code, output = await scene.gateway.run(*command)
        assert (code, f"`x.cedar` {said}" in output) == (2, True), output
        assert output.count("\n") == 1
    assert (await Texts.active(scene.console)).version == texts.version


async def test_a_draft_beyond_a_message_is_answered_in_words_before_the_socket_closes(scene: Scene) -> None:
    texts = await Texts.active(scene.console)
    other = await scene.ada.console()
    await other.send("policy/validate", {"documents": texts.draft("//" + "x" * 300_000)})
    assert (await other.wait_closed())[0] == 1009
    (said,) = [each["params"] for each in other.notifications if each["method"] == "rpc/stray"]
    assert (said["id"], said["error"]["code"], said["error"]["data"]["code"]) == (None, -32600, "message_too_large")
    assert "larger than 256 KiB" in said["error"]["message"]
    again = await scene.ada.console()
    check = await again.call("policy/validate", {"documents": texts.draft("//" + "x" * 200_000)})
    assert check["faults"] == []
    assert (await Texts.active(again)).version == texts.version
    await again.close()


@pytest.mark.parametrize("broken", ['"', "'", '\n"\n', "}", "§"])
async def test_case_289_what_is_no_rule_at_all_is_told_with_its_place(scene: Scene, broken: str) -> None:
    """A file or the end of one that has no rule in it, and does not parse."""
    texts = await Texts.active(scene.console)
    alone = [*texts.draft(""), {"name": "more.cedar", "text": broken}]
    for documents, file in ((texts.draft(f"\n{broken}"), "default.cedar"), (alone, "more.cedar")):
        faults = (await scene.console.call("policy/validate", {"documents": documents}))["faults"]
        assert [(fault["severity"], fault["file"]) for fault in faults] == [("error", file)], faults
        asked = {"base": texts.version, "reason": "broken", "documents": documents}
        assert (await scene.console.call("policy/propose", asked))["outcome"] == "invalid"


async def test_case_289_a_file_without_a_rule_beside_one_with_them_is_taken(scene: Scene) -> None:
    texts = await Texts.active(scene.console)
    check = await scene.console.call("policy/validate", {"documents": [*texts.draft(""), {"name": "x.cedar", "text": "// none"}]})
    assert check["faults"] == []
