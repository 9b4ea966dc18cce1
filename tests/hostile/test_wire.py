"""Malformed and hostile bytes against the running gateway (docs/SECURITY.md cases 15 to 27).

Each gets the typed answer of docs/PROTOCOL.md section 2 and affects no other connection. When the module's gateway stops, its
fixture asserts that the output contains no traceback.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from gateway.runtime.timing import SOCKETS_PER_SESSION
from tests.harness.person import Turn
from tests.harness.process import GatewayProcess, free_port
from tests.hostile.raw_socket import PATIENCE, Opcode, RawSocket, connect, frame, handshake, request
from tests.scenarios.conftest import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

PING = request("session/describe")


@pytest_asyncio.fixture(loop_scope="module")
async def wire(gateway: GatewayProcess, scene: Scene) -> AsyncIterator[RawSocket]:
    connection = await RawSocket.open(scene.ada.browser, gateway.agent_origin)
    yield connection
    await connection.drop()
    # The shell's own connection still works.
    assert (await scene.shell.call("session/describe"))["session"]["profile"] == "operator"


async def is_alive(wire: RawSocket) -> bool:
    """Whether a well-formed request is still answered."""
    return "result" in await wire.exchange(PING)


def invoke_with(arguments: str) -> str:
    """A tools/invoke whose arguments are raw text."""
    return (
        '{"jsonrpc":"2.0","id":1,"method":"tools/invoke","params":{"conversationId":"cnv_x","turnId":"trn_x",'
        '"snapshotId":"snp_x","snapshotDigest":"x","call":{"id":"c1","name":"peek","arguments":' + arguments + "}}}"
    )


NOT_JSON = {
    "case 15: nesting of 1e5 arrays": "[" * 100_000 + "]" * 100_000,
    "case 15: nesting of 1e5 objects that never end": '{"a":' * 50_000,
    "case 15: nesting of 65, in arguments": invoke_with("[" * 62 + "]" * 62),
    "case 18: NaN": invoke_with('{"what":NaN}'),
    "case 18: Infinity": invoke_with('{"what":-Infinity}'),
    "case 20: duplicate keys": '{"jsonrpc":"2.0","id":1,"method":"session/describe","method":"turns/begin"}',
    "case 20: duplicate keys, one of them escaped, deep inside": invoke_with('{"a":{"b":[{"what":"x","wh\\u0061t":"y"}]}}'),
    "case 21: a lone surrogate": invoke_with('{"what":"\\ud800"}'),
    "case 21: a lone surrogate in a name": invoke_with('{"\\udfff":"x"}'),
    "case 21: a raw control character": invoke_with('{"what":"a\x00b"}'),
    "case 21: a byte order mark": "\ufeff" + PING.decode(),
    "nothing at all": "",
    "two messages in one frame": PING.decode() * 2,
    "a trailing comma": '{"jsonrpc":"2.0",}',
    "JSON5": "{jsonrpc:'2.0'}",
}


@pytest.mark.requirement("002-26", "what is no unambiguous JSON is a parse error, and the connection lives")
@pytest.mark.parametrize("sent", NOT_JSON.values(), ids=NOT_JSON.keys())
async def test_cases_15_to_21_ambiguous_json_is_a_parse_error(wire: RawSocket, sent: str) -> None:
    answer = await wire.exchange(sent)
    assert (answer["error"]["code"], answer["id"]) == (-32700, None)
    assert await is_alive(wire)


UNSUPPORTED = {
    "1e400": invoke_with('{"what":1e400}'),
    "1e21": invoke_with('{"what":1e21}'),
    "2^53": invoke_with('{"what":9007199254740992}'),
    "5000 digits": invoke_with('{"what":' + "9" * 5000 + "}"),
    "U+0000": invoke_with('{"what":"a\\u0000b"}'),
    "U+0000 in a name": invoke_with('{"\\u0000":"x"}'),
}


async def test_case_19_an_unsupported_value_is_refused_with_the_id_of_its_request(wire: RawSocket) -> None:
    """More than five: such values, which a model can write, do not count as malformed messages."""
    for sent in UNSUPPORTED.values():
        answer = await wire.exchange(sent)
        assert (answer["error"]["code"], answer["id"]) == (-32602, 1)
    assert await is_alive(wire)


async def test_a_tool_name_of_more_than_64_characters_is_refused(wire: RawSocket) -> None:
    for length, code in ((64, -32003), (65, -32602)):
        answer = await wire.exchange(invoke_with("{}").replace('"peek"', f'"{"n" * length}"'))
        assert answer["error"]["code"] == code


async def test_case_16_a_message_beyond_256_kib_closes_with_1009(wire: RawSocket) -> None:
    wire.write(frame(b"x" * 300_000))
    assert await wire.close_code() == 1009


async def test_case_17_an_object_of_1e5_names_is_refused_by_size_and_of_10_000_by_shape(scene: Scene, wire: RawSocket) -> None:
    turn = await scene.begin()
    many = {f"k{number}": number for number in range(10_000)}
    result = await scene.shell.call("tools/invoke", turn.request("peek", many))
    assert (result["outcome"], result["reason"]) == ("invalidArguments", "schema")
    assert len(result["error"]) < 4096
    wire.write(frame(invoke_with("{" + ",".join(f'"k{number}":{number}' for number in range(100_000)) + "}").encode()))
    assert await wire.close_code() == 1009


NOT_REQUESTS = {
    "a batch": (b"[" + PING + b"," + PING + b"]", -32600),
    "an empty batch": (b"[]", -32600),
    "null": (b"null", -32600),
    "a string": (b'"session/describe"', -32600),
    "a notification": (b'{"jsonrpc":"2.0","method":"session/describe"}', -32600),
    "an id of null": (b'{"jsonrpc":"2.0","id":null,"method":"session/describe"}', -32600),
    "an id of true": (b'{"jsonrpc":"2.0","id":true,"method":"session/describe"}', -32600),
    "an id of 1.5": (b'{"jsonrpc":"2.0","id":1.5,"method":"session/describe"}', -32600),
    "an id of 100 kB": (b'{"jsonrpc":"2.0","id":"' + b"x" * 100_000 + b'","method":"session/describe"}', -32600),
    "JSON-RPC 1.0": (b'{"id":1,"method":"session/describe"}', -32600),
    "a method that is a number": (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
    "params that are a list": (b'{"jsonrpc":"2.0","id":1,"method":"session/describe","params":[]}', -32602),
    "params of null": (b'{"jsonrpc":"2.0","id":1,"method":"session/describe","params":null}', -32602),
    "an unknown member of the envelope": (b'{"jsonrpc":"2.0","id":1,"method":"session/describe","auth":"admin"}', -32602),
    "an unknown parameter": (request("session/describe", {"as": "usr_admin"}), -32602),
    "case 12: a call that says it was consented to": (
        invoke_with('{"what":"x"}').replace('"turnId"', '"client_consented":true,"turnId"').encode(),
        -32602,
    ),
    "case 12: a call that brings its own permission": (
        invoke_with('{"what":"x"},"permission":"auto"').encode(),
        -32602,
    ),
    "arguments that are a string": (invoke_with('"{}"').encode(), -32602),
    "snake_case": (request("turns/begin", {"conversation_id": "cnv_x"}), -32602),
    "a call id of 129 characters": (invoke_with("{}").replace('"c1"', '"' + "c" * 129 + '"').encode(), -32602),
    "a call id with a newline": (invoke_with("{}").replace('"c1"', '"c1\\n"').encode(), -32602),
    "an identifier of 1 kB": (request("turns/begin", {"conversationId": "x" * 1024}), -32602),
    "a conversation that is an object": (request("turns/begin", {"conversationId": {"$ne": ""}}), -32602),
    "case 22: __proto__ as a parameter": (request("session/describe", {"__proto__": {"profile": "operator"}}), -32602),
    "a method of the console": (request("approvals/decide"), -32601),
    "a method of Python": (request("__class__"), -32601),
    "a method of 100 kB": (request("x" * 100_000), -32601),
}


@pytest.mark.requirement("002-26", "a message that is no request of a known method gets its JSON-RPC error")
@pytest.mark.requirement("002-17", "a call that brings its own permission or consent is refused")
@pytest.mark.parametrize(("sent", "code"), NOT_REQUESTS.values(), ids=NOT_REQUESTS.keys())
async def test_case_12_a_message_that_is_no_call_of_a_known_method_gets_its_error_code(
    wire: RawSocket, sent: bytes, code: int
) -> None:
    answer = await wire.exchange(sent)
    assert answer["error"]["code"] == code, answer
    assert len(str(answer)) < 2048, "an error does not echo the message"
    assert await is_alive(wire)


async def test_case_22_prototype_names_in_arguments_are_refused_by_the_schema(scene: Scene) -> None:
    turn = await scene.begin()
    for name in ("__proto__", "constructor", "prototype"):
        result = await turn.invoke("peek", {"what": "a", name: {"what": "b"}})
        assert (result["outcome"], result["reason"]) == ("invalidArguments", "schema")
    assert scene.effects(turn.conversation_id) == []


BROKEN_FRAMES = {
    "a binary message": (frame(PING, Opcode.BINARY), 1003),
    "case 21: invalid UTF-8": (frame(b'"\xff\xfe"'), 1007),
    "case 21: a surrogate in UTF-8": (frame(b'"\xed\xa0\x80"'), 1007),
    "case 25: an unmasked frame": (frame(PING, masked=False), 1002),
    "case 25: reserved bit 1, as compressed": (frame(PING, reserved=4), 1002),
    "case 25: reserved bits 2 and 3": (frame(PING, reserved=3), 1002),
    "case 25: an unknown opcode": (frame(b"", 3), 1002),
    "case 25: an unknown control opcode": (frame(b"", 11), 1002),
    "case 25: a length of 1 TiB": (frame(b"", claimed=1 << 40), 1009),
    "case 25: a length with the highest bit": (frame(b"", claimed=1 << 63), (1002, 1009)),
    "case 25: a fragmented ping": (frame(b"", Opcode.PING, final=False), 1002),
    "case 25: a ping of 200 bytes": (frame(b"x" * 200, Opcode.PING), 1002),
    "case 25: a continuation of nothing": (frame(PING, Opcode.CONTINUATION), 1002),
    "case 25: a message within a message": (frame(b"{", final=False) + frame(b"{"), 1002),
    "case 25: fragments that add up to 300 kB": (
        frame(b"x" * 1000, final=False) + frame(b"x" * 1000, Opcode.CONTINUATION, final=False) * 299,
        1009,
    ),
    "a close frame of one byte": (frame(b"x", Opcode.CLOSE), 1002),
    "a close code that must not be sent": (frame(b"\x03\xee", Opcode.CLOSE), 1002),
}


@pytest.mark.requirement("002-75", "broken frames end their own connection and no other")
@pytest.mark.parametrize(("sent", "codes"), BROKEN_FRAMES.values(), ids=BROKEN_FRAMES.keys())
async def test_case_25_a_frame_that_breaks_the_rules_ends_its_connection(
    wire: RawSocket, sent: bytes, codes: int | tuple[int, ...]
) -> None:
    wire.write(sent)
    assert await wire.close_code() in (codes if isinstance(codes, tuple) else (codes,))


async def test_case_25_a_message_in_endless_fragments_closes_only_its_own_connection(scene: Scene, wire: RawSocket) -> None:
    # Empty fragments add nothing to the size of a message and could go on forever.
    wire.write(frame(b"", final=False), frame(b"", Opcode.CONTINUATION, final=False) * 1024)
    assert await wire.close_code() == 1009
    assert (await scene.shell.call("session/describe"))["session"]["profile"] == "operator"


async def test_a_message_in_many_fragments_is_read(wire: RawSocket) -> None:
    middle = [frame(PING[place : place + 1], Opcode.CONTINUATION, final=False) for place in range(1, len(PING) - 1)]
    wire.write(frame(PING[:1], final=False), *middle, frame(PING[-1:], Opcode.CONTINUATION))
    assert "result" in await wire.receive()


async def test_case_25_no_extension_is_accepted_so_no_message_is_decompressed(gateway: GatewayProcess, scene: Scene) -> None:
    offered = {"Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits"}
    status, wire = await handshake(scene.ada.browser, gateway.agent_origin, headers=offered)
    assert status == 101
    # A compressed frame could hold 64 MB of zeros; without the extension its reserved bit is an error.
    wire.write(frame(zlib.compress(bytes(1 << 26), 9)[2:-4], reserved=4))
    assert await wire.close_code() == 1002
    await wire.drop()


async def test_five_malformed_messages_close_with_1008(wire: RawSocket) -> None:
    for _ in range(4):
        assert (await wire.exchange("{"))["error"]["code"] == -32700
    assert await is_alive(wire)
    wire.write(frame(b"{"))
    assert await wire.close_code() == 1008


async def test_the_33rd_request_in_flight_is_refused_and_another_socket_can_cancel_the_turn(
    scene: Scene, wire: RawSocket
) -> None:
    opened = (await wire.exchange(request("conversations/open")))["result"]["conversation"]
    begun = (await wire.exchange(request("turns/begin", {"conversationId": opened["id"]})))["result"]["snapshot"]
    for number in range(32):
        call: dict[str, Any] = {"id": f"c{number}", "name": "linger", "arguments": {}}
        bound = {"turnId": begun["turnId"], "snapshotId": begun["id"], "snapshotDigest": begun["digest"]}
        wire.write(frame(request("tools/invoke", {"conversationId": opened["id"], **bound, "call": call}, number + 10)))
    refused = await wire.exchange(request("session/describe", number=99))
    assert (refused["id"], refused["error"]["code"]) == (99, -32002)
    # Until a call runs, the end of its turn may be found by its checks first, and then it is refused instead of cancelled.
    async with asyncio.timeout(PATIENCE):
        while len(scene.effects(opened["id"])) < 32:
            await asyncio.sleep(0.02)
    turn = {"conversationId": opened["id"], "turnId": begun["turnId"]}
    assert len((await scene.shell.call("turns/cancel", turn))["cancelled"]) == 32
    outcomes = [(await wire.receive())["result"]["outcome"] for _ in range(32)]
    assert set(outcomes) == {"cancelled"}
    assert await is_alive(wire)


async def test_case_26_a_peer_that_stops_reading_is_closed_with_1013(gateway: GatewayProcess, scene: Scene) -> None:
    turn = await scene.begin()
    place = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
    for _ in range(10):
        message = {"role": "user", "content": "x" * 200_000}
        await scene.shell.call("messages/append", {**place, "message": message})
    stalled = await RawSocket.open(scene.ada.browser, gateway.agent_origin, receive_buffer=8192)
    # Two megabytes each, requested in one write. The last request shows another socket that the others were answered.
    asked = [frame(request("conversations/open", {"conversationId": turn.conversation_id}, n)) for n in range(20)]
    done = frame(request("conversations/rename", {"conversationId": turn.conversation_id, "title": "all answered"}, 99))
    stalled.write(*asked, done)
    async with asyncio.timeout(PATIENCE):
        while "all answered" not in str(await scene.shell.call("conversations/list")):
            await asyncio.sleep(0.05)
    assert await stalled.close_code() == 1013
    await stalled.drop()


async def test_case_26_a_slow_handshake_times_out_and_affects_no_other_connection(gateway: GatewayProcess, scene: Scene) -> None:
    beginnings = [b"", b"GET /ws HT", b"GET /ws HTTP/1.1\r\nHost: agent.localhost\r\nX: "]
    peers = [await connect(gateway.port) for _ in beginnings]
    for (_, writer), beginning in zip(peers, beginnings, strict=True):
        writer.write(beginning)
    assert "session" in await scene.shell.call("session/describe")
    for reader, writer in peers:
        async with asyncio.timeout(PATIENCE):
            try:
                rest = await reader.read()
            except ConnectionResetError:
                rest = b""
        assert rest == b"" or rest.startswith(b"HTTP/1.1 4")
        writer.close()


async def test_case_26_an_upgrade_with_endless_headers_is_refused(gateway: GatewayProcess, scene: Scene) -> None:
    padding = {f"X-{number}": "x" * 1000 for number in range(100)}
    status, wire = await handshake(scene.ada.browser, gateway.agent_origin, headers=padding)
    assert status == 400
    await wire.drop()


@pytest.mark.requirement("002-75", "pages of fourteen other origins open no socket")
async def test_case_27_a_page_of_another_origin_opens_no_socket_although_the_cookie_is_sent(
    gateway: GatewayProcess, scene: Scene
) -> None:
    agent, console = gateway.agent_origin, gateway.console_origin
    sibling_port = agent.replace(str(gateway.port), str(free_port()))
    foreign: list[list[str]] = [
        [sibling_port],
        [agent.replace("agent.", "evil.agent.")],
        [agent.replace("agent.", "")],
        [agent.replace("http:", "https:")],
        [agent + ".evil.test"],
        [agent.replace("agent.localhost", "agent.localhost.evil.test")],
        [agent.upper()],
        [agent + "/"],
        ["null"],
        ["http://evil.test"],
        [console],
        [],
        [""],
        ["file://"],
    ]
    for origins in foreign:
        status, wire = await handshake(scene.ada.browser, agent, origins=origins)
        assert status == 403, origins
        await wire.drop()
        if origins != [console]:
            status, wire = await handshake(scene.ada.browser, console, origins=origins)
            assert status == 403, origins
            await wire.drop()
    status, wire = await handshake(scene.ada.browser, agent, origins=[agent, "http://evil.test"])
    assert status in (400, 403)
    await wire.drop()
    # A refused handshake is no error of the gateway: a page must not be able to fill the operator's log.
    assert "ERROR" not in gateway.output


async def test_case_27_a_rebound_host_is_refused(gateway: GatewayProcess, scene: Scene) -> None:
    agent = gateway.agent_origin
    netloc = urlsplit(agent).netloc
    for host in ("evil.test", f"evil.test:{gateway.port}", f"127.0.0.1:{gateway.port}", "agent.localhost", f"{netloc}.", ""):
        for origins in ([agent], [f"http://{host}"]):
            status, wire = await handshake(scene.ada.browser, agent, host=host, origins=origins)
            assert status in (400, 421), (host, status)
            await wire.drop()
        for path in ("/", "/login", "/healthz", "/v1/models"):
            reply = await scene.ada.browser.get(f"{agent}{path}", headers={"Host": host or "x"})
            assert reply.status == 421, (host, path, reply.status)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-WebSocket-Protocol": ""}, 400),
        ({"Sec-WebSocket-Protocol": "countersign.v2, chat"}, 400),
        ({"Sec-WebSocket-Version": "8"}, 400),
        ({"Sec-WebSocket-Key": "short"}, 400),
        ({"Cookie": ""}, 401),
        ({"Cookie": "cs_agent=guessed"}, 401),
    ],
)
async def test_an_incomplete_handshake_names_what_is_missing(
    gateway: GatewayProcess, scene: Scene, headers: dict[str, Any], status: int
) -> None:
    answered, wire = await handshake(scene.ada.browser, gateway.agent_origin, headers=headers)
    assert answered == status
    await wire.drop()


@pytest.mark.requirement("002-32", "a call sent after sign-out has no effect")
async def test_case_13_messages_after_the_end_of_the_session_have_no_effect(gateway: GatewayProcess, scene: Scene) -> None:
    mallory = await scene.another("Mallory", "operator")
    socket = await mallory.agent()
    turn = await Turn.begin(socket)
    wire = await RawSocket.open(mallory.browser, gateway.agent_origin)
    assert (await mallory.sign_out()).status == 204
    # The close frame may have been sent already; messages after it have no effect in either case.
    wire.write(frame(request("tools/invoke", turn.request("peek", {"what": "late"}))))
    assert await wire.close_code() in (4401, 4403)
    assert scene.effects(turn.conversation_id) == []
    await wire.drop()


async def test_case_26_many_idle_connections_do_not_block_others(gateway: GatewayProcess, scene: Scene) -> None:
    """A session has 64 sockets at most: of 200 at once the others are told so, nobody else notices, and room comes back."""
    trudy = (await scene.another("Trudy", "guest")).browser
    crowd = await asyncio.gather(*(handshake(trudy, gateway.agent_origin) for _ in range(200)))
    crowd += [await handshake(trudy, gateway.console_origin) for _ in range(SOCKETS_PER_SESSION + 1)]
    refused = [wire for status, wire in crowd if status == 429]
    assert (len(crowd) - len(refused), len(refused)) == (2 * SOCKETS_PER_SESSION, 201 - SOCKETS_PER_SESSION)
    async with asyncio.timeout(PATIENCE):
        assert b'"too_many_sockets"' in await refused[-1].reader.readuntil(b"}")
    assert {(await trudy.get(f"{site}/ws")).status for site in (gateway.agent_origin, gateway.console_origin)} == {429}
    assert (await (await scene.begin()).invoke("peek", {"what": "a"}))["outcome"] == "ok"
    for _, wire in crowd:
        await wire.drop()
    async with asyncio.timeout(PATIENCE):
        while (again := await handshake(trudy, gateway.agent_origin))[0] != 101:
            await again[1].drop()
    await again[1].drop()
