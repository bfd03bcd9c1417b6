"""Limits the responses of an HTTP client, and keeps its requests on the server it was configured for.

Implemented as request and response hooks for `httpx` and for `httpx2`, a dependency of the `mcp` package.
"""

from __future__ import annotations

import asyncio
import functools
import math
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from app.untrusted.json_text import read_json
from app.untrusted.limits import ERROR_BODY, Limits, RedirectRefused, Refused, in_words
from app.untrusted.line_scanner import LineScanner, is_streamed

SMALL_BYTES = 32 * 1024
"""Input up to this size is parsed on the event loop, in less than 1 ms."""


async def read_json_aside(data: bytes | str, limits: Limits) -> Any:
    """Parses JSON like `read_json`, without blocking the event loop. Raises Refused."""
    if len(data) <= SMALL_BYTES:
        return read_json(data, limits)
    return await asyncio.to_thread(read_json, data, limits)


async def push_aside(scanner: LineScanner, block: bytes) -> list[bytes]:
    """Calls `LineScanner.push`, or `flush` for an empty block, without blocking the event loop.

    Raises Refused.
    """
    if len(block) + scanner.held_bytes <= SMALL_BYTES:
        return list(scanner.push(block) if block else scanner.flush())
    return await asyncio.to_thread(lambda: list(scanner.push(block) if block else scanner.flush()))


ACCEPTED_ENCODING = "gzip"
"""The only compression accepted, because its output can be limited during decompression."""
_PORTS = {"https": 443, "http": 80}
_AT_ONCE = 64 * 1024
"""The maximum number of bytes to decompress at a time."""


def bounded_hooks(
    whole: Limits,
    stream: Limits,
    line: Limits,
    *,
    on_refused: Callable[[Refused], None] = lambda refusal: None,
) -> dict[str, list[Any]]:
    """Returns `event_hooks` that restrict an asynchronous client to the server of its first request.

    A redirect to another server, or from https to http, raises RedirectRefused. Reading a response that exceeds its
    limits raises Refused, except that the body of an error response is truncated at ERROR_BODY instead.

    - `whole`: limits for a response that is not streamed
    - `stream`: limits for a whole streamed response
    - `line`: limits for each line and event of a streamed response
    - `on_refused`: called with the error raised while reading, for libraries that swallow exceptions
    """
    chosen: tuple[str, str, int] | None = None
    key = ""

    async def stay(request: Any) -> None:
        nonlocal chosen, key
        request.headers["Accept-Encoding"] = ACCEPTED_ENCODING
        chosen = chosen or origin(str(request.url))
        if origin(str(request.url)) != chosen:
            to = _shown(str(request.url))
            raise RedirectRefused("with a name that isn't shown" if key and key in to else to)
        key = key or request.headers.get("Authorization", "").rpartition(" ")[2].lower()

    async def bound(response: Any) -> None:
        if response.status_code >= 400:
            response.stream = _bounded_stream(response, ERROR_BODY, ERROR_BODY, on_refused)
        elif is_streamed(response.headers.get("content-type", "")):
            response.stream = _bounded_stream(response, stream, line, on_refused)
        else:
            response.stream = _bounded_stream(response, whole, whole, on_refused)

    return {"request": [stay], "response": [bound]}


def no_downgrade_hooks(address: str) -> dict[str, list[Any]]:
    """Returns `event_hooks` for a blocking client that follows redirects, except from https to http."""
    secure = origin(address)[0] == "https"

    def stay_secure(request: Any) -> None:
        nonlocal secure
        if secure and request.url.scheme != "https":
            raise RedirectRefused(_shown(str(request.url)))
        secure = secure or request.url.scheme == "https"

    return {"request": [stay_secure], "response": []}


def read_body(response: Any, limits: Limits) -> bytes:
    """Returns the decompressed body of a blocking client's streamed response.

    `limits` restricts its size and, if it has a time limit, how long receiving it may take. Raises Refused and the
    client's own errors.
    """
    unpack = _unpacker(response.headers.get("content-encoding", "identity").strip().lower())
    until = time.monotonic() + limits.seconds if limits.seconds else math.inf
    body = bytearray()
    for packed in response.iter_raw():
        for block in unpack(packed):
            body += block
            if len(body) > limits.bytes:
                raise Refused(f"it is longer than {in_words(limits.bytes)}")
        if time.monotonic() > until:
            raise Refused(f"it is not whole after {limits.seconds:g} s")
    return bytes(body)


def other_server(response: Any) -> str:
    """Returns the scheme, host and port of a redirect's target, or an empty string if that is the same server."""
    asked = response.request.url
    try:
        target = str(asked.join(response.headers["location"]))
    except Exception:  # the libraries' own `InvalidURL`
        target = response.headers["location"]
    return _shown(target) if origin(target) != origin(str(asked)) else ""


def origin(address: str) -> tuple[str, str, int]:
    """Returns the scheme, host and port of an address; ("", "", 0) if it is malformed."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        port = parts.port
    except ValueError:
        return "", "", 0
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").rstrip("."), port or _PORTS.get(scheme, 0)


def _shown(address: str) -> str:
    scheme, host, port = origin(address)
    if not scheme or not host:
        return "an address that can't be read"
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" + ("" if port == _PORTS.get(scheme) else f":{port}")


def _bounded_stream(response: Any, whole: Limits, line: Limits, on_refused: Callable[[Refused], None]) -> Any:
    """Returns the response's stream with decompression and limits applied."""
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    stream = response.stream
    base = next(cls for cls in type(stream).__mro__ if cls.__name__ == "AsyncByteStream")
    scanner = LineScanner(whole, line)
    return _stream_type(base)(stream, encoding, scanner, None if response.status_code >= 400 else on_refused)


@functools.cache
def _stream_type(base: type[Any]) -> Callable[..., Any]:
    """Returns the stream class for a library. Each library requires its own base class."""

    class BoundedStream(base):
        """A stream with limits. If `on_refused` is None, a body that exceeds them is truncated, without an error."""

        def __init__(
            self, stream: Any, encoding: str, scanner: LineScanner, on_refused: Callable[[Refused], None] | None
        ) -> None:
            self._stream, self._encoding, self._scanner, self._on_refused = stream, encoding, scanner, on_refused

        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                unpack = _unpacker(self._encoding)
                async for packed in self._stream:
                    for block in filter(None, unpack(packed)):
                        for lines in await push_aside(self._scanner, block):
                            yield lines
                    await asyncio.sleep(0)
                for lines in await push_aside(self._scanner, b""):
                    yield lines
            except Refused as refusal:
                if self._on_refused is not None:
                    self._on_refused(refusal)
                    raise

        async def aclose(self) -> None:
            await self._stream.aclose()

        @property
        def elapsed(self) -> Any:
            """The response time, which `httpx2` reads from its streams."""
            return getattr(self._stream, "elapsed", None)

    return BoundedStream


def _unpacker(encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    """Returns a function that decompresses blocks in pieces of limited size. Raises Refused for other encodings."""
    if encoding in ("", "identity"):
        return lambda packed: iter((packed,))
    if encoding not in (ACCEPTED_ENCODING, "x-gzip"):
        raise Refused("it is packed in a way that was not asked for")
    inflate = zlib.decompressobj(wbits=31)  # 31: the largest window, with a gzip header

    def unpack(packed: bytes) -> Iterator[bytes]:
        block = b""
        try:
            while packed or len(block) == _AT_ONCE:
                block = inflate.decompress(packed, _AT_ONCE)
                if block:
                    yield block
                packed = inflate.unconsumed_tail
        except zlib.error:
            raise Refused("it can't be unpacked") from None

    return unpack
