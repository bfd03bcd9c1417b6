"""The way to a server: by which proxy, and whether a key may go along. For all HTTP clients of the app.

Programs on this machine and in its own network are always reached directly: a proxy can't reach the former, and has no
business with the latter. The libraries' own handling of the environment is not used, since they fail at proxies that
they don't know, even for servers that need none.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import threading
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import SplitResult, urlsplit

from app.untrusted.limits import ProxyRefused

_VARIABLES = ("all_proxy", "http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "socks_proxy")
_OWN_ENDINGS = (".local", ".localhost", ".home.arpa", ".home", ".lan", ".internal")
_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_hiding = threading.Lock()


def on_this_machine(place: str) -> bool:
    """Returns whether a host or a URL, with or without a port, names this machine by a loopback address."""
    host = _split(place).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def in_own_network(place: str) -> bool:
    """Returns whether a host, or that of a URL, is this machine or in a private network, by its address or its name."""
    host = (_split(place).hostname or "") if "://" in place else place
    host = host.strip("[]").rstrip(".").lower()
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host == "localhost" or host.endswith(_OWN_ENDINGS) or ("." not in host and host != "")
    return address.is_loopback or address.is_private or address.is_link_local


def may_have_key(url: str) -> bool:
    """Returns whether a key may be sent to a server: over TLS, or within the own network."""
    parts = _split(url)
    return parts.scheme in ("https", "wss") or in_own_network(parts.hostname or "")


def proxy_for(url: str) -> str | None:
    """Returns the address of the HTTP proxy on the way to `url`; None if there is none.

    Raises ProxyRefused for a proxy that can't be used.
    """
    parts = _split(url)
    host = parts.hostname or ""
    if not host or in_own_network(host):
        return None
    proxies = urllib.request.getproxies()
    if _is_exempt(host, parts.port or _DEFAULT_PORTS.get(parts.scheme, 0), proxies.get("no", "")):
        return None
    if os.name == "nt" and urllib.request.proxy_bypass(host):
        return None
    secure = parts.scheme in ("https", "wss")
    wanted = (proxies.get("https" if secure else "http") or proxies.get("all") or proxies.get("socks") or "").strip()
    if not wanted:
        return None
    wanted = wanted if "://" in wanted else f"http://{wanted}"
    proxy = _split(wanted)
    shown = f"{proxy.scheme}://{proxy.netloc.rpartition('@')[2]}"
    if proxy.scheme not in ("http", "https") or not proxy.hostname:
        raise ProxyRefused(shown if proxy.hostname else "an address that can't be read")
    return wanted


def _is_exempt(host: str, port: int, listed: str) -> bool:
    """Returns whether NO_PROXY names a host: itself, its domain, its network, or everything."""
    host = host.strip("[]").rstrip(".").lower()
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        return any(_holds(entry, address, port) for entry in re.split(r"[,\s;]+", listed))
    for entry in re.split(r"[,\s;]+", listed.lower()):
        name, _, wanted = entry.partition(":")
        name = name.removeprefix("*").strip(".")
        if wanted and wanted != str(port):
            continue
        if entry == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return True
    return False


def _holds(entry: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int) -> bool:
    if entry == "*":
        return True
    found = re.fullmatch(r"\[([^\]]*)\](?::(\d+))?|([\d.]+):(\d+)|(.*)", entry)
    assert found is not None
    name, wanted = found[1] or found[3] or found[5] or "", found[2] or found[4]
    if wanted and int(wanted) != port:
        return False
    try:
        return address in ipaddress.ip_network(name.strip("[]"), strict=False)
    except ValueError:
        return False


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        _ = parts.hostname, parts.port  # raise ValueError only on access
    except ValueError:
        return urlsplit("")
    return parts


@contextlib.contextmanager
def without_proxies() -> Iterator[None]:
    """Hides the environment's proxies from a library that creates a client while it is imported."""
    with _hiding:
        hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.lower() in _VARIABLES}
        try:
            yield
        finally:
            os.environ.update(hidden)


def transport(library: Any, url: str, *, verify: Any = True) -> Any:
    """Returns a transport for a blocking client of `httpx`: each request goes by the proxy on its own way.

    `url`: the first server, whose connection is prepared now, since loading certificates takes a while. `verify`: as in
    `httpx`. Raises ProxyRefused.
    """
    made: dict[str | None, Any] = {}

    def towards(url: str) -> Any:
        proxy = proxy_for(url)
        if proxy not in made:
            made[proxy] = library.HTTPTransport(verify=verify, proxy=proxy)
        return made[proxy]

    class Transport(library.BaseTransport):  # type: ignore[misc, name-defined, unused-ignore]
        def handle_request(self, request: Any) -> Any:
            return towards(str(request.url)).handle_request(request)

        def close(self) -> None:
            for one in made.values():
                one.close()

    towards(url)
    return Transport()


def async_transport(library: Any, url: str) -> Any:
    """Returns the same for an asynchronous client of `httpx` or `httpx2`."""
    made: dict[str | None, Any] = {}

    def towards(url: str) -> Any:
        proxy = proxy_for(url)
        if proxy not in made:
            made[proxy] = library.AsyncHTTPTransport(proxy=proxy)
        return made[proxy]

    class Transport(library.AsyncBaseTransport):  # type: ignore[misc, name-defined, unused-ignore]
        async def handle_async_request(self, request: Any) -> Any:
            return await towards(str(request.url)).handle_async_request(request)

        async def aclose(self) -> None:
            for one in made.values():
                await one.aclose()

    towards(url)
    return Transport()
