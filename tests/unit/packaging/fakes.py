"""Makes fakes of Python, of package tools and of a graphics card's driver."""

import os
import re
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from installation import card, locks, preparation, stamp
from installation.steps import Steps, clean_environment

ROOT = Path(__file__).resolve().parents[3]
LOCKS = ROOT / "packaging" / "locks"
posix_only = pytest.mark.skipif(os.name == "nt", reason="the fake programs are shell scripts")


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def fake_python(path: Path, version: str, bits: int = 64, plain: int = 1, makes: int = 1) -> Path:
    return program(path, f'echo "kame-python {version} {bits} {plain} {makes} {path}"')


def stamp_of(project, command="run", gpu="none"):
    return {
        "python": "3.12",
        "locks": locks.wanted_locks(project, command),
        "gpu": {"state": gpu, "driver": card.has_nvidia_driver(), "lock": locks.digest(project.locks / "gpu.txt")},
    }


def ready(project, command="run", use_gpu=True) -> bool:
    return preparation.is_ready(project, os.environ, command, use_gpu, stamp.read_stamp(project))


def prepare(project, command="run"):
    return preparation.prepare(project, Steps(project.log), clean_environment(os.environ), command, True)


def names_in(lock: str) -> set[str]:
    return {canonicalize_name(name) for name in re.findall(r"(?m)^([A-Za-z0-9][\w.-]*)==", lock)}
