"""Small peers on loopback for the adapters: they speak the documented protocols at the wire, from a script."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Script:
    """What a peer does. `requests` keeps the bodies that came in, `seen_headers` their headers."""

    def __init__(self, words: tuple[str, ...] = ("Paris", " is", " it."), *, status: int = 200) -> None:
        self.words = words
        self.status = status
        self.break_after: int | None = None
        self.delay = 0.0
        self.models = ["tiny"]
        self.requests: list[dict[str, Any]] = []
        self.seen_headers: list[dict[str, str]] = []
        self.closed_early = threading.Event()


def _handler(script: Script, ollama: bool) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if ollama and self.path == "/api/tags":
                models = [{"model": name, "name": name} for name in script.models]
                return self._json(200, {"models": models})
            if self.path == "/v1/models":
                data = [{"id": name, "object": "model"} for name in script.models]
                return self._json(200, {"object": "list", "data": data})
            return self._beside()

        def _beside(self) -> None:
            if ollama and self.path == "/api/ps":
                return self._json(200, {"models": []})
            if ollama and self.path == "/api/show":
                return self._json(200, {"model_info": {}, "capabilities": ["completion", "tools"]})
            if ollama and self.path == "/api/generate":
                return self._json(200, {"model": "tiny", "response": "", "done": True, "done_reason": "load"})
            return self._json(404, {"error": "nothing here"})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if ollama and self.path != "/api/chat":  # the model is looked at and loaded before it is asked
                return self._beside()
            script.requests.append(body)
            script.seen_headers.append(dict(self.headers))
            if script.status != 200:
                return self._json(script.status, {"error": {"message": "the key sk-secret-123 is no good"}})
            self.send_response(200)
            kind = "application/x-ndjson" if ollama else "text/event-stream"
            self.send_header("Content-Type", kind)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                for number, word in enumerate(script.words):
                    if script.break_after == number:
                        self.connection.shutdown(socket.SHUT_RDWR)
                        return None
                    self._chunk(self._delta(word))
                    time.sleep(script.delay)
                self._chunk(self._last())
                self._chunk("")
            except OSError:
                script.closed_early.set()
            return None

        def _delta(self, word: str) -> str:
            if ollama:
                message = {"role": "assistant", "content": word}
                return json.dumps({"model": "tiny", "message": message, "done": False}) + "\n"
            choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
            body = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [choice]}
            return f"data: {json.dumps(body)}\n\n"

        def _last(self) -> str:
            if ollama:
                message = {"role": "assistant", "content": ""}
                return json.dumps({"model": "tiny", "message": message, "done": True}) + "\n"
            return "data: [DONE]\n\n"

        def _chunk(self, text: str) -> None:
            data = text.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

        def _json(self, status: int, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            return None

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        return None  # a connection that the script broke


@contextmanager
def peer(script: Script, *, ollama: bool = False) -> Iterator[str]:
    """Serves `script` on a free loopback port; yields the base URL (without /v1)."""
    server = _Server(("127.0.0.1", 0), _handler(script, ollama))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def closed_port_url() -> str:
    """A loopback URL at which nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{sock.getsockname()[1]}"
