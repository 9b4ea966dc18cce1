"""Attempts and sign-ins as the gateway keeps them: their time, their place and their binding."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from gateway.adapters.tools.oauth.host import OAuthSignIns
from gateway.adapters.tools.offer import SignInNeeded
from gateway.core.errors import Refused
from gateway.core.ledger import SourceAdded, SourceChanged, SourceSignedIn, SourceSignedOut
from gateway.core.sources import AddedSource, SourceKind
from gateway.runtime.ports import SignInReply
from gateway.runtime.sign_ins import ATTEMPT_SECONDS, MAX_ATTEMPTS, SignIns
from tests.fakes.clock import FakeClock
from tests.fakes.ledger import MemoryLedger
from tests.fakes.sign_ins import make_sign_ins
from tests.harness.oauth_site import OAuthSite


@dataclass
class Kept:
    """The sign-ins of one gateway with one source, which can be started again."""

    site: OAuthSite
    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    ledger: MemoryLedger = field(default_factory=MemoryLedger)

    def __post_init__(self) -> None:
        self.source = AddedSource("remote", SourceKind.MCP, {"url": self.site.url})
        self.start_anew()

    def start_anew(self) -> SignIns:
        self.host = OAuthSignIns(lambda text: text, self.clock.now)
        self.sign_ins = make_sign_ins(self.ledger, self.folder, self.host, self.clock)
        return self.sign_ins

    async def come_back(self) -> tuple[str, SignInReply]:
        prepared = await self.sign_ins.begin(self.source, "cse_1", "prn_1")
        back = await self.site.agree(prepared.location)
        return back["state"], SignInReply(back["code"], issuer=back["iss"])

    async def finish(self, state: str, reply: SignInReply) -> None:
        redeemed = await self.sign_ins.redeem(self.source, "cse_1", "prn_1", state, reply)
        assert redeemed.tokens not in repr(redeemed)
        await self.sign_ins.keep(self.source, "prn_1", redeemed)

    async def sign_in(self) -> None:
        await self.finish(*await self.come_back())

    async def token(self) -> str | None:
        tokens = self.host.tokens(self.source)
        assert tokens is not None
        return await tokens.current()


@pytest.fixture
async def kept(site: OAuthSite, tmp_path: Path) -> Kept:
    made = Kept(site, tmp_path)
    await made.sign_ins.start({"remote": made.source})
    return made


async def test_an_attempt_that_took_too_long_is_over(kept: Kept) -> None:
    state, reply = await kept.come_back()
    kept.clock.advance(ATTEMPT_SECONDS + 1)
    with pytest.raises(Refused, match="took too long") as refused:
        await kept.finish(state, reply)
    assert refused.value.reason == "unknownAttempt"
    assert kept.site.times("/token") == 0


async def test_attempts_do_not_pile_up_and_the_newest_stay(kept: Kept) -> None:
    came_back = [await kept.come_back() for _ in range(MAX_ATTEMPTS + 1)]
    with pytest.raises(Refused):
        await kept.finish(*came_back[0])
    await kept.finish(*came_back[-1])


async def test_a_sign_in_is_used_again_after_a_restart(kept: Kept) -> None:
    await kept.sign_in()
    token = await kept.token()
    assert await kept.start_anew().start({"remote": kept.source}) == []
    assert token is not None
    assert await kept.token() == token
    kept.clock.advance(3600)
    renewed = await kept.token()
    assert renewed not in (None, token)
    await kept.start_anew().start({"remote": kept.source})
    assert await kept.token() == renewed


async def test_a_sign_in_is_not_used_for_another_address_or_source(kept: Kept) -> None:
    await kept.sign_in()
    moved = replace(kept.source, settings={"url": f"{kept.site.origin}/other"})
    (complaint,) = await kept.start_anew().start({"remote": moved})
    assert "another address; sign in again" in complaint
    assert kept.sign_ins.find(moved) is None
    # A row that somebody copied to another source's name in the database.
    sealed = (await kept.ledger.source_sign_ins())["remote"].sealed
    await kept.ledger.append(SourceSignedIn(kept.clock.now(), None, "other", kept.site.origin, sealed))
    other = replace(kept.source, name="other")
    (complaint,) = await kept.start_anew().start({"other": other})
    assert "the sign-in to `other`" in complaint


async def test_an_end_by_the_server_is_on_record_once(kept: Kept) -> None:
    await kept.sign_in()
    kept.site.refresh.clear()
    kept.clock.advance(3600)
    for _ in range(2):
        with contextlib.suppress(SignInNeeded):
            assert await kept.token() is None
    ends = [entry for entry in kept.ledger.entries if isinstance(entry, SourceSignedOut)]
    assert [(entry.end.value, entry.principal_id) for entry in ends] == [("refused", None)]
    assert await kept.ledger.source_sign_ins() == {}


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (SourceKind.MCP, {"command": ["serve"]}),
        (SourceKind.MCP, {"url": "https://tools.example/mcp", "headers": {"AUTHORIZATION": "Bearer ${secret:A}"}}),
        (SourceKind.HTTP, {"base_url": "https://api.example"}),
        (SourceKind.SQL, {"url": "sqlite:////data/a.db"}),
    ],
)
async def test_a_source_that_nobody_signs_in_to_says_so(kept: Kept, kind: SourceKind, settings: dict[str, object]) -> None:
    with pytest.raises(Refused, match="nobody signs in to `other`") as refused:
        await kept.sign_ins.begin(AddedSource("other", kind, settings), "cse_1", "prn_1")
    assert refused.value.reason == "noSignIn"


async def test_a_sign_in_stays_with_a_source_that_is_changed_and_ends_where_its_address_does(kept: Kept) -> None:
    await kept.ledger.append(SourceAdded(0, "prn_1", kept.source))
    await kept.sign_in()
    named = replace(kept.source, settings={**kept.source.settings, "elicitation": "ask"})
    assert await kept.sign_ins.change(kept.source, named, "prn_1", SourceChanged(1, "prn_1", named)) is None
    assert await kept.token() is not None
    for settings in ({"url": "https://other.example/mcp"}, {**named.settings, "oauth": {"client_id": "another"}}):
        elsewhere = replace(named, settings=settings)
        await kept.sign_in()
        assert await kept.sign_ins.change(named, elsewhere, "prn_1", SourceChanged(2, "prn_1", elsewhere)) is not None
        assert isinstance(kept.ledger.entries[-2], SourceSignedOut)
        assert kept.sign_ins.find(elsewhere) is None
        assert await kept.token() is None
