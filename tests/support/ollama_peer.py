"""An Ollama-protocol server on loopback over a real engine: the app's own llama.cpp child with a small model.

Follows Ollama's documented HTTP API as far as the package `ollama` is used with it: version, tags, ps, show, generate
(load and unload), chat, pull. A model is loaded into a child when it is asked, and unloaded when its time is over.
Knows nothing of the app's adapters.
"""

import hashlib
import http.client
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.platform.children import python_module_command, quiet_child
from tests.support.servers import QuietHandler, running

CONTEXT = 2048
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class Engine:
    """A llama.cpp server with one model, in a child process. `pid` is the child's."""

    def __init__(self, model: Path, threads: int = 1) -> None:
        command = python_module_command("app.backend.embedded_server", str(model), str(threads), "1")
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **quiet_child()
        )
        self.pid = self._child.pid
        where = json.loads(self._child.stdout.readline())  # type: ignore[union-attr]
        self.url: str = where["url"]
        self.key: str = where["key"]
        self._wait()

    def post(self, path: str, body: Any) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Asks it; the connection is the caller's to close, which ends the answer."""
        connection = self._connect()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        return connection, connection.getresponse()

    def close(self) -> None:
        """Ends the child by closing its input."""
        self._child.stdin.close()  # type: ignore[union-attr]
        self._child.stdout.close()  # type: ignore[union-attr]
        try:
            self._child.wait(3)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def _connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)

    def _wait(self) -> None:
        for _ in range(400):
            connection = self._connect()
            try:
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                pass
            finally:
                connection.close()
            time.sleep(0.05)
        self.close()
        raise RuntimeError("the engine did not come up")


@dataclass
class OllamaPeer:
    """`models`: what it has, by name with a tag. `library`: what it can pull. `asked`: (path, body) so far.

    `pull_seconds`: how long a pull takes; `pulled`: bytes that have come, by name; they stay when a pull is broken off.
    `proxied_key`: a key that a proxy before it wants, as `Authorization: Bearer`.
    """

    models: dict[str, Path]
    library: dict[str, Path] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ("completion",)
    pull_seconds: float = 1.0
    proxied_key: str = ""
    url: str = ""
    asked: list[tuple[str, Any]] = field(default_factory=list)
    pulled: dict[str, int] = field(default_factory=dict)
    gone: threading.Event = field(default_factory=threading.Event)
    _loaded: dict[str, tuple[Engine, float]] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def pids(self) -> list[int]:
        """The children that hold models now."""
        with self._lock:
            return [engine.pid for engine, _ in self._loaded.values()]

    def resolve(self, name: str) -> str:
        """The full name of a model that it has, or ''."""
        full = name if ":" in name else f"{name}:latest"
        return full if full in self.models else ""

    def load(self, name: str, keep_alive: Any) -> Engine | None:
        """Loads a model, or unloads it when `keep_alive` is 0."""
        seconds = _seconds(keep_alive)
        with self._lock:
            self._expire()
            held = self._loaded.pop(name, None)
            if seconds == 0:
                if held:
                    held[0].close()
                return None
            engine = held[0] if held else Engine(self.models[name])
            self._loaded[name] = (engine, time.time() + (seconds if seconds > 0 else 1e9))
            return engine

    def running(self) -> list[dict[str, Any]]:
        """What `/api/ps` tells."""
        with self._lock:
            self._expire()
            return [
                {**self.describe(name), "expires_at": _stamp(end), "size_vram": 0, "context_length": CONTEXT}
                for name, (_, end) in self._loaded.items()
            ]

    def describe(self, name: str) -> dict[str, Any]:
        """A model as the lists have it."""
        file = self.models[name]
        return {
            "name": name,
            "model": name,
            "modified_at": _stamp(time.time()),
            "size": file.stat().st_size,
            "digest": hashlib.sha256(str(file.name).encode()).hexdigest(),
            "details": {
                "format": "gguf",
                "family": "llama",
                "families": ["llama"],
                "parameter_size": "134.52M",
                "quantization_level": "Q4_1",
                "parent_model": "",
            },
        }

    def _expire(self) -> None:
        for name, (engine, end) in list(self._loaded.items()):
            if end < time.time():
                del self._loaded[name]
                engine.close()

    def close(self) -> None:
        """Ends all children."""
        with self._lock:
            for engine, _ in self._loaded.values():
                engine.close()
            self._loaded.clear()


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    peer: OllamaPeer

    def do_GET(self) -> None:
        self._route({"/": self._root, "/api/version": self._version, "/api/tags": self._tags, "/api/ps": self._ps})

    def do_POST(self) -> None:
        self._route(
            {"/api/show": self._show, "/api/generate": self._generate, "/api/chat": self._chat, "/api/pull": self._pull}
        )

    def _route(self, routes: dict[str, Any]) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else {}
        self.peer.asked.append((self.path, body))
        if self.peer.proxied_key and self.headers.get("Authorization") != f"Bearer {self.peer.proxied_key}":
            return self.send_json(401, {"error": "unauthorized"})
        if self.path not in routes:
            return self.send_json(404, {"error": "404 page not found"})
        try:
            return routes[self.path](body)
        except OSError:  # the client has left
            self.close_connection = True
            self.peer.gone.set()
            return None

    # -- what it has ---------------------------------------------------------------------------------

    def _root(self, body: Any) -> None:
        self.send(b"Ollama is running", "text/plain")

    def _version(self, body: Any) -> None:
        self.send_json(200, {"version": "0.12.0"})

    def _tags(self, body: Any) -> None:
        self.send_json(200, {"models": [self.peer.describe(name) for name in self.peer.models]})

    def _ps(self, body: Any) -> None:
        self.send_json(200, {"models": self.peer.running()})

    def _show(self, body: Any) -> None:
        name = self._known(body)
        if name:
            info = {"general.architecture": "llama", "general.parameter_count": 134515008, "llama.context_length": 8192}
            told = {"modelfile": "", "parameters": "", "template": "{{ .Prompt }}", "model_info": info}
            self.send_json(
                200,
                {**told, "details": self.peer.describe(name)["details"], "capabilities": list(self.peer.capabilities)},
            )

    def _generate(self, body: Any) -> None:
        """Loading and unloading alone: an empty prompt."""
        name = self._known(body)
        if not name:
            return None
        if body.get("prompt"):
            return self.send_json(501, {"error": "this peer generates by /api/chat alone"})
        keep = body.get("keep_alive", "5m")
        self.peer.load(name, keep)
        reason = "unload" if _seconds(keep) == 0 else "load"
        told = {"model": name, "created_at": _stamp(time.time()), "response": "", "done": True, "done_reason": reason}
        if body.get("stream", True):
            return self._lines(iter([told]))
        return self.send_json(200, told)

    # -- answers -------------------------------------------------------------------------------------

    def _chat(self, body: Any) -> None:
        name = self._known(body)
        if not name:
            return None
        for wanted, capability, words in (("think", "thinking", "thinking"), ("tools", "tools", "tools")):
            if body.get(wanted) and capability not in self.peer.capabilities:
                return self.send_json(400, {"error": f'"{name}" does not support {words}'})
        engine = self.peer.load(name, body.get("keep_alive", "5m"))
        if engine is None or not body.get("messages"):
            told = {
                "model": name,
                "created_at": _stamp(time.time()),
                "done": True,
                "done_reason": "load",
                "message": {"role": "assistant", "content": ""},
            }
            return self.send_json(200, told)
        options = body.get("options") or {}
        asked = {
            "model": name,
            "messages": body["messages"],
            "stream": True,
            "stream_options": {"include_usage": True},
            "cache_prompt": True,
            **{
                ours: options[theirs]
                for theirs, ours in (
                    ("num_predict", "max_tokens"),
                    ("temperature", "temperature"),
                    ("top_p", "top_p"),
                    ("seed", "seed"),
                    ("stop", "stop"),
                )
                if theirs in options
            },
        }
        connection, response = engine.post("/v1/chat/completions", asked)
        try:
            if response.status != 200:
                return self.send_json(500, {"error": response.read().decode(errors="replace")})
            return self._lines(_answer(name, response))
        finally:
            response.close()
            connection.close()  # and the engine stops

    # -- fetching ------------------------------------------------------------------------------------

    def _pull(self, body: Any) -> None:
        name = body.get("model") or body.get("name") or ""
        full = name if ":" in name else f"{name}:latest"
        self._lines(self._pulling(full))

    def _pulling(self, name: str) -> Iterator[dict[str, Any]]:
        yield {"status": "pulling manifest"}
        if name not in self.peer.library:
            yield {"error": "pull model manifest: file does not exist"}
            return
        file = self.peer.library[name]
        total, steps = file.stat().st_size, 20
        digest = hashlib.sha256(name.encode()).hexdigest()
        head = {"status": f"pulling {digest[:12]}", "digest": f"sha256:{digest}", "total": total}
        yield head
        while (have := self.peer.pulled.get(name, 0)) < total:
            time.sleep(self.peer.pull_seconds / steps)
            self.peer.pulled[name] = min(total, have + total // steps + 1)
            yield {**head, "completed": self.peer.pulled[name]}
        for status in ("verifying sha256 digest", "writing manifest"):
            yield {"status": status}
        self.peer.models[name] = file
        yield {"status": "success"}

    # -- the wire ------------------------------------------------------------------------------------

    def _known(self, body: Any) -> str:
        name = str(body.get("model") or body.get("name") or "")
        full = self.peer.resolve(name)
        if not full:
            self.send_json(404, {"error": f"model '{name}' not found"})
        return full

    def _lines(self, values: Iterator[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for value in values:
            self.send_chunk(json.dumps(value).encode() + b"\n")
        self.send_chunk(b"")


def _answer(name: str, response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """The engine's events as Ollama's lines."""
    begin, reason, usage = time.monotonic_ns(), "stop", {}
    while line := response.readline():
        if not line.startswith(b"data: ") or line.startswith(b"data: [DONE]"):
            continue
        chunk = json.loads(line[6:])
        if "error" in chunk:
            yield {"error": f"an error was encountered while running the model: {chunk['error'].get('message')}"}
            return
        usage = chunk.get("usage") or usage
        for choice in chunk.get("choices") or ():
            reason = choice.get("finish_reason") or reason
            if text := choice["delta"].get("content"):
                message = {"role": "assistant", "content": text}
                yield {"model": name, "created_at": _stamp(time.time()), "message": message, "done": False}
    took = time.monotonic_ns() - begin
    yield {
        "model": name,
        "created_at": _stamp(time.time()),
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": reason,
        "total_duration": took,
        "load_duration": 0,
        "prompt_eval_count": usage.get("prompt_tokens", 0),
        "prompt_eval_duration": took // 4,
        "eval_count": usage.get("completion_tokens", 0),
        "eval_duration": took * 3 // 4,
    }


def _seconds(keep_alive: Any) -> float:
    """Ollama's durations: a number of seconds, or a number with its unit; below 0: for ever."""
    if isinstance(keep_alive, int | float):
        return float(keep_alive)
    for unit, scale in UNITS.items():
        number = str(keep_alive).removesuffix(unit)
        if number != keep_alive and number.lstrip("-").replace(".", "", 1).isdigit():
            return float(number) * scale
    return float(keep_alive)


def _stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(min(seconds, 4e9)))


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        return None  # a client that has left


@contextmanager
def ollama_peer(peer: OllamaPeer) -> Iterator[OllamaPeer]:
    """Serves `peer` on a free loopback port."""
    handler = type("Handler", (_Handler,), {"peer": peer})
    try:
        with running(_Server(("127.0.0.1", 0), handler)) as peer.url:
            yield peer
    finally:
        peer.close()
