"""The check for newer versions of the app, which is off unless the user enables it.

A single address is queried over TLS, at most once a day, with a plain GET request that reveals nothing about the user,
the machine or the app. The address is built in (`resources/updates.json`); without one, no request is made. Versions
such as 1.2.0, 1.3.0rc1 or 1.3.0.dev2 are compared as in PEP 440.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from app.platform.files import write_json
from app.platform.installation import installed, resource
from app.session.control import UserError
from app.settings.paths import updates_path
from app.untrusted.files import read_json_file
from app.untrusted.http import origin, read_body
from app.untrusted.json_text import read_json
from app.untrusted.limits import SMALL_FILE, UPDATE_FEED, ProxyRefused, Refused
from app.untrusted.proxies import transport

if TYPE_CHECKING:
    import httpx

DAY_SECONDS = 86_400.0
REQUEST_SECONDS = 10.0
"""The timeout for each phase of a request, such as connecting."""
MOST_REDIRECTS = 3
LONGEST_ADDRESS = 2_000
LONGEST_VERSION = 60


@dataclass(frozen=True, slots=True)
class UpdateAnswer:
    """The result as a user-facing message. `page`: the URL of a newer version's announcement, or empty."""

    sentence: str
    page: str = ""


def built_in_feed() -> str:
    """Returns the address that this build queries, or an empty string if it has none."""
    try:
        return str(read_json_file(resource("updates.json"), UPDATE_FEED)["feed"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


class UpdateService:
    """A client for the update feed. The arguments replace the defaults in tests.

    - `feed`: the address to query.
    - `version`: the version of this app.
    - `path`: the path of the file that stores the time of the last request.
    - `clock`: returns the current Unix timestamp.
    - `context`: the TLS context.
    """

    def __init__(
        self,
        feed: str | None = None,
        *,
        version: str | None = None,
        path: Path | None = None,
        clock: Callable[[], float] = time.time,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self.feed = built_in_feed() if feed is None else feed
        self._version = installed().version if version is None else version
        self._path = path or updates_path()
        self._clock = clock
        self._context = context

    @property
    def due(self) -> bool:
        """Whether an address is configured and the last request was at least a day ago. Reads a file."""
        if not self.feed:
            return False
        asked = 0.0
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            asked = float(read_json_file(self._path, SMALL_FILE)["asked"])
        return not 0 <= self._clock() - asked < DAY_SECONDS

    async def check(self) -> UpdateAnswer | None:
        """Queries the feed if due, otherwise returns None. Raises UserError.

        A failed request is not retried before the next day.
        """
        return await asyncio.to_thread(self._check)

    def _check(self) -> UpdateAnswer | None:
        if not self.due:
            return None
        try:
            write_json(self._path, {"asked": round(self._clock(), 1)})
        except OSError as error:
            # If the time can't be stored, every start would query the feed.
            raise UserError(
                f"New versions are not looked for, since the time of that can't be kept ({error.strerror})."
            ) from None
        version, page = _read(self._ask())
        try:
            newer = version > Version(self._version)
        except ValueError:
            raise UserError("This copy of KAME does not know its own version, so it can't tell newer ones.") from None
        if newer:
            return UpdateAnswer(f"KAME Desktop {version} is there; this is {self._version}.", page)
        return UpdateAnswer(f"This is the newest version, {self._version}.")

    def _ask(self) -> bytes:
        """Requests the feed, following redirects within its origin. Raises UserError."""
        import httpx

        sentence = ""
        try:
            way = transport(httpx, self.feed, verify=self._context or True)
            with httpx.Client(transport=way, timeout=REQUEST_SECONDS, follow_redirects=False) as client:
                return self._follow(client, httpx.URL(self.feed))
        except ProxyRefused as error:
            sentence = f"New versions can't be looked up: {error}. Name an HTTP proxy in this machine's proxy settings."
        except httpx.TimeoutException:
            sentence = "The address for new versions did not answer in time. KAME asks again tomorrow."
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError, OSError):
            sentence = "The address for new versions can't be reached. KAME asks again tomorrow."
        raise UserError(sentence)

    def _follow(self, client: httpx.Client, url: httpx.URL) -> bytes:
        import httpx

        chosen = origin(str(url))
        for _ in range(MOST_REDIRECTS + 1):
            if url.scheme != "https" or url.userinfo:
                raise UserError("The address for new versions is not a plain https address, so it is not asked.")
            # Built without the client, which would add a User-Agent header with its name and version.
            request = httpx.Request("GET", url, headers={"Accept": "application/json"})
            answer = client.send(request, stream=True)
            try:
                if not answer.has_redirect_location:
                    return _body(answer)
                url = url.join(answer.headers["Location"])
            finally:
                answer.close()
            if origin(str(url)) != chosen:
                raise UserError("The address for new versions leads to another server, which is not asked.")
        raise UserError("The address for new versions leads from one place to the next. KAME asks again tomorrow.")


def _body(answer: httpx.Response) -> bytes:
    if answer.status_code != 200:
        raise UserError(f"The address for new versions answers with an error ({answer.status_code}).")
    try:
        return read_body(answer, UPDATE_FEED)
    except Refused as error:
        raise UserError(f"The answer about new versions was not read: {error}. KAME asks again tomorrow.") from None


def _read(body: bytes) -> tuple[Version, str]:
    """Returns the newest version and the URL of its announcement. Raises UserError."""
    try:
        told = read_json(body, UPDATE_FEED)
        version, page = Version(told["version"]), told["page"]
        if len(told["version"]) > LONGEST_VERSION or not _is_plain_page(page):
            raise ValueError
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UserError("The answer about new versions can't be understood. KAME asks again tomorrow.") from None
    return version, page


def _is_plain_page(page: object) -> bool:
    """Returns whether `page` is safe to open in a browser: an https URL without credentials."""
    if not isinstance(page, str) or len(page) > LONGEST_ADDRESS or not page.isascii() or not page.isprintable():
        return False
    parts = urllib.parse.urlsplit(page)
    return parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc and " " not in page
