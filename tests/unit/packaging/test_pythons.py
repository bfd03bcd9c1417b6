"""Tests which Python is chosen."""

import os
import sys

import pytest

from installation import environment, steps
from tests.unit.packaging.fakes import fake_python, posix_only, program


def versions(found) -> list[str]:
    return [".".join(map(str, python.version)) for python in found]


@posix_only
@pytest.mark.parametrize(
    "script",
    [
        "exit 127",
        "echo 'pyenv: python3.12: command not found' >&2; exit 127",
        "echo 'Python was not found; run without arguments to install'; exit 9",
        "head -c 300 /dev/urandom",
        "echo kame-python three.twelve 64 1 1 /x",
        'echo "kame-python 3.12.1 64 1 1 /x"; exit 1',
        "",
    ],
)
def test_a_candidate_that_is_no_python_is_passed_over(tmp_path, script):
    broken = program(tmp_path / "python3.12", script)
    good = fake_python(tmp_path / "python3.11", "3.11.9")
    assert versions(environment.find_pythons([str(broken), str(good)], os.environ)) == ["3.11.9"]


@posix_only
def test_a_file_that_cannot_be_run_is_passed_over(tmp_path):
    (tmp_path / "python3").write_bytes(b"\x7fELF nothing")
    (tmp_path / "python3").chmod(0o755)
    (tmp_path / "python").write_text("not executable")
    assert environment.find_pythons([str(tmp_path / name) for name in ("python3", "python")], os.environ) == []


@posix_only
@pytest.mark.parametrize(
    ("version", "bits", "plain"),
    [("3.10.13", 64, 1), ("3.14.0", 64, 1), ("2.7.18", 64, 1), ("3.12.4", 32, 1), ("3.13.1", 64, 0)],
    ids=["too old", "too new", "ancient", "32-bit", "not plain CPython"],
)
def test_a_python_that_does_not_fit_comes_last_and_is_marked(tmp_path, version, bits, plain):
    odd = fake_python(tmp_path / "a", version, bits, plain)
    good = fake_python(tmp_path / "b", "3.11.2")
    found = environment.find_pythons([str(odd), str(good)], os.environ)
    assert [python.fits for python in found] == [True, False]
    assert versions(found)[0] == "3.11.2"


@posix_only
def test_the_order_of_preference(tmp_path):
    made = {"3.11.2": 1, "3.13.0": 1, "3.12.8": 0, "3.12.1": 1, "3.9.1": 1}
    paths = [str(fake_python(tmp_path / text, text, makes=makes)) for text, makes in made.items()]
    found = versions(environment.find_pythons(paths, os.environ))
    # 3.12.8 is preferred by its number, but can't make environments: Debian without python3-venv.
    assert found == ["3.12.1", "3.13.0", "3.11.2", "3.12.8", "3.9.1"]


@posix_only
def test_all_of_path_is_searched_and_pyenvs_versions_too(tmp_path):
    shim = program(tmp_path / "shims" / "python3.12", "exit 127")
    real = fake_python(tmp_path / "bin" / "python3.12", "3.12.3")
    hidden = fake_python(tmp_path / "pyenv" / "versions" / "3.13.1" / "bin" / "python3", "3.13.1")
    environ = {"PATH": f"{tmp_path / 'shims'}{os.pathsep}{tmp_path / 'bin'}", "PYENV_ROOT": str(tmp_path / "pyenv")}
    paths = environment.candidates(environ, sys.executable)
    assert paths == [sys.executable, str(shim), str(real), str(hidden)]


def test_this_python_is_recognised():
    python = environment.probe(sys.executable, steps.clean_environment(os.environ))
    assert python is not None
    assert python.version == sys.version_info[:3]
    assert python.fits


def test_windows_launchers_list_is_read():
    printed = (
        " -V:3.13          C:\\Program Files\\Python313\\python.exe\r\n"
        " -V:3.12 *        C:\\Users\\Jo Doe\\Python312\\python.exe\r\n"
        " -3.8-32          D:\\py38\\python.exe\r\n"
        "No Pythons found!\r\n"
    )
    assert environment.launcher_paths(printed) == [
        "C:\\Program Files\\Python313\\python.exe",
        "C:\\Users\\Jo Doe\\Python312\\python.exe",
        "D:\\py38\\python.exe",
    ]
