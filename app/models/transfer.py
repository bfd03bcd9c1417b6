"""Resumable, verified downloads of single files from a hub.

`huggingface_hub` isn't used, since its downloads can be neither monitored nor cancelled. No file ever exceeds the
size announced by the hub. This module also contains code shared by downloads from all sources: the progress type, disk
space checks and a lock that serializes downloads of the same model, even across processes.
"""

from __future__ import annotations

import errno
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx

from app.models.catalogue import DownloadCancelled, ModelError
from app.models.manifest import is_recorded, sha256_of
from app.platform.files import delete_file, locked, move_file, private_folder
from app.untrusted.http import no_downgrade_hooks
from app.untrusted.limits import ProxyRefused, RedirectRefused, Refused, in_words
from app.untrusted.proxies import transport

ROOM_LEFT = 500_000_000
"""The number of bytes that must remain free on the disk after a download."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a download.

    - `file`: the name of the current file.
    - `done_bytes`, `total_bytes`: include data from earlier attempts.
    - `waiting`: whether another download of the same model must finish first.
    """

    file: str
    done_bytes: int
    total_bytes: int
    verifying: bool = False
    waiting: bool = False

    @property
    def share(self) -> float:
        """The fraction done, from 0 to 1."""
        return self.done_bytes / self.total_bytes if self.total_bytes else 0.0


def require_room(folder: Path, needed: int, what: str) -> None:
    """Raises ModelError if the disk of `folder` has no room for `needed` more bytes. `what`: their name."""
    free = shutil.disk_usage(folder).free
    if needed > 0 and free < needed + ROOM_LEFT:
        raise ModelError(
            f"The download of {what} needs {needed / 1e9:.1f} GB more, and {free / 1e9:.1f} GB are free where {folder} "
            "lies. Make room, or choose another folder."
        )


def disk_failed(folder: Path, error: OSError) -> ModelError:
    """Returns the ModelError for an OSError during a download into `folder`."""
    if error.errno == errno.ENOSPC:
        return ModelError(
            f"The disk ran full while a model was coming to {folder}. What has come stays; make room and start the "
            "download again."
        )
    return ModelError(f"A model can't be written to {folder} ({error.strerror or error}). Choose another folder.")


def proxy_refused(hub: str, error: ProxyRefused) -> ModelError:
    """Returns the ModelError for a hub that is behind a proxy that can't be used."""
    return ModelError(
        f"The way to {httpx.URL(hub).host} leads through {error.proxy}, a proxy of a kind that can't be used. Name an "
        "HTTP proxy in this machine's proxy settings, or take the hub out of them (NO_PROXY)."
    )


WAIT_SECONDS = 0.2
"""The interval for polling whether the other download has finished."""


@contextmanager
def only_one(lock: Path, progress: Callable[[Progress], None], cancelled: threading.Event) -> Iterator[bool]:
    """Serializes downloads of the same model using the lock file `lock`; yields whether this one had to wait.

    Raises OSError, and DownloadCancelled if `cancelled` is set while waiting.
    """
    waited = False

    def wait() -> None:
        nonlocal waited
        if not waited:
            progress(Progress("", 0, 0, waiting=True))
        waited = True
        if cancelled.wait(WAIT_SECONDS):
            raise DownloadCancelled

    with locked(lock, wait):
        yield waited


TIMEOUT = httpx.Timeout(30, connect=15)
"""Timeouts in seconds, for receiving more data and for connecting."""
TRANSIENT = (408, 429, 500, 502, 503, 504)
"""HTTP status codes after which a retry may succeed."""
ATTEMPTS = 4
"""The number of consecutive attempts without significant progress after which a transfer fails."""
LEAST_PROGRESS = 64 * 1024
"""The minimum number of additional bytes that counts as significant progress."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file to download. `sha256`: empty if the hub lists none, as for small text files."""

    name: str
    repository: str
    path: str
    revision: str
    size: int
    sha256: str


class _TooLong(Refused):
    """Raised if a server sends more bytes than announced, which means that the data is wrong."""


class _CutShort(Exception):
    """Raised if a server ends a transfer prematurely."""


class FileTransfer:
    """Downloads single files from `hub` into `folder`. Incomplete files are named `NAME.VERSION.part`."""

    def __init__(self, folder: Path, hub: str, token: str | None, cancelled: threading.Event) -> None:
        self._folder = folder
        self._hub = hub
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._cancelled = cancelled

    def present_bytes(self, file: RemoteFile) -> int:
        """Returns the number of bytes of a file that are already on disk."""
        for path in (self._folder / file.name, self._part(file)):
            if path.exists():
                return path.stat().st_size
        return 0

    def fetch(self, file: RemoteFile, report: Callable[[int, bool], None]) -> None:
        """Downloads the missing part of a file and verifies the file.

        `report` is called with the number of bytes on disk and whether the file is being verified. Raises ModelError,
        httpx.HTTPError and OSError.
        """
        final, part = self._folder / file.name, self._part(file)
        private_folder(final.parent)
        if final.exists():
            same_size = final.stat().st_size == file.size
            if same_size and is_recorded(self._folder, file.name, file.sha256):
                return
            if same_size and file.sha256 and self._hash(final, file, report) == file.sha256:
                return
            delete_file(final)
        self._download(file, part, report)
        if file.sha256 and self._hash(part, file, report) != file.sha256:
            delete_file(part)
            raise ModelError(
                f"{file.name} came damaged: its SHA-256 is not the one that is known. It was deleted; start the "
                "download again."
            )
        move_file(part, final)
        for old in final.parent.glob(f"{final.name}.*.part"):
            delete_file(old, missing_ok=True)  # leftovers of older versions

    def _part(self, file: RemoteFile) -> Path:
        """Returns the path of a partial file, which includes the version so that two versions are never mixed."""
        return self._folder / f"{file.name}.{(file.sha256 or file.revision)[:8]}.part"

    def _download(self, file: RemoteFile, part: Path, report: Callable[[int, bool], None]) -> None:
        failures = furthest = 0
        while True:
            try:
                return self._request(file, part, report)
            except ProxyRefused as error:
                raise proxy_refused(self._hub, error) from error
            except RedirectRefused as error:
                raise ModelError(
                    f"{httpx.URL(self._hub).host} sends this app on to {error.to} for {file.name}, which is not "
                    "encrypted and not followed. What has come stays; check the network, or set another mirror."
                ) from error
            except Refused as error:
                if isinstance(error, _TooLong):
                    delete_file(part, missing_ok=True)
                raise ModelError(
                    f"{httpx.URL(self._hub).host} does not send {file.name} as it has announced it: {error}. Try again "
                    "later, or choose another mirror or other weights."
                ) from error
            except (httpx.TransportError, httpx.HTTPStatusError, _CutShort) as error:
                if isinstance(error, httpx.HTTPStatusError) and error.response.status_code not in TRANSIENT:
                    raise
                # Only bytes beyond the furthest offset so far count as progress.
                reached = part.stat().st_size if part.exists() else 0
                if reached >= furthest + LEAST_PROGRESS:
                    failures, furthest = 0, reached
                else:
                    failures += 1
                if failures >= ATTEMPTS:
                    if not isinstance(error, _CutShort):
                        raise
                    raise ModelError(
                        f"{httpx.URL(self._hub).host} ends the transfer of {file.name} before it is whole, again "
                        "and again. What has come stays; try later, or set a mirror."
                    ) from error
                if self._cancelled.wait(0.2 * 2**failures):
                    raise DownloadCancelled from None

    def _request(self, file: RemoteFile, part: Path, report: Callable[[int, bool], None]) -> None:
        """Makes one request and appends the response to `part`. Raises Refused, _CutShort and httpx.HTTPError."""
        have = part.stat().st_size if part.exists() else 0
        if have > file.size:
            delete_file(part)
            have = 0
        if have == file.size:
            part.touch()  # creates it if the file is empty
            return
        headers = {**self._headers, "Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
        url = f"{self._hub}/{quote(file.repository)}/resolve/{quote(file.revision, safe='')}/{quote(file.path)}"
        # A new client per request, since after a redirect to an encrypted address, the hooks reject unencrypted ones.
        with (
            httpx.Client(
                follow_redirects=True,
                timeout=TIMEOUT,
                event_hooks=no_downgrade_hooks(self._hub),
                transport=transport(httpx, self._hub),
            ) as client,
            client.stream("GET", url, headers=headers) as answer,
        ):
            answer.raise_for_status()
            have = self._start(answer, have, part)
            with part.open("ab" if have else "wb") as out:
                try:
                    for block in answer.iter_raw():
                        if self._cancelled.is_set():
                            raise DownloadCancelled
                        if len(block) > file.size - have:
                            raise _TooLong(f"it is longer than {in_words(file.size)}")
                        out.write(block)
                        have += len(block)
                        report(have, False)
                except httpx.RemoteProtocolError:  # the server ended the connection
                    raise _CutShort from None
        if have != file.size:
            raise _CutShort

    @staticmethod
    def _start(answer: httpx.Response, asked: int, part: Path) -> int:
        """Returns the file offset at which a response starts. Raises Refused, or _CutShort to start over."""
        if answer.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
            raise Refused("it is packed, which was not asked for")
        if answer.status_code == 200:
            return 0  # also from servers without range support, which send the whole file
        if answer.status_code == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {asked}-"):
            return asked
        if answer.status_code == 206 and asked:
            delete_file(part)  # the next request is for the whole file
            raise _CutShort
        raise Refused("it is no whole file")

    def _hash(self, path: Path, file: RemoteFile, report: Callable[[int, bool], None]) -> str:
        report(file.size, True)

        def check_cancelled(_: int) -> None:
            if self._cancelled.is_set():
                raise DownloadCancelled

        return sha256_of(path, check_cancelled)
