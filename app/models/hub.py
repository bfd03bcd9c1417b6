"""Downloader for models on the Hugging Face Hub or a mirror. Files that are already in the folder are skipped.

Most models in the catalogue are pinned to a revision, and their files to a size and SHA-256. For KAME, Moshi and
repositories chosen by the user, the files are taken from the hub's latest listing, which is parsed with size limits.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from app.models.catalogue import HUB, Hub, Model, ModelError
from app.models.layout import CONFIG_NAME, LM_NAME, MIMI_NAME, TOKENIZER_NAME
from app.models.manifest import MANIFEST_NAME, read_object, write_manifest
from app.models.transfer import (
    TIMEOUT,
    FileTransfer,
    Progress,
    RemoteFile,
    disk_failed,
    only_one,
    proxy_refused,
    require_room,
)
from app.platform.files import MOST_CHARACTERS, is_plain, private_folder
from app.untrusted.http import no_downgrade_hooks, read_body
from app.untrusted.json_text import read_json
from app.untrusted.limits import HUB_CONFIG, HUB_LISTING, ProxyRefused, Refused, in_words
from app.untrusted.proxies import transport

MOST_BYTES = 2**50
"""The largest plausible file size."""
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[\w.-]{1,96}", re.ASCII)
_REVISION = re.compile("[0-9a-f]{40}")
_SHA256 = re.compile("[0-9a-f]{64}")


def list_files(repository: str, hub: str, token: str | None) -> dict[str, RemoteFile]:
    """Returns the files of `repository` (`owner/name`), keyed by path. Unknown sizes are -1.

    Raises ModelError, and httpx.InvalidURL if `hub` is not a valid address.
    """
    if not _REPOSITORY.fullmatch(repository) or ".." in repository or not is_plain(repository):
        raise ModelError(f"“{repository[:200]}” is no name of weights on the hub. It has the form owner/name.")
    host = httpx.URL(hub).host
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):  # as in `huggingface_hub`
        raise ModelError(
            f"{repository} can't be downloaded from {host}, since HF_HUB_OFFLINE is set. Unset it, or set a "
            "local folder."
        )
    try:
        answer = _ask(f"{hub}/api/models/{repository}?blobs=true", hub, token)
        return _files(repository, answer)
    except httpx.HTTPStatusError as error:
        raise refused(repository, hub, error.response.status_code) from error
    except ProxyRefused as error:
        raise proxy_refused(hub, error) from error
    except Refused as error:
        raise ModelError(
            f"What {host} says about {repository} can't be used: {error}. Nothing was fetched. Check the name, or set "
            "another mirror."
        ) from error
    except (httpx.HTTPError, OSError) as error:
        raise ModelError(
            f"{host} can't be reached, so {repository} can't be downloaded. Check the network, or set a mirror or a "
            "local folder."
        ) from error


def refused(repository: str, hub: str, status: int) -> ModelError:
    """Returns the ModelError for an HTTP error status from the hub."""
    host = httpx.URL(hub).host
    if status in (401, 403):
        return ModelError(
            f"{host} doesn't give {repository} out to everybody. Accept its terms on the website, make an access "
            "token there, and set it as HF_TOKEN."
        )
    if status == 404:
        return ModelError(f"{host} has no {repository} (any more). Check the name, or choose another model.")
    return ModelError(
        f"{host} refused the download of {repository} (HTTP {status}). What has come stays; try again later, or set a "
        "mirror."
    )


def _ask(url: str, hub: str, token: str | None) -> dict[str, Any]:
    headers = {"Accept-Encoding": "gzip", **({"Authorization": f"Bearer {token}"} if token else {})}
    hooks = no_downgrade_hooks(hub)
    with (
        httpx.Client(
            follow_redirects=True, timeout=TIMEOUT, event_hooks=hooks, transport=transport(httpx, hub)
        ) as client,
        client.stream("GET", url, headers=headers) as response,
    ):
        response.raise_for_status()
        value: dict[str, Any] = read_json(read_body(response, HUB_LISTING), HUB_LISTING)
    return value


def _files(repository: str, answer: dict[str, Any]) -> dict[str, RemoteFile]:
    rows, revision = answer.get("siblings") or [], answer.get("sha")
    if not isinstance(rows, list):
        raise Refused("it holds no list of files")
    if not isinstance(revision, str) or not _REVISION.fullmatch(revision):
        revision = "main"
    files = {}
    for row in rows:
        if not isinstance(row, dict) or not isinstance(name := row.get("rfilename"), str):
            raise Refused("it holds files without names")
        if is_plain(name):  # other names aren't supported
            files[name] = RemoteFile(name, repository, name, revision, _size(row.get("size")), _sha256(row.get("lfs")))
    return files


def _size(value: object) -> int:
    if value is None:
        return -1
    if type(value) is not int or not 0 <= value <= MOST_BYTES:
        raise Refused("it holds sizes that are no numbers of bytes")
    return value


def _sha256(value: object) -> str:
    if value is None:
        return ""
    found = value.get("sha256") if isinstance(value, dict) else None
    if not isinstance(found, str) or not _SHA256.fullmatch(found):
        raise Refused("it holds a SHA-256 that is none")
    return found


LOCK_NAME = ".download.lock"


class HubDownload:
    """A download into `folder`. Its methods block and may be called on any thread.

    While another download into the same folder is running, even in another process, they wait for it to finish. They
    raise DownloadCancelled if `cancelled` is set, and ModelError for network errors, unknown repositories, insufficient
    disk space and unexpected file contents.
    """

    def __init__(
        self,
        folder: Path,
        *,
        hub: str = HUB,
        token: str | None = None,
        progress: Callable[[Progress], None] = lambda _: None,
        cancelled: threading.Event | None = None,
    ) -> None:
        self._folder = folder
        self._hub, self._token = hub, token
        self._progress = progress
        self._cancelled = cancelled or threading.Event()
        self._transfer = FileTransfer(folder, hub, token, self._cancelled)

    def fetch_pinned(self, model: Model) -> Path:
        """Downloads a model that is pinned to a revision; returns its folder."""
        source = model.source
        assert isinstance(source, Hub) and source.revision
        files = [
            RemoteFile(file.name, source.repository, file.source[0], source.revision, file.bytes, file.sha256)
            for file in model.files
        ]
        return self._fetch(source.repository, lambda: files)

    def fetch_repository(self, repository: str) -> Path:
        """Downloads the files of `repository` that a front-end requires; returns their folder."""
        return self._fetch(repository, lambda: self._plan(repository))

    def _fetch(self, repository: str, plan: Callable[[], list[RemoteFile]]) -> Path:
        try:
            private_folder(self._folder)
            with only_one(self._folder / LOCK_NAME, self._progress, self._cancelled):
                files = plan()
                missing = sum(max(0, file.size - self._transfer.present_bytes(file)) for file in files)
                require_room(self._folder, missing, repository)
                self._fetch_all(files)
            return self._folder
        except httpx.HTTPStatusError as error:
            raise refused(repository, self._hub, error.response.status_code) from error
        except httpx.InvalidURL as error:
            raise ModelError(
                f"“{self._hub}” is not the address of a mirror, so nothing was fetched. Correct it in the settings, or "
                "leave it empty."
            ) from error
        except httpx.HTTPError as error:
            raise ModelError(
                f"The download from {self._host} broke off ({type(error).__name__}). What has come "
                "stays; check the network and start it again, and it continues from there."
            ) from error
        except OSError as error:
            raise disk_failed(self._folder, error) from error

    def _fetch_all(self, files: list[RemoteFile]) -> None:
        total = sum(file.size for file in files)
        before = 0
        for file in files:

            def report(done: int, verifying: bool, name: str = file.name, base: int = before) -> None:
                self._progress(Progress(name, base + done, total, verifying))

            self._transfer.fetch(file, report)
            before += file.size
        write_manifest(self._folder, {f.name: (f.sha256, f"{f.repository}@{f.revision}") for f in files})
        self._progress(Progress("", total, total))

    def _plan(self, repository: str) -> list[RemoteFile]:
        """Downloads the repository's config and returns the files to download, as named in it."""
        listings: dict[str, dict[str, RemoteFile]] = {}

        def find(name: str) -> RemoteFile | None:
            source, path = repository, name
            if name.startswith("hf://"):
                owner, repo, path = (*name.removeprefix("hf://").split("/", 2), "", "", "")[:3]
                source = f"{owner}/{repo}"
            if source not in listings:
                listings[source] = list_files(source, self._hub, self._token)
            found = listings[source].get(path)
            if found is None:
                return None
            own_name = path if source == repository else path.rpartition("/")[2]
            if not is_plain(own_name):
                raise ModelError(
                    f"{source} names a file outside of its folder, or with a name that not every system takes "
                    f"(“{own_name}”). Choose other weights."
                )
            if found.size < 0:
                raise ModelError(f"{self._host} doesn't say how long {path} of {source} is. Choose another mirror.")
            return replace(found, name=own_name)

        config = find(CONFIG_NAME)
        names: dict[str, object] = {}
        files: list[RemoteFile] = []
        if config is not None:
            if config.size > HUB_CONFIG.bytes:
                raise ModelError(
                    f"The {CONFIG_NAME} of {repository} is longer than {in_words(HUB_CONFIG.bytes)}. Choose other "
                    "weights."
                )
            self._transfer.fetch(config, lambda done, verifying: None)
            try:
                names = read_object(self._folder / CONFIG_NAME, HUB_CONFIG)
            except ValueError as error:
                raise ModelError(
                    f"The {CONFIG_NAME} of {repository} can't be used: {error}. Choose other weights."
                ) from error
            files.append(config)
        for key, default in (
            ("tokenizer_name", TOKENIZER_NAME),
            ("mimi_name", MIMI_NAME),
            ("moshi_name", LM_NAME),
            ("mimi_config_name", ""),
            ("lora_name", ""),
        ):
            if name := names.get(key) or default:
                if not isinstance(name, str):
                    raise ModelError(
                        f"The {CONFIG_NAME} of {repository} names no file as its {key}. Choose other weights."
                    )
                file = find(name)
                if file is None:
                    raise ModelError(
                        f"{repository} on {self._host} has no file {name[:MOST_CHARACTERS]}, which its config names. "
                        "Choose other weights."
                    )
                files.append(file)
        return self._apart(repository, files)

    @property
    def _host(self) -> str:
        return httpx.URL(self._hub).host

    def _apart(self, repository: str, files: list[RemoteFile]) -> list[RemoteFile]:
        """Removes duplicate files. Raises ModelError if different files have the same local name."""
        apart: dict[str, RemoteFile] = {}
        for file in files:
            known = apart.setdefault(file.name.casefold(), file)
            if known != file or known.name.casefold() == MANIFEST_NAME:
                raise ModelError(
                    f"The {CONFIG_NAME} of {repository} names several files {file.name}. Choose other weights."
                )
        return list(apart.values())
