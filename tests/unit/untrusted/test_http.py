"""Answers of servers stay within their bounds, and requests go to the server that was chosen, by the right proxy."""

import asyncio
import gzip
import importlib
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from app.untrusted.http import bounded_hooks, no_downgrade_hooks, other_server
from app.untrusted.limits import MB, Limits, ProxyRefused, RedirectRefused, Refused
from app.untrusted.proxies import async_transport, in_own_network, may_have_key, proxy_for, transport
from tests.support.tables import cases
from tests.support.wire import Reply, Wire, endless_gzip

WHOLE, LINE = Limits(MB, depth=8, items=1_000), Limits(4_096, depth=8, items=100)


async def _get(wire: Wire, path: str = "/", library: Any = httpx) -> bytes:
    hooks = bounded_hooks(WHOLE, WHOLE, LINE)
    async with library.AsyncClient(event_hooks=hooks, follow_redirects=True, trust_env=False) as client:
        content: bytes = (await client.get(wire.url + path)).content
        return content


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
async def test_reads_an_answer_packed_or_not(library: str) -> None:
    body = b'{"a": [1, 2, 3]}' * 3 + b"\nno json at all, but text: [[["
    packed = Reply(headers={"Content-Encoding": "gzip"}, body=gzip.compress(body))
    async with Wire([Reply(body=body), packed]) as wire:
        for _ in range(2):
            assert await _get(wire, library=importlib.import_module(library)) == body


EVENTS, LINES, GZIP = (
    {"Content-Type": "text/event-stream"},
    {"Content-Type": "application/x-ndjson"},
    {"Content-Encoding": "gzip"},
)


@cases(
    "headers, body, why",
    ({}, b"x" * (MB + 1), "longer than 1 MB"),
    (GZIP, endless_gzip(b"", 200), "longer than 1 MB"),
    (GZIP, b"no gzip", "can't be unpacked"),
    ({"Content-Encoding": "br"}, b"x", "packed in a way"),
    ({}, b"[" * 1_500, "nested deeper"),
    ({}, b'{"a":\n' * 9, "nested deeper"),
    ({}, b"[" + b"1," * 1_200 + b"1]", "more than"),
    (EVENTS, b"data: " + b"x" * 5_000 + b"\n\n", "a line of it"),
    (EVENTS, b"data: " + b"[" * 9 + b"]" * 9 + b"\n\n", "nested deeper"),
    (LINES, b"[" + b"1," * 200 + b"1]\n", "more than"),
    ids=range(10),
)
async def test_refuses_what_is_beyond_the_bounds(headers: dict[str, str], body: bytes, why: str) -> None:
    async with Wire([Reply(headers=headers, body=body)]) as wire:
        with pytest.raises(Refused, match=why):
            await _get(wire)


async def test_the_lines_of_a_stream_are_bounded_one_by_one() -> None:
    body = (b'data: {"a": [1, 2]}\n\n' * 1_000) + b"data: [DONE]"
    async with Wire([Reply(headers=EVENTS, body=body)]) as wire:
        assert await _get(wire) == body


async def test_gives_a_line_on_as_soon_as_it_is_whole() -> None:
    reply = Reply(headers=EVENTS, parts=(b"data: 1\n\nda", b"ta: 2\n", b"\n"), fault="hang")
    async with (
        Wire([reply]) as wire,
        httpx.AsyncClient(event_hooks=bounded_hooks(WHOLE, WHOLE, LINE), trust_env=False) as client,
        client.stream("GET", wire.url) as response,
    ):
        lines = response.aiter_lines()
        assert [await anext(lines) for _ in range(4)] == ["data: 1", "", "data: 2", ""]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_follows_redirects_at_the_same_server_alone(status: int) -> None:
    async with Wire() as other, Wire([Reply(status, {"Location": f"{other.url}/x"})]) as wire:
        with pytest.raises(RedirectRefused, match="another server"):
            await _get(wire)
    async with Wire([Reply(status, {"Location": "/new"}), Reply(body=b"{}")]) as wire:
        assert await _get(wire, "/old") == b"{}"


async def test_a_server_with_a_name_of_other_letters_is_itself() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.raw_host.decode())
        return httpx.Response(200, content=b"{}", headers={"Content-Type": "application/json"})

    hooks = bounded_hooks(WHOLE, WHOLE, LINE)
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer), event_hooks=hooks) as client:
        assert (await client.get("http://münchen.example:8000/v1")).status_code == 200
    assert asked == ["xn--mnchen-3ya.example"]


async def test_a_refusal_that_is_packed_in_another_way_keeps_its_status() -> None:
    async with Wire([Reply(429, {"Content-Encoding": "br"}, body=b"x")]) as wire:
        hooks = bounded_hooks(WHOLE, WHOLE, LINE)
        async with httpx.AsyncClient(event_hooks=hooks, trust_env=False) as client:
            assert (await client.get(wire.url)).status_code == 429


def test_weights_may_come_from_elsewhere_but_never_without_encryption() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == "hub.invalid":
            return httpx.Response(302, headers={"Location": f"{request.url.params['to']}"})
        return httpx.Response(200, content=b"weights")

    def get(to: str) -> bytes:
        hooks = no_downgrade_hooks("https://hub.invalid")
        transport = httpx.MockTransport(answer)
        with httpx.Client(transport=transport, event_hooks=hooks, follow_redirects=True) as client:
            return client.get("https://hub.invalid/x", params={"to": to}).content

    assert get("https://cdn.invalid/y") == b"weights"
    with pytest.raises(RedirectRefused, match=r"http://cdn\.invalid"):
        get("http://cdn.invalid/y")


def test_an_address_that_is_none_is_called_so() -> None:
    request = httpx.Request("GET", "http://127.0.0.1:9/x")
    response = httpx.Response(302, headers={"Location": "http://h:99999/"}, request=request)
    assert other_server(response) == "an address that can't be read"


PROXY = "http://proxy.example:3128"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@cases(
    "url",
    "http://127.0.0.1:11434",
    "http://localhost:1234/v1",
    "http://[::1]:8080",
    "http://10.0.0.5",
    "http://192.168.1.20:8080",
    "http://[fd00::1]/v1",
    "http://169.254.1.1",
    "http://nas:8080",
    "http://nas.local",
    "wss://studio.lan:8998",
)
@pytest.mark.parametrize("proxy", [PROXY, "socks://127.0.0.1:1080/", "socks5h://x:1", "nonsense://", ":"])
def test_this_machine_and_network_are_reached_directly(url: str, proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("all_proxy", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, proxy)
    assert proxy_for(url) is None


@cases(
    "variables, url, expected",
    ({"https_proxy": PROXY}, "https://api.openai.com/v1", PROXY),
    ({"HTTPS_PROXY": PROXY}, "https://api.openai.com/v1", PROXY),
    ({"https_proxy": PROXY}, "http://example.org", None),
    ({"http_proxy": PROXY}, "http://example.org", PROXY),
    ({"all_proxy": PROXY}, "https://example.org", PROXY),
    ({"all_proxy": "socks5://x:1", "https_proxy": PROXY}, "https://example.org", PROXY),
    ({"https_proxy": "proxy.example:3128"}, "https://example.org", PROXY),
    ({"https_proxy": PROXY}, "wss://example.org", PROXY),
    ({"https_proxy": PROXY, "no_proxy": "example.org"}, "https://example.org", None),
    ({"https_proxy": PROXY, "no_proxy": "example.org"}, "https://api.example.org", None),
    ({"https_proxy": PROXY, "no_proxy": ".example.org, other"}, "https://api.example.org", None),
    ({"https_proxy": PROXY, "no_proxy": "*.example.org"}, "https://api.example.org", None),
    ({"https_proxy": PROXY, "no_proxy": "ample.org"}, "https://example.org", PROXY),
    ({"https_proxy": PROXY, "no_proxy": "*"}, "https://example.org", None),
    ({"https_proxy": PROXY, "no_proxy": "example.org:8443"}, "https://example.org", PROXY),
    ({"https_proxy": PROXY, "no_proxy": "example.org:443"}, "https://example.org", None),
    ({"https_proxy": PROXY, "no_proxy": "8.8.8.0/24"}, "https://8.8.8.8", None),
    ({"https_proxy": PROXY, "no_proxy": "8.8.8.8:443"}, "https://8.8.8.8", None),
    ({"https_proxy": PROXY, "no_proxy": "[2001:db8::1]"}, "https://[2001:db8::1]", None),
    ({"https_proxy": PROXY, "no_proxy": "[2001:db8::1]:443,x"}, "https://[2001:db8::1]", None),
    ({"https_proxy": PROXY, "no_proxy": "2001:db8::/32"}, "https://[2001:db8::1]", None),
    ({"https_proxy": PROXY, "no_proxy": "[::1],[,]]"}, "https://example.org", PROXY),
    ({"https_proxy": " "}, "https://example.org", None),
    ({}, "https://example.org", None),
)
def test_the_environment_says_which_proxy(
    variables: dict[str, str], url: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(url) == expected


@pytest.mark.parametrize("proxy", ["socks://127.0.0.1:1080/", "socks5://me:secret@x:1", "socks5h://x:1", "ftp://x"])
def test_a_proxy_that_cannot_be_used_is_named_without_its_password(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", proxy)
    with pytest.raises(ProxyRefused) as raised:
        proxy_for("https://example.org")
    assert raised.value.proxy.startswith(proxy.partition(":")[0]) and "secret" not in str(raised.value)


def test_a_key_goes_over_tls_or_stays_in_the_own_network() -> None:
    assert may_have_key("https://example.org") and may_have_key("http://192.168.1.5:8080") and may_have_key("ws://nas")
    assert not may_have_key("http://example.org/v1") and not may_have_key("ws://8.8.8.8") and not may_have_key("")
    assert not in_own_network("example.org") and not in_own_network("")


class Handler(BaseHTTPRequestHandler):
    """Answers every request with the line that asked for it."""

    def do_GET(self) -> None:
        body = self.requestline.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        return


def test_a_client_goes_by_the_proxy_or_past_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("http_proxy", here)
        with httpx.Client(transport=transport(httpx, "http://models.example/x")) as client:
            assert client.get("http://models.example/x").text == "GET http://models.example/x HTTP/1.1"
            assert client.get(f"{here}/y").text == "GET /y HTTP/1.1", "not by itself"

        async def asked() -> str:
            async with httpx.AsyncClient(transport=async_transport(httpx, "http://a.example")) as client:
                return (await client.get("http://a.example/z")).text

        assert asyncio.run(asked()) == "GET http://a.example/z HTTP/1.1"
        server.shutdown()


def test_a_library_that_makes_a_client_at_import_sees_no_proxy() -> None:
    """The package of Ollama does, and fails at GNOME's address of a SOCKS proxy."""
    code = (
        "from app.untrusted.proxies import without_proxies\n"
        "with without_proxies():\n"
        "    import ollama\n"
        "import os; print(os.environ['all_proxy'])"
    )
    env = {**os.environ, "all_proxy": "socks://127.0.0.1:1080/", "no_proxy": "[::1]"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "socks://127.0.0.1:1080/", done.stderr
