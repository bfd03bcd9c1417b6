"""Tests the parts of the Windows build: Python, programs, icon, list of files, wheels, signing, PATH."""

import hashlib
import http.server
import io
import json
import os
import shutil
import struct
import sys
import tarfile
import tempfile
import threading
import zipfile
from pathlib import Path

import pytest

from building.signing import signed, with_certificate, with_command
from building.source import BuildError, File, Source
from building.wheels import Target, requirements_for
from building.windows_installer import made
from building.windows_programs import COMPILER, CONSOLE, FOLDER, ICON_SIZES, compiled
from building.windows_python import python_files
from installation.locks import FOR_CARD, digest, normal_name
from installation.places import InstalledPlaces
from installation.provision import LOCKS
from installation.running import STILL_OPEN
from installation.user_path import with_folder, without_folder
from tests.support.servers import QuietHandler
from tests.unit.packaging.fakes import LOCKS as LOCK_FOLDER
from tests.unit.packaging.fakes import ROOT, posix_only
from tests.windows.certificate import make_certificate

LIBRARY = b"dll" + struct.pack("<IIHHHH", 0xFEEF04BD, 0x10000, 12, 3, 1013, 10150)
"""Contains the version as Python writes it for 3.12.10."""
PYTHON = {
    "python.exe": b"exe",
    "pythonw.exe": b"exe",
    "python3.dll": b"dll",
    "python312.dll": LIBRARY,
    "Lib/os.py": b"",
    "Lib/test/test_os.py": b"",
    "Lib/tkinter/__init__.py": b"",
    "Lib/venv/scripts/nt/venvlauncher.exe": b"",
    "Lib/__pycache__/os.pyc": b"",
    "tcl/tcl8.6/init.tcl": b"",
    "DLLs/_tkinter.pyd": b"",
    "DLLs/_ssl.pyd": b"",
}
KEPT = set(
    (
        "python/python.exe python/pythonw.exe python/python3.dll python/python312.dll python/Lib/os.py "
        "python/Lib/venv/scripts/nt/venvlauncher.exe python/DLLs/_ssl.pyd"
    ).split()
)
needs_compiler = pytest.mark.skipif(not shutil.which(COMPILER), reason="mingw-w64 is not installed")


@pytest.fixture(scope="module")
def source():
    icons = [f"resources/icons/kame-{size}.png" for size in ICON_SIZES]
    names = [path.relative_to(ROOT).as_posix() for path in (ROOT / FOLDER).iterdir() if path.is_file()]
    return Source("", "1.2.3", 1_700_000_000, tuple(File(name, (ROOT / name).read_bytes()) for name in names + icons))


@pytest.fixture(scope="module")
def program(source):
    return compiled(source, *CONSOLE)


def zipped(path):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in PYTHON.items():
            archive.writestr(name, data)
    return path


def tarred(path):
    with tarfile.open(path, "w:gz") as archive:
        for name, data in PYTHON.items():
            entry = tarfile.TarInfo(f"python/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def unpacked(path):
    for name, data in PYTHON.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


@pytest.mark.parametrize("make", [zipped, tarred, unpacked])
def test_a_python_is_taken_without_what_the_app_never_uses(tmp_path, make):
    given = make(tmp_path / ("python.zip" if make is zipped else "python.tar.gz" if make is tarred else "python"))
    sha256 = hashlib.sha256(given.read_bytes()).hexdigest() if given.is_file() else None
    python = python_files(given, sha256)
    assert (python.version, python.minor) == ("3.12.10", "3.12")
    assert python.sha256 == (sha256 or hashlib.sha256(LIBRARY).hexdigest())
    assert {file.path for file in python.files} == KEPT


def test_an_archive_is_taken_by_its_digest_only(tmp_path):
    given = zipped(tmp_path / "python-3.12.10-embed-amd64.zip")
    with pytest.raises(BuildError, match="not the file that was published"):
        python_files(given, None)
    with pytest.raises(BuildError, match="not one of the pinned Pythons"):
        python_files(given.rename(tmp_path / "python-3.12.99-embed-amd64.zip"), None)


def test_a_folder_without_a_windows_python_is_refused(tmp_path):
    with pytest.raises(BuildError, match="does not hold a Python for Windows"):
        python_files(tmp_path, None)


def test_requirements_of_a_lock_by_system():
    lock = (
        "one==1.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n    # via two\n"
        "pywin32==3 ; sys_platform == 'win32' \\\n    --hash=sha256:cc\n"
        "Old_Thing==2 ; python_full_version < '3.12' \\\n    --hash=sha256:dd\n"
    )
    assert requirements_for(lock, Target("linux", "3.12")) == {"one==1.0": "--hash=sha256:aa --hash=sha256:bb"}
    assert set(requirements_for(lock, Target("windows", "3.11"))) == {"one==1.0", "pywin32==3", "old-thing==2"}


def test_the_sizes_are_those_of_the_present_locks():
    sizes = json.loads((LOCK_FOLDER / "sizes.json").read_text())
    again = "run python packaging/sizes.py"
    assert sizes.pop("locks") == {name: digest(LOCK_FOLDER / name) for name in (*LOCKS, "card.txt")}, again

    def wanted(target: Target, *names: str) -> set[str]:
        return {pin for name in names for pin in requirements_for((LOCK_FOLDER / name).read_text(), target)}

    for name, pins in sizes.items():
        target, for_card = Target(*name.split("-")[:2]), name.endswith(FOR_CARD)
        expected = wanted(target, "card.txt") - wanted(target, *LOCKS) if for_card else wanted(target, *LOCKS)
        # The registry's torch for Windows has no CUDA; the app installs another build.
        expected = {pin for pin in expected if not (target.system == "windows" and pin.startswith("torch=="))}
        assert set(pins) == expected, again
        assert all(download > 0 and unpacked > 0 for download, unpacked in pins.values())
        assert all(pin == normal_name(pin.split("==")[0]) + "==" + pin.split("==")[1] for pin in pins)


@posix_only
def test_a_signing_command_changes_the_program_or_stops_the_build(tmp_path):
    signer = tmp_path / "sign it.py"
    signer.write_text("import sys; open(sys.argv[-1], 'ab').write(b' signed')")
    command = with_command(f'"{sys.executable}" "{signer}" --now')
    assert signed(b"program", command) == b"program signed"
    signer.write_text("import sys; sys.exit('no card in the reader')")
    with pytest.raises(BuildError, match="no card in the reader"):
        signed(b"program", command)
    with pytest.raises(BuildError, match="not found"):
        signed(b"program", with_command("no-such-signer --now"))


def test_the_users_path_is_changed_once_and_back():
    path = r"C:\Tools;;%USERPROFILE%\bin;C:\Jörg Müller\x"
    folder = r"C:\Users\Jörg\KAME Desktop"
    added = with_folder(path, folder)
    assert added == r"C:\Tools;%USERPROFILE%\bin;C:\Jörg Müller\x;C:\Users\Jörg\KAME Desktop"
    assert with_folder(added, folder.upper() + "\\").count(";") == added.count(";")
    assert without_folder(added, folder) == r"C:\Tools;%USERPROFILE%\bin;C:\Jörg Müller\x"
    assert without_folder("", folder) == "" and with_folder("", folder) == folder


def test_the_installer_takes_for_an_open_app_only_what_says_so():
    script = (ROOT / "packaging" / "windows" / "setup.nsi").read_text("utf-8")
    assert f"!define STILL_OPEN {STILL_OPEN}\n" in script
    assert STILL_OPEN not in (0, 1, 2), "which Python ends with by itself"


def test_the_uninstaller_removes_all_that_set_ups_leave(tmp_path):
    script = (ROOT / "packaging" / "windows" / "setup.nsi").read_text("utf-8")
    places = InstalledPlaces(tmp_path, tmp_path / "environment")
    made = {path for path in (*vars(places).values(), places.new.venv, places.next.venv) if isinstance(path, Path)}
    for path in made:
        if path.parent == tmp_path and path.name.startswith("environment"):
            path.touch()
    left = [path.name for path in places.traces() if f'${{DO}} "{path.name}"' not in script]
    assert len(places.traces()) == 9 and left == []


class Authority(QuietHandler):
    """Refuses to confirm a time, and records the requests."""

    def do_POST(self):
        self.server.asked.append(self.headers["Content-Type"])
        self.send_error(503)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("osslsigncode"), reason="osslsigncode is not installed")
@needs_compiler
def test_an_unconfirmed_signing_time_stops_the_build(program, tmp_path):
    with http.server.HTTPServer(("127.0.0.1", 0), Authority) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sign = with_certificate(*make_certificate(tmp_path), 1_700_000_000, f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(BuildError, match="could not be signed"):
            signed(program, sign)
        server.shutdown()
    assert server.asked == ["application/timestamp-query"]


@needs_compiler
def test_a_program_says_which_file_it_is(program):
    def told(name):
        at = program.index((name + "\0").encode("utf-16-le")) + 2 * len(name) + 2
        return program[at:].decode("utf-16-le", "replace").lstrip("\0").split("\0")[0]

    assert told("OriginalFilename") == CONSOLE[0] == "kame-desktop.exe"
    assert (told("FileDescription"), told("ProductVersion")) == (CONSOLE[1], "1.2.3")


@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif(not shutil.which("makensis"), reason="NSIS is not installed")
def test_two_builds_are_identical_for_any_builder(program, source, tmp_path, monkeypatch):
    files = [File("app/a.py", b"a"), File("kame-desktop.exe", program, True), File("wheels/b.whl", b"b" * 99)]
    first = made(source, "offline", files, {"download": 1, "unpacked": 2})
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    umask = os.umask(0o077)
    try:
        assert compiled(source, *CONSOLE) == program
        assert made(source, "offline", files[::-1], {"download": 1, "unpacked": 2}) == first
    finally:
        os.umask(umask)
