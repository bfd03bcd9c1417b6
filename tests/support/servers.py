"""Small servers on loopback that speak the protocols of OpenAI and Ollama from a script."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.provider_protocols import LlamaCpp, Ollama


class Script:
    """What a server does. `requests` keeps the bodies of all requests, `seen_headers` their headers."""

    def __init__(self, words: tuple[str, ...] = ("Paris", " is", " it."), *, status: int = 200) -> None:
        self.words = words
        self.status = status
        self.break_after: int | None = None
        self.delay = 0.0
        self.models = ["tiny"]
        self.requests: list[dict[str, Any]] = []
        self.seen_headers: list[dict[str, str]] = []
        self.closed_early = threading.Event()


class QuietHandler(BaseHTTPRequestHandler):
    """Writes no log."""

    def send(self, data: bytes, kind: str = "application/json", status: int = 200) -> None:
        """A whole answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_json(self, status: int, value: Any) -> None:
        self.send(json.dumps(value).encode(), status=status)

    def send_chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, *args: object) -> None:
        return None


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[str]:
    """Runs a server on a thread; yields its URL."""
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


Act = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serving(act: Act) -> Iterator[str]:
    """A server on loopback that answers each GET by `act`; yields its URL."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            try:
                act(self)
            except OSError:  # the other side has had enough
                self.close_connection = True

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as url:
        yield url


def telling(body: bytes, status: int = 200, **headers: str) -> Act:
    """Returns an act that sends one answer. `headers`: with underscores in their names."""

    def act(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)

    return act


def without_end(request: BaseHTTPRequestHandler) -> None:
    """Sends blanks for as long as somebody reads them."""
    request.send_response(200)
    request.end_headers()
    while True:
        request.wfile.write(b" " * 65_536)


class _Server(ThreadingHTTPServer):
    def __init__(self, script: Script, ollama: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script, self.speech = script, Ollama() if ollama else LlamaCpp(first=None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        return None  # a connection that the script broke


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        speech, names = self.server.speech, self.server.script.models
        known = speech.standing(*names) if isinstance(speech, Ollama) else {"/v1/models": speech.models(*names)}
        if self.path in known:  # a model of Ollama is inspected and loaded before it is used
            self.send(known[self.path].body)
        else:
            self.send_json(404, {"error": "nothing here"})

    def do_POST(self) -> None:
        script, speech = self.server.script, self.server.speech
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if isinstance(speech, Ollama) and self.path != "/api/chat":
            self.do_GET()
            return
        script.requests.append(body)
        script.seen_headers.append(dict(self.headers))
        if script.status != 200:
            self.send_json(script.status, {"error": {"message": "the key sk-secret-123 is no good"}})
            return
        self.send_response(200)
        self.send_header("Content-Type", speech.headers["content-type"])
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for number, word in enumerate(script.words):
                if script.break_after == number:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_chunk(speech.delta(word))
                time.sleep(script.delay)
            for part in (*speech.parts((), usage=(0, 0, 0)), *speech.end, b""):
                self.send_chunk(part)
        except OSError:
            script.closed_early.set()


@contextmanager
def peer(script: Script, *, ollama: bool = False) -> Iterator[str]:
    """Serves `script` at a free port; yields the base URL (without /v1)."""
    with running(_Server(script, ollama)) as url:
        yield url


def closed_port_url() -> str:
    """A loopback URL at which no server listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{sock.getsockname()[1]}"
