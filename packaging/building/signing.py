"""Sign Windows programs, with a certificate or with a command of the builder's."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from building.source import BuildError

Sign = Callable[[bytes], bytes]


def unsigned(program: bytes) -> bytes:
    """Leave a program as it is."""
    return program


def with_certificate(certificate: Path, key: Path, epoch: int) -> Sign:
    """Sign with osslsigncode, a certificate and its key. `epoch`: the time to write down, the same for each build."""

    def sign(program: bytes) -> bytes:
        def command(before: Path, after: Path) -> list[str]:
            return [
                "osslsigncode", "sign", "-h", "sha256", "-n", "KAME Desktop", "-time", str(epoch),
                "-certs", str(certificate), "-key", str(key), "-in", str(before), "-out", str(after),
            ]  # fmt: skip

        return _run(program, command)

    return sign


def with_command(words: str) -> Sign:
    """Sign with a command of the builder's, which gets the program's path as its last word and changes it in place."""

    def sign(program: bytes) -> bytes:
        def command(before: Path, after: Path) -> list[str]:
            after.write_bytes(before.read_bytes())
            return [*shlex.split(words), str(after)]

        return _run(program, command)

    return sign


def _run(program: bytes, command: Callable[[Path, Path], list[str]]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "before.exe", Path(folder) / "after.exe"
        before.write_bytes(program)
        words = command(before, after)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not after.exists():
            raise BuildError(
                f"The program could not be signed. {words[0]} said:\n{done.stdout}{done.stderr}\nCheck the "
                "certificate, its key and the command, then build again."
            )
        return after.read_bytes()
