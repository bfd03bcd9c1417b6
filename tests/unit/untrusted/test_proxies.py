"""The proxy on the way to a server: from the environment, and never for this machine or the own network."""

import asyncio
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from app.untrusted.limits import ProxyRefused
from app.untrusted.proxies import async_transport, in_own_network, may_have_key, proxy_for, transport

PROXY = "http://proxy.example:3128"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.mark.parametrize(
    "url",
    [
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
    ],
)
@pytest.mark.parametrize("proxy", [PROXY, "socks://127.0.0.1:1080/", "socks5h://x:1", "nonsense://", ":"])
def test_this_machine_and_its_network_are_reached_directly(
    url: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("all_proxy", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, proxy)
    assert proxy_for(url) is None


@pytest.mark.parametrize(
    ("variables", "url", "expected"),
    [
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
    ],
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
