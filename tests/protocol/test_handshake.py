"""Which handshakes are accepted (docs/PROTOCOL.md section 2; docs/SECURITY.md case 27)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gateway.protocol.closing import CloseCause
from gateway.protocol.handshake import HandshakeRequest, HandshakeVerdict, judge_handshake

HOST = "agent.localhost:8765"
ORIGIN = "http://agent.localhost:8765"
OURS = ("countersign.v1",)

WELCOME = HandshakeVerdict.WELCOME
UNKNOWN_HOST = HandshakeVerdict.UNKNOWN_HOST
FOREIGN = HandshakeVerdict.FOREIGN_ORIGIN
NO_SUBPROTOCOL = HandshakeVerdict.NO_SUBPROTOCOL

CASES: dict[str, tuple[Sequence[str], Sequence[str], Sequence[str], HandshakeVerdict]] = {
    "our own page": ((HOST,), (ORIGIN,), OURS, WELCOME),
    "host in capitals": (("Agent.LOCALHOST:8765",), (ORIGIN,), OURS, WELCOME),
    "further subprotocols": ((HOST,), (ORIGIN,), ("x", "countersign.v1"), WELCOME),
    "no host": ((), (ORIGIN,), OURS, UNKNOWN_HOST),
    "two hosts": ((HOST, HOST), (ORIGIN,), OURS, UNKNOWN_HOST),
    "host without the port": (("agent.localhost",), (ORIGIN,), OURS, UNKNOWN_HOST),
    "host of the other origin": (("console.localhost:8765",), (ORIGIN,), OURS, UNKNOWN_HOST),
    "rebound host": (("evil.test:8765",), (ORIGIN,), OURS, UNKNOWN_HOST),
    "host with a trailing dot": (("agent.localhost.:8765",), (ORIGIN,), OURS, UNKNOWN_HOST),
    "no origin": ((HOST,), (), OURS, FOREIGN),
    "two origins": ((HOST,), (ORIGIN, ORIGIN), OURS, FOREIGN),
    "null origin": ((HOST,), ("null",), OURS, FOREIGN),
    "console origin": ((HOST,), ("http://console.localhost:8765",), OURS, FOREIGN),
    "other port": ((HOST,), ("http://agent.localhost:8766",), OURS, FOREIGN),
    "parent domain": ((HOST,), ("http://localhost:8765",), OURS, FOREIGN),
    "child domain": ((HOST,), ("http://x.agent.localhost:8765",), OURS, FOREIGN),
    "suffix": ((HOST,), ("http://agent.localhost:8765.evil.test",), OURS, FOREIGN),
    "prefix": ((HOST,), ("http://evil-agent.localhost:8765",), OURS, FOREIGN),
    "other scheme": ((HOST,), ("https://agent.localhost:8765",), OURS, FOREIGN),
    "origin with a slash": ((HOST,), (ORIGIN + "/",), OURS, FOREIGN),
    "origin in capitals": ((HOST,), (ORIGIN.upper(),), OURS, FOREIGN),
    "no subprotocol": ((HOST,), (ORIGIN,), (), NO_SUBPROTOCOL),
    "next version": ((HOST,), (ORIGIN,), ("countersign.v2",), NO_SUBPROTOCOL),
    "subprotocol in capitals": ((HOST,), (ORIGIN,), ("Countersign.v1",), NO_SUBPROTOCOL),
}


@pytest.mark.parametrize(("hosts", "origins", "subprotocols", "verdict"), CASES.values(), ids=CASES.keys())
def test_handshake_is_judged_by_exact_comparison(
    hosts: Sequence[str], origins: Sequence[str], subprotocols: Sequence[str], verdict: HandshakeVerdict
) -> None:
    assert judge_handshake(HandshakeRequest(hosts, origins, subprotocols), host=HOST, origin=ORIGIN) is verdict


def test_every_verdict_has_its_status_and_a_sentence() -> None:
    assert {verdict.name: verdict.value for verdict in HandshakeVerdict} == {
        "WELCOME": 101,
        "NO_SUBPROTOCOL": 400,
        "NO_SESSION": 401,
        "FOREIGN_ORIGIN": 403,
        "UNKNOWN_HOST": 421,
        "TOO_MANY_SOCKETS": 429,
    }
    assert all(verdict.message for verdict in HandshakeVerdict)


def test_close_codes_are_those_of_the_contract() -> None:
    assert CloseCause.BINARY_FRAME.code == 1003
    assert CloseCause.OVERSIZED_MESSAGE.code == 1009
    assert CloseCause.MALFORMED_FRAMES.code == 1008
    assert CloseCause.SLOW_READER.code == 1013
    assert CloseCause.SESSION_EXPIRED.code == 4401
    assert CloseCause.SESSION_ENDED.code == 4403
    assert len({closing.code for closing in CloseCause}) == len(CloseCause)


def test_close_reasons_fit_into_a_close_frame() -> None:
    assert all(len(closing.reason.encode()) <= 123 for closing in CloseCause)
