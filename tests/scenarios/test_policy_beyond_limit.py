"""A policy with more rules than a new one may have, in force since before there was that limit, at the running gateway."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.harness.person import Person, Turn
from tests.scenarios.conftest import make_gateway
from tests.scenarios.staging import POLICY
from tests.scenarios.test_policy_versions import signing

MANY = 2_010
WITHOUT_LIMIT = "import gateway.adapters.policy.rules as rules; rules.MOST_RULES = 100_000"


def many_rules(count: int, word: str = "rule") -> str:
    """Of the model alone, so that what the tests ask about tools is decided without them."""
    scope = 'principal,action==Countersign::Action::"infer",resource'
    return "".join(f'@id("m{at}")@why("a {word} too many")forbid({scope})when{{1==2}};\n' for at in range(count))


def shipped() -> list[dict[str, str]]:
    files = [*POLICY.glob("*.cedar"), POLICY / "schema.cedarschema", POLICY / "profiles.toml"]
    return [{"name": path.name, "text": path.read_text()} for path in files]


@pytest.mark.asyncio
@pytest.mark.parametrize("source", ["files", "database"])
async def test_it_stays_in_force_with_a_warning_and_a_smaller_one_takes_its_place(tmp_path: Path, source: str) -> None:
    folder = shutil.copytree(POLICY, tmp_path / "policy")
    (folder / "many.cedar").write_text(many_rules(MANY))
    settings = {"COUNTERSIGN_POLICY": str(folder), "COUNTERSIGN_POLICY_SOURCE": source}
    gateway = make_gateway(tmp_path, **settings)
    gateway.before = WITHOUT_LIMIT
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    (version,) = [each["version"] for each in (await (await ada.console()).call("policy/history"))["versions"]]
    await ada.leave()
    assert await gateway.stop() == 0

    gateway.before = ""
    await gateway.start()
    try:
        warned = f"policy {version[:12]}: it has {MANY + 23:,} rules, of which a new version may have 2,000"
        assert warned in gateway.output
        console, shell = await ada.console(), await ada.agent()
        assert [each["version"] for each in (await console.call("policy/history"))["versions"]] == [version]
        assert (await (await Turn.begin(shell)).invoke("babble", {"size": 1}))["outcome"] == "ok"
        _, told = await gateway.run("policy", "status")
        assert f"Policy {version[:12]} is in force" in told
        assert "Warning: it has" in told
        assert "FROZEN" not in told
        if source == "files":
            (folder / "many.cedar").write_text(many_rules(MANY, "changed rule"))
            code, told = await gateway.run("policy", "reload")
            assert (code, "a policy may have at most 2,000 rules" in told) == (2, True), told
            (folder / "many.cedar").unlink()
            code, told = await gateway.run("policy", "reload")
            assert code == 0, told
        else:
            large = [*shipped(), {"name": "many.cedar", "text": many_rules(MANY, "new rule")}]
            answer = await console.call("policy/propose", {"base": version, "reason": "as many again", "documents": large})
            assert (answer["outcome"], "at most 2,000" in answer["check"]["faults"][0]["message"]) == ("invalid", True)
            smaller = {"base": version, "reason": "fewer rules", "documents": shipped()}
            answer = await console.call("policy/propose", smaller, patience=120)
            assert answer["outcome"] == "proposed", answer
            signed = await console.call("policy/sign", signing(ada, answer["opened"]))
            assert signed["outcome"] == "published"
        newest = (await console.call("policy/history"))["versions"][0]["version"]
        assert newest != version
        _, told = await gateway.run("policy", "status")
        assert (f"Policy {newest[:12]} is in force" in told, "Warning" in told) == (True, False)
        assert (await (await Turn.begin(shell)).invoke("babble", {"size": 2}))["outcome"] == "ok"
        await ada.leave()
    finally:
        assert await gateway.stop() == 0
    assert "Traceback" not in gateway.output


@pytest.mark.asyncio
async def test_one_that_was_never_in_force_keeps_the_gateway_from_starting_in_words(tmp_path: Path) -> None:
    folder = shutil.copytree(POLICY, tmp_path / "policy")
    (folder / "many.cedar").write_text(many_rules(MANY))
    gateway = make_gateway(tmp_path, COUNTERSIGN_POLICY=str(folder))
    code, told = await gateway.run("serve")
    assert (code, f"`many.cedar` line {2_000 - 23 + 1}, column 1: a policy may have at most 2,000 rules" in told) == (2, True), (
        told
    )
