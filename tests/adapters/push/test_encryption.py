"""The encryption against the example of RFC 8291, appendix A, and what is no key."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from gateway.adapters.push.encryption import PADDED, encrypt, public_point, read_keys
from tests.authenticator import decode, encode
from tests.harness.push_service import Subscription, decrypt, point_of

SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
RECEIVER = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
P256DH = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
MESSAGE = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6"
    "cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)
TEXT = b"When I grow up, I want to be a watermelon"


def private(scalar: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(decode(scalar), "big"), ec.SECP256R1())


def test_the_example_of_the_standard_comes_out_byte_for_byte() -> None:
    to, auth = read_keys(P256DH, AUTH)
    assert encode(encrypt(TEXT, to, auth, own=private(SENDER), salt=decode(SALT), padded=0)) == MESSAGE
    assert decrypt(decode(MESSAGE), private(RECEIVER), decode(AUTH)) == TEXT


def test_no_two_messages_are_alike_and_all_have_one_length() -> None:
    browser = Subscription("https://push.example/1")
    to, auth = read_keys(encode(point_of(browser.private)), encode(browser.auth))
    assert public_point(to) == point_of(browser.private)
    texts = [b"", b"a", TEXT, b"x" * (PADDED - 1)]
    sent = [encrypt(text, to, auth) for text in texts]
    assert len({len(each) for each in sent}) == 1
    assert len({each[:86] for each in sent}) == len(sent)
    assert [decrypt(each, browser.private, browser.auth) for each in sent] == texts


@pytest.mark.parametrize(
    ("p256dh", "auth"),
    [
        ("A" * 87, AUTH),  # no point at all
        (P256DH[:-1] + "5", AUTH),  # the same bytes or others, in a second spelling
        (encode(b"\x04" + bytes(64)), AUTH),  # not on the curve
        (encode(public_point(private(SENDER).public_key())[:33]), AUTH),
        (P256DH, encode(bytes(15))),
        (P256DH, AUTH[:-1] + "h"),
        (P256DH, "\u00e4" * 22),
        (P256DH + "=", AUTH),
    ],
)
def test_what_is_no_key_is_refused(p256dh: str, auth: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_keys(p256dh, auth)
