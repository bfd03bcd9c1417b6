"""Answers of servers stay within their bounds, and requests at the server that was chosen, with real clients."""

import gzip
import importlib
from typing import Any

import httpx
import pytest

from app.untrusted.http import bounded_hooks, no_downgrade_hooks, other_server
from app.untrusted.limits import MB, Limits, RedirectRefused, Refused
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


@pytest.mark.parametrize(
    ("headers", "body", "why"),
    [
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
    ],
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
