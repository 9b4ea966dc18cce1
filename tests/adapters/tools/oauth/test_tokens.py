"""From an answer of the authorization server to tokens, and what becomes of them."""

from __future__ import annotations

import asyncio
import base64
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.adapters.tools.oauth.settings import SignInSettings
from gateway.adapters.tools.oauth.tokens import Tokens
from gateway.adapters.tools.offer import SignInNeeded, SourceAway
from gateway.core.errors import Refused
from gateway.runtime.ports import PreparedSignIn
from tests.adapters.tools.oauth.conftest import CALLBACK, Signing
from tests.harness.oauth_site import OAuthSite, html, leading_to, saying, serve_oauth


async def refused(signing: Signing, prepared: PreparedSignIn | None = None, /, **changed: str | None) -> str:
    with pytest.raises(Refused) as caught:
        await signing.answer(prepared or await signing.prepare(), **changed)
    return caught.value.message


async def test_a_code_is_redeemed_with_its_proof_for_this_resource(signing: Signing) -> None:
    kept = await signing.sign_in()
    (asked,) = signing.site.of("/token")
    assert asked.fields["resource"] == signing.site.url
    assert asked.fields["redirect_uri"] == CALLBACK
    assert asked.fields["client_id"] == "client-1"
    assert len(asked.fields["code_verifier"]) >= 43
    assert await signing.tokens.current() == kept.access_token
    assert kept.access_token not in repr(kept)
    assert kept.refresh_token is not None
    assert kept.refresh_token not in str(kept)


async def test_a_code_of_another_attempt_is_worth_nothing(signing: Signing) -> None:
    """Code injection: the proof is this attempt's own."""
    stolen = (await signing.site.agree((await signing.prepare()).location))["code"]
    assert "invalid_grant" in await refused(signing, code=stolen)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"issuer": "https://accounts.example"}, "the answer comes from https://accounts.example and not from"),
        ({"issuer": None}, "does not say who gives it"),
        ({"error": "access_denied", "code": None}, "the sign-in was refused at the authorization server"),
        ({"error": "\u202eoops", "code": None}, "the authorization server refused: \\u202eoops"),
        ({"code": None}, "sent no code"),
        ({"code": "guessed"}, "invalid_grant"),
    ],
)
async def test_an_answer_that_is_not_the_servers_own_is_refused(
    signing: Signing, changed: dict[str, str | None], said: str
) -> None:
    assert said in await refused(signing, None, **changed)
    if "guessed" not in changed.values():
        assert signing.site.times("/token") == 0


async def test_a_server_that_never_says_who_it_is_need_not(signing: Signing) -> None:
    signing.site.server = {"authorization_response_iss_parameter_supported": False}
    assert (await signing.answer(await signing.prepare(), issuer=None)).access_token in signing.site.access


NO_TOKENS: dict[str, tuple[Any, str]] = {
    "a page": (html, "it is no JSON"),
    "a redirect": (leading_to("https://login.example"), "redirects, which is not followed"),
    "no token": (saying(200, {"token_type": "Bearer"}), "`access_token`"),
    "another type": (saying(200, {"access_token": "a", "token_type": "DPoP"}), "a token of the type DPoP"),
    "a line break": (saying(200, {"access_token": "a\r\nX-Evil: 1", "token_type": "Bearer"}), "`access_token`"),
    "no text": (saying(200, {"access_token": ["a"], "token_type": "Bearer"}), "`access_token`"),
    "no end": (saying(200, {"access_token": "a", "token_type": "Bearer", "expires_in": -5}), "`expires_in`"),
    "a fault": (saying(503, {"error": "invalid_grant"}), "status 503"),
    "a huge token": (saying(200, {"access_token": "a" * 20_000, "token_type": "Bearer"}), "`access_token`"),
}


@pytest.mark.parametrize("how", NO_TOKENS)
async def test_a_token_endpoint_that_gives_none_is_told_in_one_sentence(signing: Signing, how: str) -> None:
    answer, said = NO_TOKENS[how]
    prepared = await signing.prepare()
    signing.site.answers["/token"] = answer
    message = await refused(signing, prepared)
    assert said in message
    assert "Evil" not in message
    assert len(message) < 300


async def test_tokens_are_renewed_before_they_end_and_only_once_for_all_who_wait(signing: Signing) -> None:
    kept = await signing.sign_in()
    signing.clock.advance(3600 - 61)
    assert await signing.tokens.current() == kept.access_token
    signing.clock.advance(2)
    given = set(await asyncio.gather(*(signing.tokens.current() for _ in range(20))))
    assert len(given) == 1
    assert given != {kept.access_token}
    assert signing.site.times("/token") == 2
    assert len(signing.renewed) == 1
    assert signing.site.of("/token")[1].fields["resource"] == signing.site.url


async def test_a_refused_token_is_renewed_once_however_many_were_refused(signing: Signing) -> None:
    signing.site.seconds = None
    kept = await signing.sign_in()
    signing.clock.advance(10**6)
    assert await signing.tokens.current() == kept.access_token
    given = set(await asyncio.gather(*(signing.tokens.renew(kept.access_token) for _ in range(20))))
    assert len(given) == 1
    assert signing.site.times("/token") == 2
    # Whoever comes late with the old one gets the new one.
    assert {await signing.tokens.renew(kept.access_token)} == given
    assert signing.site.times("/token") == 2


async def test_who_gives_up_does_not_cut_off_the_renewal(signing: Signing) -> None:
    kept = await signing.sign_in()
    arrived, goes_on = asyncio.Event(), asyncio.Event()

    async def hold(request: Request) -> Response:
        arrived.set()
        await goes_on.wait()
        return JSONResponse({"access_token": "new", "token_type": "bearer", "refresh_token": "newer"})

    signing.site.answers["/token"] = hold
    waiting = asyncio.create_task(signing.tokens.renew(kept.access_token))
    await arrived.wait()
    waiting.cancel()
    goes_on.set()
    await signing.host.close()
    assert await signing.tokens.current() == "new"
    assert "newer" in signing.renewed[0]


async def test_a_refused_renewal_ends_the_sign_in_and_says_so(signing: Signing) -> None:
    kept = await signing.sign_in()
    signing.site.refresh.clear()
    with pytest.raises(SignInNeeded, match="the sign-in is over: the token endpoint refused: invalid_grant; sign in again"):
        await signing.tokens.renew(kept.access_token)
    assert signing.refused == ["remote"]
    assert await signing.tokens.current() is None
    with pytest.raises(SignInNeeded, match="nobody is signed in any more"):
        await signing.tokens.renew(kept.access_token)
    assert signing.site.times("/token") == 2


async def test_without_a_refresh_token_the_end_of_a_token_is_the_end_of_the_sign_in(signing: Signing) -> None:
    signing.site.token = {"refresh_token": None}
    kept = await signing.sign_in()
    signing.clock.advance(3599)
    assert await signing.tokens.current() == kept.access_token
    signing.clock.advance(1)
    with pytest.raises(SignInNeeded, match="gave nothing to renew it with"):
        await signing.tokens.current()
    assert signing.site.times("/token") == 1


async def test_a_server_that_is_down_ends_nothing_and_the_old_token_serves_to_its_end(signing: Signing) -> None:
    kept = await signing.sign_in()
    signing.site.answers["/token"] = saying(503, {})
    signing.clock.advance(3590)
    assert await signing.tokens.current() == kept.access_token
    signing.clock.advance(20)
    with pytest.raises(SourceAway, match="cannot be renewed now: the token endpoint refused: status 503") as caught:
        await signing.tokens.current()
    assert not isinstance(caught.value, SignInNeeded)
    del signing.site.answers["/token"]
    assert await signing.tokens.current() in signing.site.access
    assert signing.refused == []


async def test_a_server_that_keeps_its_refresh_token_is_asked_with_it_again(signing: Signing) -> None:
    signing.site.rotates = False
    kept = await signing.sign_in()
    await signing.tokens.renew(kept.access_token)
    assert signing.tokens.kept is not None
    assert signing.tokens.kept.refresh_token == kept.refresh_token


async def test_tokens_of_another_address_or_server_are_as_good_as_none(signing: Signing) -> None:
    kept = await signing.sign_in()
    moved = Signing(signing.site, url="http://127.0.0.1:9/mcp")
    for other in (moved, Signing(signing.site, settings={"issuer": "https://login.example"})):
        other.host.use(other.source, kept.write())
        assert await other.tokens.current() is None
    signing.host.use(signing.source, '{"access_token": "of another version"}')
    assert await signing.tokens.current() is None


async def test_revoking_sends_the_refresh_token_to_the_endpoint_of_its_own_server(signing: Signing) -> None:
    kept = await signing.sign_in()
    await signing.host.revoke(signing.source, kept.write())
    (asked,) = signing.site.of("/revoke")
    assert asked.fields == {"token": kept.refresh_token, "token_type_hint": "refresh_token", "client_id": "client-1"}
    signing.site.answers["/revoke"] = saying(503, {})
    with pytest.raises(Refused, match="the revocation endpoint answered with status 503"):
        await signing.host.revoke(signing.source, kept.write())
    without = Tokens.model_validate({**kept.model_dump(), "revocation_endpoint": None})
    await signing.host.revoke(signing.source, without.write())


async def test_an_operators_client_identifies_itself_with_its_secret_at_its_own_server_alone() -> None:
    async with serve_oauth(OAuthSite(client_secret="s%3A1")) as site:
        signing = Signing(site, secrets={"LOGIN": "s:1"})
        signing.settings |= {"issuer": site.origin, "client_id": "client-1", "client_secret": "${secret:LOGIN}", "scope": "a b"}
        site.server = {"token_endpoint_auth_methods_supported": ["client_secret_basic"], "registration_endpoint": None}
        prepared = await signing.prepare()
        assert parse_qs(urlsplit(prepared.location).query)["scope"] == ["a b"]
        kept = await signing.answer(prepared)
        signing.host.use(signing.source, kept.write())
        assert "s:1" not in kept.write()
        signing.secrets["LOGIN"] = "other"
        with pytest.raises(SignInNeeded, match="invalid_client"):
            await signing.tokens.renew(kept.access_token)
        assert [each.path for each in site.asked if each.authorization] == ["/token", "/token"]


async def test_a_registered_secret_is_sent_in_the_way_that_was_registered(signing: Signing) -> None:
    signing.site.server = {"token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"]}
    registered = {"client_id": "c-1", "client_secret": "given", "token_endpoint_auth_method": "client_secret_post"}
    signing.site.answers["/register"] = saying(201, registered)
    prepared = await signing.prepare()
    signing.site.answers["/token"] = saying(200, {"access_token": "a", "token_type": "BEARER"})
    kept = await signing.answer(prepared)
    (asked,) = signing.site.of("/token")
    assert (asked.fields["client_id"], asked.fields["client_secret"], asked.authorization) == ("c-1", "given", "")
    assert "given" not in repr(kept)
    assert base64.b64encode(b"given").decode() not in repr(kept)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"issuer": "http://login.example"}, "should begin with `https://`"),
        ({"issuer": "login"}, "no address that can be used"),
        ({"issuer": "https://a:b@login.example"}, "no address that can be used"),
        ({"client_id": "me"}, "needs the `issuer`"),
        ({"issuer": "https://login.example", "client_secret": "${secret:A}"}, "needs the `client_id`"),
        ({"issuer": "https://login.example", "client_id": "me", "client_secret": "plain"}, "secrets set NAME"),
        ({"issuer": "https://login.example", "client_id": "m\ne"}, "visible ASCII"),
        ({"scope": "two  spaces"}, "single spaces"),
        ({"scopes": "a"}, "Extra inputs"),
    ],
)
def test_settings_that_cannot_work_are_refused_when_they_are_written(settings: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        SignInSettings.model_validate(settings)


async def test_a_secret_that_is_not_stored_is_named_and_ends_nothing(signing: Signing) -> None:
    signing.settings |= {"issuer": signing.site.origin, "client_id": "client-1", "client_secret": "${secret:GONE}"}
    assert "the secret `GONE` is not stored" in await refused(signing)
