"""Signs Windows programs with a certificate or a custom command."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from building.source import BuildError

Sign = Sequence[str]
"""A command that signs a program in place and takes its path as the last argument; empty to sign nothing."""


def with_certificate(certificate: Path, key: Path, epoch: int, timestamp: str | None = None) -> Sign:
    """Returns a command that signs with osslsigncode.

    - `certificate`, `key`: PEM files
    - `epoch`: the signing time, in seconds since the Unix epoch, fixed so that builds are reproducible
    - `timestamp`: the URL of an RFC 3161 timestamp authority
    """
    words = [
        "osslsigncode",
        "sign",
        "-h",
        "sha256",
        "-n",
        "KAME Desktop",
        "-time",
        str(epoch),
        *(("-ts", timestamp) if timestamp else ()),
        "-certs",
        str(certificate),
        "-key",
        str(key),
    ]
    # osslsigncode can't sign in place.
    return ["sh", "-c", f'{shlex.join(words)} -in "$0" -out "$0.signed" && mv "$0.signed" "$0"']


def with_command(words: str) -> Sign:
    """Parses a signing command, which must sign the program passed as its last argument in place."""
    return shlex.split(words)


def script_of(sign: Sign) -> bytes:
    """Returns a shell script that signs the program passed as its argument and can be run from any folder."""
    return f'cd {shlex.quote(os.getcwd())} && exec {shlex.join(sign)} "$1"\n'.encode()


def signed(program: bytes, sign: Sign) -> bytes:
    """Returns `program` with a signature, or unchanged if `sign` is empty. Raises BuildError if signing fails."""
    if not sign:
        return program
    with tempfile.TemporaryDirectory() as folder:
        path, script = Path(folder) / "program.exe", Path(folder) / "sign.sh"
        path.write_bytes(program)
        script.write_bytes(script_of(sign))
        command = ["sh", str(script), str(path)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BuildError(
                f"The program could not be signed. The command said:\n{done.stdout}{done.stderr}\nCheck the "
                "certificate, its key and the command, then build again."
            )
        return path.read_bytes()
