"""Explain problems to users: what happened, what it means and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

USER_CAN_FIX = 2
"""The exit code of programs that end with a `Problem`."""


class Problem(Exception):
    """Something that the user can put right: what happened, what it means, what to do."""

    def __init__(self, happened: str, meaning: str, remedy: str, details: str = "") -> None:
        """`details` is what a tool printed, already indented, one line each."""
        super().__init__(f"{details}{happened}\n{meaning}\n{remedy}")
        self.happened, self.meaning, self.remedy, self.details = happened, meaning, remedy, details


class NothingFits(Problem):
    """There is no package for this system."""


class Advice(NamedTuple):
    """How to try again: developers type a command, users press a button."""

    again: str
    last_resort: str


DEVELOPERS = Advice("run the same command again", "delete the folder .venv and try once more")
USERS = Advice("try again", "repair KAME Desktop, or install it again")


class ToolFailed(Exception):
    """A tool ended with an error; `tail` is the end of what it printed."""

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
        "Make room (about 2 GB without a graphics card's part, 12 GB with it) and {again}.",
    ),
    (
        r"[Hh]ash(es)? (mismatch|mismatched)|DO NOT MATCH THE HASHES|do(es)? not match.*hash",
        "A downloaded file is not the one that was tested, so it was not installed.",
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
    """Turn a tool's failure into sentences, with the end of its output as details."""
    kind, meaning = Problem, "The reason is in the last lines above."
    remedy = "It may work at a second try: {again}. If not, {last_resort}."
    for pattern, cause, what_to_do in CAUSES:
        if re.search(pattern, failure.printed):
            meaning, remedy = cause, what_to_do
            kind = NothingFits if pattern is NO_WHEEL else Problem
            break
    details = "".join(f"    {line}\n" for line in failure.tail.splitlines())
    remedy = remedy.format(**advice._asdict())
    return kind(f"{doing} failed.", meaning, f"{remedy} All output is in {log}.", details)
