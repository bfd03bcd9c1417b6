"""Asks a hub which files a repository has, and reads its answer within bounds."""

from __future__ import annotations

import os
import re
from typing import Any

import httpx

from app.models.errors import ModelError
from app.models.transfer import RemoteFile
from app.platform.file_names import is_plain
from app.untrusted.http import no_downgrade_hooks, read_body
from app.untrusted.json_text import read_json
from app.untrusted.limits import HUB_LISTING
from app.untrusted.refused import Refused

TIMEOUT = httpx.Timeout(30, connect=15)
MOST_BYTES = 2**50
"""Of a file. Beyond it a number is no size."""
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[\w.-]{1,96}", re.ASCII)
_REVISION = re.compile("[0-9a-f]{40}")
_SHA256 = re.compile("[0-9a-f]{64}")


def list_files(repository: str, hub: str, token: str | None) -> dict[str, RemoteFile]:
    """Returns the files of `repository`, `owner/name`, by their names there. A size of -1 is not known.

    Raises ModelError, and httpx.InvalidURL where `hub` is no address.
    """
    if not _REPOSITORY.fullmatch(repository) or ".." in repository or not is_plain(repository):
        raise ModelError(f"“{repository[:200]}” is no name of weights on the hub. It has the form owner/name.")
    host = httpx.URL(hub).host
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):  # as the hub's own package does
        raise ModelError(
            f"{repository} can't be downloaded from {host}, since HF_HUB_OFFLINE is set. Unset it, or set a "
            "local folder."
        )
    try:
        answer = _ask(f"{hub}/api/models/{repository}?blobs=true", hub, token)
        return _files(repository, answer)
    except httpx.HTTPStatusError as error:
        raise refused(repository, hub, error.response.status_code) from error
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
    """Returns the error for a hub's HTTP status."""
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
        httpx.Client(follow_redirects=True, timeout=TIMEOUT, event_hooks=hooks) as client,
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
        if is_plain(name):  # another can't be asked for
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
