"""A Windows machine for tests: a Wine prefix with a user, drives and running programs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import IO, Any

WINE, SERVER = "/usr/lib/wine/wine64", "wineserver"
USER = "Jörg Müller"
"""With a space and umlauts, like many users' names."""
START_TRIES = 2
PIPE_SECONDS = 2.0
"""How long a program's output is still read after its end."""
RUNTIME = (
    "ucrtbase",
    "msvcp140",
    "msvcp140_1",
    "msvcp140_2",
    "msvcp140_atomic_wait",
    "vcruntime140",
    "vcruntime140_1",
    "concrt140",
    "vcomp140",
)
"""Microsoft's runtime; Wine's own versions lack functions that NumPy and others call."""
_REGISTRY = """Windows Registry Editor Version 5.00

[HKEY_LOCAL_MACHINE\\Software\\Microsoft\\Windows NT\\CurrentVersion\\AeDebug]
"Auto"="0"
"Debugger"="false"

[HKEY_CURRENT_USER\\Software\\Wine\\WineDbg]
"ShowCrashDialog"=dword:00000000
"""
"""Ends programs that crash; Wine's debugger would keep them for ever."""


class TookTooLong(AssertionError):
    """A program did not end in time."""


@dataclass(frozen=True)
class Finished:
    """A program that has ended: its exit code, and its output on both streams."""

    code: int
    printed: str

    @property
    def document(self) -> Any:
        """The JSON object in the output."""
        return json.loads(self.printed[self.printed.index("{") : self.printed.rindex("}") + 1])


class Wine:
    """`env`: the variables for all programs in the prefix `folder`; tests add their screen and sound."""

    def __init__(self, folder: Path, user: str = USER) -> None:
        self.folder = folder
        self.user = user
        self.env = {
            **_without_display(os.environ),
            "WINEPREFIX": str(folder),
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            "USER": user,
            "LC_ALL": "C.UTF-8",
            "WINEDLLOVERRIDES": f"mscoree=;mshtml=;winemenubuilder.exe=;{','.join(RUNTIME)}=n,b",
            # Wine 8 lacks GetNumaNodeProcessorMaskEx, without which OpenMP in CTranslate2 aborts.
            "KMP_AFFINITY": "disabled",
        }

    @property
    def home(self) -> Path:
        """The user's profile, as a path of this machine."""
        return self.folder / "drive_c" / "users" / self.user

    def boot(self, system: Path) -> None:
        """Makes the prefix, with the DLLs of the folder `system` in system32; tries Wine's start twice."""
        for left in reversed(range(START_TRIES)):
            done = self.run("wineboot", "-i", seconds=240)
            self._server("-w")
            if done.code == 0 and self.home.is_dir():
                break
            assert left, f"Wine did not start: {done.printed[-2000:]}"
            self.end()
            shutil.rmtree(self.folder, ignore_errors=True)
        for library in system.glob("*.dll"):
            shutil.copy(library, self.folder / "drive_c" / "windows" / "system32")
        self.registry(_REGISTRY)
        assert self.run("winecfg", "-v", "win10", seconds=60).code == 0

    def registry(self, text: str) -> None:
        """Adds entries in the form of a .reg file to the registry."""
        file = self.folder / "drive_c" / "entries.reg"
        file.write_text(text, encoding="utf-16")
        done = self.run("regedit", "/S", self.windows(file), seconds=60)
        assert done.code == 0, done.printed

    def run(
        self,
        program: Path | str,
        *arguments: str,
        seconds: float = 120.0,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Finished:
        """Runs a Windows program to its end; raises `TookTooLong`, with its last lines, after `seconds`."""
        # A pipe: with a plain file, Python ends with "init_sys_streams: WinError 6" in Wine 8.
        child = subprocess.Popen(
            [WINE, str(program), *arguments],
            env={**self.env, **(env or {})},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        printed = bytearray()
        reader = threading.Thread(target=_read, args=(child.stdout, printed), name="output", daemon=True)
        reader.start()
        try:
            code = child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait(10)
            last = _text(bytes(printed))[-6000:]
            raise TookTooLong(f"{program} took longer than {seconds} s. The last it printed:\n{last}") from None
        # Not to the end of the pipe: Wine's desktop, which the first program starts, holds it for as long as it runs.
        reader.join(PIPE_SECONDS)
        return Finished(code, _text(bytes(printed)))

    @contextlib.contextmanager
    def started(
        self, program: Path | str, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> Iterator[subprocess.Popen]:
        """A Windows program that runs while the block does, without a stream to read or write."""
        child = subprocess.Popen(
            [WINE, str(program), *arguments],
            env={**self.env, **(env or {})},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield child
        finally:
            if child.poll() is None:
                child.kill()
            child.wait(10)

    def windows(self, path: Path) -> str:
        """A path of this machine as a Windows program names it."""
        for drive in sorted((self.folder / "dosdevices").glob("?:")):
            if drive.name != "z:":
                with contextlib.suppress(ValueError):
                    inside = path.resolve().relative_to(drive.resolve())
                    return str(PureWindowsPath(f"{drive.name.upper()}\\", *inside.parts))
        return str(PureWindowsPath("Z:\\", *path.resolve().parts[1:]))

    def add_drive(self, letter: str, folder: Path) -> None:
        """Makes `folder` another drive."""
        folder.mkdir(parents=True, exist_ok=True)
        link = self.folder / "dosdevices" / f"{letter.lower()}:"
        link.unlink(missing_ok=True)
        link.symlink_to(folder)

    def end(self) -> None:
        """Ends every program in the prefix."""
        self._server("-k")
        self._server("-w")

    def _server(self, option: str) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([SERVER, option], env=self.env, timeout=60, capture_output=True, check=False)


def _without_display(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without this machine's screen, sound and Python."""
    ours = ("DISPLAY", "WAYLAND_DISPLAY", "QT_", "PULSE_", "ALSA_", "XDG_", "PYTHON", "VIRTUAL_ENV", "PYTEST_")
    return {name: value for name, value in environ.items() if not name.startswith(ours)}


def _read(pipe: IO[bytes], printed: bytearray) -> None:
    """Adds to `printed` what comes, until nobody holds the pipe's other end."""
    with pipe:
        while data := os.read(pipe.fileno(), 65_536):
            printed += data


def _text(printed: bytes) -> str:
    """What a program printed: UTF-8, or for Windows' own programs the console's code page."""
    try:
        text = printed.decode("utf-8")
    except UnicodeDecodeError:
        text = printed.decode("cp437")
    return text.replace("\r\n", "\n")
