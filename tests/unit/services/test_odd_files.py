"""Small files, settings that hold JSON, the router's table, and lines of children: never more than a sentence."""

import gzip
import io
import json
import os
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from app.diagnostics.machine import probe_ollama
from app.diagnostics.redaction import redactor
from app.diagnostics.report import _shown
from app.gui.oracle import card
from app.models.selection import load_speeds
from app.platform import installation
from app.routing.classifier import KINDS as CLASSIFIED
from app.services.backends import EMPTY, KINDS, NAMES_ITSELF, UNREADABLE, parse_routes, write_routes
from app.services.bill_of_materials import read_bill
from app.services.graphics_service import _reports
from app.services.updates import UpdateService
from app.session.control import BackendChoice
from app.untrusted.files import read_json_line, read_line
from app.untrusted.limits import CHILD_LINE, MB, Limits, Refused
from tests.support.servers import QuietHandler

ODD = {
    "deep list": "[" * 100_000,
    "deep object": '{"a":' * 100_000,
    "deep and closed": "[" * 5_000 + "]" * 5_000,
    "long": "[" + "1," * 2 * MB + "1]",
    "a long number": "9" * 10_000,
    "an endless number": "[1e999]",
    "a number that is none": "[NaN]",
    "nothing of use": "null",
    "half a pair": '["\\ud800"]',
    "no json": "{",
}
values = pytest.mark.parametrize("text", ODD.values(), ids=ODD)


@values
def test_a_setting_that_makes_no_sense_is_as_if_it_were_empty(text: str) -> None:
    routes, problems = parse_routes(text)
    assert routes == {} and problems == [UNREADABLE]
    assert isinstance(card._arguments(text), str)
    assert _shown("routes", text, redactor())


@values
def test_a_senseless_small_file_is_as_if_not_there(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "installed.json"
    path.write_text(text)
    assert load_speeds(path) == {}
    assert UpdateService("https://127.0.0.1:9/", version="1", path=path).due
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "app" / "platform" / "installation.py"))
    installation.installed.cache_clear()
    assert installation.installed().kind == "wheel"
    installation.installed.cache_clear()
    with pytest.raises(ValueError, match="bill of materials can't be read"):
        read_bill(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes among the files")
def test_a_pipe_in_place_of_a_small_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "speeds.json")
    assert load_speeds(tmp_path / "speeds.json") == {}


def test_a_childs_line_is_bounded() -> None:
    few = Limits(10, kind=list)
    pipe = io.BytesIO(b"[1, 2]\n" + b"x" * 11 + b"\n")
    assert read_json_line(pipe, few) == [1, 2]
    with pytest.raises(Refused, match="a line of it is longer"):
        read_line(pipe, few)
    with pytest.raises(Refused, match="no valid JSON"):
        read_json_line(io.BytesIO(), CHILD_LINE)


def test_what_a_launcher_prints_among_its_reports_is_passed_over() -> None:
    class Child:
        stdout = io.BytesIO(b"\n".join([b"[" * 50_000, b"x" * MB, b"[1]", b'{"step": "Fetching"}', b""]))

    assert list(_reports(Child())) == [{"step": "Fetching"}]  # type: ignore[arg-type]


def _ollama(send: Callable[[BaseHTTPRequestHandler], None]) -> Any:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            try:
                send(self)
            except OSError:
                self.close_connection = True

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.handle_request, daemon=True)
    thread.start()
    try:
        return probe_ollama(f"http://127.0.0.1:{server.server_address[1]}")
    finally:
        thread.join(10)
        server.server_close()


def test_an_ollama_that_answers_oddly_is_none() -> None:
    def bomb(request: BaseHTTPRequestHandler) -> None:
        request.send_header("Content-Encoding", "gzip")
        request.end_headers()
        request.wfile.write(gzip.compress(bytes(100 * MB)))

    def endless(request: BaseHTTPRequestHandler) -> None:
        request.end_headers()
        while True:
            request.wfile.write(b" " * MB)

    def deep(request: BaseHTTPRequestHandler) -> None:
        request.end_headers()
        request.wfile.write(b'{"models": ' + b"[" * 100_000)

    def plain(request: BaseHTTPRequestHandler) -> None:
        request.end_headers()
        request.wfile.write(json.dumps({"models": [{"name": "a", "size": 7}]}).encode())

    assert [_ollama(send) for send in (bomb, endless, deep)] == [None] * 3
    [model] = _ollama(plain)
    assert (model.name, model.bytes) == ("a", 7)


STEM = {"provider": "ollama", "model": "gemma3:4b"}
CHOICE = BackendChoice("ollama", "gemma3:4b")


def test_the_kinds_are_those_of_the_classifier() -> None:
    assert KINDS == CLASSIFIED


def test_what_is_written_is_understood() -> None:
    routes = {"stem": CHOICE, "creative": BackendChoice("compatible", "m", "http://127.0.0.1:8080/v1")}
    assert parse_routes(write_routes(routes)) == (routes, [])


@pytest.mark.parametrize(
    ("text", "routes", "problems"),
    [
        ("", {}, [EMPTY]),
        ("{}", {}, [EMPTY]),
        ("not JSON", {}, [UNREADABLE]),
        ("[1]", {}, [UNREADABLE]),
        (json.dumps({"stem": STEM, "everyday": 3}), {"stem": CHOICE}, [UNREADABLE]),
        (json.dumps({"stem": STEM, "unknown": 3, "creative": {"model": "m"}}), {"stem": CHOICE}, []),
        (json.dumps({"stem": {"provider": "router"}}), {"stem": BackendChoice("router")}, [NAMES_ITSELF]),
    ],
)
def test_faults_are_told_the_rest_is_read(text: str, routes: dict[str, BackendChoice], problems: list[str]) -> None:
    assert parse_routes(text) == (routes, problems)
