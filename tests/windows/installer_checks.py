"""Check the Windows installers on a Windows machine: install, set up, repair, upgrade, interrupt, uninstall. Plain
functions that raise AssertionError."""

from __future__ import annotations

import time
from pathlib import Path

from tests.windows.wine import Finished, Wine

UNINSTALL_KEY = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\KAME Desktop"
PROGRAM = r"\AppData\Local\Programs\KAME Desktop"
INSTALL_SECONDS, SET_UP_SECONDS, REMOVE_SECONDS = 180.0, 500.0, 180.0
OTHER_PYTHON = {"PYTHONHOME": r"C:\nowhere", "PYTHONPATH": r"C:\nowhere", "PYTHONUTF8": "0"}
"""Variables for a Python of the user's, with which the app's own would not start."""
NOT_INSTALLED_HERE = ("environment", "environment.lock", "environment.log")
"""What a set-up leaves beside the installer's files."""


def folder_of(machine: Wine) -> Path:
    """Return the program's folder."""
    return machine.home / "AppData" / "Local" / "Programs" / "KAME Desktop"


def data_of(machine: Wine) -> Path:
    """Return the folder of settings, conversations and weights."""
    return machine.home / "AppData" / "Local" / "kame-desktop"


def shortcut_of(machine: Wine) -> Path:
    """Return the Start menu's shortcut."""
    menu = machine.home / "AppData" / "Roaming" / "Microsoft" / "Windows" / "Start Menu"
    return menu / "Programs" / "KAME Desktop.lnk"


def install(machine: Wine, installer: Path) -> Path:
    """Install silently; return the program's folder. Checks everything that Windows shows of it."""
    done = machine.run(installer, "/S", seconds=INSTALL_SECONDS, env=OTHER_PYTHON)
    assert done.code == 0, done.printed
    folder = folder_of(machine)
    for name in ("KAME Desktop.exe", "kame-desktop.exe", "uninstall.exe", "python/python.exe", "tools/uv.exe"):
        assert (folder / name).is_file(), f"{name} was not installed"
    assert not list(folder.glob("kame-desktop.*/")), "what was written beside the old version is in its place"
    assert shortcut_of(machine).is_file()
    entry = registry(machine, UNINSTALL_KEY)
    names = (
        "DisplayName DisplayVersion Publisher DisplayIcon EstimatedSize ModifyPath UninstallString "
        "QuietUninstallString InstallLocation"
    )
    assert set(names.split()) <= set(entry), entry
    assert entry["InstallLocation"].endswith(PROGRAM)
    assert is_on_path(machine)
    return folder


def is_on_path(machine: Wine) -> bool:
    """Tell whether the program's folder is on the user's PATH."""
    # `reg` writes umlauts in another code page, so the user's name is not compared.
    path = registry(machine, r"HKCU\Environment").get("Path", "")
    return any(part.endswith(PROGRAM) for part in path.split(";"))


def registry(machine: Wine, key: str) -> dict[str, str]:
    """Returns the values of a key of the registry; empty if there is none."""
    for _ in range(3):
        done = machine.run("reg", "query", key)
        rows = [line.split(None, 2) for line in done.printed.splitlines() if line.startswith("    ")]
        # In Wine `reg` sometimes doesn't start. Only its own message means that there is no such key.
        if rows or "unable to find" in done.printed.lower():
            break
    return {row[0]: row[2] if len(row) > 2 else "" for row in rows} if done.code == 0 else {}


def set_up(machine: Wine, folder: Path) -> str:
    """Set the environment up with the command; return its output. Checks that it leaves nothing else."""
    done = command(machine, folder, "setup", seconds=SET_UP_SECONDS)
    assert done.code == 0, done.printed
    there = {path.name for path in folder.iterdir() if path.name.startswith("environment")}
    assert there == set(NOT_INSTALLED_HERE), there
    return done.printed


def command(machine: Wine, folder: Path, *words: str, seconds: float = 120.0) -> Finished:
    """Run the command `kame-desktop` as in a terminal."""
    return machine.run(folder / "kame-desktop.exe", *words, seconds=seconds, cwd=machine.home)


def check_exit_code_and_letters(machine: Wine, folder: Path) -> None:
    """The command passes on exit codes, spaces and umlauts, whatever the user's Python variables are."""
    words = ("ask", "--backend", "no such model – übel", "two words")
    done = machine.run(folder / "kame-desktop.exe", *words, cwd=machine.home, env=OTHER_PYTHON)
    assert done.code == 2, done
    assert "“no such model – übel”" in done.printed, done.printed


def check_repair(machine: Wine, folder: Path) -> None:
    """A deleted and a changed file of the packages are restored."""
    site = folder / "environment" / "Lib" / "site-packages"
    gone, changed = site / "numpy" / "__init__.py", site / "soxr" / "__init__.py"
    before = changed.read_bytes()
    gone.unlink()
    # Not in place: the file may be a hard link.
    changed.unlink()
    changed.write_bytes(before + b"broken(\n")
    done = command(machine, folder, "repair", seconds=SET_UP_SECONDS)
    assert done.code == 0, done.printed
    assert gone.is_file() and changed.read_bytes() == before


def check_damaged_program(machine: Wine, folder: Path, installer: Path) -> None:
    """A deleted file of the program itself is found, and an upgrade restores it. Even where the installation's own
    Python can't ask the app to close any more."""
    file, python = folder / "app" / "cli" / "parser.py", folder / "python" / "Lib" / "ctypes" / "__init__.py"
    file.unlink()
    done = command(machine, folder, "repair", seconds=SET_UP_SECONDS)
    assert done.code == 2 and "app/cli/parser.py" in done.printed, done
    assert "Install KAME Desktop again" in done.printed
    python.unlink()
    check_upgrade(machine, installer)
    assert file.is_file() and python.is_file()


def check_cut_off_upgrade(machine: Wine, installer: Path) -> None:
    """A power failure while the installer writes its files leaves the old version as it was."""
    folder = folder_of(machine)
    written = folder / "kame-desktop.new" / "app" / "cli" / "parser.py"
    with machine.started(installer, "/S") as running:
        until = time.monotonic() + INSTALL_SECONDS
        while not written.exists() and time.monotonic() < until:
            time.sleep(0.01)
        assert running.poll() is None, "the installer ended before it could be cut off"
        machine.end()
    assert written.exists() and not (folder / "kame-desktop.new" / "installed.json").exists()
    check_exit_code_and_letters(machine, folder)


def check_upgrade(machine: Wine, installer: Path) -> None:
    """Installing over it removes the old program's files, keeps the environment, and changes nothing of the user's."""
    folder, data = folder_of(machine), data_of(machine)
    (folder / "app" / "old_module.py").write_text("of an older version\n")
    mine = {data / "settings.json": b"{}", data / "weights" / "x.bin": b"weights", data / "history.sqlite3": b""}
    for path, content in mine.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_bytes(content)
    before = {path: path.read_bytes() for path in mine}
    stamp = (folder / "environment" / "bootstrap.json").read_bytes()
    install(machine, installer)
    assert not (folder / "app" / "old_module.py").exists()
    assert (folder / "environment" / "bootstrap.json").read_bytes() == stamp
    assert {path: path.read_bytes() for path in mine} == before


def check_interrupted(machine: Wine, folder: Path, after: float) -> None:
    """A set-up interrupted by a power failure after some seconds is repaired by the next one."""
    removed = command(machine, folder, "remove-environment")
    assert removed.code == 0, removed.printed
    with machine.started(folder / "KAME Desktop.exe", "setup") as running:
        deadline = time.monotonic() + after
        while time.monotonic() < deadline and running.poll() is None:
            time.sleep(0.05)
        assert running.poll() is None, "the set-up ended before it could be cut off"
        machine.end()
    set_up(machine, folder)
    check_imports(machine, folder)


def check_imports(machine: Wine, folder: Path) -> None:
    """The environment's Python can import the native packages."""
    code = "import numpy, onnxruntime, ctranslate2, xllamacpp, PySide6.QtWidgets; print('loaded')"
    done = machine.run(folder / "environment" / "Scripts" / "python.exe", "-P", "-c", code, cwd=machine.home)
    assert (done.code, done.printed.strip()) == (0, "loaded"), done.printed


def check_without_network(machine: Wine, folder: Path) -> None:
    """Without the package registry the set-up says so, leaves no environment, and the next one continues."""
    assert command(machine, folder, "remove-environment").code == 0
    # Nothing listens on this port.
    nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9", "UV_HTTP_RETRIES": "0"}
    done = machine.run(
        folder / "kame-desktop.exe", "setup", seconds=SET_UP_SECONDS, cwd=machine.home, env={**machine.env, **nowhere}
    )
    assert done.code == 2, done
    assert "The download did not go through." in done.printed
    assert not (folder / "environment").exists()


def uninstaller(machine: Wine, *options: str) -> list[Path | str]:
    """Return the command for a silent uninstallation."""
    folder = folder_of(machine)
    # With `_?=` the uninstaller does its work in this process, instead of in a copy that can't be waited for. It needs
    # the folder without quotes, which would be put around an argument with spaces.
    return [folder / "uninstall.exe", "/S", *options, *f"_?={machine.windows(folder)}".split(" ")]


def hinder_path_once(folder: Path) -> None:
    """Let the script that changes the user's PATH fail when it is next run, as a program does that can't be started."""
    script = folder / "packaging" / "installation" / "user_path.py"
    once = (
        "import os\n"
        "if not os.path.exists(__file__ + '.failed'):\n"
        "    open(__file__ + '.failed', 'w').close()\n"
        "    raise SystemExit(1)\n"
    )
    text = script.read_text("utf-8")
    future = "from __future__ import annotations\n"
    assert future in text
    script.write_text(text.replace(future, future + once), "utf-8")


def uninstall(machine: Wine, *options: str) -> None:
    """Uninstall silently. Checks that nothing of the program stays; with /PURGE nothing of the user's either."""
    folder, data = folder_of(machine), data_of(machine)
    before = {path.name for path in data.iterdir()} if data.exists() else set()
    done = machine.run(*uninstaller(machine, *options), seconds=REMOVE_SECONDS)
    assert done.code == 0, done.printed
    left = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")) if folder.exists() else []
    assert left in ([], ["uninstall.exe"]), left[:20]
    if left:
        # It can't remove itself while it runs.
        (folder / "uninstall.exe").unlink()
        folder.rmdir()
    assert not shortcut_of(machine).exists()
    assert not registry(machine, UNINSTALL_KEY)
    assert not is_on_path(machine)
    assert not (machine.home / "Temp" / "kame-desktop").exists()
    if "/PURGE" in options:
        assert not data.exists(), sorted(data.rglob("*"))
    else:
        kept = {path.name for path in data.iterdir()} if data.exists() else set()
        assert kept == before - {"Logs", "Cache"}, (before, kept)
