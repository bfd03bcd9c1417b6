"""Fetches a model from the hub, or a mirror of it, into a folder. What is there already is not fetched again.

A model of the catalogue is pinned to a revision, and to each file's size and SHA-256. For KAME, Moshi and repositories
that the user names, the hub's newest listing says which files there are.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx

from app.models.entry import Hub, Model
from app.models.errors import ModelError
from app.models.layout import CONFIG_NAME, LM_NAME, MIMI_NAME, TOKENIZER_NAME, local_name
from app.models.manifest import write_manifest
from app.models.progress import Progress, disk_failed, require_room
from app.models.transfer import FileTransfer, RemoteFile

HUB = "https://huggingface.co"


class HubDownload:
    """A download into `folder`. Its methods block and may run on any thread. `cancelled` stops it.

    They raise DownloadCancelled, and ModelError: no network, no such repository, no room, a file that is not as known.
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
        self._transfer = FileTransfer(folder, hub, token, cancelled or threading.Event())

    def fetch_pinned(self, model: Model) -> Path:
        """Fetches the files of a model that is pinned to a revision; returns the folder."""
        source = model.source
        assert isinstance(source, Hub) and source.revision
        files = [
            RemoteFile(file.name, source.repository, file.source[0], source.revision, file.bytes, file.sha256)
            for file in model.files
        ]
        return self._fetch(source.repository, lambda: files)

    def fetch_repository(self, repository: str) -> Path:
        """Fetches the files of `repository` that a front-end needs; returns the folder."""
        return self._fetch(repository, lambda: self._plan(repository))

    def _fetch(self, repository: str, plan: Callable[[], list[RemoteFile]]) -> Path:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            files = plan()
            missing = sum(max(0, file.size - self._transfer.present_bytes(file)) for file in files)
            require_room(self._folder, missing, repository)
            self._fetch_all(files)
            return self._folder
        except httpx.HTTPStatusError as error:
            raise _refused(repository, self._hub, error.response.status_code) from error
        except httpx.InvalidURL as error:
            raise ModelError(
                f"“{self._hub}” is no address of a mirror, so nothing was fetched. Correct it in the settings, or "
                "leave it empty."
            ) from error
        except httpx.HTTPError as error:
            raise ModelError(
                f"The download from {httpx.URL(self._hub).host} broke off ({type(error).__name__}). What has come "
                "stays; check the network and start it again, and it goes on from there."
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
        """Returns the files to fetch, as the repository's config, which is fetched first, names them."""
        listings: dict[str, dict[str, RemoteFile]] = {}

        def find(name: str) -> RemoteFile | None:
            source, path = repository, name
            if name.startswith("hf://"):
                owner, repo, *rest = name.removeprefix("hf://").split("/")
                source, path = f"{owner}/{repo}", "/".join(rest)
            if source not in listings:
                listings[source] = _list(source, self._hub, self._token)
            found = listings[source].get(path)
            if found is None:
                return None
            if source == repository:
                found = replace(found, name=path)
            if not _is_inside(found.name):
                raise ModelError(f"{source} names a file outside of its folder (“{found.name}”). Choose other weights.")
            return found

        config = find(CONFIG_NAME)
        names: dict[str, str] = {}
        files: list[RemoteFile] = []
        if config is not None:
            self._transfer.fetch(config, lambda done, verifying: None)
            try:
                names = json.loads((self._folder / CONFIG_NAME).read_text("utf-8"))
            except ValueError as error:
                raise ModelError(f"The {CONFIG_NAME} of {repository} is no JSON. Choose other weights.") from error
            files.append(config)
        for key, default in (
            ("tokenizer_name", TOKENIZER_NAME),
            ("mimi_name", MIMI_NAME),
            ("moshi_name", LM_NAME),
            ("mimi_config_name", ""),
            ("lora_name", ""),
        ):
            if name := names.get(key) or default:
                file = find(name)
                if file is None:
                    raise ModelError(
                        f"{repository} on {httpx.URL(self._hub).host} has no file {name}, which its config names. "
                        "Choose other weights."
                    )
                files.append(file)
        return files


def _is_inside(name: str) -> bool:
    """Returns whether a file's name on the hub stays inside the folder, by the rules of Windows, too."""
    return ":" not in name and all(part not in ("", ".", "..") for part in re.split(r"[/\\]", name))


def _list(repository: str, hub: str, token: str | None) -> dict[str, RemoteFile]:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

    try:
        found = HfApi(endpoint=hub, token=token or False).model_info(repository, files_metadata=True, timeout=30)
    except HfHubHTTPError as error:
        raise _refused(repository, hub, error.response.status_code if error.response is not None else 0) from error
    except HFValidationError as error:
        raise ModelError(f"“{repository}” is no name of weights on the hub. It has the form owner/name.") from error
    except (OSError, OfflineModeIsEnabled) as error:
        raise ModelError(
            f"{httpx.URL(hub).host} can't be reached, so {repository} can't be downloaded. Check the network, or set "
            "a mirror or a local folder."
        ) from error
    return {
        file.rfilename: RemoteFile(
            local_name(f"hf://{repository}/{file.rfilename}"),
            repository,
            file.rfilename,
            found.sha or "main",
            file.size or 0,
            file.lfs.sha256 if file.lfs else "",
        )
        for file in found.siblings or []
    }


def _refused(repository: str, hub: str, status: int) -> ModelError:
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
