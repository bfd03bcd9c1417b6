"""Downloader for models that are distributed as Python packages.

The package registry limits packages to about 100 MB, so larger models are split into several. Each package is pinned by
hash in a lock file, and the joined files are verified against the catalogue's SHA-256. Downloaded pieces are kept, so
that an interrupted download can be resumed; packages that are already installed aren't downloaded. The packages can't
be dependencies of the app, since only one file of each is used, and some have dependencies that are much larger or
conflict with the app's.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from app.models.catalogue import DownloadCancelled, Model, ModelError, ModelFile, Packages
from app.models.locations import folder_of, installed_file, partial_folder, state_of
from app.models.transfer import Progress, disk_failed, only_one, require_room
from app.platform.children import quiet_child
from app.platform.files import delete_file, move_file, private_folder, put_folder
from app.platform.installation import resource

_BLOCK = 1 << 20
_POLL_SECONDS = 0.3
"""The interval at which the package tool's progress and the cancellation flag are polled."""


def fetch_packages(
    model: Model,
    progress: Callable[[Progress], None] = lambda _: None,
    cancelled: threading.Event | None = None,
) -> Path:
    """Downloads `model` and returns the path of its folder, waiting for any download of it already in progress.

    Blocks, and may be called on any thread. Raises DownloadCancelled if `cancelled` is set, in which case the partial
    download is kept, and ModelError on failure.
    """
    cancelled = cancelled or threading.Event()
    parts, place = partial_folder(model), folder_of(model)
    try:
        private_folder(place.parent)
        with only_one(place.with_name(f".{place.name}.lock"), progress, cancelled) as waited:
            return place if waited and state_of(model) == "here" else _fetch(model, parts, place, progress, cancelled)
    except OSError as error:
        raise disk_failed(parts, error) from error


def _fetch(
    model: Model, parts: Path, place: Path, progress: Callable[[Progress], None], cancelled: threading.Event
) -> Path:
    assert isinstance(model.source, Packages)
    private_folder(parts)
    pieces = _pieces(model)
    missing = [piece for piece in pieces if installed_file(piece) is None]
    there = model.bytes if not missing else sum(_size(parts / piece) for piece in missing)
    joined = 0 if model.source.code else model.bytes  # the joined files temporarily exist alongside the pieces
    require_room(parts, model.bytes - there + joined, model.label)
    for number, piece in enumerate(missing):
        if (parts / piece).exists():
            continue
        done = sum(_size(parts / name) for name in missing)
        label = f"piece {number + 1} of {len(missing)}" if len(missing) > 1 else model.label
        requirement = _requirement(model.source.lock, piece.partition("/")[0])

        def report(more: int, done: int = done, label: str = label) -> None:
            progress(Progress(label, min(done + more, model.bytes), model.bytes))

        _install(requirement, parts, report, cancelled)
        if not (parts / piece).exists():
            raise ModelError(f"The package {piece.partition('/')[0]} holds no {piece}. Update the app.")
    if model.source.code:
        put_folder(parts, place)
    else:
        _join(model, parts, place, progress, cancelled)
    progress(Progress("", model.bytes, model.bytes))
    return place


def _pieces(model: Model) -> list[str]:
    """Returns the files to download as PACKAGE/PATH, without duplicates; for wheels with code, just the package."""
    assert isinstance(model.source, Packages)
    if model.source.code:
        return [model.main.partition("/")[0]]
    return list(dict.fromkeys(piece for file in model.files for piece in file.source))


def _requirement(lock: str, package: str) -> str:
    """Returns the lines of a lock file for one package, with its version and hashes. Raises ModelError."""
    name = re.sub(r"[-_.]+", "-", package).lower()
    text = find_lock(lock).read_text("utf-8")
    for block in re.split(r"(?m)^(?=[A-Za-z0-9])", text):
        if re.match(rf"{re.escape(name)}==", block):
            return block
    if name in _WHEEL_NAMES:
        return _requirement(lock, _WHEEL_NAMES[name])
    raise ModelError(f"The lock {lock} does not name {name}. Install the app again.")


_WHEEL_NAMES = {"pipecat": "pipecat-ai"}
"""Distribution names that differ from the name of the package they contain, keyed by that name."""


def find_lock(name: str) -> Path:
    """Returns the path of a lock file: a resource if the app was installed from a wheel, else in `packaging/locks`."""
    inside = resource("locks", name)
    return inside if inside.is_file() else Path(__file__).resolve().parents[2] / "packaging" / "locks" / name


def _install(requirement: str, parts: Path, report: Callable[[int], None], cancelled: threading.Event) -> None:
    """Runs the package tool to unpack one wheel into `parts`, periodically reporting the number of bytes on disk."""
    work = parts / ".work"
    shutil.rmtree(work, ignore_errors=True)
    new, temporary = work / "new", work / "tmp"
    temporary.mkdir(parents=True)
    asked = work / "asked.txt"
    asked.write_text(requirement, "utf-8")
    # A cache would keep a second copy of every model. The disk of `parts` has enough space for temporary files.
    options = ["--target", str(new), "--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-cache-dir"]
    command = [*package_tool(sys.executable), *options, "-r", str(asked)]
    how = quiet_child(network=True)
    how["env"] = {**how["env"], "PIP_USER": "0", **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))}
    how["env"].pop("PYTHONPATH", None)
    log = work / "log.txt"
    with log.open("wb") as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, **how)
        try:
            while True:
                try:
                    child.wait(_POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    report(_folder_size(work))
                if cancelled.is_set():
                    raise DownloadCancelled
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
    if child.returncode != 0:
        raise ModelError(_failed(requirement, log.read_text("utf-8", "replace")))
    for folder in sorted(new.iterdir()):
        target = parts / folder.name
        if folder.is_dir() and not folder.name.endswith(".dist-info"):
            if target.exists():
                shutil.rmtree(target)
            os.replace(folder, target)
    shutil.rmtree(work, ignore_errors=True)


def _failed(requirement: str, output: str) -> str:
    """Returns the user-facing message for a failed download. Writes the package tool's output to stderr for the log."""
    package = requirement.partition(" ")[0]
    print(output, file=sys.stderr)
    words = output.lower()
    if "hash" in words and ("mismatch" in words or "do not match" in words):
        return (
            f"The package {package} is not the one that this version of the app was tested with (its hash differs), so "
            "it was not used. Try again later; if it stays so, update the app."
        )
    if "no space left" in words:
        return f"The disk ran full while {package} was coming. What has come stays; make room and start again."
    return (
        f"The package {package} could not be fetched. What has come before stays. Check the network, then start the "
        "download again, and it continues from there."
    )


def _join(
    model: Model, parts: Path, place: Path, progress: Callable[[Progress], None], cancelled: threading.Event
) -> None:
    """Assembles the files of `model` from their pieces and verifies each file's SHA-256."""
    whole = parts / ".whole"
    whole.mkdir(exist_ok=True)
    for file in model.files:
        target = whole / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        progress(Progress(file.name, model.bytes, model.bytes, verifying=True))
        if _joined(file, parts, target, cancelled) != file.sha256:
            shutil.rmtree(parts, ignore_errors=True)
            raise ModelError(
                f"{model.label} came damaged: the SHA-256 of {file.name} is not the one that this version of the app "
                "knows. It was deleted; start the download again."
            )
    put_folder(whole, place)
    shutil.rmtree(parts, ignore_errors=True)


def _joined(file: ModelFile, parts: Path, target: Path, cancelled: threading.Event) -> str:
    """Assembles `file` from its pieces and returns its SHA-256."""
    found = hashlib.sha256()
    draft = target.with_name(target.name + ".joining")
    try:
        with draft.open("wb") as out:
            for piece in file.source:
                with (installed_file(piece) or parts / piece).open("rb") as source:
                    while block := source.read(_BLOCK):
                        if cancelled.is_set():
                            raise DownloadCancelled
                        found.update(block)
                        out.write(block)
        move_file(draft, target)
    finally:
        delete_file(draft, missing_ok=True)
    return found.hexdigest()


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _folder_size(folder: Path) -> int:
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:
            continue  # the package tool moved it in the meantime
    return total


def package_tool(python: str) -> list[str]:
    """Returns the command that installs packages for the interpreter `python`.

    Raises ModelError if neither uv nor pip is available.
    """
    # uv may be bundled by the installer, installed in the environment or on PATH.
    shipped = Path(__file__).resolve().parents[2] / "tools"
    places = [str(shipped), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    uv = shutil.which("uv", path=os.pathsep.join(places))
    if uv:
        return [uv, "pip", "install", "--python", python]
    if importlib.util.find_spec("pip") is not None:
        return [python, "-m", "pip", "install"]
    raise ModelError(
        "The model can't be fetched: neither uv nor pip is here, and one of them has to do it. Install uv, then start "
        "the download again."
    )
