"""Brings a model from the hub, or a mirror of it, to a folder: what is there already is not fetched again.

A model of the catalogue is pinned: its revision, and each file's size and SHA-256. Of KAME and Moshi, and of a
repository that the user names, the hub's newest listing says what there is. Each file comes as `NAME.VERSION.part`,
goes on where it stopped, is compared with its SHA-256 when it has come, and gets its name then. The listing and the
names come from the hub's own library; the transfer is httpx's, since that library's can neither report nor be stopped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from app.models.entry import Hub, Model
from app.models.errors import DownloadCancelled, ModelError
from app.models.layout import (
    CONFIG_NAME,
    LM_NAME,
    MANIFEST_NAME,
    MIMI_NAME,
    TOKENIZER_NAME,
    local_name,
    sha256_of,
)
from app.models.progress import Progress, disk_failed, require_room
from app.platform.atomic_files import delete_file, move_file

HUB = "https://huggingface.co"
PASSING = (408, 429, 500, 502, 503, 504)
"""HTTP's answers that may be others in a moment."""
ATTEMPTS = 4
"""Times that a broken transfer is taken up again before the user is told; any byte that came counts anew."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file to fetch. `sha256` is empty where the hub keeps none (small text files)."""

    name: str
    repository: str
    path: str
    revision: str
    size: int
    sha256: str


def fetch_pinned(
    model: Model,
    folder: Path,
    *,
    hub: str = HUB,
    token: str | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    cancelled: threading.Event | None = None,
) -> Path:
    """Fetches the files of `model`, which is pinned to a revision, into `folder`. See `fetch_repository`."""
    source = model.source
    assert isinstance(source, Hub) and source.revision
    files = [
        RemoteFile(file.name, source.repository, file.source[0], source.revision, file.bytes, file.sha256)
        for file in model.files
    ]
    return _fetch(lambda _: files, source.repository, folder, hub, token, progress, cancelled or threading.Event())


def fetch_repository(
    repository: str,
    folder: Path,
    *,
    hub: str = HUB,
    token: str | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    cancelled: threading.Event | None = None,
) -> Path:
    """Fetches what a talk needs of `repository` into `folder`; returns the folder. Blocks; runs on any thread.

    Raises:
        DownloadCancelled: `cancelled` was set; what has come stays.
        ModelError: no network, no such repository, no room, a file that isn't what the hub says.
    """
    return _fetch(
        lambda stop: _plan(repository, folder, hub, token, stop),
        repository,
        folder,
        hub,
        token,
        progress,
        cancelled or threading.Event(),
    )


def _fetch(
    plan: Callable[[threading.Event], list[RemoteFile]],
    repository: str,
    folder: Path,
    hub: str,
    token: str | None,
    progress: Callable[[Progress], None],
    cancelled: threading.Event,
) -> Path:
    """Fetches what `plan` says, and says what fails in sentences."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = plan(cancelled)
        require_room(folder, sum(max(0, file.size - _there(folder, file)) for file in files), repository)
        return _fetch_all(files, folder, hub, token, progress, cancelled)
    except httpx.HTTPStatusError as error:
        raise _refused(repository, hub, error.response.status_code) from error
    except httpx.InvalidURL as error:
        raise ModelError(
            f"“{hub}” is no address of a mirror, so nothing was fetched. Correct it in the settings, or leave it empty."
        ) from error
    except httpx.HTTPError as error:
        raise ModelError(
            f"The download from {httpx.URL(hub).host} broke off ({type(error).__name__}). What has come stays; check "
            "the network and start it again, and it goes on from there."
        ) from error
    except OSError as error:
        raise disk_failed(folder, error) from error


def _plan(repository: str, folder: Path, hub: str, token: str | None, cancelled: threading.Event) -> list[RemoteFile]:
    """What has to be in the folder: read off the repository's config, which is fetched first."""
    listings: dict[str, dict[str, RemoteFile]] = {}

    def find(name: str, wanted: bool = True) -> RemoteFile | None:
        source, path = repository, name
        if name.startswith("hf://"):
            owner, repo, *rest = name.removeprefix("hf://").split("/")
            source, path = f"{owner}/{repo}", "/".join(rest)
        if source not in listings:
            listings[source] = _list(source, hub, token)
        found = listings[source].get(path)
        if found is not None and source == repository:
            found = dataclasses.replace(found, name=path)
        if found is not None and not _is_inside(found.name):
            raise ModelError(f"{source} names a file outside of its folder (“{found.name}”). Choose other weights.")
        if found is None and wanted:
            raise ModelError(
                f"{source} on {httpx.URL(hub).host} has no file {path}, which its config names. Choose other weights."
            )
        return found

    config_file = find(CONFIG_NAME, wanted=False)
    names: dict[str, str] = {}
    files: list[RemoteFile] = []
    if config_file is not None:
        _fetch_one(config_file, folder, hub, token, lambda _: None, cancelled)
        try:
            names = json.loads((folder / CONFIG_NAME).read_text("utf-8"))
        except ValueError as error:
            raise ModelError(f"The {CONFIG_NAME} of {repository} is no JSON. Choose other weights.") from error
        files.append(config_file)
    for key, default in (
        ("tokenizer_name", TOKENIZER_NAME),
        ("mimi_name", MIMI_NAME),
        ("moshi_name", LM_NAME),
        ("mimi_config_name", ""),
        ("lora_name", ""),
    ):
        name = names.get(key) or default
        if name and (found := find(name)) is not None:
            files.append(found)
    return files


def _is_inside(name: str) -> bool:
    """Whether a file's name on the hub stays inside the folder that it is fetched into, also by Windows' rules."""
    return ":" not in name and all(part not in ("", ".", "..") for part in re.split(r"[/\\]", name))


def _list(repository: str, hub: str, token: str | None) -> dict[str, RemoteFile]:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

    try:
        found = HfApi(endpoint=hub, token=token or False).model_info(repository, files_metadata=True, timeout=30)
    except HfHubHTTPError as error:
        raise _refused(repository, hub, error.response.status_code) from error
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


def _there(folder: Path, file: RemoteFile) -> int:
    for path in (folder / file.name, _part(folder, file)):
        if path.exists():
            return path.stat().st_size
    return 0


def _part(folder: Path, file: RemoteFile) -> Path:
    """Where a file comes to until it is whole: by its version too, so that no two are ever mixed."""
    return folder / f"{file.name}.{(file.sha256 or file.revision)[:8]}.part"


def _fetch_all(
    files: list[RemoteFile],
    folder: Path,
    hub: str,
    token: str | None,
    progress: Callable[[Progress], None],
    cancelled: threading.Event,
) -> Path:
    total = sum(file.size for file in files)
    before = 0
    recorded = {}
    for file in files:

        def report(done: int, verifying: bool = False, name: str = file.name, base: int = before) -> None:
            progress(Progress(name, base + done, total, verifying))

        _fetch_one(file, folder, hub, token, report, cancelled)
        before += file.size
        stat = (folder / file.name).stat()
        recorded[file.name] = {
            "size": stat.st_size,
            "sha256": file.sha256,
            "mtime_ns": stat.st_mtime_ns,
            "from": f"{file.repository}@{file.revision}",
        }
    manifest = folder / MANIFEST_NAME
    draft = manifest.with_suffix(".draft")
    draft.write_text(json.dumps({"files": recorded}, indent=1) + "\n", "utf-8")
    move_file(draft, manifest)
    progress(Progress("", total, total))
    return folder


def _fetch_one(
    file: RemoteFile,
    folder: Path,
    hub: str,
    token: str | None,
    report: Callable[..., None],
    cancelled: threading.Event,
) -> None:
    """Brings one file, from where it stopped."""
    final, part = folder / file.name, _part(folder, file)
    final.parent.mkdir(parents=True, exist_ok=True)
    if final.exists() and final.stat().st_size == file.size and _recorded(folder, final, file):
        return
    if final.exists():
        same_size = final.stat().st_size == file.size
        if file.sha256 and same_size and _hash(final, file, report, cancelled) == file.sha256:
            return
        delete_file(final)
    url = f"{hub}/{file.repository}/resolve/{file.revision}/{file.path}"
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    failures = furthest = 0
    with httpx.Client(follow_redirects=True, timeout=httpx.Timeout(30, connect=15)) as client:
        while True:
            try:
                _transfer(client, url, headers, file, part, report, cancelled)
                break
            except (httpx.TransportError, httpx.HTTPStatusError, _CutShort) as error:
                if isinstance(error, httpx.HTTPStatusError) and error.response.status_code not in PASSING:
                    raise
                # Only what was never reached before counts as getting on.
                reached = part.stat().st_size if part.exists() else 0
                failures, furthest = (0 if reached > furthest else failures + 1), max(furthest, reached)
                if failures >= ATTEMPTS:
                    if isinstance(error, _CutShort):
                        raise ModelError(
                            f"{httpx.URL(hub).host} ends the transfer of {file.name} before it is whole, again and "
                            "again. What has come stays; try later, or set a mirror."
                        ) from error
                    raise
                if cancelled.wait(0.2 * 2**failures):
                    raise DownloadCancelled("The download was stopped. What has come stays for the next try.") from None
    if file.sha256 and _hash(part, file, report, cancelled) != file.sha256:
        delete_file(part)
        raise ModelError(
            f"{file.name} came damaged: its SHA-256 is not the one that is known. It was "
            "deleted; start the download again."
        )
    move_file(part, final)
    for old in final.parent.glob(f"{final.name}.*.part"):
        delete_file(old, missing_ok=True)  # of an older version


def _hash(path: Path, file: RemoteFile, report: Callable[..., None], cancelled: threading.Event) -> str:
    """The SHA-256 of a file that has come; reports as it reads, and stops when it is told to."""
    report(file.size, True)

    def look(_: int) -> None:
        if cancelled.is_set():
            raise DownloadCancelled("The download was stopped. What has come stays for the next try.")

    return sha256_of(path, look)


class _CutShort(Exception):
    """The server ended a transfer too early."""


def _transfer(
    client: httpx.Client,
    url: str,
    headers: dict[str, str],
    file: RemoteFile,
    part: Path,
    report: Callable[..., None],
    cancelled: threading.Event,
) -> None:
    """One request, appended to `part`."""
    start = part.stat().st_size if part.exists() else 0
    if start > file.size:
        delete_file(part)
        start = 0
    if start == file.size and start:
        return
    if start:
        headers = {**headers, "Range": f"bytes={start}-"}
    came = 0
    with client.stream("GET", url, headers={**headers, "Accept-Encoding": "identity"}) as answer:
        answer.raise_for_status()
        if start and answer.status_code != 206:
            start = 0  # a server that knows no ranges begins anew
        with part.open("ab" if start else "wb") as out:
            try:
                for block in answer.iter_bytes():
                    if cancelled.is_set():
                        raise DownloadCancelled("The download was stopped. What has come stays for the next try.")
                    came += len(block)
                    if start + came > file.size:
                        break  # more than was announced: none of it is kept
                    out.write(block)
                    report(start + came)
            except httpx.TransportError:
                raise _CutShort from None
    if start + came != file.size:
        if start + came > file.size:
            delete_file(part)
        raise _CutShort


def _recorded(folder: Path, path: Path, file: RemoteFile) -> bool:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        known = json.loads((folder / MANIFEST_NAME).read_text("utf-8"))["files"][file.name]
        return known["sha256"] == file.sha256 and known["mtime_ns"] == path.stat().st_mtime_ns
    return False


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
