"""A hub of weights on loopback: the listing and the files, with the faults that a network has."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path

from tests.support.servers import QuietHandler, running

SMALL = 2000
"""Files up to this size have no hash on the hub, as text files there."""


@dataclass
class Hub:
    """`repositories`: folders by `owner/name`. Faults are set while it runs. `cut_after`: bytes after which a transfer
    ends early, once for each entry. `lie`: files that come altered. `refuse`: a status for everything. `ranges`:
    whether parts can be asked for. `asked`: (path, range) so far."""

    repositories: dict[str, Path]
    cut_after: list[int] = field(default_factory=list)
    lie: set[str] = field(default_factory=set)
    refuse: int = 0
    ranges: bool = True
    asked: list[tuple[str, str]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    slow: threading.Event | None = None
    url: str = ""

    def __enter__(self) -> Hub:
        hub = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                hub._answer(self)

        self._running = running(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        self.url = self._running.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._running.__exit__(None, None, None)

    def _answer(self, request: QuietHandler) -> None:
        path = request.path.split("?")[0].strip("/")
        self.asked.append((path, request.headers.get("Range", "")))
        self.tokens.add(request.headers.get("Authorization", ""))
        if self.refuse:
            request.send_error(self.refuse)
            return
        for name, folder in self.repositories.items():
            if path.startswith(f"api/models/{name}"):
                self._list(request, name, folder)
                return
            if path.startswith(f"{name}/resolve/"):
                file = folder / path.removeprefix(f"{name}/resolve/").split("/", 1)[1]
                if file.is_file():
                    self._send(request, file)
                    return
        request.send_error(404)

    def _list(self, request: QuietHandler, name: str, folder: Path) -> None:
        siblings = []
        for file in sorted(folder.iterdir()):
            data = file.read_bytes()
            entry: dict[str, object] = {"rfilename": file.name, "size": len(data)}
            if len(data) > SMALL:
                entry["lfs"] = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
            siblings.append(entry)
        request.send_json(200, {"id": name, "sha": "a" * 40, "siblings": siblings})

    def _send(self, request: QuietHandler, file: Path) -> None:
        data = file.read_bytes()
        if file.name in self.lie:
            data = bytes([data[0] ^ 1]) + data[1:]
        wanted, start = request.headers.get("Range", ""), 0
        if wanted and self.ranges:
            start = int(wanted.removeprefix("bytes=").split("-")[0])
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            request.send_response(200)
        request.send_header("Content-Length", str(len(data) - start))
        request.end_headers()
        rest = data[start:]
        if self.cut_after and len(data) > SMALL:
            rest = rest[: self.cut_after.pop(0)]
            request.wfile.write(rest)
            request.wfile.flush()
            request.close_connection = True
            return
        for place in range(0, len(rest), 1 << 16):
            if self.slow is not None and place and len(data) > SMALL:
                self.slow.wait(10)
            try:
                request.wfile.write(rest[place : place + (1 << 16)])
            except OSError:
                return
