"""The contract of PasskeyVerifier, over the real one and the fake; then what only real bytes can do wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.identity.passkeys import WebAuthnVerifier
from gateway.core.errors import Refused
from gateway.core.ledger import Passkey
from gateway.runtime.ports import NewPasskey, PasskeyVerifier
from tests.authenticator import Authenticator, Forgery, decode, encode
from tests.fakes.passkeys import PlainAuthenticator, PlainVerifier

RP_ID = "console.localhost"
ORIGIN = "http://console.localhost:8765"
CHALLENGE = bytes(range(32))
OTHER_CHALLENGE = bytes(32)
HANDLE = b"handle-of-ada"


@dataclass
class Pair:
    """A verifier and an authenticator that speak the same bytes."""

    verifier: PasskeyVerifier
    authenticator: Authenticator

    def register(self, forgery: Forgery = Forgery(), challenge: bytes = CHALLENGE) -> NewPasskey:  # noqa: B008 frozen
        options = self.verifier.registration_options(challenge=CHALLENGE, user_handle=HANDLE, user_name="ada", exclude=())
        return self.verifier.verify_registration(self.authenticator.create(options, forgery), challenge=challenge)

    def passkey(self) -> Passkey:
        new = self.register()
        return Passkey(
            id=new.credential_id,
            principal_id="usr_ada",
            public_key=new.public_key,
            sign_count=new.sign_count,
            backup_eligible=new.backup_eligible,
            backed_up=new.backed_up,
            user_handle=HANDLE,
            transports=new.transports,
            name="laptop",
            created_at=0,
        )

    def assertion(self, passkey: Passkey, forgery: Forgery = Forgery(), *, verified: bool = True) -> dict[str, Any]:  # noqa: B008 frozen
        options = self.verifier.assertion_options(challenge=CHALLENGE, allow=(passkey,), user_verification=verified)
        return self.authenticator.get(options, forgery)


def real_pair() -> Pair:
    return Pair(WebAuthnVerifier(rp_id=RP_ID, rp_name="Countersign", origin=ORIGIN), Authenticator(ORIGIN))


def plain_pair() -> Pair:
    return Pair(PlainVerifier(rp_id=RP_ID, origin=ORIGIN), PlainAuthenticator(ORIGIN))


@pytest.fixture(params=[real_pair, plain_pair], ids=["webauthn", "plain"])
def pair(request: pytest.FixtureRequest) -> Pair:
    make: Callable[[], Pair] = request.param
    return make()


def test_an_honest_registration_gives_the_credential(pair: Pair) -> None:
    new = pair.register()
    assert new.credential_id == pair.authenticator.credentials[0].id
    assert (new.sign_count, new.backup_eligible, new.backed_up, new.transports) == (0, False, False, ("internal",))


def test_an_honest_assertion_verifies_and_moves_the_counter(pair: Pair) -> None:
    passkey = pair.passkey()
    verified = pair.verifier.verify_assertion(pair.assertion(passkey), challenge=CHALLENGE, passkey=passkey)
    assert (verified.credential_id, verified.sign_count, verified.user_verified) == (passkey.id, 1, True)


def test_options_ask_for_a_discoverable_credential_and_user_verification(pair: Pair) -> None:
    creation = pair.verifier.registration_options(challenge=CHALLENGE, user_handle=HANDLE, user_name="ada", exclude=())
    assert creation["authenticatorSelection"]["residentKey"] == "required"
    assert creation["authenticatorSelection"]["userVerification"] == "required"
    assert decode(creation["challenge"]) == CHALLENGE
    request = pair.verifier.assertion_options(challenge=CHALLENGE, allow=())
    assert (request["rpId"], request["userVerification"], request["allowCredentials"]) == (RP_ID, "required", [])


def test_registration_options_name_the_passkeys_that_exist_already(pair: Pair) -> None:
    passkey = pair.passkey()
    options = pair.verifier.registration_options(challenge=CHALLENGE, user_handle=HANDLE, user_name="ada", exclude=(passkey,))
    assert [descriptor["id"] for descriptor in options["excludeCredentials"]] == [encode(passkey.id)]


ASSERTION_VECTORS = {
    "other origin": (Forgery(origin="http://agent.localhost:8765"), "origin"),
    "other port": (Forgery(origin="http://console.localhost:9999"), "origin"),
    "origin that only starts like ours": (Forgery(origin=ORIGIN + ".evil.test"), "origin"),
    "cross-origin frame": (Forgery(cross_origin=True), "crossOrigin"),
    "top origin of another site": (Forgery(top_origin="https://evil.test"), "crossOrigin"),
    "cross-origin with our own top origin": (Forgery(cross_origin=True, top_origin=ORIGIN), "crossOrigin"),
    "other relying party": (Forgery(rp_id="localhost"), "rpId"),
    "nobody present": (Forgery(user_present=False), "userPresence"),
    "user not verified": (Forgery(user_verified=False), "userVerification"),
    "bad signature": (Forgery(corrupt_signature=True), "signature"),
    "signed by another key": (Forgery(key=ec.generate_private_key(ec.SECP256R1())), "signature"),
    "counter that stands still": (Forgery(sign_count=0), "counter"),
    "became backup eligible": (Forgery(backup_eligible=True), "backupEligibility"),
    "backed up but not eligible": (Forgery(backed_up=True), "backupEligibility"),
    "answer to another challenge": (Forgery(challenge=OTHER_CHALLENGE), "challenge"),
    "registration played as an assertion": (Forgery(type="webauthn.create"), "malformed"),
    "user handle of somebody else": (Forgery(user_handle=b"handle-of-eve"), "credential"),
    "credential id of somebody else": (Forgery(credential_id=b"credential-of-eve"), "credential"),
}
"""The forgeries of docs/SECURITY.md case 37, with the reason each is refused for."""


@pytest.mark.requirement("002-33", "an assertion over another challenge, origin or account is refused")
@pytest.mark.parametrize(("forgery", "reason"), ASSERTION_VECTORS.values(), ids=ASSERTION_VECTORS.keys())
def test_a_forged_assertion_is_refused_with_its_reason(pair: Pair, forgery: Forgery, reason: str) -> None:
    passkey = replace(pair.passkey(), sign_count=0)
    if reason == "counter":
        passkey = replace(passkey, sign_count=5)
    with pytest.raises(Refused) as refusal:
        pair.verifier.verify_assertion(pair.assertion(passkey, forgery), challenge=CHALLENGE, passkey=passkey)
    assert refusal.value.reason == reason


REGISTRATION_VECTORS = {
    "other origin": (Forgery(origin="http://agent.localhost:8765"), "origin"),
    "other port": (Forgery(origin="http://console.localhost:9999"), "origin"),
    "cross-origin frame": (Forgery(cross_origin=True), "crossOrigin"),
    "top origin of another site": (Forgery(top_origin="https://evil.test"), "crossOrigin"),
    "other relying party": (Forgery(rp_id="localhost"), "rpId"),
    "nobody present": (Forgery(user_present=False), "userPresence"),
    "user not verified": (Forgery(user_verified=False), "userVerification"),
    "backed up but not eligible": (Forgery(backed_up=True), "backupEligibility"),
    "answer to another challenge": (Forgery(challenge=OTHER_CHALLENGE), "challenge"),
    "assertion played as a registration": (Forgery(type="webauthn.get"), "malformed"),
}


@pytest.mark.parametrize(("forgery", "reason"), REGISTRATION_VECTORS.values(), ids=REGISTRATION_VECTORS.keys())
def test_a_forged_registration_is_refused_with_its_reason(pair: Pair, forgery: Forgery, reason: str) -> None:
    with pytest.raises(Refused) as refusal:
        pair.register(forgery)
    assert refusal.value.reason == reason


def test_an_authenticator_without_a_counter_may_report_zero_again_and_again(pair: Pair) -> None:
    pair.authenticator.counts = False
    passkey = pair.passkey()
    for _ in range(2):
        verified = pair.verifier.verify_assertion(pair.assertion(passkey), challenge=CHALLENGE, passkey=passkey)
        assert verified.sign_count == 0


def test_a_copy_of_an_authenticator_is_noticed_by_its_counter(pair: Pair) -> None:
    passkey = replace(pair.passkey(), sign_count=7)
    with pytest.raises(Refused) as refusal:
        pair.verifier.verify_assertion(pair.assertion(passkey, Forgery(sign_count=7)), challenge=CHALLENGE, passkey=passkey)
    assert refusal.value.reason == "counter"


def test_a_synced_passkey_may_become_backed_up(pair: Pair) -> None:
    pair.authenticator.backup_eligible = True
    passkey = pair.passkey()
    assertion = pair.assertion(passkey, Forgery(backed_up=True))
    assert pair.verifier.verify_assertion(assertion, challenge=CHALLENGE, passkey=passkey).backed_up


def test_a_synced_passkey_may_not_stop_being_eligible(pair: Pair) -> None:
    pair.authenticator.backup_eligible = True
    passkey = pair.passkey()
    with pytest.raises(Refused) as refusal:
        pair.verifier.verify_assertion(
            pair.assertion(passkey, Forgery(backup_eligible=False)), challenge=CHALLENGE, passkey=passkey
        )
    assert refusal.value.reason == "backupEligibility"


def test_presence_alone_is_enough_where_verification_was_not_asked_for(pair: Pair) -> None:
    passkey = pair.passkey()
    assertion = pair.assertion(passkey, Forgery(user_verified=False), verified=False)
    verified = pair.verifier.verify_assertion(assertion, challenge=CHALLENGE, passkey=passkey, user_verification=False)
    assert not verified.user_verified


def test_an_answer_that_names_nobody_is_refused_when_nobody_was_asked_for(pair: Pair) -> None:
    passkey = pair.passkey()
    assertion = pair.assertion(passkey, Forgery(omit_user_handle=True))
    with pytest.raises(Refused) as refusal:
        pair.verifier.verify_assertion(assertion, challenge=CHALLENGE, passkey=passkey, discoverable=True)
    assert refusal.value.reason == "credential"


def test_an_answer_that_names_nobody_is_fine_when_its_passkey_was_asked_for(pair: Pair) -> None:
    passkey = pair.passkey()
    assertion = pair.assertion(passkey, Forgery(omit_user_handle=True))
    pair.verifier.verify_assertion(assertion, challenge=CHALLENGE, passkey=passkey)


MALFORMED: tuple[dict[str, Any], ...] = (
    {},
    {"id": 5, "rawId": 5},
    {"id": "AAAA", "rawId": "BBBB", "response": {}},
    {"id": "", "rawId": "", "response": {}},
    {"id": "=", "rawId": "=", "response": {}},
    {"id": "A" * 200_000, "rawId": "A" * 200_000, "response": {}},
    {"id": "AAAA", "rawId": "AAAA", "response": None},
    {"id": "é", "rawId": "é", "response": {}},
)


@pytest.mark.parametrize("body", MALFORMED)
def test_a_body_that_is_no_answer_is_refused_as_malformed(body: dict[str, Any]) -> None:
    verifier = real_pair().verifier
    with pytest.raises(Refused) as refusal:
        verifier.verify_registration({**body}, challenge=CHALLENGE)
    assert refusal.value.reason == "malformed"


def test_two_spellings_of_one_credential_id_are_not_both_taken() -> None:
    """Python's own decoder skips what it does not know: `AA!A` would be `AAA`."""
    pair = real_pair()
    assertion = pair.assertion(pair.passkey())
    for spelling in (assertion["id"] + "=", "!" + assertion["id"], assertion["id"].replace("-", "+")[:-1] + "*"):
        with pytest.raises(Refused) as refusal:
            pair.verifier.credential_id({"id": spelling, "rawId": spelling})
        assert refusal.value.reason == "malformed"


@pytest.mark.parametrize(
    "client_data",
    [
        b"",
        b"[]",
        b"{",
        b'{"type":"webauthn.get"}',
        b'{"type":"webauthn.get","type":"webauthn.create"}',
        b'{"type":"webauthn.get","challenge":5,"origin":"x"}',
        b'{"type":"webauthn.get","challenge":"AA","origin":"x","crossOrigin":"false"}',
        b'{"type":"webauthn.get","challenge":"AA","origin":NaN}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_client_data_that_reads_two_ways_is_refused(client_data: bytes) -> None:
    pair = real_pair()
    passkey = pair.passkey()
    with pytest.raises(Refused) as refusal:
        pair.verifier.verify_assertion(
            pair.assertion(passkey, Forgery(client_data=client_data)), challenge=CHALLENGE, passkey=passkey
        )
    assert refusal.value.reason == "malformed"


def test_authenticator_data_with_something_after_its_end_is_refused() -> None:
    pair = real_pair()
    passkey = pair.passkey()
    honest = decode(pair.assertion(passkey)["response"]["authenticatorData"])
    for data in (honest[:36], honest + b"\x00", b""):
        forged = pair.assertion(passkey, Forgery(authenticator_data=data) if data else Forgery(authenticator_data=b"\x00"))
        with pytest.raises(Refused):
            pair.verifier.verify_assertion(forged, challenge=CHALLENGE, passkey=passkey)


def test_an_attestation_that_was_not_asked_for_is_refused() -> None:
    pair = real_pair()
    options = pair.verifier.registration_options(challenge=CHALLENGE, user_handle=HANDLE, user_name="ada", exclude=())
    answer = pair.authenticator.create(options)
    attested = cbor2.loads(decode(answer["response"]["attestationObject"]))
    attested["fmt"] = "android-safetynet"
    answer["response"]["attestationObject"] = encode(cbor2.dumps(attested))
    with pytest.raises(Refused) as refusal:
        pair.verifier.verify_registration(answer, challenge=CHALLENGE)
    assert refusal.value.reason == "malformed"


def test_a_registration_that_names_another_credential_than_it_holds_is_refused() -> None:
    pair = real_pair()
    options = pair.verifier.registration_options(challenge=CHALLENGE, user_handle=HANDLE, user_name="ada", exclude=())
    answer = pair.authenticator.create(options)
    answer["id"] = answer["rawId"] = encode(b"another")
    with pytest.raises(Refused) as refusal:
        pair.verifier.verify_registration(answer, challenge=CHALLENGE)
    assert refusal.value.reason == "credential"


@given(garbage=st.binary(max_size=300), member=st.sampled_from(["attestationObject", "clientDataJSON"]))
def test_no_bytes_in_a_registration_make_anything_but_a_refusal(garbage: bytes, member: str) -> None:
    pair = real_pair()
    options = pair.verifier.registration_options(challenge=CHALLENGE, user_handle=HANDLE, user_name="ada", exclude=())
    answer = pair.authenticator.create(options)
    answer["response"][member] = encode(garbage)
    with pytest.raises(Refused):
        pair.verifier.verify_registration(answer, challenge=CHALLENGE)


@given(data=st.data())
def test_no_single_bit_of_an_answer_can_change_unnoticed(data: st.DataObject) -> None:
    pair = real_pair()
    passkey = pair.passkey()
    answer = copy.deepcopy(pair.assertion(passkey))
    member = data.draw(st.sampled_from(["clientDataJSON", "authenticatorData", "signature", "userHandle"]))
    raw = bytearray(decode(answer["response"][member]))
    # Signatures differ in length from run to run, so the drawn number must not depend on it.
    position = data.draw(st.integers(0, 2**16)) % (len(raw) * 8)
    raw[position // 8] ^= 1 << (position % 8)
    answer["response"][member] = encode(bytes(raw))
    with pytest.raises(Refused):
        pair.verifier.verify_assertion(answer, challenge=CHALLENGE, passkey=passkey)
