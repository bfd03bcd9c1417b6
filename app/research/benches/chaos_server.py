"""A loopback server in OpenAI's protocol that answers everything alike; `bench chaos` kills and stops it.

Run it as a module with a port, or 0 to choose one. It prints its URL, and exits when its standard input closes.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from app.platform.children import answers_of_child, send_line

WORDS = "That is a good question, and the answer is rather long. It has two parts, as you may know.".split()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = json.dumps({"object": "list", "data": [{"id": "chaos", "object": "model"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for word in WORDS:
            choice = {"index": 0, "delta": {"content": f"{word} "}, "finish_reason": None}
            event = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "chaos", "choices": [choice]}
            self._send(f"data: {json.dumps(event)}\n\n".encode())
            time.sleep(0.05)
        self._send(b"data: [DONE]\n\n")
        self._send(b"")

    def _send(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, *args: object) -> None:
        return None


def main(argv: list[str]) -> int:
    answers = answers_of_child(0)
    ThreadingHTTPServer.allow_reuse_address = True
    server = ThreadingHTTPServer(("127.0.0.1", int(argv[0])), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    send_line(answers, {"port": server.server_address[1]})
    sys.stdin.buffer.read()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
