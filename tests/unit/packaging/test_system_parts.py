"""Tests how missing parts of the system are found and installed."""

import os
import sys

import pytest

from installation import system_parts
from installation.steps import Steps
from tests.unit.packaging.fakes import posix_only, program


def test_package_names_for_each_manager():
    parts = [part for part in system_parts.WINDOW_PARTS if part.look in ("libEGL.so.1", "libxcb-cursor.so.0")]
    parts += system_parts.SOUND_PARTS
    assert {name: system_parts.package_names(parts, name) for name in system_parts.MANAGERS} == {
        "apt-get": ["libegl1", "libxcb-cursor0", "libportaudio2"],
        "dnf": ["libglvnd-egl", "xcb-util-cursor", "portaudio"],
        "pacman": ["libglvnd", "xcb-util-cursor", "portaudio"],
        "zypper": ["libglvnd", "libxcb-cursor0", "libportaudio2"],
    }


def test_arch_gets_no_partial_upgrade():
    assert system_parts.install_commands("pacman", ["portaudio"]) == (
        None,
        ["pacman", "-S", "--needed", "--noconfirm", "portaudio"],
    )


def test_each_package_is_named_once_and_for_every_manager():
    everything = system_parts.WINDOW_PARTS + system_parts.SOUND_PARTS + system_parts.TEST_PARTS
    assert all(len(part.packages) == len(system_parts.MANAGERS) and all(part.packages) for part in everything)
    for manager in system_parts.MANAGERS:
        names = system_parts.package_names(everything, manager)
        assert len(names) == len(set(names))


def test_what_is_missing_is_found_without_guessing(tmp_path):
    (tmp_path / "font.ttf").touch()
    parts = [
        system_parts.Part("libc.so.6", ("c",) * 4),
        system_parts.Part("libkame-is-not-there.so.1", ("x",) * 4),
        system_parts.Part("bin:kame-is-not-there", ("y",) * 4),
        system_parts.Part(f"file:{tmp_path}/nothing*|{tmp_path}/*.ttf", ("f",) * 4),
        system_parts.Part(f"file:{tmp_path}/nothing*", ("z",) * 4),
    ]
    missing = system_parts.package_names(system_parts.missing_parts(parts), "apt-get")
    assert missing == (["x", "y", "z"] if sys.platform.startswith("linux") else ["c", "x", "y", "z"])


@posix_only
def test_without_rights_the_user_is_told_what_to_type(monkeypatch, tmp_path):
    said = []
    steps = Steps(tmp_path / "log", said.append)
    monkeypatch.setattr(system_parts, "is_there", lambda part: False)
    monkeypatch.setattr(system_parts, "missing_parts", list)
    monkeypatch.setattr(system_parts, "find_manager", lambda: "dnf")
    monkeypatch.setattr(system_parts, "as_root", lambda env: None)
    assert system_parts.complete_system(steps, {}, system_parts.SOUND_PARTS) == list(system_parts.SOUND_PARTS)
    assert "Please type: sudo dnf install portaudio" in "".join(said)


@posix_only
@pytest.mark.parametrize(
    ("fails", "calls"),
    [
        ("none", ["update", "install"]),
        ("first-update", ["update", "update", "install"]),
        ("first-install", ["update", "install", "update", "install"]),
    ],
)
def test_debians_packages_are_tried_again_once(monkeypatch, tmp_path, fails, calls):
    log = tmp_path / "apt"
    kind = fails.removeprefix("first-")
    program(
        tmp_path / "bin" / "apt-get",
        f'for w in "$@"; do case $w in update|install) k=$w;; esac; done; echo $k >> {log}\n'
        f"test $k = {kind} && test ! -e {tmp_path}/failed && touch {tmp_path}/failed && exit 100\nexit 0",
    )
    monkeypatch.setattr(system_parts, "as_root", lambda env: [])
    env = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    monkeypatch.setenv("PATH", env["PATH"])
    steps = Steps(tmp_path / "log", lambda text: None)
    assert system_parts.install_packages(steps, env, "apt-get", ["xvfb"])
    assert log.read_text().split() == calls
