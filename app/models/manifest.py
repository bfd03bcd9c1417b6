"""The manifest stored alongside downloaded files, and verification of a folder against it."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.models.catalogue import ModelError
from app.platform.files import is_plain, write_json
from app.untrusted.files import read_json_file
from app.untrusted.limits import WEIGHTS_RECORD, Limits

MANIFEST_NAME = "weights.json"


def write_manifest(folder: Path, sources: Mapping[str, tuple[str, str]]) -> None:
    """Writes the manifest of a download. `sources`: the SHA-256 (empty if unknown) and origin of each file."""
    records = {}
    for name, (sha256, source) in sources.items():
        stat = (folder / name).stat()
        records[name] = {"size": stat.st_size, "sha256": sha256, "mtime_ns": stat.st_mtime_ns, "from": source}
    write_json(folder / MANIFEST_NAME, {"files": records}, indent=1)
    if records:  # the manifest gets the same permissions as the weights
        shutil.copymode(folder / next(iter(records)), folder / MANIFEST_NAME)


def is_recorded(folder: Path, name: str, sha256: str) -> bool:
    """Returns whether the manifest lists a file with this SHA-256 that hasn't been modified since."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        known = read_json_file(folder / MANIFEST_NAME, WEIGHTS_RECORD)["files"][name]
        return bool(known["sha256"] == sha256 and known["mtime_ns"] == (folder / name).stat().st_mtime_ns)
    return False


def check_against_manifest(folder: Path, *, thoroughly: bool = False, quickly: bool = False) -> int:
    """Verifies a folder against its manifest; returns the number of files verified (0 if there is no manifest).

    A file with the recorded size and modification time counts as unchanged. All others are hashed; if the
    hash matches, the new modification time is recorded. `thoroughly`: hashes all files; `quickly`: only checks sizes.

    Raises:
        ModelError: A file differs from what was downloaded.
    """
    manifest_path = folder / MANIFEST_NAME
    if not manifest_path.exists():
        return 0
    try:
        manifest = read_object(manifest_path, WEIGHTS_RECORD)
    except ValueError as error:
        raise _damaged(folder) from error
    changed = False
    try:
        records = dict(manifest["files"])
        for name, known in records.items():
            path, size = folder / _plain(name), int(known["size"])
            require_file(path)
            stat = path.stat()
            if stat.st_size < size:
                raise truncated(path, stat.st_size, size)
            untouched = stat.st_size == size and stat.st_mtime_ns == known.get("mtime_ns")
            if quickly or not known.get("sha256") or (untouched and not thoroughly):
                continue
            if sha256_of(path) != known["sha256"]:
                raise ModelError(
                    f"{name} is not the file that was downloaded: its contents have changed (the SHA-256 differs). "
                    "Delete it and download the weights again."
                )
            changed, known["mtime_ns"] = changed or not untouched, stat.st_mtime_ns
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(folder) from error
    if changed:
        with contextlib.suppress(OSError):  # in a read-only folder, the files are hashed again next time
            write_json(manifest_path, manifest, indent=1)
    return len(records)


def _plain(name: str) -> str:
    if not is_plain(name):
        raise ValueError("no name of a file in the folder")
    return name


def _damaged(folder: Path) -> ModelError:
    return ModelError(
        f"{MANIFEST_NAME} in {folder} is damaged. Delete it and download the weights again; what is whole is kept."
    )


def sha256_of(path: Path, progress: Callable[[int], None] | None = None) -> str:
    """Returns a file's SHA-256 in hexadecimal. `progress` is called with the size of each block that was read."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)
            if progress is not None:
                progress(len(block))
    return digest.hexdigest()


def require_file(path: Path) -> None:
    """Raises ModelError if the checkpoint file `path` is missing."""
    if not path.is_file():
        raise ModelError(
            f"{path.name} is missing from {path.parent}. The weights are not complete; download them again, and "
            "only what is missing is fetched."
        )


def truncated(path: Path, size: int, expected: int | None) -> ModelError:
    """Returns the error for a file that has only `size` bytes. `expected`: the full size; None if unknown."""
    more = f" of {expected:,}" if expected else ""
    return ModelError(
        f"{path.name} is cut short: it has {size:,}{more} bytes. Download it again, and the rest is fetched."
    )


def read_object(path: Path, limits: Limits) -> dict[str, Any]:
    """Reads a JSON object from a file. Raises Refused if it isn't one, and ModelError if the file can't be read."""
    require_file(path)
    try:
        value: dict[str, Any] = read_json_file(path, limits)
    except OSError as error:
        raise ModelError(
            f"{path.name} in {path.parent} can't be read ({error.strerror or error}). Check whose it is."
        ) from error
    return value
