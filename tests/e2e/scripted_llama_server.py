"""Plays llama.cpp's server, so that the gateway takes a script for a small model of its own. Standard library only.

What it is asked to complete it asks of the server whose base URL is its first argument; the others are llama.cpp's.
"""

from __future__ import annotations

import http.client
import json
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

FLAGS = (
    "--model --host --port --alias --api-key-file --cors-origins --no-cors-credentials --ctx-size --parallel --batch-size "
    "--ubatch-size --threads --threads-batch --no-repack --cache-ram --sleep-idle-seconds --slot-save-path --metrics --offline"
)

ABOUT = {"build_info": "scripted", "data": [{"id": "small", "meta": {"n_vocab": 99}}]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    key = ""
    upstream = ""

    def address_string(self) -> str:
        return "-"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/health" or self.is_welcome():
            self.answer(200, ABOUT)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.is_welcome():
            return
        if self.path != "/v1/chat/completions":
            self.answer(200, {"n_saved": 0, "n_restored": 0, "prompt": "", "tokens": list(body)})
        elif json.loads(body).get("max_tokens") == 1:
            # The gateway's own, to have the beginning of all prompts evaluated: nobody reads the answer.
            self.answer(200, {"choices": []})
        else:
            self.relay(body)

    def is_welcome(self) -> bool:
        if self.headers.get("Authorization") == f"Bearer {self.key}":
            return True
        self.answer(401, {})
        return False

    def answer(self, status: int, document: object) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def relay(self, body: bytes) -> None:
        """Ask, and pass on what comes as it comes; a client that goes away takes the question along."""
        upstream = urlsplit(self.upstream)
        asking = http.client.HTTPConnection(upstream.netloc)
        try:
            asking.request("POST", f"{upstream.path}/chat/completions", body, {"Content-Type": "application/json"})
            given = asking.getresponse()
            self.send_response(given.status)
            self.send_header("Content-Type", given.getheader("Content-Type") or "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while piece := given.read1(65536):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            asking.close()


class UnixServer(ThreadingHTTPServer):
    address_family = socket.AF_UNIX

    def server_bind(self) -> None:
        self.socket.bind(str(self.server_address))
        self.server_name, self.server_port = "sidecar", 0

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        connection, _ = self.socket.accept()
        return connection, ("sidecar", 0)


def main(upstream: str) -> None:
    if "--help" in sys.argv:
        sys.stdout.write("usage:\n " + ",  VALUE\n ".join(FLAGS.split()))
        return
    given = dict(zip(sys.argv[1:], sys.argv[2:], strict=False))
    Handler.key, Handler.upstream = Path(given["--api-key-file"]).read_text(encoding="ascii"), upstream
    address, port = given["--host"], int(given.get("--port", "0"))
    server = ThreadingHTTPServer((address, port), Handler) if port else UnixServer(address, Handler)  # pyright: ignore[reportArgumentType] - a Unix address is a path
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv.pop(1))
