"""Reads one commit of the project: its hash, timestamp and files."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class BuildError(Exception):
    """Raised if a build fails; `str(error)` is a user-facing message that includes the remedy."""


class File(NamedTuple):
    """A file to package: its path, with forward slashes, its content, and whether it is executable."""

    path: str
    data: bytes
    executable: bool = False


@dataclass(frozen=True)
class Source:
    """A commit. `epoch`: its Unix timestamp in seconds, used for all files built from it."""

    commit: str
    version: str
    epoch: int
    files: tuple[File, ...]

    def file(self, path: str) -> bytes:
        """Returns a file's content. Raises BuildError if the commit has no such file."""
        for file in self.files:
            if file.path == path:
                return file.data
        raise BuildError(f"The commit has no file {path}, so nothing can be built from it.")


def read_source(root: Path) -> Source:
    """Reads the commit checked out in `root`. Raises BuildError if there are uncommitted changes or links."""
    changed = _git(root, "status", "--porcelain").decode().strip()
    if changed:
        raise BuildError(
            f"The checkout has changes that are not committed:\n{changed}\nWhat is built has to be that of a commit. "
            "Commit or remove them, then build again."
        )
    commit = _git(root, "rev-parse", "HEAD").decode().strip()
    epoch = int(_git(root, "show", "-s", "--format=%ct", "HEAD"))
    # Keep line endings as committed, regardless of git's configuration.
    archive = _git(root, "-c", "core.autocrlf=false", "-c", "core.eol=lf", "archive", "--format=tar", "HEAD")
    files = []
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            if member.issym() or member.islnk():
                raise BuildError(f"{member.name} is a link, which not every system can unpack. Replace it by a file.")
            stream = tar.extractfile(member)
            if stream is not None:
                files.append(File(member.name, stream.read(), bool(member.mode & 0o100)))
    source = Source(commit, "", epoch, tuple(sorted(files)))
    project = tomllib.loads(source.file("pyproject.toml").decode("utf-8"))["project"]
    return Source(commit, str(project["version"]), epoch, source.files)


def _git(root: Path, *words: str) -> bytes:
    try:
        return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True).stdout
    except FileNotFoundError as error:
        raise BuildError("git was not found. Builds are made from a commit: install git, then build again.") from error
    except subprocess.CalledProcessError as error:
        output = error.stderr.decode("utf-8", "replace").strip()
        sentence = f"{root} could not be read as a git checkout: {output}. Build in a clone of the project."
        raise BuildError(sentence) from error
