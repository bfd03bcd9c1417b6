"""Addresses of voice servers as typed by users, and messages explaining why a connection failed or ended."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from app.frontend.base import FrontEndError
from app.frontend.remote.protocol import AFTER_PARAMETER, AGAIN_LATER, PATH, PORT, SESSION_PARAMETER
from app.untrusted.limits import ProxyRefused
from app.untrusted.proxies import in_own_network

BROKEN = 1011
"""The WebSocket status "internal error": the server couldn't start a conversation, or failed during it."""


def explain(error: BaseException | None, address: ServerAddress, *, was_ready: bool) -> str:
    """Returns a user-facing message explaining why a connection failed or ended.

    `error`: the exception raised by the connection, if any; `was_ready`: whether a connection was working before.
    """
    from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidProxy, InvalidStatus, ProxyError

    place = f"The voice server at {address.shown}"
    if isinstance(error, InvalidStatus):
        return _of_status(error.response.status_code, address)
    if isinstance(error, ConnectionClosed) and error.rcvd is not None:
        if error.rcvd.code == AGAIN_LATER:
            return _busy(place)
        if error.rcvd.code == BROKEN:
            return f"{place} can't hold a conversation now. Check its output, and try again."
    if isinstance(error, ProxyRefused):
        return (
            f"The way to {place[0].lower()}{place[1:]} leads through {error.proxy}, a proxy of a kind that can't be "
            "used. Take the server out of this machine's proxy settings (NO_PROXY), or name an HTTP proxy there."
        )
    if isinstance(error, (InvalidProxy, ProxyError)):
        return (
            f"The proxy on the way to {place[0].lower()}{place[1:]} does not let this app through. Check this "
            "machine's proxy settings, or take the server out of them (NO_PROXY)."
        )
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{place} can't be trusted: this machine does not know its certificate. Check the address."
    hung_up = isinstance(error, ConnectionResetError | ConnectionAbortedError)  # servers without TLS do this
    if isinstance(error, ssl.SSLError) or (hung_up and address.secure and not was_ready):
        return (
            f"No secure connection to {place[0].lower()}{place[1:]} is possible. If it has no certificate, write "
            "ws:// instead of wss:// in its address."
        )
    if isinstance(error, ValueError):
        return f"{place} sent something that can't be understood ({error}). Check whether it speaks Moshi's protocol."
    if isinstance(error, InvalidMessage) and not address.secure and not was_ready:
        return (
            f"{place} does not answer as a server of Moshi's protocol does. If it has a certificate, write wss:// "
            "instead of ws:// in its address; else check address and port."
        )
    if was_ready:
        return f"{place} can't be reached any more. Check the network, and whether it is still running."
    return f"{place} does not answer. Start one there with “kame-desktop serve”, and check address, port and firewall."


def not_ready(address: ServerAddress, seconds: float) -> str:
    """Returns the message for a server that accepts a connection but doesn't become ready."""
    return (
        f"The voice server at {address.shown} was not ready after {seconds:.0f} s. Check its output, or choose "
        "another voice engine."
    )


def _busy(place: str) -> str:
    return f"{place} is busy with another conversation. Try again when that is over."


def _of_status(status: int, address: ServerAddress) -> str:
    """Returns the message for a server that answers the connection request with this HTTP status."""
    place = f"The voice server at {address.shown}"
    if status == 401:
        return (
            f"{place} wants another key. Save its key with “keys set compatible --base-url http://{address.shown}”, or "
            "start it again with a key that you know."
        )
    if status == 403:
        return (
            f"{place} refuses connections by this name or from this machine. Without a key it talks with its own "
            "machine only: start it there with a --key-file, and save that key here with “keys set compatible "
            f"--base-url http://{address.shown}”."
        )
    if status == 503:
        return _busy(place)
    if status == 429:
        return f"{place} has too many connections open. Close those that you don't need, and try again in a minute."
    return f"{place} does not speak Moshi's protocol (it answered {status}). Check its address and port."


_SECURE = {"ws": False, "http": False, "wss": True, "https": True}


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address of a server. `path` ends with the protocol's path."""

    secure: bool
    host: str
    port: int
    path: str

    @property
    def shown(self) -> str:
        """Host and port, for messages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def may_have_key(self) -> bool:
        """Whether a key may be sent to the server, which requires TLS or a private network."""
        return self.secure or in_own_network(self.host)

    def url(self, session: str = "", after: int = 0) -> str:
        """Returns the URL to connect to.

        `session`: the token of a session to resume, or empty; `after`: how many of its events have been received.
        """
        query = f"?{SESSION_PARAMETER}={quote(session, safe='')}&{AFTER_PARAMETER}={after}" if session else ""
        return f"{'wss' if self.secure else 'ws'}://{self.shown}{self.path}{query}"


def read_address(text: str) -> ServerAddress:
    """Parses an address given as HOST, HOST:PORT or a URL, with or without the protocol's path.

    Raises FrontEndError if it isn't valid.
    """
    text = text.strip()
    if not text:
        raise FrontEndError(
            "No voice server is named, so nothing could hear and speak. Name one in the settings under “Voice engine”, "
            "or with --url, such as ws://192.168.1.20:8998."
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
            "That is not the address of a voice server. Write it like ws://192.168.1.20:8998, or wss://… if the server "
            "has a certificate."
        ) from None
    if port is None:
        port = (443 if secure else 80) if parts.scheme.lower() in ("http", "https") else PORT
    path = parts.path.rstrip("/")
    return ServerAddress(secure, host, port, path if path.endswith(PATH) else f"{path}{PATH}")
