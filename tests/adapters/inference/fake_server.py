"""Plays llama.cpp's server in tests of its supervisor: as a binary, or in the launcher's place. Standard library only.

What it does wrong is in the file `behaviour` of its working directory, one word:

    crash       ends with exit code 3 before it listens
    hang        never listens
    keyless     answers without a key
    otherkey    takes no key at all
    stubborn    ignores SIGTERM
    mute        stops answering after the first chat request
    wordless    reports no token ids
    small       ends at once when its context is to be longer than 4096 tokens

It leaves `seen.json` with its environment, arguments and process id, and a line in `journal` per event.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FLAGS = (
    "--model --host --port --alias --api-key-file --cors-origins --no-cors-credentials --ctx-size --parallel --batch-size "
    "--ubatch-size --threads --threads-batch --no-repack --cache-ram --sleep-idle-seconds --slot-save-path --metrics --offline "
    "--embeddings --jinja --chat-template-file"
)


class Order:
    """Its settings, however they were given."""

    def __init__(self) -> None:
        self.key = ""
        self.address = ""
        self.port = 0
        self.context = 0
        self.template = ""
        if "--host" in sys.argv:
            given = dict(zip(sys.argv[1:], sys.argv[2:], strict=False))
            self.key = Path(given["--api-key-file"]).read_text(encoding="ascii")
            self.address, self.port = given["--host"], int(given.get("--port", "0"))
            self.context = int(given["--ctx-size"])
            self.template = Path(given["--chat-template-file"]).read_text() if "--chat-template-file" in given else ""
        else:
            settings = json.loads(sys.stdin.buffer.readline())["settings"]
            (self.key,), (self.address,) = settings["api_keys"], settings["hostnames"]
            self.port, self.context = settings["port"], settings["n_ctx"]
            self.template = settings.get("chat_template", "")
            threading.Thread(target=end_with_input, daemon=True).start()


def note(line: str) -> None:
    with Path("journal").open("a", encoding="utf-8") as journal:
        journal.write(line + "\n")


def end_with_input() -> None:
    """As the launcher does, so that a broken-off test run leaves nothing behind."""
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGKILL)


def refuse_to_end(number: int, frame: object) -> None:
    note("asked to end")


def main() -> None:
    if "--help" in sys.argv:
        sys.stdout.write("usage:\n " + ",  VALUE\n ".join(FLAGS.split()))
        return
    behaviour = Path("behaviour").read_text(encoding="utf-8") if Path("behaviour").exists() else ""
    order = Order()
    Path("seen.json").write_text(json.dumps({"environment": dict(os.environ), "arguments": sys.argv, "pid": os.getpid()}))
    if order.template:
        note(f"own template {order.template}")
    note("started")
    sys.stdout.write("fake server started\n")
    sys.stdout.flush()
    if behaviour == "stubborn":
        signal.signal(signal.SIGTERM, refuse_to_end)
    if behaviour == "crash" or (behaviour == "small" and order.context > 4096):
        sys.exit(3)
    if behaviour == "hang":
        threading.Event().wait()
    serve(order, behaviour)


def serve(order: Order, behaviour: str) -> None:
    is_mute = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def address_string(self) -> str:
            return "-"

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

        def is_welcome(self) -> bool:
            if behaviour == "keyless":
                return True
            return behaviour != "otherkey" and self.headers.get("Authorization") == f"Bearer {order.key}"

        def answer(self, status: int, document: object) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            if is_mute.is_set():
                threading.Event().wait()
            if self.path == "/health":
                self.answer(200, {"status": "ok"})
            else:
                about = {
                    "build_info": "b7",
                    "default_generation_settings": {"n_ctx": order.context},
                    "data": [{"id": "m", "meta": {"n_vocab": 99}}],
                }
                self.answer(200 if self.is_welcome() else 401, about)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.is_welcome():
                self.answer(401, {})
            elif self.path.startswith("/slots/0?action="):
                self.move_slot(self.path.partition("=")[2], body["filename"])
            elif self.path == "/apply-template":
                self.answer(200, {"prompt": json.dumps(body["messages"])})
            elif self.path == "/v1/embeddings":
                note(f"embeds {len(body['input'])}")
                whole = "--embeddings" in sys.argv and all(len(text) < 1000 for text in body["input"])
                vectors = [{"embedding": [0.6, 0.8]} for _ in body["input"]]
                self.answer(200 if whole else 400, {"data": vectors if whole else None})
            elif self.path == "/tokenize":
                self.answer(200, {"tokens": list(body["content"].encode())} if behaviour != "wordless" else {})
            else:
                note("asked")
                if "chat_template_kwargs" in body:
                    note(f"template {json.dumps(body['chat_template_kwargs'])}")
                if behaviour == "mute":
                    is_mute.set()
                self.stream(body)

        def move_slot(self, action: str, name: str) -> None:
            note(action)
            saved = Path("slots") / name
            if action == "save":
                saved.write_text("state", encoding="utf-8")
            self.answer(200 if saved.exists() else 400, {"save": {"n_saved": 7}, "restore": {"n_restored": 7}}[action])

        def stream(self, body: dict[str, object]) -> None:
            """Pieces until `max_tokens`; for ever without one. Says when the client went away."""
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            left = body.get("max_tokens")
            try:
                while left is None or (isinstance(left, int) and left > 0):
                    left = left - 1 if isinstance(left, int) else None
                    self.send_chunk(b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n')
                    time.sleep(0.01)
                self.send_chunk(b"data: [DONE]\n\n")
                self.send_chunk(b"")
            except (BrokenPipeError, ConnectionResetError):
                note("given up")

        def send_chunk(self, octets: bytes) -> None:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(octets), octets))

    class UnixServer(ThreadingHTTPServer):
        address_family = socket.AF_UNIX

        def server_bind(self) -> None:
            self.socket.bind(str(self.server_address))
            self.server_name, self.server_port = "sidecar", 0

        def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
            connection, _ = self.socket.accept()
            return connection, ("sidecar", 0)

    server = ThreadingHTTPServer((order.address, order.port), Handler) if order.port else UnixServer(order.address, Handler)  # pyright: ignore[reportArgumentType] - a Unix address is a path
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
