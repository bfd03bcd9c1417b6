"""The check for updates against a server on loopback: what it sends, what it believes, and when it asks at all."""

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from app.services.updates import DAY_SECONDS, UpdateAnswer, UpdateService, built_in_feed
from app.session.control import UserError
from app.untrusted.limits import UPDATE_FEED
from tests.support.servers import QuietHandler, running
from tests.support.tables import cases

PAGE = "https://example.org/kame/0.2.0"


@dataclass
class Feed:
    """A server over TLS. `answers`: by path, a status, headers and a body."""

    url: str
    context: ssl.SSLContext
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def tells(self, value: object, status: int = 200) -> None:
        self.answers["/feed"] = (status, {}, json.dumps(value).encode())

    def leads(self, path: str, to: str) -> None:
        self.answers[path] = (302, {"Location": to}, b"")


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@contextmanager
def serve(authority: trustme.CA) -> Iterator[Feed]:
    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            feed.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            status, headers, body = feed.answers.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(own)
    server.socket = own.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a connection that was refused half way
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)
    with running(server) as url:
        feed = Feed(url.replace("http", "https"), trusted)
        yield feed


@pytest.fixture
def feed(authority: trustme.CA) -> Iterator[Feed]:
    with serve(authority) as made:
        yield made


@dataclass
class Now:
    seconds: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


def service(feed: Feed, tmp_path: Path, now: Now | None = None, version: str = "0.1.0") -> UpdateService:
    return UpdateService(
        f"{feed.url}/feed",
        version=version,
        path=tmp_path / "deep" / "updates.json",
        clock=now or Now(),
        context=feed.context,
    )


async def refused(one: UpdateService) -> str:
    with pytest.raises(UserError) as error:
        await one.check()
    return str(error.value)


async def test_a_newer_version_is_told_with_its_page(feed: Feed, tmp_path: Path) -> None:
    feed.tells({"version": "0.2.0", "page": PAGE, "more": [1]})
    answer = await service(feed, tmp_path).check()
    assert answer == UpdateAnswer("KAME Desktop 0.2.0 is there; this is 0.1.0.", PAGE)


@pytest.mark.parametrize("version", ["0.1.0", "0.1", "0.0.9", "0.1.0rc1"])
async def test_the_same_or_an_older_version_is_no_news(feed: Feed, tmp_path: Path, version: str) -> None:
    feed.tells({"version": version, "page": PAGE})
    answer = await service(feed, tmp_path).check()
    assert answer == UpdateAnswer("This is the newest version, 0.1.0.")


async def test_the_request_says_nothing_about_anybody(feed: Feed, tmp_path: Path) -> None:
    feed.tells({"version": "0.2.0", "page": PAGE})
    await service(feed, tmp_path).check()
    [(path, headers)] = feed.requests
    assert path == "/feed"
    assert headers == {"host": feed.url.removeprefix("https://"), "accept": "application/json"}


async def test_it_asks_once_a_day_at_most_whatever_came_of_it(feed: Feed, tmp_path: Path) -> None:
    now = Now()
    feed.tells({}, status=500)
    assert "500" in await refused(service(feed, tmp_path, now))
    feed.tells({"version": "0.2.0", "page": PAGE})
    now.seconds += DAY_SECONDS - 60
    assert await service(feed, tmp_path, now).check() is None and len(feed.requests) == 1
    now.seconds += 120
    assert await service(feed, tmp_path, now).check() is not None and len(feed.requests) == 2
    now.seconds -= 40 * DAY_SECONDS  # the clock was wrong: better once too often than never again
    assert service(feed, tmp_path, now).due


async def test_without_an_address_or_a_place_for_the_time_nobody_is_asked(feed: Feed, tmp_path: Path) -> None:
    (tmp_path / "deep").write_text("no folder")
    assert "can't be kept" in await refused(service(feed, tmp_path))
    assert feed.requests == []
    assert built_in_feed() == ""
    one = UpdateService(path=tmp_path / "updates.json")
    assert not one.due and await one.check() is None and not (tmp_path / "updates.json").exists()


async def test_a_redirect_is_followed_on_one_server_only(feed: Feed, tmp_path: Path, authority: trustme.CA) -> None:
    feed.leads("/feed", "/there")
    feed.answers["/there"] = (200, {}, json.dumps({"version": "0.2.0", "page": PAGE}).encode())
    answer = await service(feed, tmp_path).check()
    assert answer is not None and answer.page == PAGE
    with serve(authority) as other:
        other.tells({"version": "0.2.0", "page": PAGE})
        feed.leads("/feed", f"{other.url}/feed")
        assert "another server" in await refused(service(feed, tmp_path / "b"))
        assert other.requests == []
    feed.leads("/feed", feed.url.replace("https", "http") + "/there")
    assert "another server" in await refused(service(feed, tmp_path / "c"))
    feed.leads("/feed", "/feed")
    assert "one place to the next" in await refused(service(feed, tmp_path / "d"))


async def test_only_https_is_asked(feed: Feed, tmp_path: Path) -> None:
    for address in (feed.url.replace("https", "http") + "/feed", feed.url.replace("//", "//ann:secret@") + "/feed"):
        one = UpdateService(address, version="0.1.0", path=tmp_path / address[-7:-5] / "x.json", clock=Now())
        sentence = await refused(one)
        assert "https" in sentence and "secret" not in sentence
        (tmp_path / address[-7:-5] / "x.json").unlink()
    assert feed.requests == []


async def test_a_server_that_nobody_vouches_for_or_that_is_not_there_is_told(feed: Feed, tmp_path: Path) -> None:
    feed.tells({"version": "0.2.0", "page": PAGE})
    for name, url in (("a", feed.url), ("b", "https://127.0.0.1:9")):
        one = UpdateService(f"{url}/feed", version="0.1.0", path=tmp_path / name, clock=Now())
        assert "can't be reached" in await refused(one)


@cases(
    "body",
    b"<html>",
    pytest.param(b"[" * 50_000, id="deep"),
    b'{"version": "0.2.0"}',
    b'{"version": "newest", "page": "https://example.org"}',
    b'{"version": "' + b"1" * 61 + b'", "page": "https://example.org"}',
    b'{"version": "0.2.0", "page": "http://example.org"}',
    b'{"version": "0.2.0", "page": "https://ann@example.org"}',
    b'{"version": "0.2.0", "page": "https://example.org/ --flag"}',
    b'\xff\xfe{"version": "0.2.0"}',
)
async def test_an_answer_that_makes_no_sense_opens_nothing(feed: Feed, tmp_path: Path, body: bytes) -> None:
    feed.answers["/feed"] = (200, {}, body)
    assert "can't be understood" in await refused(service(feed, tmp_path))


async def test_a_long_answer_is_not_read(feed: Feed, tmp_path: Path) -> None:
    feed.answers["/feed"] = (200, {}, b" " * (UPDATE_FEED.bytes + 1))
    assert "longer than 64 KB" in await refused(service(feed, tmp_path))
    feed.answers["/feed"] = (200, {}, json.dumps({"version": "0.2.0", "page": PAGE}).encode().ljust(UPDATE_FEED.bytes))
    assert await service(feed, tmp_path / "b").check() is not None
