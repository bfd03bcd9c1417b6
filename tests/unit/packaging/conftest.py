"""Fixtures: a small project, and a machine on which nothing is missing."""

import re

import pytest

from installation import card, completion
from installation.places import Places
from tests.unit.packaging.fakes import program


@pytest.fixture
def project(tmp_path):
    """A project's folder with small locks and an environment whose Python says that it is a 3.12."""
    places = Places(tmp_path / "project")
    places.locks.mkdir(parents=True)
    for name in ("uv.txt", "app.txt", "dev.txt", "gpu.txt", "models.txt", "models-dev.txt", "models-optional.txt"):
        (places.locks / name).write_text(f"{name}==1.0\n")
    program(places.python, "echo 3.12")
    return places


FAKE_UV = 'echo "uv $*" >> {calls}\ncase "$*" in *{failing}*) echo "{message}"; exit 1;; esac\necho "{prints}"'


@pytest.fixture
def machine(project, tmp_path, monkeypatch):
    """The project on a machine with uv in its environment and all system libraries, without a card."""
    calls = tmp_path / "calls"
    calls.touch()

    def uv(failing="nothing-fails", message="", prints=""):
        program(project.uv, FAKE_UV.format(calls=calls, failing=failing, message=message, prints=prints))

    uv()
    monkeypatch.setattr(completion, "missing_parts", lambda parts: [])
    monkeypatch.setattr(card, "has_nvidia_driver", lambda: False)
    project.calls = lambda: calls.read_text().splitlines()
    project.installs = lambda: [re.sub(r".*/", "", line) for line in project.calls()]
    project.set_uv = uv
    return project
