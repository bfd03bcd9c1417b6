"""The address of a voice server as users write it: a host, or a URL of ws, wss, http or https."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from app.frontend.base import FrontEndError
from app.frontend.remote.protocol import AFTER_PARAMETER, PATH, PORT, SESSION_PARAMETER

_SECURE = {"ws": False, "http": False, "wss": True, "https": True}


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server is. `path` ends in the protocol's own."""

    secure: bool
    host: str
    port: int
    path: str

    @property
    def shown(self) -> str:
        """Host and port, for sentences."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def local(self) -> bool:
        """Whether it is reached by loopback, so that no proxy may stand between."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def may_have_key(self) -> bool:
        """Whether a key may be sent there: over TLS, or within this machine's own network."""
        if self.secure or self.local:
            return True
        try:
            return ipaddress.ip_address(self.host).is_private
        except ValueError:
            return "." not in self.host or self.host.endswith((".local", ".lan", ".home", ".internal"))

    def url(self, session: str = "", after: int = 0) -> str:
        """The address to connect to. `session`: the token of a session to come back to; `after`: how many of its events
        have come.
        """
        query = f"?{SESSION_PARAMETER}={quote(session, safe='')}&{AFTER_PARAMETER}={after}" if session else ""
        return f"{'wss' if self.secure else 'ws'}://{self.shown}{self.path}{query}"


def read_address(text: str) -> ServerAddress:
    """Returns the address in `text`: HOST, HOST:PORT or a URL, with or without the protocol's path. Raises
    FrontEndError.
    """
    text = text.strip()
    if not text:
        raise FrontEndError(
            "No voice server is named, so nothing could hear and speak. Name one in the settings under “Front-end”, or "
            "with --url, such as ws://192.168.1.20:8998."
        )
    try:
        parts = urlsplit(text if "://" in text else f"ws://{text}")
        host, port = parts.hostname, parts.port
        secure = _SECURE[parts.scheme.lower()]
        if not host or not text.isprintable() or any(letter.isspace() for letter in text):
            raise ValueError
        host.encode("idna")  # as the system's resolver does
    except (ValueError, KeyError):
        raise FrontEndError(
            "That is no address of a voice server. Write it like ws://192.168.1.20:8998, or wss://… where the server "
            "has a certificate."
        ) from None
    if port is None:
        port = (443 if secure else 80) if parts.scheme.lower() in ("http", "https") else PORT
    path = parts.path.rstrip("/")
    return ServerAddress(secure, host, port, path if path.endswith(PATH) else f"{path}{PATH}")
