"""User-facing error messages: what happened, what it means, and what to do."""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

USER_CAN_FIX = 2
"""The exit code of programs that fail with a `Problem`."""


class Problem(Exception):
    """An error that the user can fix. `str(error)` says what happened, what it means and what to do."""

    def __init__(self, happened: str, meaning: str, remedy: str, details: str = "", explained: bool = False) -> None:
        """`details`: a tool's output, already indented; left out of the message if the error is `explained`."""
        super().__init__(f"{'' if explained else details}{happened} {meaning} {remedy}")
        self.happened, self.meaning, self.remedy, self.details = happened, meaning, remedy, details


class NothingFits(Problem):
    """Raised if a required package is not available for this system."""


class Advice(NamedTuple):
    """Phrases for the remedy: how to retry, a last resort, and how much disk space a set-up needs (`room`)."""

    again: str
    last_resort: str
    room: str


DEVELOPERS = Advice(
    "run the same command again",
    "delete the folder .venv and try once more",
    "the app takes 1.3 GB, its short tests 3 GB, all tests 9 GB, and a graphics card's part 12 GB",
)
USERS = Advice(
    "try again",
    "repair KAME Desktop, or install it again",
    "the app takes 1.1 GB, and what a graphics card needs 5 GB more",
)


class ToolFailed(Exception):
    """Raised if a tool exits with an error. `tail`: the last lines of its output."""

    def __init__(self, command: Sequence[str], code: int, printed: str) -> None:
        super().__init__(f"{command[0]} ended with exit code {code}")
        self.command, self.code, self.printed = list(command), code, printed
        self.tail = "\n".join(printed.strip().splitlines()[-15:])


UNTRUSTED = r"certificate|CERTIFICATE_VERIFY_FAILED|UnknownIssuer|SSLError"

NO_WHEEL = r"no wheels with a matching|not a supported wheel|no matching distribution|manylinux"

CAUSES = (
    (
        r"No space left|os error 28\b|os error 112|not enough space|disk full|[Qq]uota exceeded",
        "The disk is full.",
        "Make room ({room}), then {again}.",
    ),
    (
        r"[Hh]ash(es)? (mismatch|mismatched)|DO NOT MATCH THE HASHES|do(es)? not match.*hash",
        "A downloaded file was cut off or changed on its way, so it was not installed.",
        "It may work at a second try: {again}. If not, a proxy or a mirror changes files: use another network.",
    ),
    (
        UNTRUSTED,
        "The package registry's certificate is none that this system trusts.",
        "If your network uses its own certificate, add that to the system's, or set SSL_CERT_FILE to its file, and "
        "{again}.",
    ),
    (
        r"dns error|error sending request|[Ff]ailed to fetch|[Cc]onnection|timed out|[Tt]imeout|"
        r"Temporary failure|Name or service not known|Could not resolve|Network is unreachable",
        "The download did not go through.",
        "Check the network and the proxy (HTTPS_PROXY), then {again}; what was downloaded is kept.",
    ),
    (
        NO_WHEEL,
        "There is no ready-made package for this system.",
        "Use 64-bit Windows 10 or newer, or a Linux with glibc 2.34 or newer (Debian 12, Ubuntu 22.04, "
        "Fedora 35), on an x86-64 processor.",
    ),
    (
        r"Permission denied|PermissionError|Access is denied|os error 13\b|os error 5\b|os error 32\b",
        "A file could not be written.",
        "Close the app if it is open, check that its folder is yours, and {again}.",
    ),
)


def problem_of(doing: str, failure: ToolFailed, log: Path, advice: Advice = DEVELOPERS) -> Problem:
    """Converts a tool's failure into a user-facing error, with the end of its output as details.

    - `doing`: the failed step, such as "Making the environment"
    - `failure`: the tool's failure; its output determines the explanation (see `CAUSES`)
    - `log`: the path of the log to refer to
    - `advice`: the phrases for developers or for users
    """
    details = "".join(f"    {line}\n" for line in failure.tail.splitlines())
    for pattern, meaning, remedy in CAUSES:
        if re.search(pattern, failure.printed):
            kind = NothingFits if pattern is NO_WHEEL else Problem
            remedy = f"{remedy.format(**advice._asdict())} All output is in {log}."
            return kind(f"{doing} failed.", meaning, remedy, details, explained=True)
    remedy = f"It may work at a second try: {advice.again}. If not, {advice.last_resort}. All output is in {log}."
    return Problem(f"{doing} failed.", "The reason is in the last lines above.", remedy, details)


def problem_of_system(error: OSError, folder: Path, advice: Advice) -> Problem:
    """Converts an operating system error into a user-facing one. `folder`: the folder that the set-up writes to."""
    if error.errno == errno.ENOSPC:  # Python also uses this for ERROR_DISK_FULL on Windows
        return Problem(
            f"The disk is full: {error}.",
            "Not all files could be written.",
            f"Make room ({advice.room}), then {advice.again}.",
        )
    if error.errno == getattr(errno, "EDQUOT", None):
        return Problem(
            f"The room that you may use on the disk is full: {error}.",
            "Not all files could be written.",
            f"Remove files of yours, or ask who manages this machine for more room, then {advice.again}.",
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Problem(
            f"This user may not write everywhere in {folder}: {error}.",
            "Nothing can be set up there.",
            f"Make that folder yours, or copy the project to a folder of your own, and {advice.again} there."
            if advice is DEVELOPERS
            else f"Check that the folder is yours and that no other program uses it, then {advice.again}.",
        )
    return Problem(
        f"The set-up stopped: {error}.",
        "A file or folder could not be used as needed.",
        f"Check that {folder} is yours and that no other program uses it, then {advice.again}.",
    )
